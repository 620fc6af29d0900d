//! Scenarios and their modes, figures and expectations.

use super::figures::{expect, figure, limits};
use super::read::Read;
use crate::model::{
    FigureSource, Measurement, MeasurementCommand, Mode, Ordered, Scenario, Trials,
};
use crate::node::Node;

/// `LoadGen`'s spelling of a scenario, if the key is one of MLPerf's in any spelling.
pub fn loadgen_name(key: &str) -> Option<&'static str> {
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
        figures: figures(node)?,
        expect: expect(node)?,
        target_qps: node.number("target_qps"),
        limits: limits(node),
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

fn figures(node: &Node) -> Option<Ordered<FigureSource>> {
    node.get("figures")
        .into_iter()
        .flat_map(Node::named)
        .map(|(name, node)| Some((name.to_owned(), figure(node)?)))
        .collect()
}
