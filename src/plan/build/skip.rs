//! Steps that `--skip` and `--from` leave out.

use super::Builder;
use super::error::PlanError;
use crate::plan::options::Keep;
use crate::plan::step::{Action, Condition};

impl Builder<'_> {
    /// Marks the steps that `--skip` and `--from` leave out.
    pub(super) fn skip(&mut self) -> Result<(), PlanError> {
        for name in &self.options.skip {
            let mut found = false;
            for step in &mut self.steps {
                if step.name == *name || step.number.to_string() == *name {
                    step.when = Condition::Skipped {
                        because: format!("--skip {name}"),
                    };
                    found = true;
                }
            }
            if !found {
                return Err(self.no_such_step("--skip", name));
            }
        }
        if let Some(name) = &self.options.from {
            let Some(first) = self
                .steps
                .iter()
                .position(|step| step.name == *name || step.number.to_string() == *name)
            else {
                return Err(self.no_such_step("--from", name));
            };
            for step in &mut self.steps[..first] {
                let needed = matches!(
                    step.action,
                    Action::Create
                        | Action::Pull { .. }
                        | Action::Build { .. }
                        // It costs nothing where it is kept.
                        | Action::Populate(_)
                );
                if !needed {
                    step.when = Condition::Skipped {
                        because: format!("--from {name}"),
                    };
                }
            }
        }
        if self.options.keep == Keep::Always {
            self.notes
                .push("the container is kept at the end: `retrial clean` removes it".to_owned());
        }
        Ok(())
    }

    fn no_such_step(&self, option: &'static str, name: &str) -> PlanError {
        let near = self
            .steps
            .iter()
            .map(|step| (strsim::jaro_winkler(&step.name, name), &step.name))
            .filter(|(score, _)| *score > 0.8)
            .max_by(|left, right| left.0.total_cmp(&right.0));
        PlanError::NoSuchStep {
            option,
            name: name.to_owned(),
            hint: near
                .map(|(_, name)| format!(" (did you mean {name}?)"))
                .unwrap_or_default(),
            has: self
                .steps
                .iter()
                .map(|step| step.name.as_str())
                .collect::<Vec<_>>()
                .join(", "),
        }
    }
}
