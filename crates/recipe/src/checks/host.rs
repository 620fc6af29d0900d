//! Checks requests to the host: GPUs that no host has, limits in the wrong order, secrets.

use super::CheckContext;
use crate::formats::{self, split_mount};
use crate::model::GpuVendor;
use retrial_document::Node;

/// The secret that a recipe may name; for others the user passes `--secret NAME`.
const ALLOWED_SECRET: &str = "HF_TOKEN";

impl CheckContext<'_> {
    pub(super) fn check_host(&mut self) {
        if let Some(gpus) = self.recipe.descendant(&["requires", "gpus"]) {
            self.check_gpus(gpus);
        }
        if let Some(container) = self.recipe.get("container") {
            self.check_container(container);
        }
        for secret in self.recipe.items_at("secrets") {
            if let Some(name) = secret.text().filter(|name| *name != ALLOWED_SECRET) {
                let help = format!(
                    "a recipe may name {ALLOWED_SECRET} only; pass others with `--secret {name}`"
                );
                self.problems.error(
                    "secret",
                    format!("a recipe cannot request the secret `{name}`"),
                    &secret.span,
                    help,
                );
            }
        }
    }

    fn check_gpus(&mut self, gpus: &Node) {
        let vendor = gpus.text_at("vendor").unwrap_or("");
        if let Some(partition) = gpus.entry("partition").filter(|_| vendor == "nvidia") {
            self.problems.error(
                "gpus",
                "partition modes are AMD's",
                &partition.key_span,
                "remove `partition`; configure NVIDIA's MIG on the host",
            );
        }
        for model in gpus.items_at("models") {
            let name = model.text().unwrap_or("");
            let other_maker = GpuVendor::of_model(name).map(GpuVendor::word);
            let other_maker = other_maker.filter(|maker| !vendor.is_empty() && *maker != vendor);
            if let Some(maker) = other_maker {
                let message = format!("the {name} is not a GPU of `vendor: {vendor}`");
                let help = format!("write `vendor: {maker}`, or another model");
                self.problems.error("gpus", message, &model.span, help);
            }
        }
    }

    fn check_container(&mut self, container: &Node) {
        for entry in container.entries_at("ulimits") {
            let limit = |key: &str| -> Option<i64> { entry.value.text_at(key)?.parse().ok() };
            if let (Some(soft), Some(hard)) = (limit("soft"), limit("hard"))
                && hard != -1
                && (soft == -1 || soft > hard)
            {
                let message = format!("the soft limit of `{}` is above the hard one", entry.key);
                self.problems.error(
                    "ulimit",
                    message,
                    &entry.key_span,
                    "soft is at most hard; -1 is unlimited",
                );
            }
        }
        self.check_mounts(container);
    }

    pub(super) fn check_mounts(&mut self, container: &Node) {
        let mut targets: Vec<String> = Vec::new();
        for mount in container.items_at("mounts") {
            let part = |key: &str| mount.text_at(key).unwrap_or("");
            let (source, target) = match mount.text().and_then(split_mount) {
                Some((source, target, _)) => (source, target),
                None => (part("source"), part("target")),
            };
            // Vendors' commands mount the host's own `/dev` and `/sys` at their places.
            if source != target
                && formats::ABSOLUTE_PATH.mismatch(target).is_none()
                && let Some((message, help)) = formats::MOUNT_TARGET.mismatch(target)
            {
                self.problems.error("mount", message, &mount.span, help.unwrap_or_default());
            }
            let trimmed_target = target.trim_end_matches('/').to_owned();
            if !trimmed_target.is_empty() && targets.contains(&trimmed_target) {
                self.problems.error(
                    "mount",
                    format!("two mounts at `{trimmed_target}`"),
                    &mount.span,
                    "each target once",
                );
            }
            targets.push(trimmed_target);
        }
    }
}
