//! A website's pages are well-formed whatever a container wrote, and its feed is valid and small.

use std::collections::{BTreeMap, HashMap};

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use quick_xml::Reader;
use quick_xml::events::Event;

use super::super::{render_website_page, website::SCRIPT};
use super::{HOSTILE, check};
use crate::content::website::{FRONT, Website, WebsiteOptions};
use crate::document::sanitize_line;
use crate::feed::FEED_FILE;
use retrial_history::{DecidingFigure, RunState, RunSummary};
use retrial_plan::BatchPosition;
use retrial_recipe::model::{Mode, Submission};
use retrial_results::verdict::Outcome;

/// The most bytes of a feed.
const LARGEST: usize = 300_000;

/// Runs of two submissions whose every text is this one, each run's with a number.
fn rows(text: &str, count: usize) -> Vec<RunSummary> {
    let first: Timestamp = "2026-04-01T06:00:00Z".parse().unwrap();
    let rows = (0..count).map(|number| {
        let numbered = |count: usize| format!("{} {text}", number % count);
        let started = first + SignedDuration::from_hours(i64::try_from(number).unwrap() * 9);
        let outcome = Outcome::ALL[number * number % 5];
        RunSummary {
            id: format!("{number} {text}"),
            recipe: text.to_owned(),
            title: numbered(2),
            submission: Submission {
                suite: format!("mlperf-{text}"),
                round: Some(text.to_owned()),
                submitter: Some(text.to_owned()),
                system: Some(text.to_owned()),
                benchmark: numbered(2),
                sources: vec![text.to_owned(); 9],
                ..Submission::default()
            },
            variant: BTreeMap::from([
                (text.to_owned(), numbered(5)),
                ("rocm".to_owned(), format!("{}.{text}", number % 7)),
            ]),
            started: Some(started),
            ended: Some(started + SignedDuration::from_mins(10)),
            host: numbered(3),
            gpus: numbered(4),
            rocm: numbered(9),
            driver: numbered(11),
            image: numbered(13),
            run_state: RunState::Ended,
            batch: (number % 3 == 0).then(|| BatchPosition {
                id: numbered(6),
                cell: text.to_owned(),
                trial: 2,
            }),
            outcome: Some(outcome),
            sentence: text.to_owned(),
            deciding: Some(DecidingFigure {
                scenario: numbered(2).into(),
                mode: Mode::Performance,
                figure: text.to_owned(),
                value: Some(1000.0),
                unit: text.to_owned(),
                ratio: Some(1.01),
                is_of_single_trial: true,
            }),
            ..RunSummary::default()
        }
    });
    rows.collect()
}

fn pages(website: &Website<'_>) -> Vec<(String, String)> {
    let names = website.page_names().into_iter().enumerate();
    let pages = names.map(|(at, name)| {
        let page = website.build_page(at);
        let text = render_website_page(&page.document, &page.links);
        (name.to_owned(), text)
    });
    pages.collect()
}

fn look(text: &str, count: usize) {
    let rows = rows(text, count);
    let options = WebsiteOptions {
        made_by: "retrial 0.1.0",
        link: &|row| Some(format!("../{}/report.html", row.id)),
        batches: &HashMap::new(),
        url: Some("https://example.org/runs/"),
    };
    let website = Website::new(&rows, &options);
    let pages = pages(&website);
    for (name, page) in &pages {
        assert_eq!(page.matches("<script").count(), 1, "{name}");
        let without = page.replacen(&format!("<script>{SCRIPT}</script>"), "", 1);
        let lines = without.split("<link ").enumerate().map(|(at, part)| {
            let rest = part.split_once('>').map_or("", |(_, rest)| rest);
            if at == 0 { part } else { rest }
        });
        check(&lines.collect::<String>());
        // Links within the website lead to a page that there is.
        for link in page.split("href=\"./").skip(1) {
            let to = link.split('"').next().unwrap();
            let is_there = pages.iter().any(|(name, _)| name == to);
            assert!(is_there || to == FEED_FILE || to.starts_with(".."), "{to}");
        }
    }
    let feed = website.feed();
    let atom = feed.to_atom();
    assert!(atom.len() < LARGEST);
    let expected = feed.entries.iter().map(|entry| entry.title.as_str());
    assert!(titles(&atom).iter().skip(1).map(String::as_str).eq(expected));
}

