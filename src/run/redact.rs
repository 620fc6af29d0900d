//! Hides the values of secrets in what a step prints. The step's own filter does it in the
//! container, before anything reaches the disk; [`file()`] checks the files that are kept.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use memchr::memmem;

use crate::store::StoreError;

/// Bytes read at once.
const BLOCK: usize = 256 << 10;

/// Forms in which a secret may be printed, longest first: as it is, in a URL, in JSON, in a
/// shell's words, and each line of one that has several.
fn forms(value: &str) -> Vec<String> {
    let percent = |upper: bool| {
        value.bytes().fold(String::new(), |mut text, byte| {
            let _ = if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
                write!(text, "{}", char::from(byte))
            } else if upper {
                write!(text, "%{byte:02X}")
            } else {
                write!(text, "%{byte:02x}")
            };
            text
        })
    };
    let quoted = serde_json::to_string(value).unwrap_or_default();
    let quoted = quoted
        .get(1..quoted.len().saturating_sub(1))
        .unwrap_or_default();
    let mut forms = vec![
        value.to_owned(),
        percent(true),
        percent(false),
        quoted.to_owned(),
    ];
    forms.extend([quoted.replace('/', "\\/"), value.replace('\'', "'\\''")]);
    forms.extend(
        value
            .lines()
            .filter(|line| line.len() >= 8)
            .map(str::to_owned),
    );
    // Looked for line by line.
    forms.retain(|form| !form.is_empty() && !form.contains('\n'));
    forms.sort_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
    forms.dedup();
    forms
}

/// The texts to hide, longest first, and the name that replaces each.
fn hidden(names: &[String], secrets: &BTreeMap<String, String>) -> Vec<(String, String)> {
    let mut hidden: Vec<(String, String)> = names
        .iter()
        .filter_map(|name| Some((name, secrets.get(name)?)))
        .flat_map(|(name, value)| {
            forms(value)
                .into_iter()
                .map(move |form| (form, name.clone()))
        })
        .collect();
    hidden.sort_by_key(|(form, _)| std::cmp::Reverse(form.len()));
    hidden
}

/// The environment of a step that names secrets: their values, and for the step's filter
/// (which removes them from the command's environment) all texts to hide.
pub fn environment(names: &[String], secrets: &BTreeMap<String, String>) -> Vec<(String, String)> {
    let hidden = hidden(names, secrets);
    if hidden.is_empty() {
        return Vec::new();
    }
    let mut environment: Vec<(String, String)> = names
        .iter()
        .filter_map(|name| Some((name.clone(), secrets.get(name)?.clone())))
        .collect();
    let list: Vec<String> = hidden
        .iter()
        .enumerate()
        .map(|(index, (_, name))| format!("{index}:{name}"))
        .collect();
    environment.push(("RETRIAL_HIDDEN".to_owned(), list.join(" ")));
    let forms = hidden.into_iter().enumerate();
    environment.extend(forms.map(|(index, (form, _))| (format!("RETRIAL_HIDE_{index}"), form)));
    environment
}

/// Replaces the values of the named secrets in a file of ours; one without them stays as it is.
pub fn file(
    path: &Path,
    names: &[String],
    secrets: &BTreeMap<String, String>,
) -> Result<(), StoreError> {
    let hidden = hidden(names, secrets);
    let replace = || {
        if hidden.is_empty() || !copy(path, &hidden, std::io::sink())? {
            return Ok(());
        }
        let clean = path.with_extension("clean");
        copy(path, &hidden, BufWriter::new(File::create(&clean)?))?;
        std::fs::rename(&clean, path)
    };
    replace().map_err(StoreError::io("redact", path))
}

/// Copies a file with everything hidden. Returns whether there was anything to hide.
fn copy(path: &Path, hidden: &[(String, String)], mut to: impl Write) -> io::Result<bool> {
    let longest = hidden.first().map_or(1, |(form, _)| form.len());
    let mut file = File::open(path)?;
    let mut found = false;
    let mut pending: Vec<u8> = Vec::new();
    let mut block = vec![0; BLOCK];
    loop {
        let count = file.read(&mut block)?;
        pending.extend_from_slice(&block[..count]);
        // The end of a block may be the beginning of a secret.
        let held_back = if count == 0 { 0 } else { longest - 1 };
        let certain = pending.len().saturating_sub(held_back);
        let mut done = 0;
        while let Some((at, form, name)) = first(&pending[done..], hidden)
            && done + at < certain
        {
            found = true;
            to.write_all(&pending[done..done + at])?;
            write!(to, "[{name}]")?;
            done += at + form;
        }
        let until = certain.max(done);
        to.write_all(&pending[done..until])?;
        pending.drain(..until);
        if count == 0 {
            to.flush()?;
            return Ok(found);
        }
    }
}

/// The first thing to hide: where, how long, and whose. The longest, where several begin there.
fn first<'a>(text: &[u8], hidden: &'a [(String, String)]) -> Option<(usize, usize, &'a str)> {
    let hits = hidden.iter().filter_map(|(form, name)| {
        Some((
            memmem::find(text, form.as_bytes())?,
            form.len(),
            name.as_str(),
        ))
    });
    hits.min_by_key(|(at, length, _)| (*at, std::cmp::Reverse(*length)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redacted(text: &str, value: &str) -> String {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("output.log");
        std::fs::write(&path, text).unwrap();
        let secrets = BTreeMap::from([("HF_TOKEN".to_owned(), value.to_owned())]);
        file(&path, &["HF_TOKEN".to_owned()], &secrets).unwrap();
        std::fs::read_to_string(&path).unwrap()
    }

    #[test]
    fn encoded_forms_are_replaced_too() {
        let text = "a hf_x/y\"z b\nurl=hf_x%2Fy%22z %2f: hf_x%2fy%22z\njson=\"hf_x/y\\\"z\"\nlast hf_x/y\"z";
        let clean =
            "a [HF_TOKEN] b\nurl=[HF_TOKEN] %2f: [HF_TOKEN]\njson=\"[HF_TOKEN]\"\nlast [HF_TOKEN]";
        assert_eq!(redacted(text, "hf_x/y\"z"), clean);
    }

    #[test]
    fn a_secret_between_two_blocks_is_found() {
        for shift in [0, 1, 7, 15, 16] {
            let before = "x".repeat(BLOCK - shift);
            assert_eq!(
                redacted(&format!("{before}hf_0123456789abc;"), "hf_0123456789abc"),
                format!("{before}[HF_TOKEN];")
            );
        }
    }

    #[test]
    fn the_filter_gets_every_form_once() {
        let secrets = BTreeMap::from([("T".to_owned(), "plainvalue".to_owned())]);
        let names = ["T".to_owned(), "ABSENT".to_owned()];
        let environment: BTreeMap<String, String> =
            environment(&names, &secrets).into_iter().collect();
        assert_eq!(environment["T"], "plainvalue");
        assert_eq!(environment["RETRIAL_HIDDEN"], "0:T");
        assert_eq!(environment.len(), 3);
    }
}
