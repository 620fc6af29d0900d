//! Atom feeds (RFC 4287). Without the address at which a feed will be served, its links are relative.

use atom_syndication as atom;
use jiff::Timestamp;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::document::Line;

/// The name of the feed's file.
pub const FEED_FILE: &str = "feed.xml";

/// The characters that an id is written without.
const ESCAPED_CHARACTERS: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');

/// A feed, before it has a format.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Feed {
    /// The title that readers show for the feed.
    pub title: String,
    /// The subject of the feed, in a sentence.
    pub description: String,
    /// The address of the directory in which it will be served, with `/` at its end, if it is known.
    pub url: Option<String>,
    /// The page that it belongs to.
    pub front: String,
    pub updated: Timestamp,
    /// Its entries, newest first.
    pub entries: Vec<FeedEntry>,
}

/// An entry of a feed: one change of verdict.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FeedEntry {
    /// The id of the run that it is about.
    pub id: String,
    /// The submission, and its outcome before and now.
    pub title: Line,
    /// The verdict's sentence, and what differs between the two runs.
    pub text: Line,
    /// The page that it is about.
    pub page: String,
    /// When the verdict was known.
    pub time: Timestamp,
}

impl FeedEntry {
    /// Returns the entry's id, which stays the same wherever the feed is served.
    fn to_urn(&self) -> String {
        let id = utf8_percent_encode(&self.id, ESCAPED_CHARACTERS);
        format!("urn:retrial:verdict:{id}")
    }
}

impl Feed {
    /// Returns the address of a file next to the feed.
    fn address_of(&self, file: &str) -> Option<String> {
        Some(format!("{}{file}", self.url.as_ref()?))
    }

    /// Renders the feed as Atom.
    pub fn to_atom(&self) -> String {
        let link = |file: &str, rel: &str| atom::Link {
            href: self.address_of(file).unwrap_or_else(|| file.to_owned()),
            rel: rel.to_owned(),
            ..atom::Link::default()
        };
        let entries = self.entries.iter().map(|entry| atom::Entry {
            title: atom::Text::plain(entry.title.as_str()),
            id: entry.to_urn(),
            updated: to_atom_date(entry.time),
            links: vec![link(&entry.page, "alternate")],
            content: Some(atom::Content {
                value: Some(entry.text.to_string()),
                content_type: Some("text".to_owned()),
                ..atom::Content::default()
            }),
            ..atom::Entry::default()
        });
        let feed = atom::Feed {
            title: atom::Text::plain(self.title.as_str()),
            subtitle: Some(atom::Text::plain(self.description.as_str())),
            id: self.address_of(FEED_FILE).unwrap_or_else(|| "urn:retrial:verdicts".to_owned()),
            updated: to_atom_date(self.updated),
            authors: vec![atom::Person { name: "Retrial".to_owned(), ..atom::Person::default() }],
            links: vec![link(FEED_FILE, "self"), link(&self.front, "alternate")],
            entries: entries.collect(),
            ..atom::Feed::default()
        };
        let config = atom::WriteConfig { indent_size: Some(1), ..atom::WriteConfig::default() };
        // Writing to memory cannot fail, and what is written is text.
        let bytes = feed.write_with_config(Vec::new(), config);
        String::from_utf8(bytes.unwrap_or_default()).unwrap_or_default() + "\n"
    }
}

/// A time as the library has it.
fn to_atom_date(time: Timestamp) -> atom::FixedDateTime {
    time.to_string().parse().unwrap_or_default()
}
