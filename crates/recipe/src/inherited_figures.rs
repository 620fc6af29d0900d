//! Published figures that a variant inherits although it measures something else: on other GPUs, as another system, in
//! another image.

use super::model::other_published_image;
use retrial_document::{Diagnostics, Node, Span, Value};

/// Warns of figures of the default variant that this one has, too. Both are validated recipes.
pub fn check_inherited_figures(default: &Node, variant: &Node, problems: &mut Diagnostics) {
    let differs = |path: &[&str]| {
        let values = [default, variant].map(|recipe| recipe.descendant(path).map(written_value));
        values[0] != values[1]
    };
    let (changed, help) = if differs(&["requires", "gpus"]) || differs(&["submission", "system"]) {
        let help = "give the variant figures of its own, or remove these with null";
        ("other GPUs, or another system", help)
    } else if differs(&["image"]) && other_published_image(variant).is_none() {
        let help = "name the image of the figures: `image: { ref: …, published: … }`";
        ("another image", help)
    } else {
        return;
    };
    let published: Vec<Span> = published_figures(default).map(|(_, span)| span).collect();
    for (name, span) in published_figures(variant).filter(|(_, span)| published.contains(span)) {
        let message =
            format!("`{name}` is published for the default variant, this one has {changed}");
        problems.warning("inherited-figure", message, &span, help);
    }
}

/// Returns the published figures of performance, with the places of their values.
fn published_figures(recipe: &Node) -> impl Iterator<Item = (&str, Span)> {
    let scenarios = recipe.present_entries_at("scenarios");
    let measured = scenarios.filter_map(|(_, scenario)| scenario.get("performance"));
    let figures = measured.flat_map(|performance| {
        let shown = performance.get("references").into_iter();
        let shown = shown.flat_map(|references| references.present_entries_at("values"));
        performance.present_entries_at("expect").chain(shown)
    });
    figures.map(|(name, value)| (name, value.span.clone()))
}

/// Returns a value without its places, maps in the order of their keys.
fn written_value(node: &Node) -> String {
    match &node.value {
        Value::Map(entries) => {
            let mut members: Vec<String> = entries
                .iter()
                .map(|entry| format!("{:?}: {}", entry.key, written_value(&entry.value)))
                .collect();
            members.sort();
            format!("{members:?}")
        }
        Value::List(items) => format!("{:?}", items.iter().map(written_value).collect::<Vec<_>>()),
        _ => format!("{:?}", node.text()),
    }
}
