//! What one event says, in lines. Whatever an engine or a container had a hand in is made
//! harmless here once more: no line of a reporter can carry an escape.

use crate::journal::{Event, StepEnd, What};
use crate::logs::sanitize;
use crate::report::human::{bytes, count, duration};

/// How a line of output begins among a failure's details.
pub const QUOTED: &str = "    | ";

/// `04 offline-performance`; empty for what belongs to no step.
#[must_use]
pub fn step(event: &Event) -> String {
    match (event.step, &event.name) {
        (Some(number), Some(name)) => format!("{number:02} {}", line(name)),
        (Some(number), None) => format!("{number:02}"),
        (None, name) => name.as_deref().map(line).unwrap_or_default(),
    }
}

/// One line without control characters.
#[must_use]
pub fn line(text: &str) -> String {
    sanitize(text).into_owned()
}

/// The lines of a text, each without control characters.
#[must_use]
pub fn lines(text: &str) -> Vec<String> {
    text.lines().map(|part| line(part.trim_end())).collect()
}

/// What an event adds to its step: an image's size, a decision, what was collected.
#[must_use]
pub fn note(what: &What) -> Option<String> {
    let text = match what {
        What::Decided { decision } => decision.clone(),
        What::Image { id, size, .. } => {
            let id = id.strip_prefix("sha256:").unwrap_or(id);
            let short: String = id.chars().take(12).collect();
            format!("image {short}, {}", bytes(*size))
        }
        What::Model {
            commit,
            files,
            bytes: size,
            bytes_fetched,
            ..
        } => {
            let short: String = commit.chars().take(12).collect();
            let came = match bytes_fetched {
                0 => "all of it here before".to_owned(),
                came => format!("{} of it fetched", bytes(*came)),
            };
            format!(
                "commit {short}, {}, {}, {came}",
                count(*files, "file"),
                bytes(*size)
            )
        }
        What::ContainerCreated { name, .. } => format!("container {name}"),
        What::Collected {
            files, bytes: size, ..
        } => format!("{}, {}", count(*files, "file"), bytes(*size)),
        What::Judged { outcome, .. } => outcome.clone(),
        _ => return None,
    };
    Some(line(&text))
}

/// What an event warns of.
#[must_use]
pub fn warnings(what: &What) -> Vec<String> {
    match what {
        What::Warning { text } => vec![lines(text).join(" ")],
        What::Detached { resume } => vec![format!(
            "the terminal is gone, the run goes on; come back with: {}",
            line(resume)
        )],
        What::LeftRunning { processes } => {
            vec![format!(
                "the step left running what was ended now: {}",
                line(&processes.join(", "))
            )]
        }
        What::Collected { left_out, .. } => left_out
            .iter()
            .map(|what| format!("not collected: {}", line(what)))
            .collect(),
        _ => Vec::new(),
    }
}

/// A step's end in one line, without its name.
#[must_use]
pub fn end(end: &StepEnd, seconds: f64) -> String {
    match end {
        StepEnd::Done { .. } => format!("done in {}", duration(seconds)),
        StepEnd::Skipped { because } => format!("skipped: {}", lines(because).join(" ")),
        StepEnd::Failed { because, .. } => {
            let because = lines(because);
            format!(
                "failed after {}: {}",
                duration(seconds),
                because.first().map_or("", String::as_str)
            )
        }
        StepEnd::Stopped => format!("stopped after {}", duration(seconds)),
    }
}

/// What more there is to a failure: the rest of the reason, the last lines of the output, and
/// what to do. Nothing for other ends.
#[must_use]
pub fn details(end: &StepEnd) -> Vec<String> {
    let StepEnd::Failed {
        because,
        last_lines,
        advice,
        ..
    } = end
    else {
        return Vec::new();
    };
    let mut out: Vec<String> = lines(because)
        .into_iter()
        .skip(1)
        .map(|text| format!("    {}", text.trim_start()))
        .collect();
    if !last_lines.is_empty() {
        out.push("    the last lines of its output:".to_owned());
        out.extend(
            last_lines
                .iter()
                .map(|text| format!("{QUOTED}{}", line(text))),
        );
    }
    out.extend(lines(advice).into_iter().enumerate().map(|(index, text)| {
        let lead = if index == 0 { "what to do: " } else { "" };
        format!("    {lead}{}", text.trim_start())
    }));
    out
}
