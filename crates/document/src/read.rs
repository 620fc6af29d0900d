//! Values of a checked map by key.

use std::str::FromStr;
use std::time::Duration;

use crate::field_type::Units;
use crate::measures;
use crate::node::Node;

/// Readers of a map's keys; `None` where a key is absent. The check has read every measure with
/// the same functions before.
pub trait Read {
    /// Returns a text.
    fn string(&self, key: &str) -> Option<String>;
    /// Returns the texts of a list.
    fn strings(&self, key: &str) -> Vec<String>;
    /// Returns the items of a list.
    fn items_of<'a>(&'a self, key: &str) -> std::slice::Iter<'a, Node>;
    /// Returns a truth value, false where it is absent.
    fn truth(&self, key: &str) -> bool;
    /// Returns a number.
    fn number<T: FromStr>(&self, key: &str) -> Option<T>;
    /// Returns a size, bytes.
    fn size(&self, key: &str, units: Units) -> Option<u64>;
    /// Returns a duration.
    fn duration(&self, key: &str) -> Option<Duration>;
    /// Returns a fraction.
    fn fraction(&self, key: &str) -> Option<f64>;
    /// Returns the value of a word.
    fn word<T: Copy>(&self, key: &str, words: &[(&str, T)]) -> Option<T>;
}

impl Read for Node {
    fn string(&self, key: &str) -> Option<String> {
        self.get(key)?.text().map(str::to_owned)
    }

    fn strings(&self, key: &str) -> Vec<String> {
        let texts = self.items_of(key).filter_map(Node::text);
        texts.map(str::to_owned).collect()
    }

    fn items_of<'a>(&'a self, key: &str) -> std::slice::Iter<'a, Node> {
        self.get(key).map_or(&[][..], Node::items).iter()
    }

    fn truth(&self, key: &str) -> bool {
        self.get(key)
            .and_then(Node::text)
            .is_some_and(|text| text.eq_ignore_ascii_case("true"))
    }

    fn number<T: FromStr>(&self, key: &str) -> Option<T> {
        self.get(key)?.text()?.parse().ok()
    }

    fn size(&self, key: &str, units: Units) -> Option<u64> {
        measures::size(self.get(key)?.text()?, units)
    }

    fn duration(&self, key: &str) -> Option<Duration> {
        measures::duration(self.get(key)?.text()?)
    }

    fn fraction(&self, key: &str) -> Option<f64> {
        measures::fraction(self.get(key)?.text()?)
    }

    fn word<T: Copy>(&self, key: &str, words: &[(&str, T)]) -> Option<T> {
        let text = self.get(key)?.text()?;
        words
            .iter()
            .find(|(word, _)| *word == text)
            .map(|(_, value)| *value)
    }
}
