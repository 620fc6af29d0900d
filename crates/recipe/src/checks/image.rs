//! Checks the image: warns of a moving tag, and rejects a name that is composed of parts.

use retrial_container::ImageRef;

use super::CheckContext;
use crate::expression;
use retrial_document::{Node, did_you_mean};

impl CheckContext<'_> {
    pub(super) fn check_image(&mut self) {
        if let Some(image) = self.unchecked_recipe.get("image") {
            self.check_image_expressions(image.get("ref").unwrap_or(image));
        }
        let Some(image) = self.recipe.get("image") else {
            return;
        };
        self.check_image_reference(image);
        if let Some(build) = image.get("build") {
            self.check_image_build(build);
        }
    }

    /// Checks the reference of an image, and its digest.
    pub(super) fn check_image_reference(&mut self, image: &Node) {
        if let Some(set) = image.get("set") {
            return self.warn_floating_tag(set, false);
        }
        // An image that this machine builds cannot be pinned.
        let pinned = image.get("digest").is_some() || image.get("built_by").is_some();
        self.check_image_builder(image);
        if image.get("ref").is_none() {
            self.report_misplaced(
                image,
                "digest",
                "a digest needs a `ref`",
                "write `image: {ref: …, digest: …}`",
            );
        }
        self.warn_floating_tag(image.get("ref").unwrap_or(image), pinned);
    }

    /// Checks the step that builds an image which no registry has.
    fn check_image_builder(&mut self, image: &Node) {
        let Some(built_by) = image.get("built_by").filter(|_| !self.partial) else {
            return;
        };
        for (key, help) in [
            ("digest", "an image that this machine builds has no registry digest"),
            ("build", "write either `build` or `built_by`"),
        ] {
            let message = format!("`{key}` cannot be combined with `built_by`");
            self.report_misplaced(image, key, &message, help);
        }
        let name = built_by.text().unwrap_or("");
        let mut steps = self.recipe.entries_at("setup").iter();
        let is_built = steps.any(|step| {
            let is_on_host = step.value.text_at("on") == Some("host");
            step.key == name && is_on_host && step.value.get("cache").is_none()
        });
        if !is_built {
            self.problems.error(
                "unknown-step",
                format!("`setup` has no step `{name}` that builds an image"),
                &built_by.span,
                "name a step with `on: host` and without `cache`",
            );
        }
    }

    fn warn_floating_tag(&mut self, node: &Node, pinned: bool) {
        let Ok(reference) = ImageRef::parse(node.text().unwrap_or("")) else {
            return;
        };
        if pinned || reference.is_pinned() {
            return;
        }
        let problem = match reference.tag.as_deref() {
            None => "has no tag, which means `latest`",
            Some("latest") => "has the tag `latest`, which moves",
            Some(_) => return,
        };
        let help = "name the tag that was measured, or lock it: `retrial lock RECIPE`";
        self.problems.warning("floating-tag", format!("the image {problem}"), &node.span, help);
    }

    fn check_image_expressions(&mut self, node: &Node) {
        let text = node.text().unwrap_or("");
        let expressions = expression::find_expressions(text).unwrap_or_default();
        let whole = matches!(&expressions[..], [only] if only.outer == (0..text.len()));
        if !expressions.is_empty() && !whole {
            self.problems.error(
                "image-from-parts",
                "an image name mixes text and expressions",
                &node.span,
                "write each complete image as a variant: `variants: {rocm: {\"7.1.1\": {image: …}}}`",
            );
        }
    }

    fn check_image_build(&mut self, build: &Node) {
        let (Some(context), Some(directory)) = (build.get("context"), build.text_at("context"))
        else {
            return;
        };
        let dockerfile = build.get("dockerfile");
        let name = dockerfile.and_then(Node::text).unwrap_or("Dockerfile");
        let context_directory = directory.trim_start_matches("./").trim_end_matches('/');
        let path = match context_directory {
            "" | "." => name.to_owned(),
            directory => format!("{directory}/{name}"),
        };
        let span = dockerfile.unwrap_or(context).span.clone();
        self.check_companion(&path, &span);
        self.check_build_arguments(build, &path);
    }

    /// Reports arguments of the command line that the Dockerfile does not declare: the build would ignore them.
    fn check_build_arguments(&mut self, build: &Node, dockerfile: &str) {
        let set = build.entries_at("set");
        let Some(text) = (!set.is_empty()).then(|| self.templates.companion_text(dockerfile))
        else {
            return;
        };
        let Some(text) = text else {
            return;
        };
        let declared = declared_arguments(&text);
        for argument in set.iter().filter(|one| !is_predefined_argument(&one.key)) {
            if !declared.contains(&&*argument.key) {
                let message = format!("{dockerfile} has no `ARG {}`", argument.key);
                let names = declared.iter().copied();
                let help = did_you_mean(&argument.key, names, "its arguments");
                self.problems.error("build-arg", message, &argument.value.span, help);
            }
        }
    }
}

/// Returns the names that a Dockerfile declares with `ARG`.
fn declared_arguments(dockerfile: &str) -> Vec<&str> {
    let lines = dockerfile.lines().filter_map(|line| {
        let (instruction, names) = line.trim_start().split_once(char::is_whitespace)?;
        instruction.eq_ignore_ascii_case("ARG").then_some(names)
    });
    let names = lines.flat_map(str::split_whitespace);
    names.filter_map(|name| name.split('=').next()).collect()
}

/// Returns whether every build has the argument: proxies, and those of `BuildKit`.
fn is_predefined_argument(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with("_proxy") || name.starts_with("BUILDKIT_")
}
