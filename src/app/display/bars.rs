//! The bars of the step under way: what it does, its last lines of output, its layers or files.

use console::{Alignment, measure_text_width, pad_str, style, truncate_str};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};
use jiff::Timestamp;

use retrial_document::measures::format::{format_bytes, format_elapsed, format_time_limit};
use retrial_report::progress::batch::BatchProgress;
use retrial_report::progress::transfers::seconds_between;
use retrial_report::progress::view::{ActiveStep, LiveView};
use retrial_store::journal::{Transfer, TransferState, TransferUnit};

/// The default timeout of a step, which is not shown.
const DEFAULT_STEP_TIMEOUT_S: u64 = 24 * 3600;
const MAX_SHOWN_LAYERS: usize = 4;
/// Files that are shown: as many as are fetched at the same time.
const MAX_SHOWN_FILES: usize = 8;

/// Bars of indicatif, from top to bottom.
#[derive(Debug)]
pub struct ProgressBars {
    multi: MultiProgress,
    bars: Vec<ProgressBar>,
}

/// A bar as it is drawn at one moment.
#[derive(Default)]
struct BarState {
    /// The template of indicatif: `{bar}`, `{prefix}` and `{msg}` with their styles.
    template: String,
    prefix: String,
    message: String,
    done: u64,
    total: u64,
}

impl ProgressBars {
    /// Bars on a terminal. Every change draws: the terminal decides when that is shown.
    pub fn new(terminal: impl TermLike + 'static) -> Self {
        let target = ProgressDrawTarget::term_like(Box::new(terminal));
        Self { multi: MultiProgress::with_draw_target(target), bars: Vec::new() }
    }

    /// Draws the step under way; nothing if there is none.
    pub fn draw(&mut self, view: &LiveView, now: Timestamp, columns: usize, rows: usize) {
        let new_bars = match &view.step {
            Some(step) => build_bars(view, step, now, columns, rows),
            None => Vec::new(),
        };
        for bar in self.bars.drain(new_bars.len().min(self.bars.len())..) {
            self.multi.remove(&bar);
        }
        if new_bars.is_empty() {
            // A terminal that is gone does not end the run.
            let _ = self.multi.clear();
        }
        for (index, new) in new_bars.into_iter().enumerate() {
            if index == self.bars.len() {
                self.bars.push(self.multi.add(ProgressBar::hidden()));
            }
            let bar = &self.bars[index];
            let parsed_style = ProgressStyle::with_template(&new.template);
            let style = parsed_style.unwrap_or_else(|_| ProgressStyle::default_bar());
            bar.set_style(style.progress_chars("━╸─").tick_chars("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏ "));
            bar.set_prefix(new.prefix);
            bar.set_message(new.message);
            bar.update(|state| {
                state.set_len(new.total);
                state.set_pos(new.done);
            });
        }
    }
}

fn build_bars(
    view: &LiveView,
    step: &ActiveStep,
    now: Timestamp,
    columns: usize,
    rows: usize,
) -> Vec<BarState> {
    let mut bars = vec![step_bar(view, step, now, columns)];
    let mut lines = Vec::new();
    if !step.summary.is_empty() {
        let summary = style(truncate_to_fit(&step.summary, columns, 2)).dim();
        lines.push(format!("  {summary}"));
    }
    if !step.sample.is_empty() {
        lines.push(format!("  {}", truncate_to_fit(&step.sample, columns, 2)));
    }
    if step.transfers.is_empty() {
        let room = rows.saturating_sub(1 + lines.len());
        let tail = step.tail.iter().skip(step.tail.len().saturating_sub(room));
        let quote = style("  │").dim();
        lines.extend(tail.map(|line| format!("{quote} {}", truncate_to_fit(line, columns, 4))));
    }
    bars.push(BarState {
        template: "{msg}".to_owned(),
        message: lines.join("\n"),
        ..BarState::default()
    });
    if !step.transfers.is_empty() {
        bars.push(transfers_bar(step, now, columns));
        let (shown, name) = match step.transfers.sum(now).unit {
            TransferUnit::Layer => (MAX_SHOWN_LAYERS, 12),
            TransferUnit::File => (MAX_SHOWN_FILES, (columns / 3).clamp(12, 36)),
        };
        let parts = step.transfers.active_parts().take(shown);
        bars.extend(parts.map(|part| transfer_bar(part, name, columns)));
    }
    let overall = view.overall.as_ref();
    bars.extend(overall.map(|overall| batch_bar(overall, columns)));
    bars
}

