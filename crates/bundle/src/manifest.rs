//! The manifest: every file of a run with its size and SHA-256, and those of the compressed body.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::error::BundleError;
use super::hashing::is_sha256;
use retrial_store::RecordDirectory;

/// The manifest's name in the archive.
pub const MANIFEST_FILE: &str = "manifest.json";
/// The largest manifest: some 200,000 files.
pub const MAX_MANIFEST_BYTES: u64 = 32 << 20;
/// The largest total size of a bundle's files, bytes.
const MAX_BUNDLE_BYTES: u64 = 256 << 30;
const MAX_PATH_BYTES: usize = 4096;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BundleManifest {
    /// Version of this format.
    pub schema: u32,
    /// The id of the run: the archive's files are below a directory of this name.
    pub run: String,
    /// The rest of the archive, compressed.
    pub body: SizedDigest,
    /// The files, in the order of the archive.
    pub files: Vec<FileEntry>,
}

/// The size and the digest of the compressed body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SizedDigest {
    pub bytes: u64,
    /// SHA-256 of these bytes, 64 hexadecimal digits.
    pub sha256: String,
}

/// A file of the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    /// The path of the file below the run's directory, with `/` between its parts.
    pub path: String,
    /// The size of the file, bytes.
    pub bytes: u64,
    /// SHA-256 of its content, hexadecimal.
    pub sha256: String,
}

impl BundleManifest {
    /// The version of the format.
    pub const SCHEMA: u32 = 1;

    /// The canonical text of a manifest: JSON, a line for each file.
    ///
    /// # Errors
    /// If it cannot be written as JSON.
    pub fn to_canonical_json(&self) -> Result<String, BundleError> {
        let mut text = format!(
            "{{\"schema\":{},\"run\":{},\"body\":{},\"files\":[",
            self.schema,
            serde_json::to_string(&self.run)?,
            serde_json::to_string(&self.body)?,
        );
        for (index, file) in self.files.iter().enumerate() {
            text.push_str(if index == 0 { "\n" } else { ",\n" });
            text.push_str(&serde_json::to_string(file)?);
        }
        text.push_str("\n]}\n");
        Ok(text)
    }

    /// Parses a manifest, and checks that no path leads out and that its text is canonical.
    ///
    /// # Errors
    /// If it is not a manifest, or its content is invalid.
    pub fn parse(text: &[u8]) -> Result<Self, BundleError> {
        let wrong = |reason: String| BundleError::Malformed(format!("{MANIFEST_FILE}: {reason}"));
        let manifest: Self =
            serde_json::from_slice(text).map_err(|error| wrong(error.to_string()))?;
        if manifest.schema != Self::SCHEMA {
            return Err(wrong(format!(
                "this binary reads schema {}, not {}",
                Self::SCHEMA,
                manifest.schema
            )));
        }
        manifest.validate()?;
        if manifest.to_canonical_json()?.as_bytes() != text {
            return Err(wrong("it differs from what `runs pack` writes".to_owned()));
        }
        Ok(manifest)
    }

    /// Checks paths, order, sums and sizes.
    ///
    /// # Errors
    /// Describes the first violation.
    pub fn validate(&self) -> Result<(), BundleError> {
        let wrong =
            |reason: String| Err(BundleError::Malformed(format!("{MANIFEST_FILE}: {reason}")));
        if !RecordDirectory::is_valid_id(&self.run) {
            return wrong(format!("{:?} is not the name of a run", self.run));
        }
        if self.files.is_empty() {
            return wrong("it lists no files".to_owned());
        }
        let sums = self.files.iter().map(|file| &file.sha256);
        if !sums.chain([&self.body.sha256]).all(|sum| is_sha256(sum)) {
            return wrong("a checksum is not a SHA-256".to_owned());
        }
        if let Some(file) = self.files.iter().find(|file| !is_safe_path(&file.path)) {
            return wrong(format!("{:?} is not the path of a file of a run", file.path));
        }
        for pair in self.files.windows(2) {
            let (file, next) = (Path::new(&pair[0].path), Path::new(&pair[1].path));
            if file >= next || next.starts_with(file) {
                return wrong(format!("{:?} is out of order or duplicate", pair[1].path));
            }
        }
        match self.total_bytes() {
            Some(bytes) if bytes <= MAX_BUNDLE_BYTES => Ok(()),
            _ => wrong(format!("its files exceed {MAX_BUNDLE_BYTES} bytes")),
        }
    }

    /// The total size of all files, bytes; none if it overflows.
    pub fn total_bytes(&self) -> Option<u64> {
        let mut files = self.files.iter();
        files.try_fold(0_u64, |sum, file| sum.checked_add(file.bytes))
    }
}

/// Returns whether a path is relative, stays below its directory and is normalized.
fn is_safe_path(path: &str) -> bool {
    let is_name = |part: &str| !matches!(part, "" | "." | "..");
    path.len() <= MAX_PATH_BYTES && !path.contains('\0') && path.split('/').all(is_name)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn manifest(paths: &[&str]) -> BundleManifest {
        let sum = "0".repeat(64);
        BundleManifest {
            schema: 1,
            run: "20260401-060000-a-0000".to_owned(),
            body: SizedDigest { bytes: 1, sha256: sum.clone() },
            files: paths
                .iter()
                .map(|path| FileEntry { path: (*path).to_owned(), bytes: 1, sha256: sum.clone() })
                .collect(),
        }
    }

    #[test]
    fn only_the_canonical_form_is_parsed() {
        let original = manifest(&["a/b", "a-b", "c"]);
        let text = original.to_canonical_json().unwrap();
        assert_eq!(BundleManifest::parse(text.as_bytes()).unwrap(), original);
        for other in [
            text.replace(",\n", ", \n"),
            text.trim_end().to_owned(),
            text.replace("\"run\"", "\"r\\u0075n\""),
            text.replace("\"schema\":1", "\"schema\":2"),
            text.replace("]}", "],\"more\":1}"),
        ] {
            assert!(BundleManifest::parse(other.as_bytes()).is_err(), "{other}");
        }
    }

    #[rstest]
    #[case(&["../a"])]
    #[case(&["/a"])]
    #[case(&["a/../b"])]
    #[case(&["./a"])]
    #[case(&["a//b"])]
    #[case(&["a/"])]
    #[case(&["a\0"])]
    #[case(&[""])]
    #[case(&["a", "a"])]
    #[case(&["b", "a"])]
    #[case(&["a", "a/b"])]
    #[case(&[])]
    fn invalid_paths_are_refused(#[case] paths: &[&str]) {
        assert!(manifest(paths).validate().is_err());
    }

    #[test]
    fn sizes_are_bounded() {
        let mut bounded = manifest(&["a", "b"]);
        bounded.files[0].bytes = u64::MAX;
        assert!(bounded.validate().is_err());
        bounded.files[0].bytes = MAX_BUNDLE_BYTES;
        assert!(bounded.validate().is_err());
        bounded.files[0].bytes = MAX_BUNDLE_BYTES - 1;
        bounded.validate().unwrap();
    }
}
