//! Pages that link each other, and their one script. It is inline, and the content security policy allows it
//! by its hash and nothing else; pages work without it.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use super::{POLICY, address};
use crate::report::document::Line;
use crate::report::feed;

pub(super) const SCRIPT: &str = include_str!("filter.js");

/// The policy of a page with the script.
static WITH_SCRIPT: LazyLock<String> = LazyLock::new(|| {
    let hash = STANDARD.encode(Sha256::digest(SCRIPT));
    format!("{POLICY}; script-src 'sha256-{hash}'")
});

/// What surrounds a document in a website.
pub(super) struct Frame<'a> {
    /// Other pages, each with its label.
    pub links: &'a [(Line, String)],
}

impl Frame<'_> {
    pub fn policy() -> &'static str {
        &WITH_SCRIPT
    }

    /// The feeds, for the head.
    pub fn feeds() -> Markup {
        let feed = |kind: &str, file: &str| {
            html! { link rel="alternate" type=(kind) href=(address(file)) title="Changes of verdict"; }
        };
        html! {
            (feed("application/atom+xml", feed::ATOM))
            (feed("application/feed+json", feed::JSON))
        }
    }

    pub fn navigation(&self, label: &str) -> Markup {
        html! {
            nav aria-label=(label) {
                @for (label, page) in self.links { a href=(address(page)) { (label.as_str()) } " " }
                a href=(address(feed::ATOM)) { "Atom" } " "
                a href=(address(feed::JSON)) { "JSON Feed" }
            }
        }
    }

    pub fn script() -> Markup {
        html! { script { (PreEscaped(SCRIPT)) } }
    }
}
