//! Figures, expectations and limits.

use super::read::Read;
use crate::format::whole_json_path;
use crate::model::{
    Aggregate, Better, Claim, CsvCell, Expectation, ExpectationKind, FigureSource, Find, Limit,
    MllogFigure, Ordered, ReferenceConvergence, Take,
};
use crate::node::Node;

pub(super) fn figure(node: &Node) -> Option<FigureSource> {
    Some(FigureSource {
        find: find(node)?,
        file: node.template("file"),
        by: node.strings("by"),
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

fn find(node: &Node) -> Option<Find> {
    Some(if let Some(pattern) = node.string("pattern") {
        Find::Pattern(pattern)
    } else if let Some(path) = node.string("json") {
        Find::Json {
            path: whole_json_path(&path).into_owned(),
            value: node.string("value"),
        }
    } else if let Some(cell) = node.get("csv") {
        Find::Csv(csv(cell)?)
    } else {
        Find::Mllog(MllogFigure {
            key: node.string("mllog")?,
            target: node.get("target").map(limit),
            rcp: match node.get("rcp") {
                Some(node) => Some(rcp(node)?),
                None => None,
            },
        })
    })
}

fn csv(node: &Node) -> Option<CsvCell> {
    if let Some(column) = node.text() {
        return Some(CsvCell {
            column: column.to_owned(),
            ..CsvCell::default()
        });
    }
    Some(CsvCell {
        column: node.string("column")?,
        filter: node
            .get("where")
            .into_iter()
            .flat_map(Node::named)
            .map(|(column, cell)| Some((column.to_owned(), cell.text()?.to_owned())))
            .collect::<Option<_>>()?,
        row: node.number("row"),
    })
}

fn rcp(node: &Node) -> Option<ReferenceConvergence> {
    let point = |(size, list): (&str, &Node)| {
        let numbers = list.items().iter().map(|item| item.text()?.parse().ok());
        Some((size.parse().ok()?, numbers.collect::<Option<Vec<f64>>>()?))
    };
    Some(ReferenceConvergence {
        runs: node.number("runs").unwrap_or(10),
        points: node
            .get("points")?
            .named()
            .map(point)
            .collect::<Option<_>>()?,
    })
}

/// The name of a table's entry, however its spaces were written.
pub fn entry_name(table: &str, entry: &str) -> String {
    let words: Vec<&str> = entry.split_whitespace().collect();
    format!("{table}[{}]", words.join(" "))
}

/// A figure's name as results have it.
pub fn figure_name(written: &str) -> String {
    match written
        .strip_suffix(']')
        .and_then(|text| text.split_once('['))
    {
        Some((table, entry)) => entry_name(table, entry),
        None => written.to_owned(),
    }
}

/// What was published, a table's values each under its own name.
pub(super) fn expect(node: &Node) -> Option<Ordered<Vec<Expectation>>> {
    let mut all: Ordered<Vec<Expectation>> = Vec::new();
    for (name, node) in node.get("expect").into_iter().flat_map(Node::named) {
        let list = match node.items() {
            [] => std::slice::from_ref(node),
            items => items,
        };
        for one in list {
            for (name, expectation) in expectations(name, one)? {
                match all.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, of_name)) => of_name.push(expectation),
                    None => all.push((name, vec![expectation])),
                }
            }
        }
    }
    Some(all)
}

fn expectations(name: &str, node: &Node) -> Option<Ordered<Expectation>> {
    let kinds = [
        ("official", ExpectationKind::Official),
        ("guide", ExpectationKind::Guide),
        ("third-party", ExpectationKind::ThirdParty),
    ];
    let kind = node.word("kind", &kinds)?;
    let claims = [
        ("not-worse", Claim::NotWorse),
        ("equivalent", Claim::Equivalent),
        ("better", Claim::Better),
    ];
    let claim = match node.get("claim") {
        Some(_) => node.word("claim", &claims)?,
        None => Claim::default(),
    };
    let of = |value: f64| Expectation {
        value,
        kind,
        source: node.string("source"),
        sigma: node.fraction("sigma"),
        noise: node.fraction("noise"),
        margin: node.fraction("margin"),
        claim,
    };
    match node.get("values") {
        Some(values) => values
            .named()
            .map(|(entry, value)| Some((entry_name(name, entry), of(value.text()?.parse().ok()?))))
            .collect(),
        None => Some(vec![(figure_name(name), of(node.number("value")?))]),
    }
}

/// The benchmark's own limits.
pub(super) fn limits(node: &Node) -> Ordered<Limit> {
    let all = node.get("limits").into_iter().flat_map(Node::named);
    all.map(|(name, node)| (figure_name(name), limit(node)))
        .collect()
}

fn limit(node: &Node) -> Limit {
    Limit {
        min: node.number("min"),
        max: node.number("max"),
        below: node.number("below"),
    }
}
