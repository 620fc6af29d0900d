//! The plan as a script that a person can paste into a terminal: `docker pull`, `docker run`, `docker exec`, as
//! in the vendor's guide. The container that it creates has the same configuration as that of `retrial run`.

use std::fmt::Write as _;

use itertools::join;

use super::options::{KeepContainer, PullPolicy};
use super::step::{Action, BuildStep, ExecStep, Plan, Step, StepCondition};
use retrial_container::ContainerSpec;
pub use retrial_recipe::quote::quote;

mod cached;
mod files;
mod models;
mod output;
mod services;

pub use files::RecipeFile;
use files::word;

/// Ends the script if the source of a mount is missing.
const CHECK_MOUNTS: &str = r#"
# Docker would mount an empty directory where a source is missing
need() { for source; do [ -e "$source" ] || { echo "error: the mount's source $source does not exist" >&2; exit 1; }; done; }
"#;

/// Runs a command in bash if the image has it, else in sh; stops at the first error and, where the shell can,
/// at an error inside a pipe.
const RUN: &str = r#"if command -v bash >/dev/null 2>&1; then exec bash -eo pipefail -c "$0"; fi; if (set -o pipefail) 2>/dev/null; then exec sh -eo pipefail -c "$0"; fi; exec sh -e -c "$0""#;

/// Renders the script. It writes those of a built-in recipe's `files` that the plan needs; without them, the
/// recipe's directory must exist where the script runs.
pub fn script(plan: &Plan, files: &[RecipeFile]) -> String {
    let mut plan = plan.clone();
    let written = files::take(&mut plan, files);
    let plan = &plan;
    let name = container_name(&plan.recipe);
    let mut out = String::new();
    let _ = writeln!(out, "#!/bin/sh\n# {}", one_line(&plan.title));
    let _ = writeln!(
        out,
        "# made by `retrial plan {} --format shell`",
        one_line(&plan.recipe)
    );
    for note in &plan.notes {
        let _ = writeln!(out, "# note: {}", one_line(note));
    }
    out.push_str("set -eu\n");
    let mut commands = plan.steps.iter().filter_map(Step::command);
    if commands.any(|exec| exec.shell.is_none()) {
        let _ = writeln!(
            out,
            "\n# bash if the image has it, else sh; stops at errors, also in pipes\nrun={}",
            quote(RUN)
        );
    }
    out.push_str(&files::header(&written));
    let mut containers = plan.containers();
    if containers.any(|container| !container.mounts.is_empty()) {
        out.push_str(CHECK_MOUNTS);
    }
    out.push_str(output::header(plan));
    out.push_str(&cached::header(plan));
    out.push_str(&models::header(plan));
    out.push_str(&services::header(plan, &name));
    // The verdict is the last command, so the script exits as `retrial run` does.
    let is_judge = |step: &&Step| matches!(step.action, Action::Judge);
    let (judge, others): (Vec<&Step>, Vec<&Step>) = plan.steps.iter().partition(is_judge);
    for step in others.into_iter().chain(judge) {
        let lines = lines_of(plan, step, &name);
        if lines.is_empty() {
            continue;
        }
        let condition = match step.when.to_string() {
            none if none.is_empty() => none,
            condition => format!(" ({condition})"),
        };
        let _ = writeln!(out, "\n# {:02} {}{condition}", step.number, step.name);
        // The user watches a pasted command.
        let signs = step.command().map(|exec| exec.failure.fragments());
        for sign in signs.into_iter().flatten() {
            let _ = writeln!(out, "# `retrial run` fails it {}", one_line(&sign));
        }
        let commented = matches!(
            step.when,
            StepCondition::Skipped { .. }
                | StepCondition::UntilDecided { .. }
                | StepCondition::Unless {
                    keep: KeepContainer::Always
                }
        );
        for line in lines.lines() {
            let _ = writeln!(out, "{}{line}", if commented { "# " } else { "" });
        }
    }
    models::with_commits(plan, out)
}

pub(super) fn pull_line(reference: &str) -> String {
    format!("docker pull {}", quote(reference))
}

pub(super) fn build_line(build: &BuildStep) -> String {
    let context = &build.context;
    let mut line = format!("docker build -t {}", quote(&build.tag));
    for (name, value) in &build.args {
        let _ = write!(line, " --build-arg {}", quote(&format!("{name}={value}")));
    }
    let dockerfile = word(&format!("{context}/{}", build.dockerfile));
    let _ = write!(line, " -f {dockerfile} {}", word(context));
    line
}

