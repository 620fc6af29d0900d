//! The summary of a run, from its files.

use std::path::Path;

use crate::{DecidingFigure, RunIndex, RunState, RunSummary};
use retrial_host::record::HostRecord;
use retrial_plan::Plan;
use retrial_results::evidence::environment::{gpus, image_digest, rocm_in_container};
use retrial_results::evidence::measured;
use retrial_results::verdict::Verdict;
use retrial_store::clock::Moment;
use retrial_store::import::ImportOrigin;
use retrial_store::journal::{Event, EventKind, JournalState};
use retrial_store::open::read_beneath;
use retrial_store::{Home, RunDirectory};

/// The largest journal that is read, bytes.
const MAX_JOURNAL_BYTES: u64 = 64 << 20;

/// Opens the index of a home, updated from its run directories.
pub fn open_index(home: &Home) -> RunIndex {
    RunIndex::open(home, read_summary)
}

/// Reads a run's summary; fields that its files do not state are empty.
pub fn read_summary(directory: &RunDirectory) -> RunSummary {
    let mut row = RunSummary {
        id: directory.id().to_owned(),
        path: directory.path().to_owned(),
        ..RunSummary::default()
    };
    // Nobody selects runs by the number of a build: `7.2.4` of `7.2.4-120`.
    let rocm = rocm_in_container(directory);
    row.rocm = rocm.map(|rocm| rocm.release().to_string()).unwrap_or_default();
    row.imported_from = ImportOrigin::read(directory).map(|mark| mark.host);
    row.read_journal(directory);
    let plan = directory.read_json::<Plan>("plan.json").ok();
    if let Ok(host) = directory.read_host_record() {
        row.fill_from_host(host);
    }
    if let Ok(verdict) = directory.read_json::<Verdict>("verdict.json") {
        row.measured = plan.as_ref().and_then(|plan| {
            let measurements = measured::measurements_of_verdict(plan, &verdict);
            serde_json::to_string(&measurements).ok()
        });
        row.fill_from_verdict(&verdict);
    }
    if let Some(plan) = plan {
        row.fill_from_plan(plan);
    }
    row
}

impl RunSummary {
    /// Reads only the journal's events of the whole run: parsing all of them would take longer than
    /// everything else together.
    fn read_journal(&mut self, directory: &RunDirectory) {
        let journal = Path::new("journal.jsonl");
        let bytes = read_beneath(directory.path(), journal, MAX_JOURNAL_BYTES).unwrap_or_default();
        let mut state = JournalState::default();
        let mut ended: Option<Moment> = None;
        let (mut submitted, mut is_submitted) = (None, false);
        for event in bytes.split(|byte| *byte == b'\n').filter_map(parse_run_event) {
            is_submitted = match event.what {
                EventKind::Submitting { .. } => {
                    submitted.get_or_insert(event.time);
                    true
                }
                EventKind::RunStarted { .. } | EventKind::RunEnded { .. } => false,
                _ => is_submitted,
            };
            if matches!(event.what, EventKind::RunEnded { .. }) {
                ended = Some(event.moment());
            }
            state.apply_event(&event);
        }
        let started = state.since.as_ref().map(|since| match &ended {
            // The clock may have been set meanwhile: the duration is the difference.
            Some(ended) => since.to_clock_of(ended),
            None => since.time,
        });
        self.started = started.or(submitted);
        self.digest = image_digest(&state);
        if let Some((exit_code, reason)) = state.over {
            self.run_state = RunState::Ended;
            self.ended = ended.map(|ended| ended.time);
            self.exit_code = Some(exit_code);
            self.reason = reason.map(|reason| reason.to_string());
        }
        if is_submitted {
            self.run_state = RunState::Submitted;
        }
    }

    fn fill_from_plan(&mut self, plan: Plan) {
        self.recipe = plan.recipe;
        self.recipe_hash = plan.recipe_hash;
        self.title = plan.title;
        self.submission = plan.submission;
        self.batch = plan.batch;
        self.variant = plan.variant;
        let params = plan.params.into_iter();
        self.params = params.map(|(name, value)| (name, value.to_string())).collect();
        self.modified = plan.modified;
        self.image = plan.image;
    }

    fn fill_from_host(&mut self, record: HostRecord) {
        let host = record.host.unwrap_or_default();
        self.tool = record.tool;
        self.gpus = gpus(&host.gpus);
        self.host = host.hostname;
        self.rocm_host = host.rocm.map(|rocm| rocm.release().to_string()).unwrap_or_default();
        self.driver = host.amdgpu.or(host.nvidia).unwrap_or_default();
        self.kernel = host.kernel;
    }

    fn fill_from_verdict(&mut self, verdict: &Verdict) {
        self.deciding = DecidingFigure::from_verdict(verdict);
        self.outcome = Some(verdict.outcome);
        self.qualifiers = verdict.qualified_outcome().kinds;
        self.sentence = verdict.sentence();
    }
}

/// Parses an event of the whole run; none for an event of a step.
fn parse_run_event(line: &[u8]) -> Option<Event> {
    // As `Event` writes it; in a text of another event the quotes would be escaped.
    const RUN_EVENT_KINDS: [&str; 5] =
        ["submitting", "run_started", "run_ended", "image", "model_resolved"];
    let text = std::str::from_utf8(line).ok()?;
    let (_, event) = text.split_once("\"event\":\"")?;
    let (event, _) = event.split_once('"')?;
    if !RUN_EVENT_KINDS.contains(&event) {
        return None;
    }
    serde_json::from_str(text).ok()
}
