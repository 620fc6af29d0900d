//! Bundles that somebody changed: none of them is verified, whatever was changed and however it was packed again.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use retrial::app::evidence::{VerifyRequest, create_temporary_directory, verify_bundle};
use retrial_bundle::body::BodyWriter;
use retrial_bundle::hashing::sha256_hex;
use retrial_bundle::verification::{SignatureState, Verification};
use retrial_bundle::{BundleHead, BundleManifest};

use super::evidence::{Packing, REPRODUCED};
use super::ids;

type Files = Vec<(String, Vec<u8>)>;

/// A signed bundle, taken apart.
pub struct Bundle {
    pub packing: Packing,
    pub bytes: Vec<u8>,
    pub head: BundleHead,
    pub key: PathBuf,
    pub allowed: PathBuf,
    files: Files,
}

impl Bundle {
    pub fn new() -> Self {
        Self::by("ed25519")
    }

    /// Signed by a key of this kind.
    fn by(kind: &str) -> Self {
        let packing = Packing::new();
        let key = packing.key("key", &["-t", kind]);
        // Another trial, with other logs.
        let of_run = |run: usize, trial| {
            let results = packing.scene.run(run).join("results/Offline/performance");
            results.join(format!("run_{trial}"))
        };
        fs::create_dir(of_run(REPRODUCED, 2)).unwrap();
        for entry in fs::read_dir(of_run(0, 1)).unwrap() {
            let from = entry.unwrap().path();
            let to = of_run(REPRODUCED, 2).join(from.file_name().unwrap());
            fs::copy(from, to).unwrap();
        }
        let bytes = fs::read(packing.pack("a.tar.zst", Some(&key))).unwrap();
        let head = BundleHead::read(&mut &bytes[..]).unwrap();
        let manifest = BundleManifest::parse(&head.manifest).unwrap();
        let run = packing.scene.run(REPRODUCED);
        let read = |path: String| (path.clone(), fs::read(run.join(path)).unwrap());
        let files = manifest.files.into_iter().map(|file| read(file.path));
        let allowed = packing.allow("alice@example.com", &key);
        Self { bytes, head, files: files.collect(), key, allowed, packing }
    }

    fn verify(&self, bytes: &[u8], signers: bool) -> Option<Verification> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        let request = VerifyRequest {
            bundle: file.path().to_owned(),
            signers: signers.then(|| self.allowed.clone()),
            identity: None,
        };
        // A file that does not even begin like a bundle is an error.
        let result = verify_bundle(&request, create_temporary_directory().unwrap().path());
        Some(result.ok()?.verification)
    }

    /// Asserts that it is not verified, neither with nor without allowed signers; returns why.
    pub fn refused(&self, bytes: &[u8], change: &str) -> String {
        let mut reason = String::new();
        for signers in [true, false] {
            let Some(verification) = self.verify(bytes, signers) else {
                continue;
            };
            assert!(!verification.verified, "{change}: verified");
            assert_eq!(verification.exit_code.code(), 1, "{change}");
            reason = serde_json::to_string(&verification).unwrap();
        }
        reason
    }

    /// Packs it again as anybody can: unpacked, changed, tar and zstd.
    fn by_tar(&self, files: &Files) -> Vec<u8> {
        let signatures = self.head.signatures.as_ref().unwrap();
        let run = &self.packing.run;
        let first = [
            ("manifest.json".to_owned(), self.head.manifest.clone()),
            ("statement.json".to_owned(), self.head.statement.clone()),
            ("statement.json.sig".to_owned(), signatures.ssh.clone()),
            ("statement.dsse.json".to_owned(), signatures.envelope.clone()),
        ];
        let rest = files.iter();
        let rest = rest.map(|(path, content)| (format!("{run}/{path}"), content.clone()));
        let mut tar = tar::Builder::new(Vec::new());
        for (path, content) in first.into_iter().chain(rest) {
            let mut header = tar::Header::new_gnu();
            header.set_size(content.len() as u64);
            header.set_mode(0o644);
            tar.append_data(&mut header, path, &content[..]).unwrap();
        }
        zstd::encode_all(&tar.into_inner().unwrap()[..], 3).unwrap()
    }

    /// Packs it again in this form, with a manifest that fits, under the head that it gives.
    fn in_form(&self, files: &Files, head: impl Fn(Vec<u8>) -> BundleHead) -> Vec<u8> {
        let mut sorted = files.clone();
        sorted.sort_by(|a, b| Path::new(&a.0).cmp(Path::new(&b.0)));
        let mut body = BodyWriter::new(Vec::new(), &self.packing.run).unwrap();
        for (path, content) in &sorted {
            body.add_file(path, content.len() as u64, &content[..]).unwrap();
        }
        let (body, manifest) = body.finish().unwrap();
        let mut bytes = Vec::new();
        head(manifest.to_canonical_json().unwrap().into_bytes()).write(&mut bytes).unwrap();
        bytes.extend(body);
        bytes
    }

    /// The statement, made to be about another manifest.
    fn statement_about(&self, manifest: &[u8]) -> Vec<u8> {
        let text = String::from_utf8(self.head.statement.clone()).unwrap();
        text.replace(&sha256_hex(&self.head.manifest), &sha256_hex(manifest)).into_bytes()
    }

    /// Every way to pack these files again without the key.
    fn refused_in_every_way(&self, files: &Files, change: &str) {
        let reason = self.refused(&self.by_tar(files), change);
        let named = ["\"changed\":[\"", "\"missing\":[\"", "\"extra\":[\""];
        assert!(named.iter().any(|list| reason.contains(list)), "{change}: {reason}");
        let old = |_| self.head.clone();
        self.refused(&self.in_form(files, old), change);
        let new_manifest = |manifest| BundleHead { manifest, ..self.head.clone() };
        self.refused(&self.in_form(files, new_manifest), change);
        let new_statement = |manifest: Vec<u8>| BundleHead {
            statement: self.statement_about(&manifest),
            manifest,
            ..self.head.clone()
        };
        self.refused(&self.in_form(files, new_statement), change);
        // Without a signature it is unsigned at best.
        let unsigned = |manifest: Vec<u8>| BundleHead {
            statement: self.statement_about(&manifest),
            manifest,
            signatures: None,
        };
        let bytes = self.in_form(files, unsigned);
        assert!(!self.verify(&bytes, true).unwrap().verified, "{change}");
        let verification = self.verify(&bytes, false).unwrap();
        assert_eq!(verification.signature, SignatureState::Unsigned, "{change}");
    }
}

