//! The script before it is text: the definitions that its commands use, and the commands of each step.

use std::fmt::Write as _;

use itertools::join;

use super::{
    CHECK_MOUNTS_FUNCTION, RUN_SCRIPT, RecipeFile, cached_directories, container_name, files,
    models, nodes, output, services, shell_quote, step_commands,
};
use crate::options::KeepContainer;
use crate::step::{Action, Plan, Step, StepCondition};

/// A plan as commands of a shell.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    /// The roles of several machines, and how these wait for each other; empty for one.
    pub roles: String,
    /// Assigns a machine's values by hand, in place of `roles`; none for one machine.
    pub node_variables: Option<String>,
    /// Functions, variables and files that the commands of the steps use.
    pub definitions: String,
    /// The steps that have commands, in the order in which they are executed.
    pub steps: Vec<ScriptStep>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ScriptStep {
    pub step: Step,
    /// Its commands, lines without an end.
    pub commands: String,
    /// All machines must have come to this step before one of them continues.
    pub machines_meet: bool,
}

impl ScriptStep {
    /// Whether a person decides if its commands are executed: the script has them as comments.
    pub fn is_optional(&self) -> bool {
        matches!(
            self.step.when,
            StepCondition::Skipped { .. }
                | StepCondition::UntilDecided { .. }
                | StepCondition::Unless { keep: KeepContainer::Always }
        )
    }

    /// Its commands, executed only on the machines of the step.
    pub fn commands_by_role(&self) -> String {
        nodes::limit_to_machines(&self.step, &self.commands)
    }
}

/// Makes the script of a plan. It writes those of a built-in recipe's `files` that the plan needs; without them,
/// the recipe's directory must exist where the script runs.
pub fn plan_script(plan: &Plan, files: &[RecipeFile]) -> Script {
    let mut script_plan = plan.preview();
    let written = files::use_written_files(&mut script_plan, files);
    let plan = &script_plan;
    let name = container_name(&plan.recipe);
    let definitions = define_functions(plan, &files::write_files_commands(&written), &name);
    // The verdict is the last command, so the script exits as `retrial run` does.
    let is_judge = |step: &&Step| matches!(step.action, Action::Judge);
    let (judge, others): (Vec<&Step>, Vec<&Step>) = plan.steps.iter().partition(is_judge);
    let mut steps: Vec<ScriptStep> = Vec::new();
    let mut previous = None;
    for step in others.into_iter().chain(judge) {
        let commands = step_commands(plan, step, &name);
        if commands.is_empty() {
            continue;
        }
        let mut scripted = ScriptStep {
            step: step.clone(),
            commands: insert_late_values(plan, commands.trim_end().to_owned()),
            machines_meet: false,
        };
        if !scripted.is_optional() {
            scripted.machines_meet = nodes::machines_meet(previous, step);
            previous = Some(step);
        }
        steps.push(scripted);
    }
    Script {
        roles: nodes::nodes_header(plan),
        node_variables: nodes::node_variables(plan),
        definitions: insert_late_values(plan, definitions),
        steps,
    }
}

/// The functions, variables and files that the plan's commands need.
fn define_functions(plan: &Plan, files: &str, name: &str) -> String {
    let mut out = String::new();
    let mut commands = plan.steps.iter().filter_map(Step::recipe_command);
    if commands.any(|exec| exec.shell.is_none()) {
        let _ = writeln!(
            out,
            "\n# bash if the image has it, else sh; stops at errors, also in pipes\nrun={}",
            shell_quote(RUN_SCRIPT)
        );
    }
    out.push_str(files);
    let mut containers = plan.containers();
    if containers.any(|container| !container.mounts.is_empty()) {
        out.push_str(CHECK_MOUNTS_FUNCTION);
    }
    out.push_str(output::logged_function(plan));
    out.push_str(&cached_directories::cache_location(plan));
    out.push_str(&models::models_location(plan));
    out.push_str(&services::services_header(plan));
    let failure = plan.nodes.map(|_| nodes::REPORT_FAILURE.to_owned());
    let ends = services::end_services_commands(plan, name);
    let at_end = join(failure.into_iter().chain(ends), "; ");
    if !at_end.is_empty() {
        let _ = writeln!(
            out,
            "trap {} EXIT\ntrap 'exit 130' INT\ntrap 'exit 143' TERM",
            shell_quote(&at_end)
        );
    }
    out
}

/// The text with the values that are known only when the script runs.
pub(super) fn insert_late_values(plan: &Plan, text: String) -> String {
    nodes::insert_node_values(models::insert_commits(plan, text))
}
