//! OpenSSH's file of allowed signers: names, their keys, the namespaces and the times of validity.
//! (ssh-keygen(1), "ALLOWED SIGNERS".)

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use ssh_key::authorized_keys::Entry;
use ssh_key::public::KeyData;

/// A line of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedSigner {
    /// Its number, from 1.
    pub line: usize,
    /// Patterns of names, as the file has them: `*@example.com,!intern@example.com`.
    pub principals: String,
    key: KeyData,
    namespaces: Option<String>,
    valid_after: Option<Timestamp>,
    valid_before: Option<Timestamp>,
}

/// The answer to whether a key may sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It may; the principals of the key.
    Allowed(String),
    /// It may not; the reason.
    Refused(String),
}

/// Reads a file of allowed signers. Times without `Z` are of the time zone, as for OpenSSH.
///
/// # Errors
/// Names the line that cannot be read.
pub fn parse(text: &str, zone: &TimeZone) -> Result<Vec<AllowedSigner>, String> {
    let mut signers = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let signer = signer(line, text, zone).map_err(|reason| format!("line {line}: {reason}"))?;
        signers.extend(signer);
    }
    Ok(signers)
}

/// Parses a line; none if it is a certificate authority, whose certificates cannot sign bundles.
fn signer(line: usize, text: &str, zone: &TimeZone) -> Result<Option<AllowedSigner>, String> {
    let (principals, rest) = match text.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"').ok_or("unclosed quote")?,
        None => text
            .split_once([' ', '\t'])
            .ok_or("it has names, but no key")?,
    };
    let entry: Entry = rest.trim().parse().map_err(|error: ssh_key::Error| {
        format!("its options or its key cannot be read: {error}")
    })?;
    let mut signer = AllowedSigner {
        line,
        principals: principals.to_owned(),
        key: entry.public_key().key_data().clone(),
        namespaces: None,
        valid_after: None,
        valid_before: None,
    };
    for option in entry.config_opts().iter() {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let value = value.trim_matches('"');
        match name.to_ascii_lowercase().as_str() {
            "cert-authority" => return Ok(None),
            "namespaces" => signer.namespaces = Some(value.to_owned()),
            "valid-after" => signer.valid_after = Some(time(value, zone)?),
            "valid-before" => signer.valid_before = Some(time(value, zone)?),
            other => return Err(format!("unknown option {other:?}")),
        }
    }
    Ok(Some(signer))
}

/// `20260401`, `202604010600`, `20260401060000`, each also with `Z`.
fn time(text: &str, zone: &TimeZone) -> Result<Timestamp, String> {
    let (digits, zone) = match text.strip_suffix(['Z', 'z']) {
        Some(digits) => (digits, &TimeZone::UTC),
        None => (text, zone),
    };
    let is_time = matches!(digits.len(), 8 | 12 | 14) && digits.bytes().all(|c| c.is_ascii_digit());
    let wrong = || format!("{text:?} is not a time: YYYYMMDD[HHMM[SS]][Z]");
    if !is_time {
        return Err(wrong());
    }
    let full = format!("{digits:0<14}");
    let civil = DateTime::strptime("%Y%m%d%H%M%S", &full).map_err(|_| wrong())?;
    let zoned = zone.to_zoned(civil).map_err(|_| wrong())?;
    Ok(zoned.timestamp())
}

/// Checks whether a key may sign in a namespace at a time, for any name or for `name`.
pub fn check(
    signers: &[AllowedSigner],
    key: &KeyData,
    namespace: &str,
    name: Option<&str>,
    now: Timestamp,
) -> Answer {
    let mut refused = "its key is not in the file".to_owned();
    for signer in signers.iter().filter(|signer| signer.key == *key) {
        match refusal(signer, namespace, name, now) {
            None => return Answer::Allowed(signer.principals.clone()),
            Some(reason) => refused = format!("line {}: {reason}", signer.line),
        }
    }
    Answer::Refused(refused)
}

fn refusal(
    signer: &AllowedSigner,
    namespace: &str,
    name: Option<&str>,
    now: Timestamp,
) -> Option<String> {
    if let Some(name) = name
        && !matches_list(&signer.principals, name)
    {
        return Some(format!(
            "the key belongs to {}, not to {name}",
            signer.principals
        ));
    }
    if let Some(namespaces) = &signer.namespaces
        && !matches_list(namespaces, namespace)
    {
        return Some(format!(
            "the key is for the namespaces {namespaces}, not for {namespace}"
        ));
    }
    match (signer.valid_after, signer.valid_before) {
        (Some(after), _) if now < after => Some(format!("the key is not valid before {after}")),
        (_, Some(before)) if now > before => {
            Some(format!("the key has not been valid since {before}"))
        }
        _ => None,
    }
}

