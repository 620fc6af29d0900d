//! The environment of a run: the facts in its `host.json`, its plan, its journal and its `packages.json`
//! on machine, drivers, settings, image, packages and environment. A run that came from another
//! machine has the same files.

mod host;
mod package_names;
mod packages;

use std::path::Path;
use std::sync::Arc;

use self::host::{driver_facts, gpu_facts as cards, machine_facts, setting_facts};
use crate::verdict::comparison::{Fact, FactGroup, RECIPE_DIGEST, RECIPE_NAME, VARIANT_PREFIX};
use retrial_container::ImageRef;
use retrial_document::{Diagnostics, MAX_DOCUMENT_BYTES, Source, parse_yaml};
use retrial_host::record::HostRecord;
use retrial_plan::Plan;
use retrial_plan::step::{Action, CommandPurpose};
use retrial_store::RunDirectory;
use retrial_store::journal::JournalState;
use retrial_store::open::read_text_beneath;

pub use host::describe_gpus as gpus;
pub(super) use packages::{describe_other_packages, read_packages};
pub use packages::{package_facts_of_run as packages, rocm_in_container};

const UNRECORDED_VALUE: &str = "(set, not recorded: it may be a secret)";

/// The fact that names the machines of a run other than its head.
pub const OTHER_MACHINES: &str = "other machines";

/// Returns every known fact of a run, in display order.
pub fn facts_of_run(directory: &RunDirectory) -> Vec<Fact> {
    let host = directory.read_host_record().unwrap_or_default();
    let plan: Option<Plan> = directory.read_json("plan.json").ok();
    let state = directory.read_state().unwrap_or_default();
    let mut facts = facts_of_files(&host, plan.as_ref(), &state);
    if let Some(recipe) = facts.iter_mut().find(|fact| fact.what == RECIPE_DIGEST) {
        recipe.document = read_recipe(directory).map(Arc::new);
    }
    let others = directory.list_other_machines();
    if let Some(host) = facts.iter().position(|fact| fact.what == "host")
        && !others.is_empty()
    {
        let others = Fact::new(FactGroup::Host, OTHER_MACHINES, others.join(", "));
        facts.insert(host + 1, others);
    }
    facts.extend(packages::package_facts_of_run(directory));
    facts
}

/// Returns the recipe that a run stores, without the values of its parameters, which are facts of their own; none if it
/// cannot be read.
fn read_recipe(directory: &RunDirectory) -> Option<serde_json::Value> {
    const FILE: &str = "recipe.yaml";
    let path = Path::new(FILE);
    let text = read_text_beneath(directory.path(), path, MAX_DOCUMENT_BYTES as u64).ok()?;
    let node = parse_yaml(&Source::new(FILE, text), &mut Diagnostics::default())?;
    let mut recipe = node.to_json();
    let params = recipe.get_mut("params").and_then(serde_json::Value::as_object_mut);
    for param in params.into_iter().flat_map(serde_json::Map::values_mut) {
        param.as_object_mut().and_then(|param| param.remove("set"));
    }
    Some(recipe)
}

/// Returns every known fact of a run except its packages, from its files as they were read.
fn facts_of_files(host: &HostRecord, plan: Option<&Plan>, state: &JournalState) -> Vec<Fact> {
    let mut facts = image_facts(host, plan, state);
    facts.extend(parameter_facts(plan, state));
    facts.extend(variable_facts(host, plan));
    facts.extend(driver_facts(host));
    facts.extend(cards(host));
    facts.extend(machine_facts(host));
    facts.extend(setting_facts(host));
    facts.retain(|fact| !fact.value.is_empty());
    facts
}

fn image_facts(host: &HostRecord, plan: Option<&Plan>, state: &JournalState) -> Vec<Fact> {
    let fact = |name: &str, value: String| Fact::new(FactGroup::Image, name, value);
    let mut facts = vec![
        fact("image", plan.map(|plan| plan.image.clone()).unwrap_or_default()),
        fact("image digest", image_digest(state)),
    ];
    let labels = host.container.iter().flat_map(|container| &container.labels);
    facts.extend(labels.map(|(name, value)| fact(&format!("label {name}"), value.clone())));
    facts
}

/// Returns the image's own digest, wherever it was pulled from; its id where it was built.
pub fn image_digest(state: &JournalState) -> String {
    let mut digests = state.digests.iter();
    let digest = digests.find_map(|digest| ImageRef::parse(digest).ok()?.digest);
    digest.or_else(|| state.image.clone()).unwrap_or_default()
}

