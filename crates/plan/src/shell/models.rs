//! Models of the hub, in shell: fetched by the hub's own client into a directory of real files.

use std::fmt::Write as _;

use super::shell_quote;
use crate::commit::commit_placeholder;
use crate::model::{ModelFetch, MountForm};
use crate::step::Plan;

/// The location of models; empty for a plan without.
pub(super) fn models_location(plan: &Plan) -> String {
    if plan.fetched_models().next().is_none() {
        return String::new();
    }
    let cache = plan.cache.replace('}', "\\}");
    format!(
        "\n# models, as copies: `retrial run` takes them from the hub's own cache\nmodels=\"${{RETRIAL_CACHE:-{cache}}}/models\"\n"
    )
}

/// Fetches a model, and determines its commit if the plan uses it.
pub(super) fn download_commands(plan: &Plan, model: &ModelFetch) -> String {
    let place = model_directory(model);
    let mut line = format!(
        "hf download {} --revision {}",
        shell_quote(&model.repository),
        shell_quote(&model.revision)
    );
    for (flag, globs) in [("--include", &model.allow), ("--exclude", &model.ignore)] {
        for glob in globs {
            let _ = write!(line, " {flag} {}", shell_quote(glob));
        }
    }
    let variable = commit_variable(&model.model);
    let learn = if model.mount.form == MountForm::HubCache {
        line.push_str(" --cache-dir \"$models\"/hub");
        format!("{variable}=$(cat {place}/refs/{})", shell_quote(&model.revision))
    } else {
        let _ = write!(line, " --local-dir {place}");
        // The first line of its metadata for each file.
        format!(
            "{variable}=$(find {place}/.cache/huggingface/download -name '*.metadata' -exec head -n 1 {{}} \\; -quit)"
        )
    };
    if uses_commit(plan, &model.model) {
        let _ = write!(line, "\n{learn}");
    }
    line
}

pub(super) fn model_mount_flags(plan: &Plan) -> Vec<String> {
    let mounts = plan.fetched_models().map(|model| {
        let target = &model.mount.target;
        let (target, rights) = match model.mount.form {
            MountForm::Directory => (target.clone(), ":ro"),
            // A copy: writing to it does no harm.
            MountForm::Files => (target.clone(), ""),
            MountForm::HubCache => (format!("{target}/{}", model.cache_name()), ":ro"),
        };
        format!("--volume={}:{}{rights}", model_directory(model), shell_quote(&target))
    });
    mounts.collect()
}

/// The script with the commits that are known only when it runs: they are in quoted words.
pub(super) fn insert_commits(plan: &Plan, mut script: String) -> String {
    for model in plan.fetched_models() {
        let commit = format!("'\"${}\"'", commit_variable(&model.model));
        script = script.replace(&commit_placeholder(&model.model), &commit);
    }
    script
}

fn uses_commit(plan: &Plan, model: &str) -> bool {
    let text = serde_json::to_string(plan).unwrap_or_default();
    text.contains(&commit_placeholder(model))
}

fn commit_variable(model: &str) -> String {
    let name = model.replace(|character: char| !character.is_ascii_alphanumeric(), "_");
    format!("commit_of_{name}")
}

fn model_directory(model: &ModelFetch) -> String {
    if model.mount.form == MountForm::HubCache {
        return format!("\"$models\"/hub/{}", shell_quote(&model.cache_name()));
    }
    let name = model.repository.replace('/', "--");
    let revision = model.revision.replace('/', "--");
    format!("\"$models\"/{}", shell_quote(&format!("{name}/{revision}")))
}
