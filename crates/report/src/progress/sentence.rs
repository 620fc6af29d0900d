//! Describes events in words. Texts that come from an engine or a container are sanitized here once more:
//! no line of a reporter can carry an escape.

use itertools::join;

use retrial_document::measures::format::{self, format_count, format_duration};
use retrial_readings::sanitize_message_line;
use retrial_results::verdict::number;
use retrial_store::journal::{Event, EventKind, LiveEvent, StepEnd};
use retrial_telemetry::LiveSample;

/// The prefix of a line of output among the details of a failure.
pub const OUTPUT_PREFIX: &str = "    | ";

/// Returns the step's number and name, `04 offline-performance`; empty for an event of no step.
pub fn step_label(event: &Event) -> String {
    match (event.step, &event.name) {
        (Some(number), Some(name)) => format!("{number:02} {}", to_message_line(name)),
        (Some(number), None) => format!("{number:02}"),
        (None, name) => name.as_deref().map(to_message_line).unwrap_or_default(),
    }
}

/// Returns a text as one line without control characters, and not longer than a message.
pub fn to_message_line(text: &str) -> String {
    sanitize_message_line(text).into_owned()
}

/// The lines of a text, each without control characters.
pub fn to_lines(text: &str) -> Vec<String> {
    text.lines().map(|part| to_message_line(part.trim_end())).collect()
}

/// Describes what an event adds to its step: the size of an image, a decision, the number of collected files.
pub fn step_note(what: &EventKind) -> Option<String> {
    let text = match what {
        EventKind::Decided { decision } => decision.clone(),
        EventKind::ImageDiffers(difference) => difference.to_string(),
        EventKind::Image { id, size, .. } => {
            let digits = id.strip_prefix("sha256:").unwrap_or(id);
            let short: String = digits.chars().take(12).collect();
            format!("image {short}, {}", format::format_bytes(*size))
        }
        EventKind::Model { commit, files, bytes: size, bytes_fetched, .. } => {
            let short: String = commit.chars().take(12).collect();
            let fetched = match bytes_fetched {
                0 => "all of it cached".to_owned(),
                fetched => format!("{} fetched", format::format_bytes(*fetched)),
            };
            format!(
                "commit {short}, {}, {}, {fetched}",
                format_count(*files, "file"),
                format::format_bytes(*size)
            )
        }
        EventKind::Live(LiveEvent::Waiting { on }) => format!("waiting for {on}"),
        EventKind::CacheMounted(mounted) => mounted.to_string(),
        EventKind::ContainerCreated { name, .. } => format!("container {name}"),
        EventKind::Collected { files, bytes: size, .. } => {
            format!("{}, {}", format_count(*files, "file"), format::format_bytes(*size))
        }
        EventKind::ServiceReady { service, .. } => format!("{service} is ready"),
        EventKind::ServiceEnded { service, exit_code: Some(code), .. } => {
            format!("{service} ended with exit code {code}")
        }
        EventKind::Judged { outcome, .. } => outcome.clone(),
        EventKind::Live(LiveEvent::Measured { trial, figures }) => {
            let figures = figures.iter().map(|(name, value, unit)| {
                format!("{name} {}", number::format_figure(*value, unit))
            });
            let trial = Some(trial.clone()).filter(|trial| !trial.is_empty());
            let facts = join(trial.into_iter().chain(figures), ", ");
            Some(facts).filter(|facts| !facts.is_empty())?
        }
        _ => return None,
    };
    Some(to_message_line(&text))
}

/// A sample of GPUs and container in a few words: `8 GPUs 97 %, 8.41 kW, 71 °C, VRAM 1.4 TiB; container 12.3 CPUs, 40.12 GiB
/// of memory`.
pub fn describe_sample(live: &LiveSample) -> String {
    let watts = |value: f64| match value {
        ..1000.0 => format!("{value:.0} W"),
        _ => format!("{:.2} kW", value / 1000.0),
    };
    let causes = join(live.throttled.iter().map(|cause| cause.word()), " and ");
    let gpus = [
        live.utilization.map(|value| format!("{value:.0} %")),
        live.power_w.map(watts),
        live.temperature_c.map(|value| format!("{value:.0} °C")),
        live.vram.map(|used| format!("VRAM {}", format::format_bytes(used))),
        (!causes.is_empty()).then(|| format!("throttled by {causes}")),
    ];
    let container = [
        live.cpus.map(|cpus| format!("{cpus:.1} CPUs")),
        live.memory.map(|used| format!("{} of memory", format::format_bytes(used))),
    ];
    let joined = |facts: &[Option<String>]| {
        let facts = join(facts.iter().flatten(), ", ");
        Some(facts).filter(|facts| !facts.is_empty())
    };
    let gpu_text = joined(&gpus).filter(|_| live.gpus > 0);
    let gpus = gpu_text.map(|facts| format!("{} {facts}", format_count(live.gpus, "GPU")));
    let container = joined(&container).map(|facts| format!("container {facts}"));
    join([gpus, container].into_iter().flatten(), "; ")
}

pub fn event_warnings(what: &EventKind) -> Vec<String> {
    match what {
        EventKind::Warning { text }
        | EventKind::Incident { text }
        | EventKind::Live(LiveEvent::Notice { text }) => {
            vec![to_lines(text).join(" ")]
        }
        EventKind::Detached { resume } => vec![format!(
            "detached from its terminal, the run continues; reattach with: {}",
            to_message_line(resume)
        )],
        EventKind::LeftoverProcesses { processes } => vec![format!(
            "processes that the step left running were killed: {}",
            to_message_line(&processes.join(", "))
        )],
        EventKind::Collected { omitted, .. } => {
            let files = omitted.iter();
            files.map(|file| format!("not collected: {}", to_message_line(file))).collect()
        }
        _ => Vec::new(),
    }
}

/// Describes a step's end in one line, without its name.
pub fn describe_step_end(end: &StepEnd, seconds: f64) -> String {
    match end {
        StepEnd::Done { .. } => format!("finished in {}", format_duration(seconds)),
        StepEnd::Skipped { reason } => {
            format!("skipped: {}", to_lines(&reason.to_string()).join(" "))
        }
        StepEnd::Failed { reason, .. } => {
            let reason = to_lines(reason);
            format!(
                "failed after {}: {}",
                format_duration(seconds),
                reason.first().map_or("", String::as_str)
            )
        }
        StepEnd::Stopped => format!("stopped after {}", format_duration(seconds)),
    }
}

/// The details of a failure: the rest of the reason, the last lines of the output, and advice.
/// Nothing for other ends.
pub fn failure_details(end: &StepEnd) -> Vec<String> {
    let StepEnd::Failed { reason, last_lines, advice, .. } = end else {
        return Vec::new();
    };
    let further_lines = to_lines(reason).into_iter().skip(1);
    let reason = further_lines.map(|text| format!("    {}", text.trim_start()));
    let head = (!last_lines.is_empty()).then(|| "    the last lines of its output:".to_owned());
    let shown_lines = last_lines.iter();
    let output = shown_lines.map(|text| format!("{OUTPUT_PREFIX}{}", to_message_line(text)));
    let advice = to_lines(advice).into_iter().enumerate().map(|(index, text)| {
        let lead = if index == 0 { "help: " } else { "" };
        format!("    {lead}{}", text.trim_start())
    });
    reason.chain(head).chain(output).chain(advice).collect()
}
