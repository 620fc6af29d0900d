//! A website of runs: a front page of all submissions, pages of each with the history of its verdicts and
//! its runs, and a feed of changes of verdict.
//!
//! The same runs give the same pages: nothing here depends on when or where they are made. Times are UTC.
//! Every page has at most 300 kB: tables are cut by their size, and the runs of a submission are spread
//! over pages, of which all but the last stay as they are when runs are added.

mod changes;
mod front;
mod group;
mod history;
mod releases;
mod runs;
mod submission;
mod tables;

use std::ops::Range;

use crate::document::{Document, Line};
use crate::feed::Feed;
use retrial_history::RunSummary;

use self::changes::VerdictChange;
use self::group::SubmissionRuns;

/// The name of the front page.
pub const FRONT: &str = "index.html";

/// Facts that all pages of a website share.
pub struct WebsiteOptions<'a> {
    /// The version that makes the pages.
    pub made: &'a str,
    /// The path from the website to a run's own report, if it has one.
    pub link: &'a (dyn Fn(&RunSummary) -> Option<String> + Sync),
    /// The address at which the website will be served, if it is known.
    pub url: Option<&'a str>,
}

/// A website, before its pages are made.
pub struct Website<'a> {
    options: &'a WebsiteOptions<'a>,
    groups: Vec<SubmissionRuns<'a>>,
    /// Newest first, each with the position of its submission.
    changes: Vec<(usize, VerdictChange<'a>)>,
    pages: Vec<(String, WebsitePart)>,
}

/// A page of the website.
pub struct WebsitePage {
    /// The page's content.
    pub document: Document,
    /// Other pages, each with its label.
    pub links: Vec<(Line, String)>,
}

/// The part of the website that a page shows.
enum WebsitePart {
    /// A front page, with these submissions.
    Front(Range<usize>),
    /// The first page of a submission, by its position.
    Submission(usize),
    /// The runs of a submission on this page of runs; the first has the oldest.
    Runs(usize, usize),
}

impl<'a> Website<'a> {
    /// Plans the pages of runs (the newest last).
    pub fn new(rows: &'a [RunSummary], options: &'a WebsiteOptions<'a>) -> Self {
        let groups = group::groups(rows, |rows| runs::parts(rows, options));
        let all = groups.iter().enumerate();
        let all = all.flat_map(|(at, group)| changes::of(group).map(move |change| (at, change)));
        let mut changes: Vec<(usize, VerdictChange<'a>)> = all.collect();
        changes.sort_by(|(_, left), (_, right)| right.key().cmp(&left.key()));
        let mut pages: Vec<(String, WebsitePart)> = front::parts(&groups)
            .into_iter()
            .enumerate()
            .map(|(at, part)| (front::name(at), WebsitePart::Front(part)))
            .collect();
        for (at, group) in groups.iter().enumerate() {
            pages.push((group.page(), WebsitePart::Submission(at)));
            let runs = 0..group.parts.len();
            pages.extend(runs.map(|part| (group.page_of_runs(part), WebsitePart::Runs(at, part))));
        }
        Self {
            options,
            groups,
            changes,
            pages,
        }
    }

    /// The names of its pages.
    pub fn names(&self) -> Vec<&str> {
        self.pages.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// Makes the page of this position among the names.
    pub fn page(&self, at: usize) -> WebsitePage {
        let mut page = match &self.pages[at].1 {
            WebsitePart::Front(part) => front::page(self, part),
            WebsitePart::Submission(at) => submission::page(self, *at),
            WebsitePart::Runs(at, part) => runs::page(&self.groups[*at], *part, self.options),
        };
        page.document.made = format!("{}; times are UTC", self.options.made).into();
        page
    }

    /// The latest changes of verdict.
    pub fn feed(&self) -> Feed {
        changes::feed(self)
    }
}
