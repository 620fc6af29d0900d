//! Where a run was measured, the commands that it ran, and its logs.

use super::frame::{Cell, Heading, address, below, part, table};
use super::{Step, Subject};
use crate::report::human;
use crate::report::markup::Markup;

pub(super) fn section(main: &mut Markup, one: &Subject<'_>, heading: Heading, number: usize) {
    if !one.environment.is_empty() {
        part(main, heading, "Where it was measured", |main| {
            let facts = one.environment.iter();
            let rows = facts
                .map(|(name, value)| vec![Cell::Head(name.clone()), Cell::Text(value.clone())]);
            table(
                main,
                &format!("Environment of {}", one.name),
                &["what", "value"],
                rows,
            );
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
            steps(main, one, heading)
        });
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
            Cell::Number(step.seconds.map_or("–".to_owned(), human::duration)),
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
