//! The signs of a command's failure in the plan, and the search of its output for them; the cause of a failure, as
//! its output states it.

mod cause;
mod known_errors;
mod line_search;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use cause::{FailureCause, FailureKind, signal_name};
pub use known_errors::find_cause;
pub use line_search::{FailedLine, LineSearch};

use retrial_document::measures::format::format_time_limit;
use retrial_recipe::model::{CommandOptions, FailurePattern, ProgressRule, Recipe};

/// Signs by which the failure of a running command is detected.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureSigns {
    /// Patterns that lines of its output match.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output: Vec<FailurePattern>,
    /// The least progress that the output must show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<ProgressRule>,
    /// The longest that a dead child process may remain unreaped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dead_child: Option<Duration>,
    /// The longest that a child process with GPUs of its own may be missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing_child: Option<Duration>,
}

impl FailureSigns {
    /// The signs of a measurement or a service: its own, else the recipe's defaults.
    pub fn new(recipe: &Recipe, options: &CommandOptions) -> Self {
        let output = options.fail_on.as_ref().unwrap_or(&recipe.fail_on);
        Self {
            output: output.clone(),
            progress: options.progress.clone(),
            dead_child: options.dead_child.or(recipe.dead_child),
            missing_child: options.missing_child.or(recipe.missing_child),
        }
    }

    /// Returns whether the recipe states no sign.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns each as a fragment that completes 'it fails …'.
    pub fn describe_conditions(&self) -> Vec<String> {
        let on_line = |sign: &FailurePattern| {
            let after =
                sign.after.map(|after| format!(" after {}", format_time_limit(after.as_secs())));
            format!("on '{}'{}", sign.pattern, after.unwrap_or_default())
        };
        let mut fragments: Vec<String> = self.output.iter().map(on_line).collect();
        fragments.extend(self.progress.iter().map(|progress| {
            let within = format_time_limit(progress.within.as_secs());
            let word = if progress.once { "within" } else { "for" };
            format!("without '{}' {word} {within}", progress.pattern)
        }));
        fragments.extend(self.dead_child.map(|time| {
            let time = format_time_limit(time.as_secs());
            format!("with a dead child process for {time}")
        }));
        fragments.extend(self.missing_child.map(|time| {
            let time = format_time_limit(time.as_secs());
            format!("without the child process of a GPU for {time}")
        }));
        fragments
    }
}
