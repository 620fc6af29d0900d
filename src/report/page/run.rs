//! Where a run was measured, the commands that it ran, and its logs.

use super::frame::{Cell, Heading, address, below, part, table};
use super::{Step, Subject};
use crate::format;
use crate::report::markup::Markup;
use crate::verdict::comparison::Fact;

/// More facts of a kind are folded, and of very many the first are told.
const FEW: usize = 30;
const FACTS: usize = 5000;

pub(super) fn section(main: &mut Markup, one: &Subject<'_>, heading: Heading, number: usize) {
    if !one.environment.is_empty() {
        part(main, heading, "Where it was measured", |main| {
            environment(main, one);
        });
    }
    if let Some(commands) = &one.commands {
        part(main, heading, "Commands", |main| {
            main.leaf(
                "p",
                &[],
                "What was done, as a script that can be pasted into a terminal.",
            );
            main.element("details", &[], |details| {
                details.leaf("summary", &[], "Show the script");
                let name = format!("Commands of result {}", number + 1);
                let region = [
                    ("tabindex", "0"),
                    ("role", "region"),
                    ("aria-label", name.as_str()),
                ];
                details.element("pre", &region, |block| {
                    block.lines(commands);
                });
            });
        });
    }
    if !one.steps.is_empty() {
        part(main, heading, "Steps and logs", |main| {
            steps(main, one, heading);
        });
    }
}

/// What an image has in it is looked up, not read.
fn environment(main: &mut Markup, one: &Subject<'_>) {
    let mut all: Vec<&Fact> = one.environment.iter().collect();
    all.sort_by_key(|fact| fact.group);
    for facts in all.chunk_by(|one, other| one.group == other.group) {
        let Some(first) = facts.first() else { continue };
        let group = first.group.word();
        let listed = |main: &mut Markup| {
            let rows = facts.iter().take(FACTS);
            let rows = rows.map(|fact| {
                vec![
                    Cell::Head(fact.what.clone()),
                    Cell::Text(fact.value.clone()),
                ]
            });
            table(
                main,
                &format!("{}: {group}", one.name),
                &["what", "value"],
                rows,
            );
        };
        if facts.len() > FEW {
            main.element("details", &[], |details| {
                details.leaf("summary", &[], &format!("{group}: {}", facts.len()));
                listed(details);
            });
        } else {
            listed(main);
        }
    }
}

fn steps(main: &mut Markup, one: &Subject<'_>, heading: Heading) {
    let rows = one.steps.iter().map(|step| {
        let name = format!("{:02} {}", step.number, step.name);
        vec![
            step.log.as_ref().map_or_else(
                || Cell::Head(name.clone()),
                |path| Cell::Link(name.clone(), address(path)),
            ),
            if step.failed {
                Cell::News("bad", format!("! {}", step.ended))
            } else {
                Cell::Text(step.ended.clone())
            },
            Cell::Number(step.seconds.map_or("–".to_owned(), format::duration)),
        ]
    });
    let caption = format!("Steps of {}, each with its log", one.name);
    table(main, &caption, &["step", "how it ended", "took"], rows);
    for step in one.steps.iter().filter(|step| !step.tail.is_empty()) {
        tail(main, step, heading);
    }
}

fn tail(main: &mut Markup, step: &Step, heading: Heading) {
    let title = format!("The last lines of {:02} {}", step.number, step.name);
    below(main, heading, &title);
    let region = [
        ("tabindex", "0"),
        ("role", "region"),
        ("aria-label", title.as_str()),
    ];
    main.element("pre", &region, |block| {
        block.lines(&step.tail.join("\n"));
    });
}