/// Returns whether a list of patterns matches: at least one matches, and none that begins with `!` does.
fn matches_list(list: &str, text: &str) -> bool {
    let mut found = false;
    for pattern in list.split(',') {
        match pattern.strip_prefix('!') {
            Some(pattern) if matches(pattern.as_bytes(), text.as_bytes()) => return false,
            Some(_) => {}
            None => found |= matches(pattern.as_bytes(), text.as_bytes()),
        }
    }
    found
}

/// Matches a pattern: `*` matches any number of characters, `?` exactly one.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    // The latest star, and the end of the text that it matches.
    let (mut at, mut read, mut star) = (0, 0, None);
    while read < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, read));
                at += 1;
            }
            Some(byte) if *byte == b'?' || *byte == text[read] => {
                at += 1;
                read += 1;
            }
            _ => match star {
                Some((star_at, until)) => {
                    star = Some((star_at, until + 1));
                    at = star_at + 1;
                    read = until + 1;
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const KEY: &str =
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti a key";

    fn answer(line: &str, name: Option<&str>) -> Answer {
        let signers = parse(&format!("# ours\n\n{line} {KEY}\n"), &TimeZone::UTC).unwrap();
        let key: ssh_key::PublicKey = KEY.parse().unwrap();
        let now = "2026-04-01T06:00:00Z".parse().unwrap();
        check(&signers, key.key_data(), "retrial-evidence", name, now)
    }

    #[rstest]
    #[case("alice@example.com")]
    #[case("\"alice@example.com,bob@example.com\"")]
    #[case("*@example.com")]
    #[case("alice@example.com namespaces=\"git,retrial-*\"")]
    #[case("alice@example.com valid-after=\"20260401\",valid-before=\"20260402Z\"")]
    #[case("alice@example.com namespaces=\"retrial-evidence\",valid-before=\"202604010600\"")]
    fn allowed(#[case] line: &str) {
        assert!(matches!(answer(line, None), Answer::Allowed(_)), "{line}");
        let name = Some("alice@example.com");
        assert!(matches!(answer(line, name), Answer::Allowed(_)), "{line}");
    }

    #[rstest]
    #[case(
        "bob@example.com",
        "the key belongs to bob@example.com, not to alice@example.com"
    )]
    #[case(
        "*,!alice@*",
        "the key belongs to *,!alice@*, not to alice@example.com"
    )]
    #[case(
        "alice@example.com namespaces=\"git\"",
        "the key is for the namespaces git, not for retrial-evidence"
    )]
    #[case(
        "alice@example.com valid-before=\"20260401055959\"",
        "the key has not been valid since 2026-04-01T05:59:59Z"
    )]
    #[case(
        "alice@example.com valid-after=\"20260402\"",
        "the key is not valid before 2026-04-02T00:00:00Z"
    )]
    #[case("alice@example.com cert-authority", "its key is not in the file")]
    fn refused(#[case] line: &str, #[case] reason: &str) {
        let Answer::Refused(actual) = answer(line, Some("alice@example.com")) else {
            panic!("{line}")
        };
        assert!(actual.ends_with(reason), "{actual}");
    }

    #[rstest]
    #[case("alice", "it has names, but no key")]
    #[case("\"alice ssh-ed25519", "unclosed quote")]
    #[case("alice valid-before=\"soon\" KEY", "\"soon\" is not a time")]
    #[case("alice valid-before=\"20261301\" KEY", "\"20261301\" is not a time")]
    #[case("alice never KEY", "unknown option \"never\"")]
    fn unreadable(#[case] line: &str, #[case] reason: &str) {
        let error = parse(&line.replace("KEY", KEY), &TimeZone::UTC).unwrap_err();
        assert!(error.contains(reason), "{error}");
    }

    #[rstest]
    #[case("a*c", "abc", true)]
    #[case("a*c", "abcd", false)]
    #[case("*a*b", "xxaxxbxb", true)]
    #[case("a?c", "ac", false)]
    #[case("", "", true)]
    #[case("*", "", true)]
    fn patterns(#[case] pattern: &str, #[case] text: &str, #[case] expected: bool) {
        assert_eq!(matches(pattern.as_bytes(), text.as_bytes()), expected);
    }
}
