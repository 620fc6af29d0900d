//! OpenSSH's file of allowed signers (ssh-keygen(1), "ALLOWED SIGNERS"), read as `ssh-keygen -Y verify` reads it: a
//! line counts here if it counts there. A line that cannot be read allows nobody, and others still count.

mod line;
mod options;
mod pattern;
mod time;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ssh_key::public::KeyData;

use line::{SignerLine, SignerLineError};
use pattern::matches_list;

/// The lines of a file.
#[derive(Debug, Clone, Default)]
pub struct AllowedSigners {
    lines: Vec<(usize, SignerLine)>,
    unreadable: Vec<(usize, SignerLineError)>,
}

/// Whether a key may sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyAuthorization {
    /// The key may sign; the principals of its line.
    Allowed(String),
    /// The key may not sign, and why: `line 3: the key is not valid before …`.
    Refused(String),
}

impl AllowedSigners {
    /// Reads a file. Times without `Z` are of the time zone, as for OpenSSH.
    pub fn parse(text: &[u8], zone: &TimeZone) -> Self {
        let mut signers = Self::default();
        for (number, text) in (1..).zip(text.split(|byte| *byte == b'\n')) {
            match SignerLine::parse(text, zone) {
                Ok(line) => signers.lines.extend(line.map(|line| (number, line))),
                Err(error) => signers.unreadable.push((number, error)),
            }
        }
        signers
    }

    /// Checks whether a key may sign in a namespace at a time, for any name or for `name`.
    pub fn authorize_key(
        &self,
        key: &KeyData,
        namespace: &str,
        name: Option<&str>,
        now: Timestamp,
    ) -> KeyAuthorization {
        let mut refused = None;
        for (number, line) in self.lines.iter().filter(|(_, line)| line.key == *key) {
            match refusal_reason(line, namespace, name, now) {
                None => return KeyAuthorization::Allowed(line.principals()),
                Some(reason) => refused = Some(format!("line {number}: {reason}")),
            }
        }
        KeyAuthorization::Refused(refused.unwrap_or_else(|| match self.unreadable.first() {
            None => "its key is not in the file".to_owned(),
            Some((number, error)) => {
                format!("no readable line has its key; line {number}: {error}")
            }
        }))
    }
}

fn refusal_reason(
    line: &SignerLine,
    namespace: &str,
    name: Option<&str>,
    now: Timestamp,
) -> Option<String> {
    if let Some(name) = name
        && !matches_list(&line.principals, name.as_bytes())
    {
        let principals = line.principals();
        return Some(format!("the key belongs to {principals}, not to {name}"));
    }
    let options = &line.options;
    if let Some(namespaces) = &options.namespaces
        && !matches_list(namespaces, namespace.as_bytes())
    {
        let namespaces = String::from_utf8_lossy(namespaces);
        return Some(format!("the key is for the namespaces {namespaces}, not for {namespace}"));
    }
    match (options.valid_after, options.valid_before) {
        (Some(after), _) if now.as_second() < after.as_second() => {
            Some(format!("the key is not valid before {after}"))
        }
        (_, Some(before)) if now.as_second() > before.as_second() => {
            Some(format!("the key has not been valid since {before}"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