#[test]
#[ignore = "needs ssh-keygen"]
fn every_file_changed_removed_added_renamed_or_swapped() {
    let bundle = Bundle::new();
    let mut changes: Vec<(String, Files)> = Vec::new();
    for at in 0..bundle.files.len() {
        let name = bundle.files[at].0.clone();
        let mut change = |description: &str, by: &dyn Fn(&mut Files)| {
            let mut files = bundle.files.clone();
            by(&mut files);
            changes.push((format!("{name} {description}"), files));
        };
        change("by a byte", &|files| {
            let content = &mut files[at].1;
            let middle = content.len() / 2;
            content[middle] ^= 1;
        });
        change("cut off", &|files| {
            let content = &mut files[at].1;
            content.truncate(content.len() - 1);
        });
        change("removed", &|files| drop(files.remove(at)));
        change("renamed", &|files| files[at].0.push('x'));
        change("added", &|files| {
            let (path, content) = files[at].clone();
            files.push((format!("{path}.more"), content));
        });
        // Of the same name in the other mode, and of every other run.
        for other in 0..at {
            let same = |a: &str, b: &str| Path::new(a).file_name() == Path::new(b).file_name();
            if same(&bundle.files[other].0, &name) && bundle.files[other].1 != bundle.files[at].1 {
                change("swapped", &|files| {
                    let (before, after) = files.split_at_mut(at);
                    std::mem::swap(&mut before[other].1, &mut after[0].1);
                });
            }
        }
        for run in ids(0..REPRODUCED) {
            let path = bundle.packing.scene.home().join("runs").join(run).join(&name);
            let Ok(content) = fs::read(path) else {
                continue;
            };
            if content != bundle.files[at].1 {
                change("of another run", &|files| files[at].1.clone_from(&content));
            }
        }
    }
    assert!(changes.len() > 90, "{}", changes.len());
    changes
        .par_iter()
        .for_each(|(description, files)| bundle.refused_in_every_way(files, description));
}

#[test]
#[ignore = "needs ssh-keygen"]
fn ten_thousand_flipped_bytes() {
    flipped("ed25519", 10_000);
}

#[test]
#[ignore = "needs ssh-keygen"]
fn flipped_bytes_of_an_rsa_signature() {
    flipped("rsa", 2_000);
}

fn flipped(kind: &str, times: u64) {
    let bundle = Bundle::by(kind);
    assert!(bundle.verify(&bundle.bytes, true).unwrap().verified);
    let size = bundle.bytes.len();
    (0..times).into_par_iter().for_each(|seed| {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut bytes = bundle.bytes.clone();
        let (at, by) = (random.usize(..size), random.u8(1..));
        bytes[at] ^= by;
        // Signers are not checked: even a changed key must be detected.
        let verification = bundle.verify(&bytes, false);
        let verified = verification.is_some_and(|verification| verification.verified);
        assert!(!verified, "byte {at} xor {by:#x}");
    });
    // The form of the head, bit by bit: magic, frame, the headers of its files.
    let first = 14 + 3 + 512;
    (0..first * 8).into_par_iter().for_each(|bit| {
        let mut bytes = bundle.bytes.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let verification = bundle.verify(&bytes, false);
        assert!(!verification.is_some_and(|verification| verification.verified), "bit {bit}");
    });
}
