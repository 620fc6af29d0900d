//! Checks services: each needed one is declared, and each declared one is needed.

use super::CheckContext;
use crate::model::SHARED_NETWORK_KEYS;
use retrial_document::{MapEntry, Node};

impl CheckContext<'_> {
    pub(super) fn check_services(&mut self) {
        let recipe = self.recipe;
        let measured = self.modes_and_commands();
        let needs: Vec<&Node> = measured.filter_map(|entry| entry.value.get("needs")).collect();
        for list in &needs {
            self.check_needs(list);
        }
        for service in recipe.entries_at("services") {
            let is_named = |list: &&Node| {
                let mut names = list.items().iter();
                names.any(|name| name.text() == Some(&service.key))
            };
            if !self.partial && !needs.iter().any(is_named) {
                self.problems.warning(
                    "unused-service",
                    format!("no measurement needs the service `{}`", service.key),
                    &service.key_span,
                    format!("write `needs: [{}]` in a mode, or remove it", service.key),
                );
            }
            self.check_service_container(service);
        }
    }

    fn check_needs(&mut self, list: &Node) {
        let services = self.recipe.entries_at("services");
        let items = list.items();
        for (index, item) in items.iter().enumerate() {
            let name = item.text().unwrap_or("");
            if items[..index].iter().any(|other| other.text() == Some(name)) {
                self.problems.error(
                    "duplicate",
                    format!("duplicate `{name}`"),
                    &item.span,
                    "name each service once",
                );
            }
            if !self.partial {
                self.report_undeclared("unknown-service", "service", item, services);
            }
        }
    }

    fn check_service_container(&mut self, service: &MapEntry) {
        let Some(container) = service.value.get("container") else {
            return;
        };
        self.check_mounts(container);
        for key in SHARED_NETWORK_KEYS {
            let message = format!("a service's container has no `{key}` of its own");
            let help = "it shares the network of the recipe's container; write it there";
            if let Some(entry) = container.entry(key) {
                self.problems.error("conflict", message, &entry.key_span, help);
            }
        }
        let Some(image) = container.get("image") else {
            return;
        };
        self.check_image_reference(image);
        if let Some(build) = image.entry("build") {
            self.problems.error(
                "conflict",
                "a service's image cannot be built",
                &build.key_span,
                "name an image to pull, or omit `image` to use the recipe's",
            );
        }
    }
}
