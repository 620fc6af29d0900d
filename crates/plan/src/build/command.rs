//! One command of the recipe, of any kind.

use itertools::Itertools as _;

use super::error::PlanError;
use super::{PlanBuilder, render_expression, render_map};
use crate::failure::FailureSigns;
use crate::step::{CommandPurpose, ExecStep};
use retrial_recipe::expression::ExpressionScope;
use retrial_recipe::model::{CommandOptions, Template};

/// The time limit of a step without one: a day.
const DEFAULT_TIMEOUT_S: u64 = 24 * 3600;

impl PlanBuilder<'_> {
    pub(super) fn exec_step(
        &self,
        purpose: CommandPurpose,
        place: &str,
        run: &Template,
        options: &CommandOptions,
        scope: &ExpressionScope,
    ) -> Result<ExecStep, PlanError> {
        let run = render_expression(place, run, scope)?;
        // Only the exit code decides about checks and setup steps.
        let failure = match purpose {
            CommandPurpose::Measure { .. } => FailureSigns::new(self.recipe, options),
            CommandPurpose::Prepare | CommandPurpose::Check { .. } => FailureSigns::default(),
        };
        let mut secrets = self.nameable_secrets();
        secrets.retain(|name| names_variable(&run, name));
        let shell = options.shell.as_ref().or(self.recipe.container.shell.as_ref());
        let workdir_template = options.workdir.as_ref();
        let workdir = workdir_template.map(|workdir| render_expression("workdir", workdir, scope));
        let timeout = options.timeout.map(|timeout| timeout.as_secs().max(1));
        Ok(ExecStep {
            purpose,
            run,
            shell: shell.cloned(),
            env: render_map("env", &options.env, scope)?,
            secrets,
            workdir: workdir.transpose()?,
            user: options.user.clone(),
            timeout_s: timeout.unwrap_or(DEFAULT_TIMEOUT_S),
            silence_s: options.silence.map(|silence| silence.as_secs()),
            max_log: options.max_log,
            failure,
            results: Vec::new(),
            needs: Vec::new(),
        })
    }

    /// Secrets that commands may name: the recipe's and those of `--secret`.
    pub(super) fn nameable_secrets(&self) -> Vec<String> {
        let secrets = self.recipe.secrets.iter().chain(&self.options.secrets);
        secrets.unique().cloned().collect()
    }
}

fn names_variable(run: &str, variable: &str) -> bool {
    run.match_indices(variable).any(|(start, _)| {
        let boundary = |character: Option<char>| {
            !character
                .is_some_and(|character| character.is_ascii_alphanumeric() || character == '_')
        };
        boundary(run[..start].chars().next_back())
            && boundary(run[start + variable.len()..].chars().next())
    })
}