fn parameter_facts(plan: Option<&Plan>, state: &JournalState) -> Vec<Fact> {
    let fact = |name: String, value: String| Fact::new(FactGroup::Parameters, name, value);
    let models = state.models.iter();
    let mut facts: Vec<Fact> =
        models.map(|(name, commit)| fact(format!("model {name}"), commit.clone())).collect();
    if let Some(plan) = plan {
        facts.push(fact(RECIPE_NAME.to_owned(), plan.recipe.clone()));
        facts.push(fact(RECIPE_DIGEST.to_owned(), plan.recipe_hash.clone()));
        let variant = plan.variant.iter();
        facts.extend(
            variant.map(|(axis, value)| fact(format!("{VARIANT_PREFIX}{axis}"), value.clone())),
        );
        let params = plan.params.iter();
        facts.extend(params.map(|(name, value)| fact(format!("param {name}"), value.to_string())));
    }
    facts
}

/// Returns the container's environment, and the variables of the commands that measured.
fn variable_facts(host: &HostRecord, plan: Option<&Plan>) -> Vec<Fact> {
    let fact = |name: &str, value: &str| Fact::new(FactGroup::Variables, name, value);
    let recorded = host.container.iter();
    let mut facts: Vec<Fact> = recorded
        .flat_map(|container| &container.variables)
        .map(|(name, value)| match value.as_deref() {
            Some("") => fact(name, "(empty)"),
            Some(value) => fact(name, value),
            None => fact(name, UNRECORDED_VALUE),
        })
        .collect();
    let Some(plan) = plan else {
        return facts;
    };
    // A run from before this was recorded has what its recipe gave.
    if host.container.is_none() {
        let planned = plan.container.env.iter();
        facts.extend(planned.map(|(name, value)| fact(name, value)));
    }
    let steps = plan.steps.iter().filter_map(|step| match &step.action {
        Action::Exec(exec) if exec.purpose != CommandPurpose::Prepare => {
            Some((&step.name, &exec.env))
        }
        Action::StartService(service) => Some((&step.name, &service.command.env)),
        _ => None,
    });
    for (step, env) in steps {
        for (name, value) in env {
            let existing = facts.iter().find(|existing| existing.what == *name);
            match existing {
                Some(existing) if existing.value == *value => {}
                Some(_) => facts.push(fact(&format!("{name} of {step}"), value)),
                None => facts.push(fact(name, value)),
            }
        }
    }
    facts
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use retrial_host::model::HostView;

    #[test]
    fn an_empty_directory_has_no_facts() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(facts_of_run(&RunDirectory::from_path(folder.path().to_owned())), []);
    }

    #[test]
    fn nodes_other_than_the_head_are_listed() {
        let run = tempfile::tempdir().unwrap();
        let write = |path: &str, name: &str| {
            let path = run.path().join(path);
            std::fs::create_dir_all(&path).unwrap();
            let host = HostView { hostname: name.to_owned(), ..HostView::default() };
            let text = json!({ "host": host }).to_string();
            std::fs::write(path.join("host.json"), text).unwrap();
        };
        write("", "n1");
        write("nodes/n10", "n10");
        write("nodes/n2", "n2");
        std::fs::write(run.path().join("nodes/nonce"), "").unwrap();
        let facts = facts_of_run(&RunDirectory::from_path(run.path().to_owned()));
        let pairs = facts.iter().map(|fact| (fact.what.as_str(), fact.value.as_str()));
        let pairs: Vec<_> = pairs.take(2).collect();
        assert_eq!(pairs, [("host", "n1"), (OTHER_MACHINES, "n2, n10")]);
    }

    #[test]
    fn a_possible_secret_is_listed_without_its_value() {
        let host = json!({ "container": {
            "variables": { "HF_TOKEN": null, "PATH": "/bin", "EMPTY": "" },
            "labels": { "version": "6.4" },
        }});
        let host = serde_json::from_value(host).unwrap();
        let facts = facts_of_files(&host, None, &JournalState::default());
        let lines: Vec<String> =
            facts.iter().map(|fact| format!("{}: {}", fact.what, fact.value)).collect();
        assert_eq!(
            lines,
            [
                "label version: 6.4",
                "EMPTY: (empty)",
                "HF_TOKEN: (set, not recorded: it may be a secret)",
                "PATH: /bin",
            ]
        );
    }

    #[test]
    fn malformed_files_have_no_facts() {
        for host in [
            json!(null),
            json!([1]),
            json!({ "host": 7, "settings": [], "conditions": {}, "engine": "x", "container": [] }),
            json!({ "container": { "variables": [1], "labels": "x" }, "conditions": [1, null] }),
        ] {
            let host = serde_json::from_value(host).unwrap_or_default();
            assert_eq!(facts_of_files(&host, None, &JournalState::default()), []);
        }
    }
}
