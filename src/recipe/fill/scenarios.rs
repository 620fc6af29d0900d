//! Scenarios and their modes, figures and expectations.

use super::read::Read;
use crate::recipe::model::{
    Aggregate, Better, Expectation, ExpectationKind, FigureSource, Find, Limit, Measurement,
    MeasurementCommand, Mode, Scenario, Take, Trials,
};
use crate::recipe::node::Node;

/// `LoadGen`'s spelling of a scenario, if the key is one of MLPerf's in any spelling.
pub(crate) fn loadgen_name(key: &str) -> Option<&'static str> {
    let plain: String = key
        .chars()
        .filter(|letter| !matches!(letter, '-' | '_' | ' '))
        .collect();
    match plain.to_ascii_lowercase().as_str() {
        "offline" => Some("Offline"),
        "server" => Some("Server"),
        "interactive" => Some("Interactive"),
        "singlestream" => Some("SingleStream"),
        "multistream" => Some("MultiStream"),
        _ => None,
    }
}

pub(super) fn scenario(name: &str, node: &Node) -> Option<Scenario> {
    Some(Scenario {
        loadgen: loadgen_name(name).map(str::to_owned),
        modes: node
            .named()
            .map(|(mode, node)| {
                let mode = match mode {
                    "performance" => Mode::Performance,
                    "accuracy" => Mode::Accuracy,
                    "compliance" => Mode::Compliance,
                    _ => return None,
                };
                Some((mode, measurement(node)?))
            })
            .collect::<Option<_>>()?,
    })
}

fn measurement(node: &Node) -> Option<Measurement> {
    Some(Measurement {
        command: match node.string("from") {
            Some(command) => MeasurementCommand::From(command),
            None => MeasurementCommand::Run(node.template("run")?),
        },
        options: node.options(),
        results: node.template("results"),
        check: node.template("check"),
        check_timeout: node.duration("check_timeout"),
        figures: each(node, "figures", figure)?,
        expect: each(node, "expect", expectations)?,
        target_qps: node.number("target_qps"),
        limits: each(node, "limits", |node| Some(limit(node)))?,
        trials: match node.get("trials") {
            Some(trials) => match trials.text() {
                Some(text) => {
                    let count = text.parse().ok()?;
                    Trials {
                        min: count,
                        max: count,
                    }
                }
                None => Trials {
                    min: trials.number("min")?,
                    max: trials.number("max")?,
                },
            },
            None => Trials::default(),
        },
    })
}

fn each<T>(node: &Node, key: &str, read: impl Fn(&Node) -> Option<T>) -> Option<Vec<(String, T)>> {
    node.get(key)
        .into_iter()
        .flat_map(Node::named)
        .map(|(name, node)| Some((name.to_owned(), read(node)?)))
        .collect()
}

fn figure(node: &Node) -> Option<FigureSource> {
    Some(FigureSource {
        find: if let Some(pattern) = node.string("pattern") {
            Find::Pattern(pattern)
        } else if let Some(path) = node.string("json") {
            Find::Json(path)
        } else if let Some(column) = node.string("csv") {
            Find::Csv(column)
        } else {
            Find::Mllog(node.string("mllog")?)
        },
        file: node.template("file"),
        unit: node.string("unit"),
        better: match node.get("better") {
            Some(_) => node.word(
                "better",
                &[("higher", Better::Higher), ("lower", Better::Lower)],
            )?,
            None => Better::default(),
        },
        take: match node.get("take") {
            Some(_) => node.word(
                "take",
                &[
                    ("first", Take::First),
                    ("last", Take::Last),
                    ("all", Take::All),
                    ("min", Take::Min),
                    ("max", Take::Max),
                    ("sum", Take::Sum),
                    ("mean", Take::Mean),
                ],
            )?,
            None => Take::default(),
        },
        aggregate: match node.get("aggregate") {
            Some(_) => node.word(
                "aggregate",
                &[
                    ("mean", Aggregate::Mean),
                    ("median", Aggregate::Median),
                    ("olympic", Aggregate::Olympic),
                ],
            )?,
            None => Aggregate::default(),
        },
        noise: node.fraction("noise"),
    })
}

fn expectations(node: &Node) -> Option<Vec<Expectation>> {
    match node.items() {
        [] => Some(vec![expectation(node)?]),
        items => items.iter().map(expectation).collect(),
    }
}

fn expectation(node: &Node) -> Option<Expectation> {
    let kinds = [
        ("official", ExpectationKind::Official),
        ("guide", ExpectationKind::Guide),
        ("third-party", ExpectationKind::ThirdParty),
    ];
    Some(Expectation {
        value: node.number("value")?,
        kind: node.word("kind", &kinds)?,
        source: node.string("source"),
        sigma: node.fraction("sigma"),
        noise: node.fraction("noise"),
        margin: node.fraction("margin"),
    })
}

fn limit(node: &Node) -> Limit {
    Limit {
        min: node.number("min"),
        max: node.number("max"),
        below: node.number("below"),
    }
}
