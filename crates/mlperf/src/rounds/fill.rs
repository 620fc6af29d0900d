//! From a checked tree to the model.

use super::model::{
    Benchmark, ComplianceTest, Latency, Layout, Metric, Round, ScenarioRules, Seeds, SystemType,
};
use crate::loadgen::Scenario;
use retrial_document::Node;
use retrial_document::Ordered;
use retrial_document::measures;
use retrial_document::read::Read;
use retrial_readings::Limit;

/// The model of a tree that passed the check; `None` where it did not.
pub(super) fn fill(node: &Node, file: &str) -> Option<Round> {
    Some(Round {
        suite: node.string("suite")?,
        round: node.string("round")?,
        file: file.to_owned(),
        sources: node.strings("sources"),
        layout: node.word(
            "layout",
            &[("beside", Layout::Beside), ("together", Layout::Together)],
        )?,
        endpoints: node.truth("endpoints"),
        any_samples_in_open: node.truth("any_samples_in_open"),
        any_issue_in_open: node.truth("any_issue_in_open"),
        unlogged_issue: node.truth("unlogged_issue"),
        seeds: seeds(node.get("seeds")?)?,
        min_duration_ms: u64::try_from(node.duration("min_duration")?.as_millis()).ok()?,
        metrics: scenarios(node.get("metrics")?, metric)?,
        tests: map(node.get("tests"), test)?,
        benchmarks: map(node.get("benchmarks"), benchmark)?,
    })
}

fn map<T>(node: Option<&Node>, each: impl Fn(&Node) -> Option<T>) -> Option<Ordered<T>> {
    node.into_iter()
        .flat_map(Node::named)
        .map(|(name, value)| Some((name.to_owned(), each(value)?)))
        .collect()
}

fn scenarios<T>(node: &Node, each: impl Fn(&Node) -> Option<T>) -> Option<Vec<(Scenario, T)>> {
    node.named()
        .map(|(name, value)| Some((Scenario::from_word(name)?, each(value)?)))
        .collect()
}

fn seeds(node: &Node) -> Option<Seeds> {
    Some(Seeds {
        qsl: node.number("qsl")?,
        sample_index: node.number("sample_index")?,
        schedule: node.number("schedule")?,
    })
}

fn metric(node: &Node) -> Option<Metric> {
    Some(Metric {
        figure: node.string("figure")?,
        unit: node.string("unit")?,
    })
}

fn test(node: &Node) -> Option<ComplianceTest> {
    Some(ComplianceTest {
        seeds: match node.get("seeds") {
            Some(own) => Some(seeds(own)?),
            None => None,
        },
        within: node.fraction("within"),
        above: node.fraction("above"),
        limits: limits(node, "limits")?,
    })
}

fn limits(node: &Node, key: &str) -> Option<Ordered<Limit>> {
    map(node.get(key), |limit| {
        Some(Limit {
            min: limit.number("min"),
            max: limit.number("max"),
            below: None,
        })
    })
}

fn benchmark(node: &Node) -> Option<Benchmark> {
    Some(Benchmark {
        names: node.strings("names"),
        like: node.strings("like"),
        accuracy: limits(node, "accuracy")?,
        dataset: node.number("dataset"),
        performance_samples: node.number("performance_samples")?,
        accuracy_samples: node.number("accuracy_samples"),
        token_latencies: node.truth("token_latencies"),
        equal_issue: node.truth("equal_issue"),
        any_duration: node.truth("any_duration"),
        one_of: node
            .items_of("one_of")
            .filter_map(|name| Scenario::from_word(name.text()?))
            .collect(),
        compliance: node.strings("compliance"),
        accuracy_delta: map(node.get("accuracy_delta"), |delta| {
            measures::fraction(delta.text()?)
        })?,
        scenarios: scenarios(node.get("scenarios")?, scenario)?,
    })
}

fn scenario(node: &Node) -> Option<ScenarioRules> {
    let accuracy = node.get("accuracy").map(|_| limits(node, "accuracy"));
    Some(ScenarioRules {
        required: systems(node, "required"),
        optional: systems(node, "optional"),
        metric: metric(node),
        latency: Latency {
            query_ns: nanoseconds(node, "query_ms"),
            ttft_ns: nanoseconds(node, "ttft_ms"),
            tpot_ns: nanoseconds(node, "tpot_ms"),
        },
        min_queries: node.number("min_queries"),
        min_samples_per_query: node.number("min_samples_per_query"),
        accuracy: match accuracy {
            Some(own) => Some(own?),
            None => None,
        },
        accuracy_samples: node.number("accuracy_samples"),
    })
}

fn systems(node: &Node, key: &str) -> Vec<SystemType> {
    let known = |text: &str| match text {
        "datacenter" => Some(SystemType::Datacenter),
        "edge" => Some(SystemType::Edge),
        "both" => Some(SystemType::Both),
        _ => None,
    };
    node.items_of(key)
        .filter_map(|item| known(item.text()?))
        .collect()
}

fn nanoseconds(node: &Node, key: &str) -> Option<u64> {
    let milliseconds: f64 = node.number(key)?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a limit of zero or less lets nothing pass, as it is written"
    )]
    let nanoseconds = (milliseconds * 1e6).round() as u64;
    Some(nanoseconds)
}
