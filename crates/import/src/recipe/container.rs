//! The image, the container and the GPUs of a published result.

use std::fmt::Write as _;

use itertools::Itertools as _;
use retrial_document::{Keys as _, Node, to_yaml};
use retrial_recipe::docker_run::{map_node, text_node};
use retrial_recipe::model::{GpuVendor, Recipe};

use super::write::{in_quotes, line, mapping};
use super::{PublishedSubmission, RecipeDraft};
use crate::Accelerators;

/// The placeholder of an image that no README names.
const NO_IMAGE: &str = "to-be-completed";
/// The default directory of the results: published results do not state it.
const RESULTS: &str = "/results";

/// Adds params, image, requirements and container.
pub(super) fn sections(draft: &mut RecipeDraft, published: &PublishedSubmission<'_>) {
    let drafted = published.container.as_ref();
    let keys = drafted.map_or(&[][..], |one| &one.draft.keys);
    params(draft, keys, published.outputs());
    if let Some(container) = drafted {
        let mut section = format!("# Drafted from {}.\n", line(&container.readme));
        for note in &container.draft.notes {
            let _ = writeln!(section, "#   {}", line(note));
        }
        section.push_str(&mapping(&[("image", container.draft.image.clone())]));
        draft.sections.push(section);
        let several = match container.others {
            0 => String::new(),
            others => format!(" ({others} more of its blocks start a container)"),
        };
        draft.miss(format!(
            "image and container: compare them with {}{several}",
            container.readme
        ));
    } else {
        let accelerators = published.entry.system.accelerators.as_ref();
        if accelerators.is_some_and(|one| one.vendor == Some(GpuVendor::Amd)) {
            draft.sections.push(
                "extends: amd-instinct    # the flags that AMD's containers share\n".to_owned(),
            );
        }
        draft
            .sections
            .push(mapping(&[("image", NO_IMAGE.to_owned())]));
        draft.miss("image and container: no README has a `docker run` that a recipe can express");
    }
    requirements(draft, published);
    let rest = keys.iter().filter(|(key, _)| *key != "params");
    for key in rest.cloned() {
        draft
            .sections
            .push(to_yaml(&map_node([key]), Recipe::OBJECT));
    }
    draft.miss("models and datasets: what the commands read, and where it is mounted");
}

/// The params of the block, and the directory of the results.
fn params(draft: &mut RecipeDraft, keys: &[(&'static str, Node)], outputs: &str) {
    let help = format!("The directory in the container below which the commands write {outputs}.");
    let results = map_node([
        ("type", text_node("path")),
        ("default", text_node(RESULTS)),
        ("help", text_node(&help)),
    ]);
    let drafted = keys.iter().find(|(key, _)| *key == "params");
    let drafted = drafted.map_or(&[][..], |(_, node)| node.entries());
    for param in drafted {
        if param.value.get("default").is_none() {
            draft.miss(format!(
                "params.{}: a default, or `--set {}=…` of each run",
                param.key, param.key
            ));
        }
    }
    let others = drafted.iter().filter(|param| param.key != "results");
    let others = others.map(|param| (param.key.clone(), param.value.clone()));
    let all = others.chain([("results".to_owned(), results)]);
    let params = map_node([("params", map_node(all))]);
    draft.sections.push(to_yaml(&params, Recipe::OBJECT));
    draft.miss(format!(
        "params.results: where the commands write {outputs}"
    ));
}

/// The GPUs that a recipe can ask for, and the machines.
fn requirements(draft: &mut RecipeDraft, published: &PublishedSubmission<'_>) {
    let accelerators = published.entry.system.accelerators.as_ref();
    if let Some(system) = accelerators {
        match (system.vendor, system.per_node) {
            (Some(vendor), Some(count)) => {
                draft.sections.push(gpus(system, vendor, count));
                if vendor == GpuVendor::Nvidia {
                    draft.miss(format!(
                        "requires.gpus.models: the name that nvidia-smi prints for {}",
                        system.name
                    ));
                }
            }
            (Some(_), None) => draft.miss("requires.gpus: its description has no number of GPUs"),
            (None, _) => {
                let name = line(&system.shown());
                let section = format!("# {name}: a recipe can require AMD and NVIDIA GPUs only.\n");
                draft.sections.push(section);
            }
        }
    }
    let count = published.entry.system.nodes;
    if count > 1 {
        let differing = |one: &Accelerators| {
            let is_gpu = one.vendor.is_some() && one.per_node.is_some();
            let others = one
                .total
                .filter(|total| one.per_node.map(|own| own * count) != Some(*total));
            others.filter(|_| is_gpu)
        };
        let gpus = accelerators.and_then(differing);
        let gpus = gpus.map_or(String::new(), |gpus| format!(", gpus: {gpus}"));
        draft
            .sections
            .push(format!("nodes: {{ count: {count}{gpus} }}\n"));
        draft.miss("services: what runs on the other machines");
    }
}

fn gpus(accelerators: &Accelerators, vendor: GpuVendor, count: u32) -> String {
    let vendor: &str = vendor.into();
    let models = accelerators.models.iter();
    let models = match &*models.map(|model| in_quotes(model)).join(", ") {
        "" => String::new(),
        models => format!("models: [{models}], "),
    };
    let name = line(&accelerators.name);
    format!("requires:\n  gpus: {{ vendor: {vendor}, {models}count: {count} }}    # {name}\n")
}
