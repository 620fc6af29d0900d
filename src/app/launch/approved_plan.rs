//! A plan that may be executed. There are three ways to one: approval, a run that was approved when it was created,
//! and an approved plan for another host or at another time, if that needs nothing more.

use std::sync::Arc;

use super::plan::PlannedRun;
use crate::app::failure::Failure;
use retrial_plan::{BatchPosition, Plan};
use retrial_store::companions::StagedCompanions;

/// A plan whose privileges are approved: only such a plan is prepared and executed.
#[derive(Clone)]
pub struct ApprovedPlan {
    pub(super) plan: Plan,
    /// The copy of the recipe's files; none if it has none, or if the run's directory has it already.
    pub(super) companions: Option<Arc<StagedCompanions>>,
}

impl ApprovedPlan {
    /// The plan in the directory of a run.
    pub fn of_created_run(plan: Plan) -> Self {
        Self { plan, companions: None }
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

    /// The plan with these GPUs of the node that executes it.
    #[must_use]
    pub fn on_node(mut self, gpus: Vec<String>) -> Self {
        self.plan.gpus = gpus;
        self
    }

    /// Approves a plan of the same recipe for other GPUs or at another time. A link of an earlier run may lead
    /// elsewhere since, and the files next to the recipe may be others.
    pub fn approve_again(&self, run: PlannedRun<'_>) -> Result<Self, Failure> {
        let PlannedRun { opened, plan, companions, .. } = run;
        if plan.companions != self.plan.companions {
            let recipe = &plan.recipe;
            return Err(Failure::usage(format!(
                "files next to {recipe} changed since it was approved"
            ))
            .with_help("undo the change, or start again"));
        }
        let here = if opened.is_trusted() {
            Self { plan, companions: None }
        } else {
            self.approve_here(plan)?
        };
        Ok(Self { companions, ..here })
    }

    /// Refuses a machine on which a plan needs a privilege that was not approved for another one.
    pub(super) fn approve_here(&self, here: Plan) -> Result<Self, Failure> {
        let Some(new) = here.unapproved_privilege(&self.plan) else {
            return Ok(Self { plan: here, companions: self.companions.clone() });
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
