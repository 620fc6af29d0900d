//! The arguments of the tools, and the command line that each is. No argument approves anything, gives a secret, or
//! chooses an engine or a home.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::Deserialize;

use super::command_line::CommandLine;

/// The number of runs that are listed, unless the client asks for another.
const DEFAULT_RUN_COUNT: u32 = 20;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ListArguments {
    /// Only recipes with this text in their name or title
    part: Option<String>,
    /// Only recipes for this GPU: mi355x
    gpu: Option<String>,
    /// Only recipes of this round: v6.0
    round: Option<String>,
    /// Published figures instead of recipes
    published: bool,
}

impl From<ListArguments> for CommandLine {
    fn from(arguments: ListArguments) -> Self {
        let ListArguments { part, gpu, round, published } = arguments;
        let list = Self::new("list").option("--gpu", gpu).option("--round", round);
        list.flag("--published", published).words(part)
    }
}

/// A text, or a number as JSON has it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Scalar {
    Text(String),
    Integer(i64),
    Number(f64),
    Truth(bool),
}

impl fmt::Display for Scalar {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => text.fmt(formatter),
            Self::Integer(number) => number.fmt(formatter),
            Self::Number(number) => number.fmt(formatter),
            Self::Truth(is_true) => is_true.fmt(formatter),
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShowArguments {
    /// A built-in name (see `list`) or a path: ./mine.yaml
    recipe: String,
    /// Variants and parameters by name
    #[serde(default)]
    set: BTreeMap<String, Scalar>,
}

impl From<ShowArguments> for CommandLine {
    fn from(arguments: ShowArguments) -> Self {
        Self::new("show").settings(arguments.set).words([arguments.recipe])
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckArguments {
    /// Files: recipes, templates, batches, sites or rules
    files: Vec<String>,
}

impl From<CheckArguments> for CommandLine {
    fn from(arguments: CheckArguments) -> Self {
        Self::new("check").words(arguments.files)
    }
}

/// What is run of a recipe.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanArguments {
    /// A built-in name (see `list`) or a path: ./mine.yaml
    recipe: String,
    /// Variants and parameters by name
    #[serde(default)]
    set: BTreeMap<String, Scalar>,
    /// Only these scenarios
    #[serde(default)]
    scenarios: Vec<String>,
    /// Of a sweep only these points
    #[serde(default)]
    points: Vec<Scalar>,
    /// Only these modes: performance, accuracy, compliance
    #[serde(default)]
    modes: Vec<String>,
    /// The number of trials of each performance measurement: 3, or 3..8 for as many as decide
    trials: Option<Scalar>,
    /// Try the recipe in minutes; its figures are compared with nothing
    #[serde(default)]
    smoke_test: bool,
}

impl PlanArguments {
    pub fn plan(self) -> CommandLine {
        self.into_command_line("plan")
    }

    /// The run of this plan. The client's settings are not the user's.
    pub fn run(self) -> CommandLine {
        let has_settings = !self.set.is_empty();
        self.into_command_line("run").flag("--untrusted-settings", has_settings).in_background()
    }

    fn into_command_line(self, command: &'static str) -> CommandLine {
        CommandLine::new(command)
            .settings(self.set)
            .option("--scenario", self.scenarios)
            .option("--point", self.points.iter().map(ToString::to_string))
            .option("--mode", self.modes)
            .option("--trials", self.trials.map(|trials| trials.to_string()))
            .flag("--smoke-test", self.smoke_test)
            .words([self.recipe])
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JudgeArguments {
    /// A run or a batch (its id, a part of it, `last`), or a directory with results
    results: String,
    /// Judge by this recipe: a built-in name or a path
    recipe: Option<String>,
}

impl From<JudgeArguments> for CommandLine {
    fn from(arguments: JudgeArguments) -> Self {
        Self::new("judge").option("--recipe", arguments.recipe).words([arguments.results])
    }
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CompareArguments {
    /// Two or more runs (ids, parts of them, `last`), cells of batches (BATCH:CELL) or directories with results; the first
    /// is the baseline
    subjects: Vec<String>,
    /// Instead of subjects: compare the runs of the history along this axis: host, gpus, driver, image, rocm, or a variant
    by: Option<String>,
}

impl CompareArguments {
    /// Returns whether there is something to compare.
    pub fn is_complete(&self) -> bool {
        self.by.is_some() || self.subjects.len() > 1
    }
}

impl From<CompareArguments> for CommandLine {
    fn from(arguments: CompareArguments) -> Self {
        Self::new("compare").option("--by", arguments.by).words(arguments.subjects)
    }
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RunsArguments {
    /// Only runs of recipes with this text in their name or title
    recipe: Option<String>,
    /// Only runs with this outcome: reproduced, not-reproduced, inconclusive, invalid, failed, measured, running, stopped,
    /// interrupted
    outcome: Option<String>,
    /// The number of runs, the newest (default: 20)
    limit: Option<u32>,
}

impl From<RunsArguments> for CommandLine {
    fn from(arguments: RunsArguments) -> Self {
        let limit = arguments.limit.unwrap_or(DEFAULT_RUN_COUNT).to_string();
        Self::new("runs")
            .option("--recipe", arguments.recipe)
            .option("--outcome", arguments.outcome)
            .option("--limit", [limit])
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LogsArguments {
    /// A run's id, a part of it, or `last`
    run: String,
    /// Only this step, by name or number
    step: Option<String>,
}

impl From<LogsArguments> for CommandLine {
    fn from(arguments: LogsArguments) -> Self {
        let words = [arguments.run].into_iter().chain(arguments.step);
        Self::new("logs").prints_text().words(words)
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunArgument {
    /// The id of a run or a batch, a part of it, or `last`
    run: String,
}

impl RunArgument {
    pub fn resume(self) -> CommandLine {
        CommandLine::new("resume").in_background().words([self.run])
    }

    pub fn stop(self) -> CommandLine {
        CommandLine::new("stop").words([self.run])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a model writes them.
    #[test]
    fn numbers_need_no_quotes() {
        let written = r#"{ "recipe": "./own.yaml", "set": { "n": 2, "on": true }, "trials": 3 }"#;
        let arguments: PlanArguments = serde_json::from_str(written).unwrap();
        let line = arguments.plan();
        let words: Vec<&str> = line.arguments().collect();
        for word in ["--set=n=2", "--set=on=true", "--trials=3"] {
            assert!(words.contains(&word), "{words:?}");
        }
    }
}
