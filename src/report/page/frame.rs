//! The frame of a page: head, skip link, landmarks, headings, tables.

use super::Page;
use crate::report::charts;
use crate::report::markup::Markup;
use crate::report::words::symbol;
use crate::verdict::Outcome;

const STYLE: &str = include_str!("style.css");
/// Nothing is loaded, nothing is run, nothing is sent, whatever text got into the page.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// Which headings the parts of a subject have: below the page's, or below its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heading {
    Second,
    Third,
}

impl Heading {
    fn name(self) -> &'static str {
        match self {
            Self::Second => "h2",
            Self::Third => "h3",
        }
    }

    fn below(self) -> &'static str {
        match self {
            Self::Second => "h3",
            Self::Third => "h4",
        }
    }
}

/// The notices that the policy of a suite asks for, each once.
pub(super) fn notices<'a>(page: &Page<'a>) -> Vec<&'a str> {
    let of_comparison = page.comparison.and_then(|one| one.notice.as_deref());
    let of_subjects = page.subjects.iter();
    let of_subjects = of_subjects.filter_map(|one| one.entry.verdict.notice.as_deref());
    let mut notices: Vec<&str> = Vec::new();
    for notice in of_subjects.chain(of_comparison) {
        if !notices.contains(&notice) {
            notices.push(notice);
        }
    }
    notices
}

/// A whole document.
pub(super) fn document(
    title: &str,
    made: &str,
    notices: &[&str],
    main: impl FnOnce(&mut Markup),
) -> String {
    let mut page = Markup::default();
    page.literal("<!DOCTYPE html>\n");
    page.element(
        "html",
        &[("lang", "en"), ("xmlns", "http://www.w3.org/1999/xhtml")],
        |html| {
            html.element("head", &[], |head| {
                head.literal("<meta charset=\"utf-8\"/>");
                head.literal(
                    "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"/>",
                );
                head.literal("<meta name=\"color-scheme\" content=\"light dark\"/>");
                head.literal("<meta http-equiv=\"Content-Security-Policy\" content=\"");
                head.literal(POLICY).literal("\"/>");
                head.literal("<meta name=\"generator\" content=\"retrial\"/>");
                head.leaf("title", &[], title);
                head.element("style", &[], |style| {
                    style.literal(STYLE).literal(charts::STYLE);
                });
            });
            html.literal("\n");
            html.element("body", &[], |body| {
                body.leaf(
                    "a",
                    &[("class", "skip"), ("href", "#main")],
                    "To the verdict",
                );
                body.element("header", &[], |header| {
                    header.leaf("h1", &[], title);
                    header.leaf("p", &[("class", "made")], &format!("Report made by {made}"));
                });
                body.literal("\n");
                body.element("main", &[("id", "main")], main);
                body.literal("\n");
                body.element("footer", &[], |footer| {
                    for notice in notices {
                        footer.leaf("p", &[("class", "made")], notice);
                    }
                    footer.leaf("p", &[("class", "made")], &format!("Report made by {made}"));
                });
            });
        },
    );
    page.literal("\n");
    page.into_string()
}

/// A part of a subject, with its heading.
pub(super) fn part(
    main: &mut Markup,
    heading: Heading,
    title: &str,
    content: impl FnOnce(&mut Markup),
) {
    main.leaf(heading.name(), &[], title);
    content(main);
    main.literal("\n");
}

/// A heading below a part's.
pub(super) fn below(main: &mut Markup, heading: Heading, title: &str) {
    main.leaf(heading.below(), &[], title);
}

