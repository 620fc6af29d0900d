//! The options of a line: `cert-authority`, `namespaces`, `valid-after`, `valid-before`, in any case, with quoted
//! values and each at most once.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use thiserror::Error;

use super::time;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SignerOptions {
    /// The key signs certificates, which cannot sign bundles.
    pub is_authority: bool,
    /// Patterns of the namespaces that it may sign in.
    pub namespaces: Option<Vec<u8>>,
    /// The first time of its validity.
    pub valid_after: Option<Timestamp>,
    /// The last time of its validity.
    pub valid_before: Option<Timestamp>,
}

/// Why options cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum OptionError {
    /// No option has this name.
    #[error("unknown option {0:?}")]
    Unknown(String),
    /// An option is given more than once.
    #[error("multiple {0:?} options")]
    Repeated(&'static str),
    /// A value is not quoted.
    #[error("the value of {0:?} must be quoted")]
    Unquoted(&'static str),
    /// A comma ends the options.
    #[error("the options end with a comma")]
    Comma,
    /// A value is no time.
    #[error("{0:?} is not a time: YYYYMMDD[HHMM[SS]][Z]")]
    Time(String),
    /// The end is not after the beginning.
    #[error("valid-before is not after valid-after")]
    Order,
}

impl SignerOptions {
    /// Parses comma-separated options; a time without `Z` is local time of the zone.
    pub fn parse(mut rest: &[u8], zone: &TimeZone) -> Result<Self, OptionError> {
        let mut options = Self::default();
        while !rest.is_empty() {
            rest = options.read_option(rest, zone)?;
            match rest.split_first() {
                None => break,
                Some((b',', [])) => return Err(OptionError::Comma),
                Some((b',', more)) => rest = more,
                Some(_) => {
                    let name = rest.split(|byte| *byte == b',').next().unwrap_or_default();
                    let name = String::from_utf8_lossy(name).into_owned();
                    return Err(OptionError::Unknown(name));
                }
            }
        }
        match (options.valid_after, options.valid_before) {
            (Some(after), Some(before)) if before <= after => Err(OptionError::Order),
            _ => Ok(options),
        }
    }

    /// Reads the option at the beginning of a text, if there is one; returns the rest.
    fn read_option<'a>(
        &mut self,
        text: &'a [u8],
        zone: &TimeZone,
    ) -> Result<&'a [u8], OptionError> {
        const AUTHORITY: &str = "cert-authority";
        const NAMESPACES: &str = "namespaces";
        if let Some(rest) = strip_name(text, AUTHORITY) {
            self.is_authority = true;
            return Ok(rest);
        }
        if let Some(rest) = strip_name_and_equals(text, NAMESPACES) {
            let (value, rest) = unquote_value(rest, NAMESPACES)?;
            set_once(&mut self.namespaces, value, NAMESPACES)?;
            return Ok(rest);
        }
        let times =
            [("valid-after", &mut self.valid_after), ("valid-before", &mut self.valid_before)];
        for (name, time) in times {
            if let Some(rest) = strip_name_and_equals(text, name) {
                let (value, rest) = unquote_value(rest, name)?;
                let value = time::parse_openssh_time(&value, zone).ok_or_else(|| {
                    OptionError::Time(String::from_utf8_lossy(&value).into_owned())
                })?;
                set_once(time, value, name)?;
                return Ok(rest);
            }
        }
        Ok(text)
    }
}

fn set_once<T>(slot: &mut Option<T>, value: T, name: &'static str) -> Result<(), OptionError> {
    if slot.is_some() {
        return Err(OptionError::Repeated(name));
    }
    *slot = Some(value);
    Ok(())
}

/// The text behind a name, in any case.
fn strip_name<'a>(text: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let (start, rest) = text.split_at_checked(name.len())?;
    start.eq_ignore_ascii_case(name.as_bytes()).then_some(rest)
}

fn strip_name_and_equals<'a>(text: &'a [u8], name: &str) -> Option<&'a [u8]> {
    strip_name(text, name)?.strip_prefix(b"=")
}

/// A quoted value, in which `\"` is a quote, and the rest.
fn unquote_value<'a>(
    text: &'a [u8],
    name: &'static str,
) -> Result<(Vec<u8>, &'a [u8]), OptionError> {
    let mut rest = text.strip_prefix(b"\"").ok_or(OptionError::Unquoted(name))?;
    let mut value = Vec::new();
    loop {
        match rest {
            [] => return Err(OptionError::Unquoted(name)),
            [b'"', after @ ..] => return Ok((value, after)),
            [b'\\', b'"', after @ ..] => {
                value.push(b'"');
                rest = after;
            }
            [byte, after @ ..] => {
                value.push(*byte);
                rest = after;
            }
        }
    }
}
