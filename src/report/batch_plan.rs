//! A batch that is still to be run, for people: cells, images, time, claims.

use std::fmt::Write;

use super::words::clean;
use crate::batch::{BatchPlan, Cell, ImageNeed, ImageSource, Order, Outlook, PullAhead};
use crate::format;

/// So many values of an axis are listed.
const MOST_VALUES: usize = 24;
/// More lines of one kind than this are counted.
const MOST_LINES: usize = 200;
/// More parts of a claim than this are counted.
const MOST_PARTS: usize = 4;

/// The plan of a batch as text.
#[must_use]
pub fn text(plan: &BatchPlan, outlook: &Outlook) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{}", clean(&plan.title));
    head(&mut out, plan, outlook);
    cells(&mut out, plan);
    images(&mut out, outlook);
    claims(&mut out, plan);
    out
}

fn line(out: &mut String, what: &str, value: &str) {
    let _ = writeln!(out, "  {what:<11} {value}");
}

fn head(out: &mut String, plan: &BatchPlan, outlook: &Outlook) {
    let mut recipes: Vec<(&str, &str)> = Vec::new();
    for cell in &plan.cells {
        if !recipes.contains(&(&cell.recipe, &cell.path)) {
            recipes.push((&cell.recipe, &cell.path));
        }
    }
    let several = recipes.len() > 1;
    for (position, (name, path)) in recipes.iter().enumerate() {
        let what = match position {
            0 if several => "recipes",
            0 => "recipe",
            _ => "",
        };
        let value = if several {
            format!("{name}: {path}")
        } else {
            (*path).to_owned()
        };
        line(out, what, &clean(&value));
    }
    for (position, (axis, values)) in plan
        .axes
        .iter()
        .filter(|(axis, _)| axis != "recipe")
        .enumerate()
    {
        let what = if position == 0 { "varied" } else { "" };
        line(out, what, &clean(&format!("{axis}: {}", listed(values))));
    }
    let conduct = &plan.conduct;
    let trials = format::count(conduct.trials as usize, "trial");
    line(
        out,
        "trials",
        &format!(
            "{} of {trials} each: {} in all, each in a fresh container",
            format::count(plan.cells.len(), "cell"),
            format::count(outlook.runs, "run"),
        ),
    );
    if conduct.trials == 1 && plan.cells.len() > 1 {
        line(
            out,
            "",
            "one trial says nothing of how much trials scatter: --trials 5 measures it",
        );
    }
    let letters = conduct.order.in_letters(plan.cells.len(), conduct.trials);
    let order = match conduct.order {
        Order::Interleaved => format!("interleaved, there and back: {letters}"),
        Order::Grouped => format!("grouped: {letters}"),
    };
    line(out, "order", &order);
    let mut how = vec![format!("on failure {}", conduct.on_failure.word())];
    how.push(match conduct.retries {
        0 => "no retries".to_owned(),
        1 => "1 retry after a failure of the host".to_owned(),
        count => format!("{count} retries after failures of the host"),
    });
    if conduct.parallel > 1 {
        how.push(format!(
            "{} runs at once, on GPUs of their own",
            conduct.parallel
        ));
    }
    how.push(match conduct.pull_ahead {
        PullAhead::Between => "images pulled ahead, never while something is measured".to_owned(),
        PullAhead::During => "images pulled ahead, also while something is measured".to_owned(),
        PullAhead::Never => "each image pulled when its turn comes".to_owned(),
    });
    line(out, "", &how.join("; "));
    time_and_disk(out, outlook, conduct.parallel);
}

fn time_and_disk(out: &mut String, outlook: &Outlook, parallel: u32) {
    let time = match (outlook.seconds, outlook.without_duration) {
        (None, _) => "not known: no recipe says how long it takes".to_owned(),
        (Some(seconds), rest) => {
            let at_once = if parallel > 1 {
                format!(", {parallel} at once")
            } else {
                String::new()
            };
            let rest = match rest {
                0 => String::new(),
                count => format!(
                    ", and {} of which it is not known",
                    format::count(count, "run")
                ),
            };
            format!(
                "about {} on the published hardware{at_once}, downloads aside{rest}",
                format::limit(seconds)
            )
        }
    };
    line(out, "time", &time);
    if let Some(disk) = outlook.disk {
        let more = match outlook.images.len() {
            0 | 1 => String::new(),
            count => format!(", with one image; there are {count}"),
        };
        line(
            out,
            "disk",
            &format!(
                "{} is the most that a recipe asks for{more}",
                format::size(disk)
            ),
        );
    }
}