/// The titles of an Atom feed and of its entries.
fn titles(atom: &str) -> Vec<String> {
    let mut reader = Reader::from_str(atom);
    let mut titles: Vec<String> = Vec::new();
    let mut inside = false;
    loop {
        match reader.read_event().unwrap() {
            Event::Eof => return titles,
            Event::Start(element) if element.name().as_ref() == b"title" => {
                inside = true;
                titles.push(String::new());
            }
            Event::End(_) => inside = false,
            Event::Text(text) if inside => {
                titles.last_mut().unwrap().push_str(&text.decode().unwrap());
            }
            Event::GeneralRef(reference) if inside => {
                let sign = reference.resolve_char_ref().unwrap().map(String::from);
                let named = || {
                    let name = reference.decode().unwrap();
                    quick_xml::escape::resolve_predefined_entity(&name).map(str::to_owned)
                };
                let sign = sign.or_else(named).unwrap();
                titles.last_mut().unwrap().push_str(&sign);
            }
            _ => {}
        }
    }
}

#[test]
fn container_output_is_escaped() {
    look(HOSTILE, 700);
    assert!(!sanitize_line(HOSTILE).contains('\u{1b}'));
}

#[test]
fn long_markup_is_escaped() {
    look(&"\"<&".repeat(200), 700);
}

#[test]
fn a_website_without_runs_has_a_page() {
    let options = WebsiteOptions {
        made_by: "retrial 0.1.0",
        link: &|_| None,
        batches: &HashMap::new(),
        url: None,
    };
    let website = Website::new(&[], &options);
    assert_eq!(website.page_names(), [FRONT]);
    assert!(website.build_page(0).document.title.contains("Retrial"));
    let atom = website.feed().to_atom();
    assert_eq!(titles(&atom).len(), 1);
    assert!(atom.contains("href=\"index.html\""), "{atom}");
}

#[test]
fn a_run_without_options_is_labeled_default() {
    let mut runs = rows("a", 12);
    for (number, run) in runs.iter_mut().enumerate() {
        run.title = "one".to_owned();
        run.submission = Submission::default();
        run.gpus = String::new();
        run.variant = BTreeMap::from([("rocm".to_owned(), "7.2".to_owned())]);
        if number % 2 == 0 {
            run.variant.clear();
        }
    }
    let options = WebsiteOptions {
        made_by: "retrial 0.1.0",
        link: &|_| None,
        batches: &HashMap::new(),
        url: None,
    };
    let of_submission = pages(&Website::new(&runs, &options)).remove(1).1;
    assert!(of_submission.contains(">default<"), "{of_submission}");
    assert!(!of_submission.contains(">no GPU<"), "{of_submission}");
}

#[test]
fn every_run_is_on_the_page_of_its_submission() {
    let rows = rows("a", 300);
    let options = WebsiteOptions {
        made_by: "retrial 0.1.0",
        link: &|row| Some(format!("../{}/report.html", row.id)),
        batches: &HashMap::new(),
        url: None,
    };
    let pages = pages(&Website::new(&rows, &options));
    let is_batch = |name: &str| name.starts_with("batch.");
    let submissions = pages.iter().filter(|(name, _)| name != FRONT && !is_batch(name));
    let texts: Vec<&String> = submissions.map(|(_, text)| text).collect();
    assert_eq!(texts.len(), 2);
    for row in &rows {
        let cell = format!(">{}</a>", row.id);
        assert!(texts.iter().any(|text| text.contains(&cell)), "{}", row.id);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn any_text_is_escaped(text in "\\PC*|(.|\n){0,40}") {
        look(&text, 60);
    }
}
