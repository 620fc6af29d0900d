//! The plan of a batch: its cells, images, models, time and claims.

use itertools::Itertools as _;

use crate::document::{Block, Document, ListItem, Section};
use retrial_batch::search::SearchPlan;
use retrial_batch::{BatchEstimate, BatchPlan, Cell, ImageNeed, ImageSource, PullAhead, RunOrder};
use retrial_document::measures::format;

/// The values of an axis that are listed.
const MAX_VALUES: usize = 24;
/// More lines of a list are counted.
const MAX_LIST_LINES: usize = 200;
/// More parts of a claim are counted.
const MAX_CLAIM_PARTS: usize = 4;

pub fn batch_plan_document(plan: &BatchPlan, estimate: &BatchEstimate) -> Document {
    let mut blocks = Vec::from_iter(Block::list(plan_items(plan, estimate)));
    let mut add = |title: &str, items: Vec<ListItem>| {
        let more = items.len().saturating_sub(MAX_LIST_LINES);
        let list = Block::list(items.into_iter().take(MAX_LIST_LINES));
        let more_note = (more > 0).then(|| format!("and {more} more (--output json has all)"));
        let more = more_note.map(Block::paragraph);
        blocks.extend(Section::nonempty_block(title, list.into_iter().chain(more)));
    };
    add("Cells", cell_items(plan));
    let external = plan.external_cells.iter();
    let measured = external.map(|cell| {
        let host = cell.external.as_deref().unwrap_or_default();
        ListItem::with_key(&cell.name, host)
    });
    add("Measured on other hosts", measured.collect());
    let excluded = plan.excluded.iter();
    let skipped = excluded.map(|cell| ListItem::with_key(&cell.name, cell.reason.to_string()));
    add("Skipped", skipped.collect());
    add("Images", estimate.images.iter().map(image_item).collect());
    let models = estimate.models.iter().map(|model| {
        let cells = format::format_count(model.cells, "cell");
        ListItem::with_key(format!("{} {}", model.repository, model.revision), cells)
    });
    add("Models", models.collect());
    add("Claims", claim_items(plan));
    add("Changed together", plan.joint_changes.iter().map(ListItem::new).collect());
    Document::new(&plan.title, blocks)
}

fn plan_items(plan: &BatchPlan, estimate: &BatchEstimate) -> Vec<ListItem> {
    let mut items = Vec::new();
    let recipes = plan.cells.iter().map(|cell| (&cell.recipe, &cell.path)).unique().collect_vec();
    items.extend(recipes.iter().map(|(name, path)| match recipes.len() {
        1 => ListItem::with_key("recipe", path),
        _ => ListItem::with_key("recipe", format!("{name}: {path}")),
    }));
    let axes = plan.axes.iter().filter(|(axis, _)| *axis != "recipe");
    let varied = axes.map(|(axis, values)| format!("{axis}: {}", list_values(values)));
    items.extend(varied.map(|varied| ListItem::with_key("varied", varied)));
    if let Some(search) = &plan.search {
        items.extend(search_items(plan, search));
        return items;
    }
    let execution = &plan.execution;
    let trials_per_cell = execution.trials.unwrap_or(1);
    let trials = format!(
        "{} of {} each: {} in total, each in a fresh container",
        format::format_count(plan.cells.len(), "cell"),
        format::format_count(trials_per_cell as usize, "trial"),
        format::format_count(estimate.runs, "run"),
    );
    let noise = "one trial does not show the variation between trials; --trials 5 does";
    let is_noisy = trials_per_cell == 1 && plan.cells.len() > 1;
    items.push(ListItem::with_key("trials", trials).with_details(is_noisy.then_some(("", noise))));
    let letters = execution.order.describe_in_letters(plan.cells.len(), trials_per_cell);
    let order = match execution.order {
        RunOrder::Interleaved => format!("interleaved, forwards and backwards: {letters}"),
        RunOrder::Grouped => format!("grouped: {letters}"),
    };
    items.push(ListItem::with_key("order", order));
    items.push(ListItem::with_key("execution", describe_execution(plan)));
    items.push(ListItem::with_key("time", describe_time(estimate, execution.parallel)));
    let disk = describe_disk(plan, estimate);
    items.extend(disk.map(|disk| ListItem::with_key("disk", disk)));
    items
}

/// The disk requirements of all images that are to be pulled or built, and what their removal changes.
fn describe_disk(plan: &BatchPlan, estimate: &BatchEstimate) -> Option<String> {
    let largest = format::format_bytes(estimate.disk?);
    let missing = estimate.images.iter().filter(|image| image.here != Some(true));
    let needs: Vec<u64> = missing.filter_map(|image| image.disk).collect();
    if needs.len() < 2 {
        return Some(format!("up to {largest}, image, models and data"));
    }
    let all = format::format_bytes(needs.iter().sum());
    let all = format!("up to {all} for {} images, each with models and data", needs.len());
    let execution = &plan.execution;
    Some(match (execution.remove_images, execution.order) {
        (false, _) => all,
        (true, RunOrder::Grouped) => {
            format!("up to {largest}: each image that is pulled is removed after its last trial")
        }
        (true, RunOrder::Interleaved) => format!(
            "{all}; interleaved, every image is needed until the last round, so that its removal \
             frees space only then: --order grouped needs {largest}"
        ),
    })
}

