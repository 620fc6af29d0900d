//! Bundles made to harm whoever verifies them: what they ask for is refused before anything is written.

use std::fs;
use std::io::Write;

use retrial_bundle::body::BodyWriter;
use retrial_bundle::hashing::sha256_hex;
use retrial_bundle::manifest::{FileEntry, SizedDigest};
use retrial_bundle::{BundleHead, BundleManifest, blocks};
use serde_json::{Value, json};

use super::evidence::Packing;

/// A head and a body that an attacker chooses.
struct Maker {
    packing: Packing,
    statement: String,
    manifest: BundleManifest,
}

impl Maker {
    fn new() -> Self {
        let packing = Packing::new();
        let bytes = fs::read(packing.pack("a.tar.zst", None)).unwrap();
        let head = BundleHead::read(&mut &bytes[..]).unwrap();
        let statement = String::from_utf8(head.statement).unwrap();
        Self {
            packing,
            statement: statement.replace(&sha256_hex(&head.manifest), "SUM"),
            manifest: BundleManifest::parse(&head.manifest).unwrap(),
        }
    }

    fn bundle(&self, manifest: &[u8], body: &[u8]) -> Vec<u8> {
        let statement = self.statement.replace("SUM", &sha256_hex(manifest));
        let head = BundleHead {
            manifest: manifest.to_vec(),
            statement: statement.into_bytes(),
            signatures: None,
        };
        let mut bytes = Vec::new();
        head.write(&mut bytes).unwrap();
        bytes.extend(body);
        bytes
    }

    /// Verifies it in a directory for temporary files of its own, in which nothing may be left.
    fn refused(&self, bytes: &[u8], reason: &str) {
        let archive = self.packing.path("hostile.tar.zst");
        fs::write(&archive, bytes).unwrap();
        let temporary = tempfile::tempdir().unwrap();
        let arguments = ["verify", archive.to_str().unwrap(), "--output", "json"];
        let mut command = self.packing.scene.command(&arguments);
        let output = command.env("TMPDIR", temporary.path()).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{errors}");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let problem = report["problems"][0].as_str().unwrap();
        assert!(problem.contains(reason), "{problem}");
        assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0);
    }

    /// A manifest of these files over a body that was written as it is.
    fn over(&self, files: &[(&str, u64, &[u8])], body: &[u8]) -> Vec<u8> {
        let entry = |(path, bytes, content): &(&str, u64, &[u8])| FileEntry {
            path: (*path).to_owned(),
            bytes: *bytes,
            sha256: sha256_hex(content),
        };
        let manifest = BundleManifest {
            body: SizedDigest { bytes: body.len() as u64, sha256: sha256_hex(body) },
            files: files.iter().map(entry).collect(),
            ..self.manifest.clone()
        };
        self.bundle(manifest.to_canonical_json().unwrap().as_bytes(), body)
    }
}

/// An archive, compressed.
fn tar(add: impl FnOnce(&mut tar::Builder<Vec<u8>>)) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    add(&mut builder);
    zstd::encode_all(&builder.into_inner().unwrap()[..], 3).unwrap()
}

#[test]
fn escaping_paths_and_impossible_sizes() {
    let maker = Maker::new();
    let body = tar(|_| ());
    for path in ["../out", "/etc/cron.d/out", "a/../../out", "", "a//b", "."] {
        maker.refused(&maker.over(&[(path, 1, b"x")], &body), "is not the path of a file of a run");
    }
    maker.refused(&maker.over(&[("a", 1, b"x"), ("a", 1, b"x")], &body), "duplicate");
    maker.refused(&maker.over(&[("a", 1, b"x"), ("a/b", 1, b"x")], &body), "duplicate");
    maker.refused(&maker.over(&[("b", 1, b"x"), ("a", 1, b"x")], &body), "out of order");
    maker.refused(&maker.over(&[("a", 1 << 40, b"x")], &body), "its files exceed");
    let sums = [("a", u64::MAX, &b"x"[..]), ("b", 2, b"x")];
    maker.refused(&maker.over(&sums, &body), "its files exceed");
    let mut manifest = maker.manifest.clone();
    for run in ["..", "../x", "a/b", "", "-x"] {
        run.clone_into(&mut manifest.run);
        let text = manifest.to_canonical_json().unwrap();
        maker.refused(&maker.bundle(text.as_bytes(), &body), "is not the name of a run");
    }
    let more = json!({ "schema": 1, "run": "a", "body": { "bytes": 1, "sha256": "" }, "files": [], "x": 1 });
    maker.refused(&maker.bundle(more.to_string().as_bytes(), &body), "unknown field");
}

