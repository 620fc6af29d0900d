//! What the compiler cannot hold: which folder of `src` may import which, and which of them touch no
//! file, socket or clock. That the pure crates name no engine and no network their manifests hold.
#![expect(clippy::unwrap_used, reason = "tests")]

mod circles;

use std::path::{Path, PathBuf};

/// Folders and files of `src`, each with those that it may import. No circle can be written here:
/// a line names only lines above it.
const LAYERS: [(&str, &[&str]); 18] = [
    ("words", &[]),
    ("format", &[]),
    ("telemetry", &["format"]),
    ("host", &["format", "telemetry"]),
    ("plan", &["format", "host", "telemetry"]),
    ("store", &["format", "plan", "telemetry"]),
    ("site", &[]),
    ("slurm", &[]),
    ("results", &["format", "host", "plan", "store", "telemetry"]),
    ("bundle", &["plan", "results", "store"]),
    (
        "history",
        &["format", "host", "plan", "results", "store", "telemetry"],
    ),
    ("import", &["format", "results", "store"]),
    (
        "export",
        &["bundle", "format", "host", "plan", "results", "store"],
    ),
    (
        "run",
        &["format", "host", "plan", "results", "store", "telemetry"],
    ),
    (
        "batch",
        &[
            "format",
            "host",
            "plan",
            "results",
            "run",
            "store",
            "telemetry",
        ],
    ),
    (
        "report",
        &[
            "batch",
            "bundle",
            "export",
            "format",
            "history",
            "host",
            "plan",
            "results",
            "store",
            "telemetry",
        ],
    ),
    (
        "app",
        &[
            "batch",
            "bundle",
            "export",
            "format",
            "history",
            "host",
            "import",
            "plan",
            "report",
            "results",
            "run",
            "site",
            "slurm",
            "store",
            "telemetry",
        ],
    ),
    (
        "cli",
        &[
            "app",
            "batch",
            "bundle",
            "export",
            "format",
            "history",
            "host",
            "import",
            "plan",
            "report",
            "results",
            "run",
            "site",
            "slurm",
            "store",
            "telemetry",
        ],
    ),
];

/// Modules that turn data into data.
const PURE: [&str; 15] = [
    "bundle",
    "format",
    "telemetry",
    "host/model.rs",
    "host/assign",
    "host/checks",
    "plan",
    "import/accelerators.rs",
    "import/readme.rs",
    "import/recipe",
    "results/verdict",
    "site",
    "slurm/rows.rs",
    "store/journal/state.rs",
    "report",
];
const IMPURE: [&str; 8] = [
    "tokio",
    "bollard",
    "reqwest",
    "std::fs",
    "std::net",
    "std::process::Command",
    "SystemTime::now",
    "Timestamp::now",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn walk(path: &Path, found: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            walk(&entry.unwrap().path(), found);
        }
    } else if path.extension().is_some_and(|extension| extension == "rs") {
        found.push(path.to_owned());
    }
}

/// The files of Rust below a folder, or the one file, without tests (which may read files).
fn rust_files(path: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    walk(path, &mut found);
    let is_test = |path: &Path| {
        let parts = path.strip_prefix(root()).unwrap().with_extension("");
        parts
            .iter()
            .any(|part| part.to_string_lossy().ends_with("tests"))
    };
    found.retain(|path| !is_test(path));
    found
}

/// The code below a folder of `src` or of a file, without tests and comments.
fn sources(part: &str) -> Vec<(PathBuf, String)> {
    let path = root().join("src").join(part);
    let mut found = Vec::new();
    for path in [path.clone(), path.with_extension("rs")] {
        if path.exists() {
            found.extend(rust_files(&path));
        }
    }
    found.sort();
    found.dedup();
    assert!(!found.is_empty(), "src/{part} is not there");
    found
        .into_iter()
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
            let lines = code.lines().map(str::trim_start);
            let code: Vec<&str> = lines.filter(|line| !line.starts_with("//")).collect();
            (path, code.join("\n"))
        })
        .collect()
}

#[test]
fn pure_modules_have_no_side_effects() {
    let mut wrong = Vec::new();
    for part in PURE {
        for (path, code) in sources(part) {
            let words = IMPURE.iter().filter(|word| code.contains(**word));
            wrong.extend(words.map(|word| format!("{}: {word}", path.display())));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn imports_follow_the_layers() {
    let mut wrong = Vec::new();
    for (layer, may) in LAYERS {
        for (path, code) in sources(layer) {
            let imported = code.match_indices("crate::").map(|(at, word)| {
                let rest = &code[at + word.len()..];
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                &rest[..end.unwrap_or(rest.len())]
            });
            for other in imported.filter(|other| *other != layer && !may.contains(other)) {
                wrong.push(format!("{}: crate::{other}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_directory_has_a_layer() {
    let mut names: Vec<String> = std::fs::read_dir(root().join("src"))
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            path.file_stem().unwrap().to_string_lossy().into_owned()
        })
        .filter(|name| !["lib", "main"].contains(&&**name))
        .collect();
    names.sort();
    let mut layers: Vec<&str> = LAYERS.map(|(layer, _)| layer).to_vec();
    layers.sort_unstable();
    assert_eq!(names, layers);
    for (at, (layer, may)) in LAYERS.iter().enumerate() {
        let above: Vec<&str> = LAYERS[..at].iter().map(|(name, _)| *name).collect();
        let below: Vec<&&str> = may.iter().filter(|name| !above.contains(name)).collect();
        assert!(
            below.is_empty(),
            "{layer} names what stands below it: {below:?}"
        );
    }
}

#[test]
fn pure_crates_do_not_depend_on_engine_or_network() {
    for name in [
        "container",
        "document",
        "mlperf",
        "readings",
        "recipe",
        "stats",
    ] {
        let path = root().join(format!("crates/{name}/Cargo.toml"));
        let manifest = std::fs::read_to_string(&path).unwrap();
        for word in [
            "tokio",
            "bollard",
            "reqwest",
            "hf-hub",
            "retrial-engine",
            "retrial-hub",
        ] {
            assert!(!manifest.contains(word), "{}: {word}", path.display());
        }
    }
}
