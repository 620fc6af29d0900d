//! The image, the container and the GPUs of a published result.

use retrial_document::Node;
use retrial_import::MissingPlace;
use retrial_recipe::model::GpuVendor;
use retrial_recipe::writer::{Section, map_node, plain_node, text_node};

use super::{PublishedSubmission, RecipeDraft};
use crate::published_text::published_texts;
use retrial_results::evidence::tree::accelerators::Accelerators;

/// The placeholder of an image that no README names.
const IMAGE_PLACEHOLDER: &str = "to-be-completed";
/// The default directory of the results: published results do not state it.
const DEFAULT_RESULTS_DIR: &str = "/results";

/// Adds params, image, requirements and container.
pub(super) fn add_container_keys(draft: &mut RecipeDraft, published: &PublishedSubmission<'_>) {
    let drafted = published.container.as_ref();
    let keys = drafted.map_or(Vec::new(), |one| one.draft.keys_without_requirements());
    add_params(draft, &keys, published.outputs_noun());
    if let Some(container) = drafted {
        let origin = format!("Drafted from {}.", container.readme);
        draft.keys.comment_above("image", &origin);
        for note in &container.draft.notes {
            draft.keys.comment_above("image", &format!("  {note}"));
        }
        draft.keys.set("image", text_node(&container.draft.image));
        for missing in &container.draft.incomplete {
            // The others are of the result itself.
            if matches!(missing.place, MissingPlace::Container | MissingPlace::Service(_)) {
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
            draft.keys.set("extends", text_node("amd-instinct"));
            let comment = "the flags that AMD's containers share";
            draft.keys.comment_beside("extends", comment);
        }
        draft.keys.set("image", text_node(IMAGE_PLACEHOLDER));
        draft.add_incomplete(
            "image and container: no README has a `docker run` that a recipe can express",
        );
    }
    add_requirements(draft, published);
    for (key, node) in keys.into_iter().filter(|(key, _)| *key != "params") {
        draft.keys.set(key, node);
    }
    draft.add_incomplete("models and datasets: what the commands read, and where it is mounted");
}

/// Adds the params of the block, and the directory of the results.
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
    draft.keys.set("params", map_node(all));
    draft.add_incomplete(format!("params.results: where the commands write {outputs}"));
}

/// Adds the GPUs, if a recipe can require them, and the number of machines.
fn add_requirements(draft: &mut RecipeDraft, published: &PublishedSubmission<'_>) {
    let accelerators = published.entry.system.accelerators.as_ref();
    if let Some(system) = accelerators {
        match (system.vendor, system.per_node) {
            (Some(vendor), Some(count)) => {
                let requires = describe_gpus(system, vendor, count);
                draft.keys.set_section("requires", requires);
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
                let name = system.format_count_and_models();
                let comment = format!("{name}: a recipe can require AMD and NVIDIA GPUs only.");
                draft.keys.comment_above("requires", &comment);
            }
        }
    }
    let count = published.entry.system.nodes;
    if count > 1 {
        let differing = |one: &Accelerators| {
            let is_gpu = one.vendor.is_some() && one.per_node.is_some();
            let others =
                one.total.filter(|total| one.per_node.map(|own| own * count) != Some(*total));
            others.filter(|_| is_gpu)
        };
        let gpus = accelerators.and_then(differing);
        let gpus = gpus.map(|gpus| ("gpus", plain_node(gpus.to_string())));
        let keys = [("count", plain_node(count.to_string()))];
        draft.keys.set_compact("nodes", map_node(keys.into_iter().chain(gpus)));
        draft.add_incomplete("services: what runs on the other machines");
    }
}

fn describe_gpus(accelerators: &Accelerators, vendor: GpuVendor, count: u32) -> Section {
    let vendor_name = vendor.word();
    let models = &accelerators.models;
    let models = (!models.is_empty()).then(|| ("models", published_texts(models)));
    let keys = [("vendor", text_node(vendor_name))].into_iter().chain(models);
    let gpus = keys.chain([("count", plain_node(count.to_string()))]);
    let mut requires = Section::default();
    requires.set_compact("gpus", map_node(gpus));
    requires.comment_beside("gpus", &accelerators.name);
    requires
}
