//! `retrial runs`: the runs there are.

use serde_json::{Value, json};

use super::arguments::{Global, Output};
use super::failure::Failure;
use super::{open, terminal};
use crate::journal::{Event, State};
use crate::plan::Plan;
use crate::store::journal::Journal;
use crate::store::lock::RunLock;
use crate::verdict::{ExitCode, Verdict};

/// Lists the runs, newest last.
pub fn runs(global: &Global) -> Result<ExitCode, Failure> {
    let home = open::home(global);
    let mut rows = Vec::new();
    for id in home.run_ids() {
        let run = home.find(&id)?;
        let title = run
            .read_json::<Plan>("plan.json")
            .map(|plan| plan.title)
            .unwrap_or_default();
        let state = State::of(&Journal::read::<Event>(&run.journal()).unwrap_or_default());
        let verdict: Option<Verdict> = run.read_json("verdict.json").ok();
        let stands = match (&verdict, RunLock::holder(&run.lock()), &state.over) {
            (_, Some(pid), _) => format!("running (process {pid})"),
            (Some(verdict), None, _) => verdict.outcome.to_string(),
            (None, None, Some((130, _))) => "stopped".to_owned(),
            (None, None, Some((_, because))) => {
                because.clone().unwrap_or_else(|| "failed".to_owned())
            }
            (None, None, None) => "interrupted".to_owned(),
        };
        rows.push((id, stands, title));
    }
    if global.output == Output::Json {
        let rows: Vec<Value> = rows
            .into_iter()
            .map(|(id, stands, title)| json!({ "run": id, "state": stands, "title": title }))
            .collect();
        terminal::print(&format!("{}\n", Value::from(rows)));
        return Ok(ExitCode::Success);
    }
    if rows.is_empty() {
        terminal::note(&format!("no runs in {} yet", home.runs().display()));
    }
    let width = rows.iter().map(|(id, _, _)| id.len()).max().unwrap_or(0);
    terminal::print_lines(
        rows.iter()
            .map(|(id, stands, title)| format!("{id:<width$}  {stands:<16}  {title}")),
    );
    Ok(ExitCode::Success)
}
