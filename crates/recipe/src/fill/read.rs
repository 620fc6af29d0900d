//! Values of a checked map by key.

use std::str::FromStr;
use std::time::Duration;

use crate::measures;
use crate::model::{CommandOptions, Ordered, Template};
use crate::node::Node;
use crate::shape::Units;

/// Readers of a map's keys; `None` where a key is absent. The check has read every measure with
/// the same functions before.
pub trait Read {
    fn string(&self, key: &str) -> Option<String>;
    fn template(&self, key: &str) -> Option<Template>;
    fn strings(&self, key: &str) -> Vec<String>;
    fn items_of<'a>(&'a self, key: &str) -> std::slice::Iter<'a, Node>;
    fn truth(&self, key: &str) -> bool;
    fn number<T: FromStr>(&self, key: &str) -> Option<T>;
    fn size(&self, key: &str, units: Units) -> Option<u64>;
    fn duration(&self, key: &str) -> Option<Duration>;
    fn fraction(&self, key: &str) -> Option<f64>;
    fn word<T: Copy>(&self, key: &str, words: &[(&str, T)]) -> Option<T>;
    fn env(&self) -> Ordered<Template>;
    fn shell(&self) -> Option<Vec<String>>;
    fn options(&self) -> CommandOptions;
}

impl Read for Node {
    fn string(&self, key: &str) -> Option<String> {
        self.get(key)?.text().map(str::to_owned)
    }

    fn template(&self, key: &str) -> Option<Template> {
        self.string(key).map(Template)
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

    fn env(&self) -> Ordered<Template> {
        let values = self.get("env").into_iter().flat_map(Self::named);
        values
            .filter_map(|(name, value)| Some((name.to_owned(), Template(value.text()?.to_owned()))))
            .collect()
    }

    fn shell(&self) -> Option<Vec<String>> {
        self.get("shell").map(|_| self.strings("shell"))
    }

    fn options(&self) -> CommandOptions {
        CommandOptions {
            timeout: self.duration("timeout"),
            silence: self.duration("silence"),
            env: self.env(),
            workdir: self.template("workdir"),
            user: self.string("user"),
            shell: self.shell(),
        }
    }
}
