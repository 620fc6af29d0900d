//! A plan that may be executed. There are three ways to one: approval, a run that was approved when it was created,
//! and an approved plan for another host or at another time, if that needs nothing more.

use super::plan::PlannedRun;
use crate::app::failure::Failure;
use retrial_plan::{BatchPosition, Plan};

/// A plan whose privileges are approved: only such a plan is prepared and executed.
#[derive(Clone)]
pub struct ApprovedPlan {
    pub(super) plan: Plan,
}

impl ApprovedPlan {
    /// The plan in the directory of a run.
    pub fn of_created_run(plan: Plan) -> Self {
        Self { plan }
    }

    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The plan as a trial run of a batch.
    #[must_use]
    pub fn in_batch(mut self, position: BatchPosition) -> Self {
        self.plan.batch = Some(position);
        self
    }

    /// The plan with these GPUs, and the recipe's directory, of the node that executes it.
    #[must_use]
    pub fn on_node(mut self, gpus: Vec<String>, directory: Option<String>) -> Self {
        self.plan.gpus = gpus;
        self.plan.directory = directory;
        self
    }

    /// Approves a plan of the same recipe for other GPUs or at another time. A link of an earlier run may lead
    /// elsewhere since.
    pub fn approve_again(&self, run: PlannedRun<'_>) -> Result<Self, Failure> {
        if run.opened.entry.is_builtin() {
            return Ok(Self { plan: run.plan });
        }
        self.approve_here(run.plan)
    }

    /// Refuses a machine on which a plan needs a privilege that was not approved for another one.
    pub(super) fn approve_here(&self, here: Plan) -> Result<Self, Failure> {
        let Some(new) = here.unapproved_privilege(&self.plan) else {
            return Ok(Self { plan: here });
        };
        Err(Failure::usage(format!(
            "this node needs a privilege that was not approved: {} ({new})",
            new.name
        ))
        .with_help(format!(
            "plan and approve it there: retrial run {} --allow {}",
            self.plan.recipe, new.name
        )))
    }
}