fn lines_of(plan: &Plan, step: &Step, name: &str) -> String {
    match &step.action {
        Action::Pull { reference, policy } => {
            let (pull, image) = (pull_line(reference), quote(reference));
            let has = format!("docker image inspect {image} >/dev/null");
            match policy {
                PullPolicy::Always => pull,
                PullPolicy::Missing => format!("{has} 2>&1 || {pull}"),
                PullPolicy::Never => {
                    let message = format!(
                        "error: the engine has no image {reference}, and the plan does not pull it"
                    );
                    format!("{has} || {{ echo {} >&2; exit 1; }}", quote(&message))
                }
            }
        }
        Action::Build(build) => build_line(build),
        Action::FetchModel(model) => models::download(plan, model),
        Action::CopyOut { path, to } => cached::copy_out(plan, name, path, to),
        Action::Populate(populate_step) => cached::populate(plan, step, populate_step, name),
        Action::Create => docker_run(plan, &plan.container, name, mounts(plan, step)),
        Action::Exec(exec) => output::logged(plan, exec, &docker_exec(exec, name)),
        Action::Host(exec) => cached::host(exec),
        Action::StartService(service) => services::start(plan, step, service, name),
        Action::StopService(ending) => services::stop(plan, ending, name),
        Action::Collect {
            measurement,
            trial,
            path,
            ..
        } => {
            let to = output::directory(plan, *measurement, *trial);
            let from = if path.contains(['*', '?', '[']) {
                let list = quote(&format!("ls -d {path}"));
                format!("\"{name}:$(docker exec {name} sh -c {list})/.\"")
            } else {
                quote(&format!("{name}:{path}/."))
            };
            format!("mkdir -p {to}\ndocker cp {from} {to}", to = quote(&to))
        }
        Action::Judge => output::options(plan) + &plan.judge_command(output::RESULTS),
        Action::Remove => format!("docker rm -f {name}"),
    }
}

/// The mounts that the plan's own steps give a container, as words of the shell.
fn mounts(plan: &Plan, step: &Step) -> Vec<String> {
    let mut mounts = models::mounts(plan);
    mounts.extend(cached::mounts(plan, step.number));
    mounts
}

/// `docker run -d` with the options of the container, and mounts that earlier steps created. It pulls no image:
/// a missing one is an error.
fn docker_run(plan: &Plan, container: &ContainerSpec, name: &str, mounts: Vec<String>) -> String {
    let mut words = vec![format!("docker run -d --pull=never --name {name}")];
    let options = container.options();
    words.extend(options.iter().map(|option| word(&option.to_string())));
    words.extend(mounts);
    let (commands, flags) = cached::cache_mounts(plan, container);
    words.extend(flags);
    let command = join(container.command.iter().map(|word| quote(word)), " ");
    words.push(format!("{} {command}", quote(&container.image)));
    if container.mounts.is_empty() {
        return commands + &wrap(&words);
    }
    let sources = container.mounts.iter().map(|mount| word(&mount.source));
    format!("{commands}need {}\n{}", join(sources, " "), wrap(&words))
}

fn docker_exec(exec: &ExecStep, name: &str) -> String {
    let options = exec_options(exec);
    let shell = shell_words(exec);
    format!("docker exec{options} {name} {shell} {}", quote(&exec.run))
}

/// The options of `docker exec`, each after a space.
fn exec_options(exec: &ExecStep) -> String {
    let mut line = String::new();
    for (key, value) in &exec.env {
        let _ = write!(line, " -e {}", quote(&format!("{key}={value}")));
    }
    for secret in &exec.secrets {
        let _ = write!(line, " -e {secret}");
    }
    if let Some(workdir) = &exec.workdir {
        let _ = write!(line, " -w {}", quote(workdir));
    }
    if let Some(user) = &exec.user {
        let _ = write!(line, " -u {}", quote(user));
    }
    line
}

/// The shell that takes the command as its next word.
fn shell_words(exec: &ExecStep) -> String {
    let Some(words) = &exec.shell else {
        return "sh -c \"$run\"".to_owned();
    };
    let mut line: Vec<String> = words.iter().map(|word| quote(word)).collect();
    if !takes_text(words) {
        line.push("-c".to_owned());
    }
    line.join(" ")
}

/// The words that run a short command by a step's shell.
pub fn inline(shell: Option<&[String]>, run: &str) -> Vec<String> {
    let default = ["sh", "-c", RUN].map(str::to_owned);
    let mut words = shell.map_or_else(|| default.to_vec(), <[String]>::to_vec);
    if shell.is_some() && !takes_text(&words) {
        words.push("-c".to_owned());
    }
    words.push(run.to_owned());
    words
}

/// Whether the shell's last word makes it take the command as text (`-c`, `-lc`, `-ilc`).
pub fn takes_text(words: &[String]) -> bool {
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
    let clean = last.replace(is_odd, "-");
    let clean = clean.trim_matches(|character: char| !character.is_ascii_alphanumeric());
    if clean.is_empty() {
        "retrial".to_owned()
    } else {
        clean.to_owned()
    }
}

/// Several words a line, continued with a backslash.
fn wrap(words: &[String]) -> String {
    let mut out = String::new();
    let mut width = 0;
    for word in words {
        if width > 0 && width + word.len() > 96 {
            out.push_str(" \\\n  ");
            width = 2;
        } else if width > 0 {
            out.push(' ');
            width += 1;
        }
        out.push_str(word);
        width += word.len();
    }
    out
}

/// A comment must stay on its line.
fn one_line(text: &str) -> String {
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
