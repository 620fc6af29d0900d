//! A website of runs: a front page of all submissions and batches, a page of each submission with its verdicts and
//! its runs, a page of each batch, and a feed of changes of verdict.
//!
//! The same runs give the same pages: nothing here depends on when or where they are made. Times are UTC.

mod batches;
mod changes;
mod front;
mod group;
mod release_charts;
mod releases;
mod runs;
mod submission;
mod tables;

use std::collections::HashMap;

use crate::document::{Document, Line};
use crate::feed::Feed;
use retrial_history::RunSummary;

use self::batches::BatchRuns;
pub use self::batches::{BatchRecord, OpenBatch, OpenBatchState, RecordedBatch};
use self::changes::VerdictChange;
use self::group::SubmissionRuns;

/// The name of the front page.
pub const FRONT: &str = "index.html";

/// Facts that all pages of a website share.
pub struct WebsiteOptions<'a> {
    /// The version that makes the pages.
    pub made_by: &'a str,
    /// The path from the website to a run's own report, if it has one.
    pub link: &'a (dyn Fn(&RunSummary) -> Option<String> + Sync),
    /// What this machine has of each batch, by its id.
    pub batches: &'a HashMap<String, BatchRecord>,
    /// The address at which the website will be served, if it is known.
    pub url: Option<&'a str>,
}

/// A website, before its pages are made.
pub struct Website<'a> {
    options: &'a WebsiteOptions<'a>,
    groups: Vec<SubmissionRuns<'a>>,
    /// Newest first, each with the position of its submission.
    changes: Vec<(usize, VerdictChange<'a>)>,
    /// Newest first.
    batches: Vec<BatchRuns<'a>>,
    pages: Vec<(String, WebsitePart)>,
}

pub struct WebsitePage {
    pub document: Document,
    /// Other pages, each with its label.
    pub links: Vec<(Line, String)>,
}

/// The part of the website that a page shows.
enum WebsitePart {
    Front,
    /// A submission, by its position.
    Submission(usize),
    /// A batch, by its position.
    Batch(usize),
}

impl<'a> Website<'a> {
    /// Plans the pages of runs (the newest last).
    pub fn new(rows: &'a [RunSummary], options: &'a WebsiteOptions<'a>) -> Self {
        let groups = group::group_by_submission(rows);
        let mut changes: Vec<(usize, VerdictChange<'a>)> = groups
            .iter()
            .enumerate()
            .flat_map(|(at, group)| changes::find_changes(group).map(move |change| (at, change)))
            .collect();
        changes.sort_by(|(_, left), (_, right)| right.sort_key().cmp(&left.sort_key()));
        let mut pages = vec![(FRONT.to_owned(), WebsitePart::Front)];
        let submissions = groups.iter().enumerate();
        pages.extend(submissions.map(|(at, one)| (one.page_name(), WebsitePart::Submission(at))));
        let batches = batches::find_batches(rows, options);
        let batch_pages = batches.iter().enumerate();
        pages.extend(batch_pages.map(|(at, batch)| (batch.page_name(), WebsitePart::Batch(at))));
        Self { options, groups, changes, batches, pages }
    }

    pub fn page_names(&self) -> Vec<&str> {
        self.pages.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// Makes the page of this position among the names.
    pub fn build_page(&self, at: usize) -> WebsitePage {
        let mut page = match &self.pages[at].1 {
            WebsitePart::Front => front::front_page(self),
            WebsitePart::Submission(at) => submission::submission_page(self, *at),
            WebsitePart::Batch(at) => batches::batch_page(self, *at),
        };
        page.document.made_by = format!("{}; times are UTC", self.options.made_by).into();
        page
    }

    /// The latest changes of verdict.
    pub fn feed(&self) -> Feed {
        changes::changes_feed(self)
    }
}
