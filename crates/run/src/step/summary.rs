//! A step in one line, for its start in the journal and in progress.

use retrial_plan::step::{Action, Step};

/// The first line of a script, with `…` if there are more.
fn abbreviate_script(script: &str) -> String {
    let mut lines = script.lines().map(|line| line.trim().trim_end_matches('\\'));
    let first = lines.find(|line| !line.is_empty()).unwrap_or_default();
    let mut words: Vec<&str> = first.split_whitespace().collect();
    if lines.any(|line| !line.is_empty()) {
        words.push("…");
    }
    words.join(" ")
}

/// A step in one line, for progress.
pub fn summarize_step(step: &Step) -> String {
    match &step.action {
        Action::Pull { reference, .. } => format!("pull {reference}"),
        Action::Build(build) => format!("build {}", build.tag),
        Action::FetchModel(model) => format!("fetch {} at {}", model.repository, model.revision),
        Action::Create => "create the container".to_owned(),
        Action::CopyOut { path, .. } => format!("copy {path} out of the image"),
        Action::Exec(_) | Action::Host(_) | Action::Populate(_) => step
            .recipe_command()
            .map_or_else(String::new, |command| abbreviate_script(&command.run)),
        Action::StartService(service) => {
            let command = abbreviate_script(&service.command.run);
            format!("{command}, until {}", service.describe_readiness())
        }
        Action::StopService(ending) => format!("stop {}: {}", ending.service, ending.stop),
        Action::Collect { path, .. } => format!("collect {path}"),
        Action::Judge => "judge".to_owned(),
        Action::Remove => "remove the container".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("make run", "make run")]
    #[case("\n  mkdir -p   /tmp/results\n  make run\n", "mkdir -p /tmp/results …")]
    #[case("make run \\\n  --all", "make run …")]
    #[case("make run\n\n", "make run")]
    #[case("", "")]
    fn a_script_is_shown_by_its_first_command(#[case] script: &str, #[case] shown: &str) {
        assert_eq!(abbreviate_script(script), shown);
    }
}