/// A cell of a table.
#[derive(Debug, Clone)]
pub(super) enum Cell {
    /// What its row is about.
    Head(String),
    /// What its row is about, and where that stands on the page or elsewhere.
    Link(String, String),
    /// Text.
    Text(String),
    /// A number: to the right.
    Number(String),
    /// An outcome's word with its sign.
    Outcome(Outcome),
    /// A word that is good or bad news.
    News(&'static str, String),
}

/// A table in a region that scrolls by itself where it is too wide.
pub(super) fn table(
    main: &mut Markup,
    caption: &str,
    head: &[&str],
    rows: impl Iterator<Item = Vec<Cell>>,
) {
    grouped(main, caption, head, &[(None, rows.collect())]);
}

/// Rows under the heads of their groups.
pub(super) type Group = (Option<Cell>, Vec<Vec<Cell>>);

/// A table of groups; numbers' heads stand over them, to the right.
pub(super) fn grouped(main: &mut Markup, caption: &str, head: &[&str], groups: &[Group]) {
    let is_number = |column: usize| {
        let mut rows = groups.iter().flat_map(|(_, rows)| rows);
        rows.any(|row| matches!(row.get(column), Some(Cell::Number(_))))
    };
    let region = [
        ("class", "table"),
        ("role", "region"),
        ("tabindex", "0"),
        ("aria-label", caption),
    ];
    let columns = head.len().to_string();
    main.element("div", &region, |region| {
        region.element("table", &[], |table| {
            table.leaf("caption", &[], caption);
            table.element("thead", &[], |part| {
                part.element("tr", &[], |row| {
                    for (column, name) in head.iter().enumerate() {
                        if name.is_empty() {
                            row.leaf("td", &[], "");
                        } else if is_number(column) {
                            row.leaf("th", &[("scope", "col"), ("class", "n")], name);
                        } else {
                            row.leaf("th", &[("scope", "col")], name);
                        }
                    }
                });
            });
            for (name, rows) in groups {
                table.element("tbody", &[], |part| {
                    if let Some(name) = name {
                        part.element("tr", &[], |row| {
                            let span = [("scope", "rowgroup"), ("colspan", columns.as_str())];
                            row.element("th", &span, |cell| link_or_text(cell, name));
                        });
                    }
                    for cells in rows {
                        part.element("tr", &[], |row| {
                            for cell in cells {
                                written(row, cell);
                            }
                        });
                        part.literal("\n");
                    }
                });
            }
        });
    });
}

fn link_or_text(into: &mut Markup, cell: &Cell) {
    match cell {
        Cell::Link(text, to) => into.leaf("a", &[("href", to)], text),
        Cell::Head(text) | Cell::Text(text) | Cell::Number(text) | Cell::News(_, text) => {
            into.text(text)
        }
        Cell::Outcome(outcome) => into.text(outcome.word()),
    };
}

fn written(row: &mut Markup, cell: &Cell) {
    match cell {
        Cell::Head(_) | Cell::Link(..) => {
            row.element("th", &[("scope", "row")], |head| link_or_text(head, cell))
        }
        Cell::Text(text) => row.leaf("td", &[], text),
        Cell::Number(text) => row.leaf("td", &[("class", "n")], text),
        Cell::Outcome(outcome) => {
            let class = format!("w {}", class(*outcome));
            let word = format!("{} {outcome}", symbol(*outcome));
            row.leaf("td", &[("class", &class)], &word)
        }
        Cell::News(class, text) => {
            let class = format!("w {class}");
            row.leaf("td", &[("class", &class)], text)
        }
    };
}

/// The colour of an outcome.
pub(super) fn class(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Reproduced => "good",
        Outcome::Measured => "plain",
        Outcome::Inconclusive => "open",
        Outcome::NotReproduced | Outcome::Invalid | Outcome::Failed => "bad",
    }
}

/// A path as the address of a link from the page: nothing in it is a scheme, a host or a fragment.
pub(super) fn address(path: &str) -> String {
    use std::fmt::Write as _;
    let mut address = String::from(if path.starts_with('/') { "" } else { "./" });
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => {
                address.push(char::from(byte));
            }
            byte => {
                let _ = write!(address, "%{byte:02X}");
            }
        }
    }
    address
}