/// `━━━━━━╸───  [6/12] rocm=7.1.1 trial 2/3; 7 remaining, about 12m 10s`
fn batch_bar(overall: &BatchProgress, columns: usize) -> BarState {
    let message = truncate_to_fit(&overall.text, columns, 14);
    let bar = columns.saturating_sub(measure_text_width(&message) + 4);
    BarState {
        template: format!("  {{bar:{}.cyan/dim}}  {{msg}}", bar.clamp(10, 30)),
        message,
        done: overall.ended_runs as u64,
        total: overall.all_runs as u64,
        ..BarState::default()
    }
}

/// `⠹ 05 offline-performance  3m 12s, timeout 1h        step 5 of 9, 13m 02s in all`
fn step_bar(view: &LiveView, step: &ActiveStep, now: Timestamp, columns: usize) -> BarState {
    let mut time = format_elapsed(seconds_between(step.started, now));
    if let Some(timeout) = step.timeout_s.filter(|timeout| *timeout < DEFAULT_STEP_TIMEOUT_S) {
        time = format!("{time}, timeout {}", format_time_limit(timeout));
    }
    let prefix = format!("{}  {time}", style(&step.name).bold());
    let prefix = truncate_to_fit(&prefix, columns, 2);
    // After a resume the step may be older than the run as this process knows it.
    let started = view.started.filter(|started| *started <= step.started);
    let all = started
        .map(|started| format!(", {} in all", format_elapsed(seconds_between(started, now))));
    let remaining = view.remaining.estimate_at(now);
    let left =
        remaining.map(|estimate| format!(", about {} left", format_elapsed(estimate.seconds)));
    let (all, left) = (all.unwrap_or_default(), left.unwrap_or_default());
    let whole = format!("step {} of {}{all}{left}", step.number, view.steps);
    let brief = format!("step {} of {}{left}", step.number, view.steps);
    let short = format!("{}/{}", step.number, view.steps);
    let left = columns.saturating_sub(2 + measure_text_width(&prefix));
    let fitting =
        [whole, brief, short].into_iter().find(|text| measure_text_width(text) + 2 <= left);
    BarState {
        template: "{spinner:.cyan} {prefix}{wide_msg:>.dim}".to_owned(),
        prefix,
        message: fitting.unwrap_or_default(),
        ..BarState::default()
    }
}

/// `━━━━━━╸───  2.22 GiB of 2.84 GiB  186 MB/s  3 s left  1 of 4 layers`
fn transfers_bar(step: &ActiveStep, now: Timestamp, columns: usize) -> BarState {
    let sum = step.transfers.sum(now);
    let facts = [sum.format_facts(), vec![sum.format_parts()]].concat();
    let room = columns.saturating_sub(2);
    let free_columns = room.saturating_sub(measure_text_width(&facts.join("  ")) + 2);
    let bar = free_columns.clamp(10, 30);
    // No fact is cut: those without room are omitted.
    let mut left = room.saturating_sub(bar);
    let fitting = facts.into_iter().filter(|fact| {
        let wide = measure_text_width(fact) + 2;
        let fits = wide <= left;
        left -= if fits { wide } else { 0 };
        fits
    });
    let message = fitting.collect::<Vec<_>>().join("  ");
    let template = match sum.total {
        0 => "  {msg}".to_owned(),
        _ => format!("  {{bar:{bar}.cyan/dim}}  {{msg}}"),
    };
    BarState { template, message, done: sum.done, total: sum.total, ..BarState::default() }
}

/// `model-00001-of-00004.safetensors     downloading ━━━━━━━━╸───  3.30 GiB of 4.56 GiB`
fn transfer_bar(part: &Transfer, name: usize, columns: usize) -> BarState {
    let doing = match part.state {
        TransferState::Extracting => "extracting ",
        TransferState::Verifying => "verifying  ",
        _ => "downloading",
    };
    let name = pad_str(&part.part, name, Alignment::Left, Some("…"));
    let prefix = format!("    {name} {doing}");
    let Some(total) = part.total else {
        return BarState { template: "{prefix}".to_owned(), prefix, ..BarState::default() };
    };
    let done = part.current.unwrap_or(0);
    let message = format!("  {} of {}", format_bytes(done), format_bytes(total));
    let room = columns.saturating_sub(measure_text_width(&prefix) + 1);
    let bar = room.saturating_sub(measure_text_width(&message)).clamp(6, 12);
    let fits = bar + measure_text_width(&message) <= room;
    BarState {
        template: format!("{{prefix}} {{bar:{bar}.cyan/dim}}{{msg}}"),
        prefix,
        message: if fits { message } else { String::new() },
        done,
        total,
    }
}

/// The text in the columns that are left after so many.
fn truncate_to_fit(text: &str, columns: usize, reserved: usize) -> String {
    truncate_str(text, columns.saturating_sub(reserved), "…").into_owned()
}
