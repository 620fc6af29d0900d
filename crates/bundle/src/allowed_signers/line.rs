//! A line: names, options if there are any, a key, and a comment.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::tz::TimeZone;
use ssh_key::PublicKey;
use ssh_key::public::KeyData;
use thiserror::Error;

use super::options::{OptionError, SignerOptions};

/// A line with a key that can sign bundles.
#[derive(Debug, Clone)]
pub struct SignerLine {
    /// Patterns of names, as the file has them: `*@example.com,!intern@example.com`.
    pub principals: Vec<u8>,
    /// The public key that may sign.
    pub key: KeyData,
    /// When, and in which namespaces, the key may sign.
    pub options: SignerOptions,
}

/// Why a line allows nobody.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SignerLineError {
    /// A quote does not end.
    #[error("unclosed quote")]
    Quote,
    /// Nothing follows the names.
    #[error("it has names, but no key")]
    NoKey,
    /// The text behind the names and the options is not a key.
    #[error("its key cannot be read")]
    Key,
    /// Its options are not OpenSSH's.
    #[error(transparent)]
    Options(#[from] OptionError),
}

impl SignerLine {
    /// Reads a line; none if it is empty, a comment, or of a key that cannot sign bundles: a certificate authority,
    /// or one of another kind.
    pub fn parse(text: &[u8], zone: &TimeZone) -> Result<Option<Self>, SignerLineError> {
        // OpenSSH reads lines as C strings.
        let until_nul = text.split(|byte| *byte == 0).next().unwrap_or_default();
        let text = trim_start(until_nul, b" \t\r\n");
        if text.is_empty() || text.starts_with(b"#") {
            return Ok(None);
        }
        let (principals, rest) = split_first_word(text)?;
        let (options, key) = match read_key(rest) {
            Ok(key) => (SignerOptions::default(), key),
            Err(SignerKeyError::OtherKind) => return Ok(None),
            Err(SignerKeyError::Unreadable) => {
                let (options, rest) = split_options(rest)?;
                let key = match read_key(rest) {
                    Ok(key) => key,
                    Err(SignerKeyError::OtherKind) => return Ok(None),
                    Err(SignerKeyError::Unreadable) => {
                        // Options that cannot be read are the likelier mistake.
                        SignerOptions::parse(options, zone)?;
                        return Err(SignerLineError::Key);
                    }
                };
                (SignerOptions::parse(options, zone)?, key)
            }
        };
        Ok((!options.is_authority).then_some(Self { principals, key, options }))
    }

    /// The patterns of its names, for display.
    pub fn principals(&self) -> String {
        String::from_utf8_lossy(&self.principals).into_owned()
    }
}

/// Why a text does not begin with a key that can sign bundles.
enum SignerKeyError {
    /// It begins with something else.
    Unreadable,
    /// It is a key of another kind.
    OtherKind,
}

fn trim_start<'a>(text: &'a [u8], blanks: &[u8]) -> &'a [u8] {
    let begin = text.iter().position(|byte| !blanks.contains(byte));
    &text[begin.unwrap_or(text.len())..]
}

/// Splits off the first word, of which a part may be quoted; the quote ends it.
fn split_first_word(text: &[u8]) -> Result<(Vec<u8>, &[u8]), SignerLineError> {
    const BLANKS: &[u8] = b" \t\r\n";
    let is_end = |byte: &u8| BLANKS.contains(byte) || *byte == b'"';
    let end = text.iter().position(is_end).ok_or(SignerLineError::NoKey)?;
    let (word, rest) = text.split_at(end);
    let Some(quoted) = rest.strip_prefix(b"\"") else {
        return Ok((word.to_vec(), trim_start(rest, BLANKS)));
    };
    let end = quoted.iter().position(|byte| *byte == b'"');
    let (quoted, rest) = quoted.split_at(end.ok_or(SignerLineError::Quote)?);
    Ok(([word, quoted].concat(), trim_start(&rest[1..], BLANKS)))
}

/// Splits off the options: all up to a blank that is not quoted.
fn split_options(text: &[u8]) -> Result<(&[u8], &[u8]), SignerLineError> {
    let mut is_quoted = false;
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b' ' | b'\t' if !is_quoted => break,
            b'\\' if text.get(at + 1) == Some(&b'"') => at += 1,
            b'"' => is_quoted = !is_quoted,
            _ => {}
        }
        at += 1;
    }
    let options_end = at.min(text.len());
    if is_quoted {
        return Err(SignerLineError::Quote);
    }
    let (options, rest) = text.split_at(options_end);
    Ok((options, trim_start(rest, b" \t")))
}

/// Reads the key at the beginning of a text: its kind and its base64, which ends at a blank.
fn read_key(text: &[u8]) -> Result<KeyData, SignerKeyError> {
    let mut words = text.splitn(2, |byte| matches!(byte, b' ' | b'\t'));
    let kind = words.next().unwrap_or_default();
    let rest = trim_start(words.next().ok_or(SignerKeyError::Unreadable)?, b" \t");
    let kind = std::str::from_utf8(kind).map_err(|_| SignerKeyError::Unreadable)?;
    let is_ours = match kind {
        "ssh-ed25519" | "ssh-rsa" | "rsa-sha2-256" | "rsa-sha2-512" => true,
        _ if ["ssh-", "ecdsa-sha2-", "sk-"].iter().any(|start| kind.starts_with(start)) => false,
        _ => return Err(SignerKeyError::Unreadable),
    };
    let base64_field = rest.split(|byte| matches!(byte, b' ' | b'\t')).next();
    // Other white space within it, such as the end of a line, does not count.
    let base64: Vec<u8> = base64_field
        .unwrap_or_default()
        .iter()
        .filter(|byte| !matches!(byte, b'\n' | b'\r' | 0x0b | 0x0c))
        .copied()
        .collect();
    let blob = STANDARD.decode(base64).map_err(|_| SignerKeyError::Unreadable)?;
    if !is_ours {
        return Err(SignerKeyError::OtherKind);
    }
    let public_key = PublicKey::from_bytes(&blob).map_err(|_| SignerKeyError::Unreadable)?;
    let key = public_key.key_data();
    let is_of_kind = match key {
        KeyData::Ed25519(_) => kind == "ssh-ed25519",
        KeyData::Rsa(_) => kind != "ssh-ed25519",
        _ => false,
    };
    is_of_kind.then(|| key.clone()).ok_or(SignerKeyError::Unreadable)
}
