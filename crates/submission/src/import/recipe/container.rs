//! The image, the container and the GPUs of a published result.

use std::fmt::Write as _;

use itertools::Itertools as _;
use retrial_document::{Keys as _, Node, to_yaml};
use retrial_recipe::docker_run::{MissingPlace, map_node, text_node};
use retrial_recipe::model::{GpuVendor, Recipe};

use super::write::{mapping_to_yaml, quote, to_single_line};
use super::{PublishedSubmission, RecipeDraft};
use retrial_results::evidence::tree::accelerators::Accelerators;

/// The placeholder of an image that no README names.
const IMAGE_PLACEHOLDER: &str = "to-be-completed";
/// The default directory of the results: published results do not state it.
const DEFAULT_RESULTS_DIR: &str = "/results";

/// Adds params, image, requirements and container.
pub(super) fn add_container_sections(draft: &mut RecipeDraft, published: &PublishedSubmission<'_>) {
    let drafted = published.container.as_ref();
    let keys = drafted.map_or(Vec::new(), |one| one.draft.keys_without_requirements());
    add_params(draft, &keys, published.outputs_noun());
    if let Some(container) = drafted {
        let mut section = format!("# Drafted from {}.\n", to_single_line(&container.readme));
        for note in &container.draft.notes {
            let _ = writeln!(section, "#   {}", to_single_line(note));
        }
        section.push_str(&mapping_to_yaml(&[(
            "image",
            container.draft.image.clone(),
        )]));
        draft.sections.push(section);
        for missing in &container.draft.incomplete {
            // The others are of the result itself.
            if matches!(
                missing.place,
                MissingPlace::Container | MissingPlace::Service(_)
            ) {
                draft.add_incomplete(missing.to_string());
            }
        }
        let several = match container.other_blocks {
            0 => String::new(),
            others => format!(" ({others} more of its blocks start a container)"),
        };
        draft.add_incomplete(format!(
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
            .push(mapping_to_yaml(&[("image", IMAGE_PLACEHOLDER.to_owned())]));
        draft.add_incomplete(
            "image and container: no README has a `docker run` that a recipe can express",
        );
    }
    add_requirements(draft, published);
    let rest = keys.iter().filter(|(key, _)| *key != "params");
    for key in rest.cloned() {
        draft
            .sections
            .push(to_yaml(&map_node([key]), Recipe::OBJECT));
    }
    draft.add_incomplete("models and datasets: what the commands read, and where it is mounted");
}

/// The params of the block, and the directory of the results.
fn add_params(draft: &mut RecipeDraft, keys: &[(&'static str, Node)], outputs: &str) {
    let help = format!("The directory in the container below which the commands write {outputs}.");
    let results = map_node([
        ("type", text_node("path")),
        ("default", text_node(DEFAULT_RESULTS_DIR)),
        ("help", text_node(&help)),
    ]);
    let drafted = keys.iter().find(|(key, _)| *key == "params");
    let drafted_params = drafted.map_or(&[][..], |(_, node)| node.entries());
    for param in drafted_params {
        if param.value.get("default").is_none() {
            draft.add_incomplete(format!(
                "params.{}: a default, or `--set {}=…` of each run",
                param.key, param.key
            ));
        }
    }
    let others = drafted_params.iter().filter(|param| param.key != "results");
    let other_params = others.map(|param| (param.key.clone(), param.value.clone()));
    let all = other_params.chain([("results".to_owned(), results)]);
    let params = map_node([("params", map_node(all))]);
    draft.sections.push(to_yaml(&params, Recipe::OBJECT));
    draft.add_incomplete(format!(
        "params.results: where the commands write {outputs}"
    ));
}

/// The GPUs that a recipe can ask for, and the machines.
fn add_requirements(draft: &mut RecipeDraft, published: &PublishedSubmission<'_>) {
    let accelerators = published.entry.system.accelerators.as_ref();
    if let Some(system) = accelerators {
        match (system.vendor, system.per_node) {
            (Some(vendor), Some(count)) => {
                draft
                    .sections
                    .push(render_gpu_requirement(system, vendor, count));
                if vendor == GpuVendor::Nvidia {
                    draft.add_incomplete(format!(
                        "requires.gpus.models: the name that nvidia-smi prints for {}",
                        system.name
                    ));
                }
            }
            (Some(_), None) => {
                draft.add_incomplete("requires.gpus: its description has no number of GPUs");
            }
            (None, _) => {
                let name = to_single_line(&system.format_count_and_models());
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
        let gpus_key = gpus.map_or(String::new(), |gpus| format!(", gpus: {gpus}"));
        draft
            .sections
            .push(format!("nodes: {{ count: {count}{gpus_key} }}\n"));
        draft.add_incomplete("services: what runs on the other machines");
    }
}

fn render_gpu_requirement(accelerators: &Accelerators, vendor: GpuVendor, count: u32) -> String {
    let vendor_name: &str = vendor.into();
    let models = accelerators.models.iter();
    let models = match &*models.map(|model| quote(model)).join(", ") {
        "" => String::new(),
        models => format!("models: [{models}], "),
    };
    let name = to_single_line(&accelerators.name);
    let gpus = format!("  gpus: {{ vendor: {vendor_name}, {models}count: {count} }}    # {name}");
    format!("requires:\n{gpus}\n")
}