fn search_items(plan: &BatchPlan, search: &SearchPlan) -> Vec<ListItem> {
    let ends = match (plan.cells.first(), plan.cells.last()) {
        (Some(first), Some(last)) => format!(
            "until {} is shown to be {}, compared with {}; then each run depends on the results so far",
            last.name, search.criterion, first.name
        ),
        _ => String::new(),
    };
    let values = format::format_count(plan.cells.len(), "value");
    let runs = format::format_count(search.most as usize, "run");
    vec![
        ListItem::with_key("search", ends),
        ListItem::with_key(
            "trials",
            format!("at most {runs} over {values}, each in a fresh container"),
        ),
        ListItem::with_key("execution", describe_execution(plan)),
    ]
}

fn describe_execution(plan: &BatchPlan) -> String {
    let execution = &plan.execution;
    let retries = match execution.retries {
        0 => "no retries".to_owned(),
        1 => "1 retry after a failure of the host".to_owned(),
        count => format!("{count} retries after failures of the host"),
    };
    let at_once = match execution.parallel {
        0 | 1 => String::new(),
        count => format!("{count} runs at once, each on its own GPUs; "),
    };
    let pull = match execution.pull_ahead {
        PullAhead::Between => "images pulled ahead, never while something is measured",
        PullAhead::During => "images pulled ahead, also while something is measured",
        PullAhead::Never => "each image is pulled when its run starts",
    };
    format!("on failure {}; {retries}; {at_once}{pull}", execution.on_failure)
}

fn describe_time(estimate: &BatchEstimate, parallel: u32) -> String {
    let Some(seconds) = estimate.seconds else {
        return "unknown: no recipe states its duration".to_owned();
    };
    let at_once = match parallel {
        0 | 1 => String::new(),
        count => format!(", {count} at once"),
    };
    let rest = match estimate.without_duration {
        0 => String::new(),
        count => format!(", and {} of unknown duration", format::format_count(count, "run")),
    };
    let whole = format::format_time_limit(seconds);
    let basis = match (estimate.by_earlier_runs, estimate.runs - estimate.without_duration) {
        (0, _) => "on the published hardware".to_owned(),
        (earlier, estimated) if earlier == estimated => "by earlier runs".to_owned(),
        (earlier, estimated) => format!(
            "({} by earlier runs, {} as on the published hardware)",
            format::format_count(earlier, "run"),
            estimated - earlier
        ),
    };
    format!("about {whole} {basis}{at_once}, without downloads{rest}")
}

/// The values of an axis; of very many the first ones and their number.
fn list_values(values: &[String]) -> String {
    if values.len() <= MAX_VALUES {
        return values.join(", ");
    }
    let first = values[..MAX_VALUES].join(", ");
    format!("{first}, … ({} values)", values.len())
}

fn cell_items(plan: &BatchPlan) -> Vec<ListItem> {
    let is_baseline = |cell: &Cell| {
        let mut cells = plan.all_cells();
        cells.any(|other| other.baseline.as_ref() == Some(&cell.name))
    };
    let several = plan.cells.iter().filter(|cell| is_baseline(cell)).count() > 1;
    let cells = plan.cells.iter().map(|cell| {
        let role = match &cell.baseline {
            Some(baseline) if several => format!("compared with {baseline}"),
            None if is_baseline(cell) => "baseline".to_owned(),
            None if plan.cells.len() > 1 => "not compared".to_owned(),
            Some(_) | None => String::new(),
        };
        ListItem::with_key(&cell.name, role)
    });
    cells.collect()
}

fn image_item(image: &ImageNeed) -> ListItem {
    let name = match &image.source {
        ImageSource::Pulled { reference } => reference.clone(),
        ImageSource::Built { from } => format!("built from {from}"),
    };
    let state = match (image.here, image.size, &image.source) {
        (_, _, ImageSource::Built { .. }) => String::new(),
        (Some(true), Some(size), _) => format!("; present, {}", format::format_bytes(size)),
        (Some(true), None, _) => "; present".to_owned(),
        (Some(false), ..) => "; not present".to_owned(),
        (None, ..) => "; unknown without an engine".to_owned(),
    };
    ListItem::with_key(name, format!("{}{state}", format::format_count(image.cells, "cell")))
}

fn claim_items(plan: &BatchPlan) -> Vec<ListItem> {
    let claims = (1..).zip(&plan.claims).map(|(number, claim): (usize, _)| {
        let parts = claim.parts.iter().take(MAX_CLAIM_PARTS).map(|part| {
            if let (Some([from, other]), Some(to)) = (&part.from, &part.baseline) {
                let step =
                    format!("from {from} to {} compared with from {other} to {to}", part.candidate);
                return step;
            }
            let baseline_name = part.baseline.iter();
            let baseline = baseline_name.map(|name| format!(" compared with {name}"));
            let gap = part.gap_to.iter().map(|name| format!(", the gap to {name}"));
            let words: String = baseline.chain(gap).collect();
            format!("{}{words}", part.candidate)
        });
        let more = claim.parts.len().saturating_sub(MAX_CLAIM_PARTS);
        let more = (more > 0).then(|| format!("and {more} more"));
        let details = parts.chain(more).map(|text| ("", text));
        ListItem::with_key(number.to_string(), &claim.text).with_details(details)
    });
    claims.collect()
}
