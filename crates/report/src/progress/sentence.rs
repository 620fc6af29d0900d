//! Describes events in words. Texts that come from an engine or a container are sanitized here once more:
//! no line of a reporter can carry an escape.

use itertools::join;

use retrial_document::measures::format::{self, count, duration};
use retrial_readings::sanitize_message_line;
use retrial_results::verdict::number;
use retrial_store::journal::{Event, EventKind, StepEnd};
use retrial_telemetry::LiveSample;

/// The prefix of a line of output among the details of a failure.
pub const QUOTED: &str = "    | ";

/// Returns the step's number and name, `04 offline-performance`; empty for an event of no step.
pub fn step(event: &Event) -> String {
    match (event.step, &event.name) {
        (Some(number), Some(name)) => format!("{number:02} {}", line(name)),
        (Some(number), None) => format!("{number:02}"),
        (None, name) => name.as_deref().map(line).unwrap_or_default(),
    }
}

/// Returns a text as one line without control characters, and not longer than a message.
pub fn line(text: &str) -> String {
    sanitize_message_line(text).into_owned()
}

/// The lines of a text, each without control characters.
pub fn lines(text: &str) -> Vec<String> {
    text.lines().map(|part| line(part.trim_end())).collect()
}

/// Describes what an event adds to its step: the size of an image, a decision, the number of collected files.
pub fn note(what: &EventKind) -> Option<String> {
    let text = match what {
        EventKind::Decided { decision } => decision.clone(),
        EventKind::ImageDiffers(difference) => difference.to_string(),
        EventKind::Image { id, size, .. } => {
            let id = id.strip_prefix("sha256:").unwrap_or(id);
            let short: String = id.chars().take(12).collect();
            format!("image {short}, {}", format::size(*size))
        }
        EventKind::Model {
            commit,
            files,
            bytes: size,
            bytes_fetched,
            ..
        } => {
            let short: String = commit.chars().take(12).collect();
            let fetched = match bytes_fetched {
                0 => "all of it cached".to_owned(),
                fetched => format!("{} fetched", format::size(*fetched)),
            };
            format!(
                "commit {short}, {}, {}, {fetched}",
                count(*files, "file"),
                format::size(*size)
            )
        }
        EventKind::CacheMounted(mounted) => mounted.to_string(),
        EventKind::ContainerCreated { name, .. } => format!("container {name}"),
        EventKind::Collected {
            files, bytes: size, ..
        } => format!("{}, {}", count(*files, "file"), format::size(*size)),
        EventKind::ServiceReady { service, .. } => format!("{service} is ready"),
        EventKind::ServiceEnded {
            service,
            exit_code: Some(code),
            ..
        } => format!("{service} ended with exit code {code}"),
        EventKind::Judged { outcome, .. } => outcome.clone(),
        EventKind::Measured { trial, figures, .. } => {
            let figures = figures.iter();
            let figures = figures.map(|(name, value, unit)| {
                format!("{name} {}", number::format_figure(*value, unit))
            });
            let trial = Some(trial.clone()).filter(|trial| !trial.is_empty());
            let facts = join(trial.into_iter().chain(figures), ", ");
            Some(facts).filter(|facts| !facts.is_empty())?
        }
        _ => return None,
    };
    Some(line(&text))
}

/// A sample of GPUs and container in a few words: `8 GPUs 97 %, 8.41 kW, 71 °C, VRAM 1.4 TiB; container 12.3 CPUs, 40.12 GiB
/// of memory`.
pub fn sample(live: &LiveSample) -> String {
    let watts = |value: f64| match value {
        ..1000.0 => format!("{value:.0} W"),
        _ => format!("{:.2} kW", value / 1000.0),
    };
    let causes = join(live.throttled.iter().map(|cause| cause.word()), " and ");
    let gpus = [
        live.utilization.map(|value| format!("{value:.0} %")),
        live.power_w.map(watts),
        live.temperature_c.map(|value| format!("{value:.0} °C")),
        live.vram.map(|used| format!("VRAM {}", format::size(used))),
        (!causes.is_empty()).then(|| format!("throttled by {causes}")),
    ];
    let container = [
        live.cpus.map(|cpus| format!("{cpus:.1} CPUs")),
        live.memory
            .map(|used| format!("{} of memory", format::size(used))),
    ];
    let joined = |facts: &[Option<String>]| {
        let facts = join(facts.iter().flatten(), ", ");
        Some(facts).filter(|facts| !facts.is_empty())
    };
    let gpus = joined(&gpus).filter(|_| live.gpus > 0);
    let gpus = gpus.map(|facts| format!("{} {facts}", count(live.gpus, "GPU")));
    let container = joined(&container).map(|facts| format!("container {facts}"));
    join([gpus, container].into_iter().flatten(), "; ")
}

/// Returns the warnings of an event.
pub fn warnings(what: &EventKind) -> Vec<String> {
    match what {
        EventKind::Warning { text } | EventKind::Incident { text } => vec![lines(text).join(" ")],
        EventKind::Detached { resume } => vec![format!(
            "detached from its terminal, the run continues; reattach with: {}",
            line(resume)
        )],
        EventKind::LeftoverProcesses { processes } => vec![format!(
            "processes that the step left running were killed: {}",
            line(&processes.join(", "))
        )],
        EventKind::Collected { omitted, .. } => {
            let files = omitted.iter();
            files
                .map(|file| format!("not collected: {}", line(file)))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// Describes a step's end in one line, without its name.
pub fn end(end: &StepEnd, seconds: f64) -> String {
    match end {
        StepEnd::Done { .. } => format!("finished in {}", duration(seconds)),
        StepEnd::Skipped { reason } => {
            format!("skipped: {}", lines(&reason.to_string()).join(" "))
        }
        StepEnd::Failed { reason, .. } => {
            let reason = lines(reason);
            format!(
                "failed after {}: {}",
                duration(seconds),
                reason.first().map_or("", String::as_str)
            )
        }
        StepEnd::Stopped => format!("stopped after {}", duration(seconds)),
    }
}

/// The details of a failure: the rest of the reason, the last lines of the output, and advice.
/// Nothing for other ends.
pub fn details(end: &StepEnd) -> Vec<String> {
    let StepEnd::Failed {
        reason,
        last_lines,
        advice,
        ..
    } = end
    else {
        return Vec::new();
    };
    let reason = lines(reason).into_iter().skip(1);
    let reason = reason.map(|text| format!("    {}", text.trim_start()));
    let head = (!last_lines.is_empty()).then(|| "    the last lines of its output:".to_owned());
    let output = last_lines.iter();
    let output = output.map(|text| format!("{QUOTED}{}", line(text)));
    let advice = lines(advice).into_iter().enumerate().map(|(index, text)| {
        let lead = if index == 0 { "help: " } else { "" };
        format!("    {lead}{}", text.trim_start())
    });
    reason.chain(head).chain(output).chain(advice).collect()
}