/// Values of an axis; of very many the first ones, and how many there are.
fn listed(values: &[String]) -> String {
    if values.len() <= MOST_VALUES {
        return values.join(", ");
    }
    format!(
        "{}, … ({} values)",
        values[..MOST_VALUES].join(", "),
        values.len()
    )
}

fn cells(out: &mut String, plan: &BatchPlan) {
    let _ = writeln!(out, "\nCells");
    let width = plan
        .cells
        .iter()
        .map(|cell| cell.name.chars().count())
        .max();
    let left = plan
        .left_out
        .iter()
        .map(|left| left.name.chars().count())
        .max();
    let width = width.max(left).unwrap_or(0).min(60);
    let is_baseline = |cell: &Cell| {
        plan.cells
            .iter()
            .any(|one| one.baseline.as_ref() == Some(&cell.name))
    };
    let several = plan.cells.iter().filter(|cell| is_baseline(cell)).count() > 1;
    for cell in plan.cells.iter().take(MOST_LINES) {
        let against = match &cell.baseline {
            Some(baseline) if several => format!("against {baseline}"),
            None if is_baseline(cell) => "baseline".to_owned(),
            None if plan.cells.len() > 1 => "compared with nothing".to_owned(),
            Some(_) | None => String::new(),
        };
        let text = clean(&format!("  {:<width$}  {against}", cell.name));
        let _ = writeln!(out, "{}", text.trim_end());
    }
    more(out, plan.cells.len());
    if plan.left_out.is_empty() {
        return;
    }
    let _ = writeln!(out, "\nLeft out");
    for left in plan.left_out.iter().take(MOST_LINES) {
        let text = clean(&format!("  {:<width$}  {}", left.name, left.because));
        let _ = writeln!(out, "{text}");
    }
    more(out, plan.left_out.len());
}

fn more(out: &mut String, count: usize) {
    if count > MOST_LINES {
        let _ = writeln!(
            out,
            "  and {} more (--output json has all)",
            count - MOST_LINES
        );
    }
}

fn images(out: &mut String, outlook: &Outlook) {
    let _ = writeln!(out, "\nImages");
    for image in outlook.images.iter().take(MOST_LINES) {
        let _ = writeln!(out, "  {}", clean(&of_image(image)));
    }
    more(out, outlook.images.len());
    if outlook.models.is_empty() {
        return;
    }
    let _ = writeln!(out, "\nModels");
    for model in outlook.models.iter().take(MOST_LINES) {
        let cells = format::count(model.cells, "cell");
        let text = format!("  {} {}  {cells}", model.repository, model.revision);
        let _ = writeln!(out, "{}", clean(&text));
    }
}

fn of_image(image: &ImageNeed) -> String {
    let name = match &image.source {
        ImageSource::Pulled { reference } => reference.clone(),
        ImageSource::Built { from } => format!("built from {from}"),
    };
    let stand = match (image.here, image.size, &image.source) {
        (_, _, ImageSource::Built { .. }) => String::new(),
        (Some(true), Some(size), _) => format!("; here, {}", format::size(size)),
        (Some(true), None, _) => "; here".to_owned(),
        (Some(false), ..) => "; not here".to_owned(),
        (None, ..) => "; no engine was asked".to_owned(),
    };
    format!("{name}  {}{stand}", format::count(image.cells, "cell"))
}

fn claims(out: &mut String, plan: &BatchPlan) {
    if plan.claims.is_empty() {
        return;
    }
    let _ = writeln!(out, "\nClaims");
    for (position, claim) in plan.claims.iter().enumerate().take(MOST_LINES) {
        let _ = writeln!(out, "  {}  {}", position + 1, clean(&claim.text));
        for part in claim.parts.iter().take(MOST_PARTS) {
            let baseline = part.baseline.iter().map(|one| format!(" next to {one}"));
            let gap = part.gap_to.iter().map(|one| format!(", the gap to {one}"));
            let words: String = baseline.chain(gap).collect();
            let _ = writeln!(out, "     {}", clean(&format!("{}{words}", part.candidate)));
        }
        if claim.parts.len() > MOST_PARTS {
            let _ = writeln!(out, "     and {} more", claim.parts.len() - MOST_PARTS);
        }
    }
}
