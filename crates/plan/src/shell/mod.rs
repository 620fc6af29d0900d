//! The plan as a script that a person can paste into a terminal: `docker pull`, `docker run`, `docker exec`, as
//! in the vendor's guide. The container that it creates has the same configuration as that of `retrial run`.

use std::fmt::Write as _;

use itertools::join;

use super::options::PullPolicy;
use super::step::{Action, BuildStep, ExecStep, Plan, Step};
use retrial_container::ContainerSpec;
pub use retrial_recipe::quote::shell_quote;

mod cached_directories;
mod files;
mod models;
mod nodes;
mod output;
mod script;
mod services;

pub use files::RecipeFile;
use files::quote_word;
pub use script::{Script, ScriptStep, plan_script};

/// Ends the script if the source of a mount is missing.
const CHECK_MOUNTS_FUNCTION: &str = r#"
# Docker would mount an empty directory where a source is missing
need() { for source; do [ -e "$source" ] || { echo "error: the mount's source $source does not exist" >&2; exit 1; }; done; }
"#;

/// Runs a command in bash if the image has it, else in sh; stops at the first error and, where the shell can,
/// at an error inside a pipe.
const RUN_SCRIPT: &str = r#"if command -v bash >/dev/null 2>&1; then exec bash -eo pipefail -c "$0"; fi; if (set -o pipefail) 2>/dev/null; then exec sh -eo pipefail -c "$0"; fi; exec sh -e -c "$0""#;

/// Renders the script. It writes those of a built-in recipe's `files` that the plan needs; without them, the
/// recipe's directory must exist where the script runs.
pub fn render_script(plan: &Plan, files: &[RecipeFile]) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "#!/bin/sh\n# {}", to_one_line(&plan.title));
    let settings = plan.setting_flags();
    let words = join([&plan.recipe].into_iter().chain(&settings), " ");
    let _ = writeln!(out, "# made by `retrial plan {} --format shell`", to_one_line(&words));
    for note in &plan.notes {
        let _ = writeln!(out, "# note: {}", to_one_line(note));
    }
    let script = plan_script(plan, files);
    let _ = write!(out, "set -eu\n{}{}", script.roles, script.definitions);
    for scripted in &script.steps {
        render_step(&mut out, plan, scripted);
    }
    out
}

fn render_step(out: &mut String, plan: &Plan, scripted: &ScriptStep) {
    let step = &scripted.step;
    let notes = [
        step.describe_machines().map(str::to_owned),
        Some(step.when.to_string()).filter(|when| !when.is_empty()),
    ];
    let condition = match join(notes.into_iter().flatten(), ", ") {
        none if none.is_empty() => none,
        notes => script::insert_late_values(plan, format!(" ({notes})")),
    };
    let _ = writeln!(out, "\n# {:02} {}{condition}", step.number, step.name);
    // The user watches a pasted command.
    let signs = step.recipe_command().map(|exec| exec.failure.describe_conditions());
    for sign in signs.into_iter().flatten() {
        let _ = writeln!(out, "# `retrial run` fails it {}", to_one_line(&sign));
    }
    if scripted.machines_meet {
        let _ = writeln!(out, "meet {}", step.number);
    }
    if scripted.is_optional() {
        for line in scripted.commands.lines() {
            let _ = writeln!(out, "# {line}");
        }
    } else {
        let _ = writeln!(out, "{}", scripted.commands_by_role());
    }
}

pub(super) fn pull_line(reference: &str) -> String {
    format!("docker pull {}", shell_quote(reference))
}

pub(super) fn build_line(build: &BuildStep) -> String {
    let context = &build.context;
    let mut line = format!("docker build -t {}", shell_quote(&build.tag));
    for (name, value) in &build.args {
        let _ = write!(line, " --build-arg {}", shell_quote(&format!("{name}={value}")));
    }
    let dockerfile = quote_word(&format!("{context}/{}", build.dockerfile));
    let _ = write!(line, " -f {dockerfile} {}", quote_word(context));
    line
}

fn step_commands(plan: &Plan, step: &Step, name: &str) -> String {
    match &step.action {
        Action::Pull { reference, policy } => {
            let (pull, image) = (pull_line(reference), shell_quote(reference));
            let has = format!("docker image inspect {image} >/dev/null");
            match policy {
                PullPolicy::Always => pull,
                PullPolicy::Missing => format!("{has} 2>&1 || {pull}"),
                PullPolicy::Never => {
                    let message = format!(
                        "error: the engine has no image {reference}, and the plan does not pull it"
                    );
                    format!("{has} || {{ echo {} >&2; exit 1; }}", shell_quote(&message))
                }
            }
        }
        Action::Build(build) => build_line(build),
        Action::FetchModel(model) => models::download_commands(plan, model),
        Action::CopyOut { path, to } => cached_directories::copy_out_commands(plan, name, path, to),
        Action::Populate(populate_step) => {
            cached_directories::populate_commands(plan, step, populate_step, name)
        }
        Action::Create => {
            docker_run_command(plan, &plan.container, name, step_mount_flags(plan, step))
        }
        Action::Exec(exec) => output::log_output(plan, exec, &docker_exec_command(exec, name)),
        Action::Host(exec) => cached_directories::host_command(exec),
        Action::StartService(service) => services::start_commands(plan, step, service, name),
        Action::StopService(ending) => services::stop_commands(plan, ending, name),
        Action::Collect { measurement, trial, path, .. } => {
            let to = output::trial_results_directory(plan, *measurement, *trial);
            let from = if path.contains(['*', '?', '[']) {
                let list = shell_quote(&format!("ls -d {path}"));
                format!("\"{name}:$(docker exec {name} sh -c {list})/.\"")
            } else {
                shell_quote(&format!("{name}:{path}/."))
            };
            format!("mkdir -p {to}\ndocker cp {from} {to}", to = shell_quote(&to))
        }
        Action::Judge => {
            output::save_changed_options(plan) + &plan.judge_command(output::RESULTS_DIRECTORY)
        }
        Action::Remove => format!("docker rm -f {name}"),
    }
}

