//! The second look for secrets: what the step's own filter cannot see (encoded forms).
//! The first one runs in the container, before anything reaches the disk.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use crate::store::StoreError;

/// Forms in which a secret may be printed, longest first.
fn forms(value: &str) -> Vec<Vec<u8>> {
    use std::fmt::Write as _;
    let mut percent = String::new();
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            percent.push(char::from(byte));
        } else {
            let _ = write!(percent, "%{byte:02X}");
        }
    }
    let quoted = serde_json::to_string(value)
        .map(|text| text.trim_matches('"').to_owned())
        .unwrap_or_default();
    let mut forms: Vec<Vec<u8>> = [value.to_owned(), percent, quoted]
        .into_iter()
        .map(String::into_bytes)
        .collect();
    forms.extend(
        value
            .lines()
            .filter(|line| line.len() >= 8)
            .map(|line| line.as_bytes().to_vec()),
    );
    forms.retain(|form| !form.is_empty());
    forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
    forms.dedup();
    forms
}

/// Replaces the values of the named secrets in a file, line by line.
pub fn file(
    path: &Path,
    names: &[String],
    secrets: &BTreeMap<String, String>,
) -> Result<(), StoreError> {
    let wanted: Vec<(Vec<u8>, String)> = names
        .iter()
        .filter_map(|name| Some((name, secrets.get(name)?)))
        .flat_map(|(name, value)| {
            forms(value)
                .into_iter()
                .map(move |form| (form, format!("[{name}]")))
        })
        .collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let clean = path.with_extension("clean");
    let io = |doing| StoreError::io(doing, path);
    let mut reader = BufReader::new(File::open(path).map_err(io("open"))?);
    let mut writer =
        BufWriter::new(File::create(&clean).map_err(StoreError::io("create", &clean))?);
    let mut line = Vec::new();
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line).map_err(io("read"))? == 0 {
            break;
        }
        for (form, name) in &wanted {
            line = replace(&line, form, name.as_bytes());
        }
        writer
            .write_all(&line)
            .map_err(StoreError::io("write", &clean))?;
    }
    writer.flush().map_err(StoreError::io("write", &clean))?;
    std::fs::rename(&clean, path).map_err(io("replace"))
}

fn replace(line: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.windows(from.len()).position(|window| window == from) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(to);
        rest = &rest[at + from.len()..];
    }
    out.extend_from_slice(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_forms_are_replaced_too() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("output.log");
        std::fs::write(
            &path,
            "a hf_x/y\"z b\nurl=hf_x%2Fy%22z\njson=\"hf_x/y\\\"z\"\nlast hf_x/y\"z",
        )
        .unwrap();
        let secrets = BTreeMap::from([("HF_TOKEN".to_owned(), "hf_x/y\"z".to_owned())]);
        file(&path, &["HF_TOKEN".to_owned()], &secrets).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(
            text,
            "a [HF_TOKEN] b\nurl=[HF_TOKEN]\njson=\"[HF_TOKEN]\"\nlast [HF_TOKEN]"
        );
    }
}