#[test]
fn entries_that_differ_from_the_manifest() {
    let maker = Maker::new();
    let run = maker.manifest.run.clone();
    let name = format!("{run}/a");
    let entry = |kind: tar::EntryType, name: &str, mode: u32| {
        let body = tar(|builder| {
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(kind);
            header.set_size(1);
            header.set_mode(mode);
            if kind.is_symlink() || kind.is_hard_link() {
                header.set_link_name("/etc/passwd").unwrap();
            }
            builder.append_data(&mut header, name, &b"x"[..]).unwrap();
        });
        maker.refused(
            &maker.over(&[("a", 1, b"x")], &body),
            "the entry of a differs from what `runs pack` writes",
        );
    };
    for kind in [
        tar::EntryType::Symlink,
        tar::EntryType::Link,
        tar::EntryType::Directory,
        tar::EntryType::Char,
        tar::EntryType::Fifo,
        tar::EntryType::GNUSparse,
        tar::EntryType::XHeader,
        tar::EntryType::GNULongName,
    ] {
        entry(kind, &name, 0o644);
    }
    entry(tar::EntryType::Regular, "other/a", 0o644);
    // Runs on whoever unpacks it by hand.
    entry(tar::EntryType::Regular, &name, 0o4755);
}

#[test]
fn missing_extra_and_trailing_content() {
    let maker = Maker::new();
    let run = &maker.manifest.run;
    let body = |add: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = blocks::encode_header(&format!("{run}/a"), 1).unwrap();
        bytes.extend(b"x");
        bytes.extend(blocks::block_padding(1));
        add(&mut bytes);
        zstd::encode_all(&bytes[..], 3).unwrap()
    };
    let files: &[(&str, u64, &[u8])] = &[("a", 1, b"x")];
    let refused = |body: &[u8], reason| maker.refused(&maker.over(files, body), reason);
    let end = |bytes: &mut Vec<u8>| bytes.extend(blocks::ARCHIVE_END);
    // Whole as far as the form goes, but no run.
    refused(&body(&end), "verdict.json: it is missing");
    refused(&body(&|_| ()), "the end of the archive cannot be read");
    let twice = body(&|bytes| {
        let again = bytes.clone();
        bytes.extend(again);
        end(bytes);
    });
    refused(&twice, "the end of the archive differs from what `runs pack` writes");
    let concatenated = body(&|bytes| {
        end(bytes);
        let again = bytes.clone();
        bytes.extend(again);
    });
    refused(&concatenated, "it has more files than its manifest");
    let padded = body(&|bytes| {
        let last = bytes.len() - 1;
        bytes[last] = 1;
        end(bytes);
    });
    refused(&padded, "the padding of a differs from what `runs pack` writes");
    // A second frame, within the sum of the body and after it.
    let second = [body(&end), zstd::encode_all(&b"more"[..], 3).unwrap()].concat();
    refused(&second, "it has trailing data after its end");
    let whole = maker.over(files, &body(&end));
    for more in [&b"x"[..], &zstd::encode_all(&b"more"[..], 3).unwrap(), &whole] {
        let bytes = [&whole, more].concat();
        maker.refused(&bytes, "it has trailing data after its end");
    }
    maker.refused(&whole[..whole.len() - 1], "it is truncated");
    maker.refused(&whole[..100], "it is truncated");
    let other = maker.over(&[("a", 1, b"y")], &body(&end));
    maker.refused(&other, "a: its checksum differs from the manifest's");
}

