//! The figures of a measurement's client: declared where the recipe declares none of the name. A point of a
//! sweep has the load of its concurrency, also where points share a command, whose call makes the loads of all.

use std::collections::BTreeMap;

use retrial_document::{MapEntry, Node, Value};
use retrial_serving::{Client, ClientFigure, LoadOfCall};

use crate::model::CONCURRENCY;

/// Declares the figures that clients always state, and those of them that are named in `expect`, `limits` or `references`.
pub(super) fn declare_client_figures(recipe: &mut Node) {
    let Some(Node { value: Value::Map(scenarios), .. }) = recipe.descendant_mut(&["scenarios"])
    else {
        return;
    };
    let measurements = scenarios.iter_mut().flat_map(|scenario| match &mut scenario.value.value {
        Value::Map(modes) => modes.as_mut_slice(),
        _ => &mut [],
    });
    // How many points of each sweep there are before one.
    let mut points: BTreeMap<String, usize> = BTreeMap::new();
    for measurement in measurements {
        let point = measurement.value.get("point").cloned();
        let number = point.as_ref().and_then(|point| point.text_at("sweep")).map(|sweep| {
            let before = points.entry(sweep.to_owned()).or_default();
            *before += 1;
            *before - 1
        });
        let is_shared = measurement.value.get("from").is_some();
        let concurrency = point.filter(|point| point.text_at("axis") == Some(CONCURRENCY));
        let concurrency = concurrency.and_then(|point| point.text_at("value")?.parse().ok());
        let number = number.filter(|_| is_shared);
        let load = concurrency.map(|concurrency| LoadOfCall { number, concurrency });
        declare_figures(&mut measurement.value, load);
    }
}

fn declare_figures(measurement: &mut Node, load: Option<LoadOfCall>) {
    let Some(entry) = measurement.entry("client").cloned() else {
        return;
    };
    let Some(client) = find_client(&entry.value) else {
        return;
    };
    let references = measurement.descendant(&["references", "values"]);
    let named = ["expect", "limits"].iter().flat_map(|key| measurement.entries_at(key));
    let named = named.chain(references.map_or(&[][..], Node::entries));
    let named: Vec<String> = named.map(|entry| entry.key.clone()).collect();
    let mut figures = measurement.entries_at("figures").to_vec();
    let file = match load {
        Some(load) => client.output_file_of(load),
        None => client.output_file().to_owned(),
    };
    for figure in client.figures(load) {
        let is_declared = figures.iter().any(|own| own.key == figure.name);
        if !is_declared && (figure.is_usual || named.contains(&figure.name)) {
            figures.push(declaration(&file, &figure, &entry));
        }
    }
    let span = entry.value.span.clone();
    measurement.set_key("figures", Node::map(figures, span));
}

/// Returns the client that a value of `client` names.
pub(super) fn find_client(value: &Node) -> Option<Client> {
    let word = value.text().or_else(|| value.text_at("program"))?;
    Client::ALL.into_iter().find(|client| client.word() == word)
}

fn declaration(file: &str, figure: &ClientFigure, client_key: &MapEntry) -> MapEntry {
    let span = &client_key.value.span;
    let entry = |key: &str, value: Node| MapEntry {
        key: key.to_owned(),
        key_span: span.clone(),
        append: false,
        value,
    };
    let text = |key, text| entry(key, Node::scalar(text, true, span.clone()));
    let keys = [
        ("file", file),
        ("json", &figure.path),
        ("unit", figure.unit),
        ("better", figure.better.word()),
    ];
    let keys = keys.into_iter().filter(|(_, value)| !value.is_empty());
    let keys = keys.map(|(key, value)| text(key, value)).collect();
    entry(&figure.name, Node::map(keys, span.clone()))
}
