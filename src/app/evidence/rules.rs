//! The rules of the round that a bundle's run was judged by, compared with the built-in ones.

use crate::app::catalog;
use retrial_bundle::verification::RulesComparison;
use retrial_plan::Plan;
use retrial_results::evidence::run::RunFiles;
use retrial_results::verdict::Verdict;
use retrial_run::judge_files;
use retrial_store::RunDirectory;
use retrial_store::journal::{Event, JournalState};

/// Compares the rules in a plan with the built-in ones.
pub fn compare_with_builtin(plan: &Plan) -> RulesComparison {
    let Some(name) = plan.describe_rules() else {
        return RulesComparison::None;
    };
    let builtin = with_builtin_rules(plan);
    if builtin.measurement_rules().next().is_none() {
        return RulesComparison::Unknown { name };
    }
    let rules_of = |plan: &Plan| -> Vec<_> {
        let measurements = plan.measurements.iter();
        measurements.map(|one| one.rules.clone()).collect()
    };
    if rules_of(&builtin) == rules_of(plan) {
        RulesComparison::Same { name }
    } else {
        RulesComparison::Differ { name }
    }
}

/// The plan with the built-in rules of its round.
fn with_builtin_rules(plan: &Plan) -> Plan {
    let mut builtin = plan.clone();
    builtin.add_round_rules(catalog::built_in_rounds());
    builtin
}

/// The verdict on a run by the built-in rules of its round.
pub fn judge_by_builtin_rules(directory: &RunDirectory, plan: &Plan, events: &[Event]) -> Verdict {
    let state = JournalState::from_events(events);
    judge_files(&RunFiles::with_telemetry(
        directory,
        &with_builtin_rules(plan),
        &state,
    ))
}
