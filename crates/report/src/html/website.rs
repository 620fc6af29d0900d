//! Pages that link each other, and their one script. It is inline, and the content security policy allows it
//! by its hash and nothing else; pages work without it.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{Markup, html};
use sha2::{Digest, Sha256};

use super::{POLICY, to_link_target};
use crate::document::Line;
use crate::feed;

pub(super) const SCRIPT: &str = include_str!("filter.js");

/// The policy of a page with the script.
pub(super) static POLICY_WITH_SCRIPT: LazyLock<String> = LazyLock::new(|| {
    let hash = STANDARD.encode(Sha256::digest(SCRIPT));
    format!("{POLICY}; script-src 'sha256-{hash}'")
});

/// The feed, for the head.
pub(super) fn render_feed_link() -> Markup {
    let address = to_link_target(feed::FEED_FILE);
    html! {
        link rel="alternate" type="application/atom+xml" href=(address) title="Changes of verdict";
    }
}

/// Links to other pages, each with its label.
pub(super) fn render_navigation(label: &str, links: &[(Line, String)]) -> Markup {
    html! {
        nav aria-label=(label) {
            @for (label, page) in links { a href=(to_link_target(page)) { (label.as_str()) } " " }
            a href=(to_link_target(feed::FEED_FILE)) { "Atom" }
        }
    }
}
