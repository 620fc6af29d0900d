//! Applies settings that every recipe has, unless it declares a param or an axis of that name: `image`,
//! `image.SERVICE` and `build_arg.NAME`. A value is kept as `set` next to what it replaces, as that of a param is.

use super::param_setting::{IMAGE, ImageSetting, ParamSetting};
use retrial_document::{Diagnostics, Node, Value, did_you_mean};

/// Sets an image, or an argument of its build, in a recipe whose variants are chosen.
pub fn apply_image(
    recipe: &mut Node,
    image: ImageSetting<'_>,
    setting: &ParamSetting,
    settings: &[ParamSetting],
    problems: &mut Diagnostics,
) {
    let span = setting.value_span();
    if settings.iter().filter(|other| other.name == setting.name).count() > 1 {
        let message = format!("{} is given more than once", image.option("").0);
        let help = "a run has one; `retrial batch` compares several";
        return problems.error("setting", message, &span, help);
    }
    let value = Node::scalar(&setting.value, false, span.clone());
    match image {
        ImageSetting::Image if recipe.get(IMAGE).is_none() => recipe.set_key(IMAGE, value),
        ImageSetting::Image => replace_image(recipe, &[IMAGE], value),
        ImageSetting::ServiceImage(service) => {
            let path = ["services", service, "container", IMAGE];
            match recipe.descendant(&path) {
                Some(_) => replace_image(recipe, &path, value),
                None => report_service(recipe, service, setting, problems),
            }
        }
        ImageSetting::BuildArg(_) if settings.iter().any(|other| other.name == IMAGE) => {
            let message = "a build argument without a build: --image replaces the image";
            problems.error("setting", message, &span, "remove --build-arg, or --image");
        }
        ImageSetting::BuildArg(argument) => {
            let Some(build) = recipe.descendant_mut(&[IMAGE, "build"]) else {
                let message = "the recipe does not build its image: it has no build arguments";
                let help = "replace the image: --image IMAGE";
                problems.error("setting", message, &setting.name_span(), help);
                return;
            };
            if build.get("set").is_none() {
                build.set_key("set", Node::map(Vec::new(), span));
            }
            if let Some(set) = build.descendant_mut(&["set"]) {
                set.set_key(argument, value);
            }
        }
    }
}

/// Reports a service that does not exist, or has no image of its own.
fn report_service(
    recipe: &Node,
    service: &str,
    setting: &ParamSetting,
    problems: &mut Diagnostics,
) {
    let services: Vec<&str> = recipe.present_entries_at("services").map(|(name, _)| name).collect();
    let (message, help) = if services.contains(&service) {
        let message = format!("the service `{service}` has no image of its own");
        (message, "it runs in the recipe's: --image IMAGE replaces that".to_owned())
    } else {
        let help = match &services[..] {
            [] => "the recipe has no services: --image IMAGE replaces its image".to_owned(),
            names => did_you_mean(service, names.iter().copied(), "services"),
        };
        (format!("no such service: `{service}`"), help)
    };
    problems.error("setting", message, &setting.name_span(), help);
}

/// Adds `set` to an image, which may be written as a reference only. A step of `setup` that builds what no image
/// is launched from any more is removed.
fn replace_image(recipe: &mut Node, path: &[&str], set: Node) {
    let Some(image) = recipe.descendant_mut(path) else {
        return;
    };
    if let Value::Scalar(_) = image.value {
        let reference = image.clone();
        *image = Node::map(Vec::new(), reference.span.clone());
        image.set_key("ref", reference);
    }
    image.set_key("set", set);
    let Some(step) = image.text_at("built_by").map(str::to_owned) else {
        return;
    };
    if let Some(setup) = recipe.get("setup").filter(|_| !builds_image(recipe, &step)) {
        let steps = setup.entries().iter().filter(|entry| entry.key != step);
        let remaining = Node::map(steps.cloned().collect(), setup.span.clone());
        recipe.set_key("setup", remaining);
    }
}

/// Returns whether an image that no setting replaces is built by this step.
fn builds_image(recipe: &Node, step: &str) -> bool {
    let services = recipe.present_entries_at("services");
    let own = services.filter_map(|(_, service)| service.descendant(&["container", IMAGE]));
    let mut images = recipe.get(IMAGE).into_iter().chain(own);
    images.any(|image| image.get("set").is_none() && image.text_at("built_by") == Some(step))
}
