//! One command of the recipe, whatever kind it is.

use std::time::Duration;

use super::error::PlanError;
use super::{Builder, expression, render_map};
use crate::plan::step::{ExecStep, Purpose};
use crate::recipe::expression::Scope;
use crate::recipe::model::{Measurement, Ordered, Setup, SharedCommand, Template};

/// The longest time of a step that names none: a day.
const DEFAULT_TIMEOUT_S: u64 = 24 * 3600;

impl Builder<'_> {
    pub(super) fn exec(
        &self,
        purpose: Purpose,
        run: String,
        command: &Command<'_>,
        scope: &Scope,
    ) -> Result<ExecStep, PlanError> {
        let mut secrets = self.secrets();
        secrets.retain(|name| names(&run, name));
        Ok(ExecStep {
            purpose,
            run,
            shell: command
                .shell
                .or(self.recipe.container.shell.as_ref())
                .cloned(),
            env: command
                .env
                .map_or(Ok(Vec::new()), |env| render_map("env", env, scope))?,
            secrets,
            workdir: command
                .workdir
                .map(|workdir| expression("workdir", workdir, scope))
                .transpose()?,
            user: command.user.cloned(),
            timeout_s: command
                .timeout
                .map_or(DEFAULT_TIMEOUT_S, |timeout| timeout.as_secs().max(1)),
            silence_s: command.silence.map(|silence| silence.as_secs()),
            results: Vec::new(),
        })
    }
}

impl Builder<'_> {
    /// Secrets that commands may name: the recipe's, and those that `--secret` gives.
    pub(super) fn secrets(&self) -> Vec<String> {
        let mut secrets = self.recipe.secrets.clone();
        secrets.extend(
            self.choices
                .secrets
                .iter()
                .filter(|name| !self.recipe.secrets.contains(name))
                .cloned(),
        );
        secrets
    }
}

/// Whether a command names a variable.
pub(super) fn names(run: &str, variable: &str) -> bool {
    run.match_indices(variable).any(|(start, _)| {
        let boundary = |character: Option<char>| {
            !character
                .is_some_and(|character| character.is_ascii_alphanumeric() || character == '_')
        };
        boundary(run[..start].chars().next_back())
            && boundary(run[start + variable.len()..].chars().next())
    })
}

/// The keys that every kind of command has.
#[derive(Default)]
pub(super) struct Command<'a> {
    shell: Option<&'a Vec<String>>,
    env: Option<&'a Ordered<Template>>,
    workdir: Option<&'a Template>,
    user: Option<&'a String>,
    timeout: Option<Duration>,
    silence: Option<Duration>,
}

impl<'a> From<&'a Setup> for Command<'a> {
    fn from(setup: &'a Setup) -> Self {
        Self {
            shell: setup.shell.as_ref(),
            env: Some(&setup.env),
            workdir: setup.workdir.as_ref(),
            user: setup.user.as_ref(),
            timeout: setup.timeout,
            silence: None,
        }
    }
}

impl<'a> From<&'a SharedCommand> for Command<'a> {
    fn from(command: &'a SharedCommand) -> Self {
        Self {
            shell: command.shell.as_ref(),
            env: Some(&command.env),
            workdir: command.workdir.as_ref(),
            user: command.user.as_ref(),
            timeout: command.timeout,
            silence: command.silence,
        }
    }
}

impl<'a> From<&'a Measurement> for Command<'a> {
    fn from(measurement: &'a Measurement) -> Self {
        Self {
            shell: measurement.shell.as_ref(),
            env: Some(&measurement.env),
            workdir: measurement.workdir.as_ref(),
            user: measurement.user.as_ref(),
            timeout: measurement.timeout,
            silence: measurement.silence,
        }
    }
}
