//! The verdict: its word, a card for each figure, the reasons, what stands beside it.

use super::Subject;
use super::frame::{Heading, class, part};
use crate::report::markup::Markup;
use crate::report::rows::{self, Row};
use crate::report::words::{MANY, headline, reasons, symbol};
use crate::verdict::{QualifierKind, Verdict, number};

pub(super) fn section(main: &mut Markup, one: &Subject<'_>, heading: Heading, number: usize) {
    let verdict = one.entry.verdict;
    part(main, heading, "Verdict", |main| {
        word(main, verdict);
        let rows: Vec<Row> = verdict.results.iter().flat_map(rows::of).collect();
        if rows.len() <= 2 * MANY {
            cards(main, &rows, verdict);
        }
        list(main, verdict);
        broken(main, one);
        if !one.entry.evidence.is_empty() {
            main.element("p", &[("class", "faint")], |line| {
                line.text("Evidence: ")
                    .leaf("code", &[], &one.entry.evidence);
            });
        }
        if let Some(notice) = &verdict.notice
            && number == 0
        {
            main.leaf("blockquote", &[], notice);
        }
    });
}

fn word(main: &mut Markup, verdict: &Verdict) {
    let (word, sentence) = headline(verdict);
    let frame = format!("verdict {}", class(verdict.outcome));
    main.element("div", &[("class", &frame)], |frame| {
        frame.leaf("p", &[("class", "word")], &word);
        if !sentence.is_empty() {
            frame.leaf("p", &[], &sentence);
        }
        // A figure of GPUs that did nothing is no figure of theirs.
        for idle in &verdict.qualifiers {
            if idle.kind == QualifierKind::IdleGpus {
                frame.element("p", &[], |line| {
                    let said = format!("! {}: {}", idle.kind, idle.because);
                    line.leaf("span", &[("class", "bad")], &said);
                });
            }
        }
    });
}

/// A figure each: what was measured, what was published, the ratio and its bounds.
fn cards(main: &mut Markup, rows: &[Row], verdict: &Verdict) {
    let unverified = if verdict.notice.is_some() {
        "unverified"
    } else {
        ""
    };
    main.element("ul", &[("class", "cards")], |list| {
        for row in rows {
            let frame = format!("card {}", class(row.outcome));
            list.element("li", &[("class", &frame)], |card| {
                let of = format!("{} {}: {}", row.scenario, row.mode, row.figure);
                card.leaf("p", &[("class", "of")], of.trim_end_matches([':', ' ']));
                card.element("p", &[("class", "value")], |value| {
                    value.text(&row.measured);
                    if !unverified.is_empty() {
                        value.text(" ").leaf("small", &[], unverified);
                    }
                });
                for line in against(row, verdict) {
                    card.leaf("p", &[], &line);
                }
                card.element("p", &[], |line| {
                    let class = class(row.outcome);
                    let word = format!("{} {}", symbol(row.outcome), row.outcome);
                    line.leaf("span", &[("class", class)], &word);
                });
            });
        }
    });
}

fn against(row: &Row, verdict: &Verdict) -> Vec<String> {
    if row.source == "limit" {
        return vec![format!("limit: {}", row.published)];
    }
    if row.source.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![format!("published {} ({})", row.published, row.source)];
    if row.ratio != rows::NOTHING {
        let bounds = match row.bounds.as_str() {
            "" => String::new(),
            bounds => format!(", {bounds} at {}", number::percent(verdict.confidence)),
        };
        lines.push(format!("ratio {}{bounds}", row.ratio));
    }
    lines
}

fn list(main: &mut Markup, verdict: &Verdict) {
    let reasons: Vec<_> = verdict.results.iter().flat_map(reasons).collect();
    let qualifiers = verdict.qualifiers.iter();
    let qualifiers: Vec<_> = qualifiers
        .filter(|one| one.kind != QualifierKind::IdleGpus)
        .collect();
    if reasons.is_empty() && qualifiers.is_empty() && verdict.warnings.is_empty() {
        return;
    }
    main.element("ul", &[("class", "told")], |list| {
        for (outcome, reason) in &reasons {
            list.element("li", &[], |item| {
                item.leaf("span", &[("class", class(*outcome))], symbol(*outcome));
                item.text(reason);
            });
        }
        for qualifier in qualifiers {
            list.element("li", &[], |item| {
                item.leaf("span", &[("class", "open")], "!");
                item.leaf("em", &[], qualifier.kind.word());
                item.text(": ").text(&qualifier.because);
            });
        }
        for warning in &verdict.warnings {
            list.element("li", &[], |item| {
                item.leaf("span", &[("class", "open")], "!");
                item.leaf("em", &[], "warning");
                item.text(": ").text(warning);
            });
        }
    });
}

/// Rules of the whole that were broken: a system's description, scenarios that are missing.
fn broken(main: &mut Markup, one: &Subject<'_>) {
    let broken: Vec<_> = one.entry.rules.iter().filter(|rule| !rule.passed).collect();
    if broken.is_empty() {
        return;
    }
    main.element("ul", &[("class", "told")], |list| {
        for rule in broken {
            list.element("li", &[], |item| {
                item.leaf("span", &[("class", "bad")], "!");
                item.text(&format!(
                    "{}: {}; asked {}",
                    rule.rule, rule.found, rule.asked
                ));
            });
        }
    });
}
