//! The third step: what can be checked without an engine. It comes before any question to a person.

use super::plan::PlannedRun;
use super::preflight::describe_with_fix;
use super::secrets::require_secrets;
use crate::app::failure::Failure;
use crate::app::options::GlobalOptions;
use retrial_host::checks::HostCheck;
use retrial_plan::Plan;

/// A run that can start on its host as far as is known without an engine, and is not approved yet.
pub struct CheckedRun<'a>(pub(super) PlannedRun<'a>);

/// A run that cannot start. Its plan tells what would need approval.
pub struct RefusedRun<'a> {
    pub run: Box<PlannedRun<'a>>,
    /// Why it cannot start.
    pub failure: Failure,
}

impl From<RefusedRun<'_>> for Failure {
    fn from(refused: RefusedRun<'_>) -> Self {
        refused.failure
    }
}

impl<'a> CheckedRun<'a> {
    pub fn plan(&self) -> &Plan {
        &self.0.plan
    }

    /// The run without its check.
    pub fn planned(&self) -> &PlannedRun<'a> {
        &self.0
    }

    /// Adds a check of the command's own.
    pub fn require(
        self,
        check: impl FnOnce(&Plan) -> Result<(), Failure>,
    ) -> Result<Self, RefusedRun<'a>> {
        match check(self.plan()) {
            Ok(()) => Ok(self),
            Err(failure) => Err(self.0.refuse(failure)),
        }
    }
}

impl<'a> PlannedRun<'a> {
    /// Checks the secrets of the run, and the requirements that its plan does not meet.
    pub fn check(self, global: &GlobalOptions) -> Result<CheckedRun<'a>, RefusedRun<'a>> {
        let secrets = require_secrets(global, &self.named_secrets, &self.plan);
        match secrets.and_then(|()| check_requirements(&self.plan, self.request.force)) {
            Ok(()) => Ok(CheckedRun(self)),
            Err(failure) => Err(self.refuse(failure)),
        }
    }

    fn refuse(self, failure: Failure) -> RefusedRun<'a> {
        RefusedRun { run: Box::new(self), failure }
    }
}

/// Refuses a host that does not meet the requirements of a plan, unless it is forced.
pub(super) fn check_requirements(plan: &Plan, force: bool) -> Result<(), Failure> {
    let stops = plan.unmet.iter().filter(|check| check.prevents_start());
    let lines: Vec<String> = stops.clone().map(describe_with_fix).collect();
    if lines.is_empty() || force {
        return Ok(());
    }
    let failure = Failure::host(format!(
        "this host does not meet the requirements of {}:\n{}",
        plan.recipe,
        lines.join("\n")
    ));
    // Nothing else that is missing can do without.
    let is_hardware = stops.clone().all(HostCheck::is_other_hardware);
    Err(if is_hardware {
        failure.with_help("run it anyway with --force: the verdict is then marked 'other hardware'")
    } else {
        failure
    })
}