/// The mounts that the plan's own steps give a container, as words of the shell.
fn step_mount_flags(plan: &Plan, step: &Step) -> Vec<String> {
    let mut mounts = models::model_mount_flags(plan);
    mounts.extend(cached_directories::cached_mount_flags(plan, step.number));
    mounts
}

/// `docker run -d` with the options of the container, and mounts that earlier steps created. It pulls no image:
/// a missing one is an error.
fn docker_run_command(
    plan: &Plan,
    container: &ContainerSpec,
    name: &str,
    mounts: Vec<String>,
) -> String {
    let mut words = vec![format!("docker run -d --pull=never --name {name}")];
    let options = container.run_options();
    words.extend(options.iter().map(|option| quote_word(&option.to_string())));
    words.extend(mounts);
    let (commands, flags) = cached_directories::cache_mount_commands(plan, container);
    words.extend(flags);
    let command = join(container.command.iter().map(|word| shell_quote(word)), " ");
    words.push(format!("{} {command}", shell_quote(&container.image)));
    if container.mounts.is_empty() {
        return commands + &wrap_words(&words);
    }
    let sources = container.mounts.iter().map(|mount| quote_word(&mount.source));
    format!("{commands}need {}\n{}", join(sources, " "), wrap_words(&words))
}

fn docker_exec_command(exec: &ExecStep, name: &str) -> String {
    let options = exec_options(exec);
    let shell = shell_words(exec);
    format!("docker exec{options} {name} {shell} {}", shell_quote(&exec.run))
}

/// The options of `docker exec`, each after a space.
fn exec_options(exec: &ExecStep) -> String {
    let mut line = String::new();
    for (key, value) in &exec.env {
        let _ = write!(line, " -e {}", shell_quote(&format!("{key}={value}")));
    }
    for secret in &exec.secrets {
        let _ = write!(line, " -e {secret}");
    }
    if let Some(workdir) = &exec.workdir {
        let _ = write!(line, " -w {}", shell_quote(workdir));
    }
    if let Some(user) = &exec.user {
        let _ = write!(line, " -u {}", shell_quote(user));
    }
    line
}

/// The shell that takes the command as its next word.
fn shell_words(exec: &ExecStep) -> String {
    let Some(words) = &exec.shell else {
        return "sh -c \"$run\"".to_owned();
    };
    let mut line: Vec<String> = words.iter().map(|word| shell_quote(word)).collect();
    if !accepts_command_text(words) {
        line.push("-c".to_owned());
    }
    line.join(" ")
}

/// The words that run a short command by a step's shell.
pub fn inline_command(shell: Option<&[String]>, run: &str) -> Vec<String> {
    let default = ["sh", "-c", RUN_SCRIPT].map(str::to_owned);
    let mut words = shell.map_or_else(|| default.to_vec(), <[String]>::to_vec);
    if shell.is_some() && !accepts_command_text(&words) {
        words.push("-c".to_owned());
    }
    words.push(run.to_owned());
    words
}

/// Whether the shell's last word makes it take the command as text (`-c`, `-lc`, `-ilc`).
pub fn accepts_command_text(words: &[String]) -> bool {
    words
        .last()
        .is_some_and(|word| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c'))
}

/// The name of the container in the script: the recipe's last part.
pub fn container_name(recipe: &str) -> String {
    let trimmed = recipe
        .trim_end_matches('/')
        .trim_end_matches("/recipe.yaml")
        .trim_end_matches(".yaml")
        .trim_end_matches(".yml");
    let last = trimmed.rsplit('/').next().unwrap_or(trimmed);
    let is_odd = |character: char| !character.is_ascii_alphanumeric() && !"_.-".contains(character);
    let ascii_name = last.replace(is_odd, "-");
    let clean = ascii_name.trim_matches(|character: char| !character.is_ascii_alphanumeric());
    if clean.is_empty() { "retrial".to_owned() } else { clean.to_owned() }
}

/// Several words a line, continued with a backslash.
fn wrap_words(words: &[String]) -> String {
    const MAX_WIDTH: usize = 96;
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in words {
        if !line.is_empty() && line.len() + word.len() > MAX_WIDTH {
            lines.push(std::mem::replace(&mut line, " ".to_owned()));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines.join(" \\\n")
}

/// A comment must stay on its line.
fn to_one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_container_is_named_after_its_recipe() {
        assert_eq!(
            container_name("mlperf-inference/v6.0/amd/llama2-70b-mi355x"),
            "llama2-70b-mi355x"
        );
        assert_eq!(container_name("./mine/recipe.yaml"), "mine");
        assert_eq!(container_name("./-x y.yaml"), "x-y");
    }
}