/// 64 GiB of zeros in two megabytes, and a frame that requires as much memory.
#[test]
fn decompression_bombs_are_refused() {
    let maker = Maker::new();
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    let zeros = vec![0; 1 << 20];
    for _ in 0..256 {
        encoder.write_all(&zeros).unwrap();
    }
    let body = encoder.finish().unwrap();
    assert!(body.len() < 1 << 20);
    maker.refused(&maker.over(&[("a", 1, b"x")], &body), "the entry of a differs from");
    // No more of a file is read than the manifest states.
    let mut writer = BodyWriter::new(Vec::new(), &maker.manifest.run).unwrap();
    writer.add_file("a", 256 << 20, std::io::repeat(0)).unwrap();
    let (body, _) = writer.finish().unwrap();
    let bytes = maker.over(&[("a", 1, b"\0")], &body);
    maker.refused(&bytes, "the entry of a differs from what `runs pack` writes");
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    encoder.window_log(30).unwrap();
    encoder.long_distance_matching(true).unwrap();
    encoder.write_all(&blocks::encode_header("a", 1).unwrap()).unwrap();
    let body = encoder.finish().unwrap();
    maker.refused(
        &maker.over(&[("a", 1, b"x")], &body),
        "Frame requires too much memory for decoding",
    );
    // The head: a size of 2^40 with nothing behind it, and a bomb in its place.
    let whole = fs::read(maker.packing.path("a.tar.zst")).unwrap();
    let mut large = whole.clone();
    large[6..14].copy_from_slice(&(1_u64 << 40).to_le_bytes());
    maker.refused(&large, "its head has 1099511627776 bytes");
    maker.refused(&body, "its first frame was not written by `runs pack`");
}

/// Some ten kilobytes that write gigabytes: refused before anything is unpacked, unless whoever reads it says so.
#[test]
fn an_archive_that_unpacks_to_many_times_its_size_is_refused() {
    let maker = Maker::new();
    let mut writer = BodyWriter::new(Vec::new(), &maker.manifest.run).unwrap();
    let bytes = 300 << 20;
    writer.add_file("a", bytes, std::io::repeat(0)).unwrap();
    let (body, manifest) = writer.finish().unwrap();
    let archive = maker.bundle(manifest.to_canonical_json().unwrap().as_bytes(), &body);
    assert!(archive.len() < 100 << 10, "{}", archive.len());
    maker.refused(
        &archive,
        "it unpacks to 300 MiB, and the limit for an archive of its size is 256 MiB",
    );
    let path = maker.packing.path("hostile.tar.zst");
    let path = path.to_str().unwrap();
    let import = |limit: Option<&str>| {
        let here = super::Scene::new(0..0);
        let mut command = here.command(&["runs", "import", path]);
        let output =
            command.envs(limit.map(|limit| ("RETRIAL_MAX_UNPACKED", limit))).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    let errors = import(None);
    assert!(
        errors.contains("if you trust its sender, allow more: RETRIAL_MAX_UNPACKED=20GiB"),
        "{errors}"
    );
    assert!(import(Some("many")).contains("`many` is not a size"));
    // It is no run, however much it may unpack to.
    let errors = import(Some("1GiB"));
    assert!(errors.contains("plan.json: it is missing"), "{errors}");
    // An archive of several runs, with gzip.
    let mut tar =
        tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best()));
    let mut header = tar::Header::new_gnu();
    header.set_size(bytes);
    header.set_mode(0o644);
    let name = format!("{}/a", maker.manifest.run);
    tar.append_data(&mut header, name, std::io::Read::take(std::io::repeat(0), bytes)).unwrap();
    let packed = tar.into_inner().unwrap().finish().unwrap();
    fs::write(path, packed).unwrap();
    let errors = import(None);
    assert!(errors.contains("holds more than 256 MiB"), "{errors}");
    assert!(errors.contains("RETRIAL_MAX_UNPACKED=20GiB"), "{errors}");
}
