//! One HTML page that needs nothing else: no network, no script. The verdict comes first, then
//! charts, tables, the place where it was measured, the commands, the logs.
//!
//! Everything from evidence is written through `Markup`, which escapes it,
//! and the page forbids itself to load or run anything.

mod batch;
mod charts;
mod compared;
mod frame;
mod glance;
pub mod many;
mod model;
mod run;
mod telemetry;
mod trials;
mod verdict;

use self::frame::{Heading, document};
pub use self::model::{Page, Places, RunOfCell, Step, Subject};
use super::markup::Markup;
use super::words;
use crate::format;

/// More subjects than this are shown without charts, and only with the rules that are broken: a page
/// must open.
const IN_FULL: usize = 40;

/// The page.
#[must_use]
pub fn html(page: &Page<'_>) -> String {
    let notices = frame::notices(page);
    document(&title(page), &page.made, &notices, |main| {
        if let (None, [one]) = (page.batch, page.subjects.as_slice()) {
            return subject(main, one, Heading::Second, 0, true);
        }
        match page.batch {
            Some(batch) => batch::sections(main, batch, &page.subjects),
            None => glance::section(main, &page.subjects),
        }
        if let Some(comparison) = page.comparison {
            compared::section(main, comparison);
        }
        if let Some(places) = &page.places {
            main.leaf("h2", &[], "Environments");
            let names: Vec<&str> = places.names.iter().map(String::as_str).collect();
            compared::differing(main, &names, &places.groups);
        }
        each(main, &page.subjects);
    })
}

/// Every subject in a section of its own.
fn each(main: &mut Markup, subjects: &[Subject<'_>]) {
    let in_full = subjects.len() <= IN_FULL;
    for (number, one) in subjects.iter().enumerate() {
        let id = format!("s{number}");
        main.element("section", &[("aria-labelledby", &id)], |section| {
            section.leaf("h2", &[("id", &id)], &heading(one, subjects));
            subject(section, one, Heading::Third, number, in_full);
        });
    }
}

/// Of one, what it is; of several, how many.
fn title(page: &Page<'_>) -> String {
    if let Some(batch) = page.batch {
        return words::clean(&batch.title);
    }
    match page.subjects.as_slice() {
        [one] => words::title(one.entry.verdict),
        several => format!("Retrial: {}", format::count(several.len(), "result")),
    }
}

/// What it is; with its name where several are the same.
fn heading(one: &Subject<'_>, all: &[Subject<'_>]) -> String {
    let title = words::title(one.entry.verdict);
    let same = |other: &&Subject<'_>| words::title(other.entry.verdict) == title;
    if !one.runs.is_empty() {
        return one.name.clone();
    }
    if all.len() <= IN_FULL && all.iter().filter(same).count() > 1 {
        return format!("{title}: {}", one.name);
    }
    title
}

fn subject(main: &mut Markup, one: &Subject<'_>, heading: Heading, number: usize, in_full: bool) {
    if !one.runs.is_empty() {
        batch::runs(main, one);
    }
    verdict::section(main, one, heading, number);
    if in_full {
        charts::section(main, one, heading, number);
    }
    trials::section(main, one, heading, number, in_full);
    telemetry::section(main, one, heading, number, in_full);
    run::section(main, one, heading, number);
}

#[cfg(test)]
mod tests;
