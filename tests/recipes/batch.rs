//! Batch files as people meet them: `check`, `plan`, the schema, the example.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::path::Path;
use std::process::{Command, Output};

use retrial_batch::schema;
use serde_json::Value;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// No engine is queried: its images differ from machine to machine.
fn retrial(words: &[&str]) -> Output {
    let home = tempfile::tempdir().unwrap();
    Command::new(env!("CARGO_BIN_EXE_retrial"))
        .args(words)
        .current_dir(root())
        .env("RETRIAL_HOME", home.path())
        .env("DOCKER_HOST", "unix:///nowhere/docker.sock")
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace(&format!("{}/", root().display()), "")
}

/// Without the requirements that this machine does not meet.
fn without_host(bytes: &[u8]) -> String {
    let text = text(bytes);
    let end = text.find("\nUnmet requirements of this host").unwrap_or(text.len());
    text[..end].to_owned()
}

fn write(directory: &Path, name: &str, text: &str) -> String {
    let path = directory.join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[test]
fn the_committed_schema_is_up_to_date() {
    let path = root().join("docs/batch.schema.json");
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&path, schema::batch_schema_json()).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap();
    assert!(
        committed == schema::batch_schema_json(),
        "docs/batch.schema.json is old: `retrial schema batch > docs/batch.schema.json`"
    );
}

#[test]
fn example_batches_match_the_schema() {
    let schema: Value = serde_json::from_str(&schema::batch_schema_json()).unwrap();
    for file in [
        "examples/radeon-rocm-releases.yaml",
        "examples/library-releases/batch.yaml",
        "examples/mi350x-gemm.yaml",
        "examples/mi350x-batch-size.yaml",
        "examples/mi350x-rocm-releases.yaml",
    ] {
        let text = std::fs::read_to_string(root().join(file)).unwrap();
        let value: Value = serde_saphyr::from_str(&text).unwrap();
        assert_eq!(
            crate::support::json_schema::fits(&schema, &schema, &value, ""),
            Ok(()),
            "{file}"
        );
    }
}

#[test]
fn the_public_claims_are_a_batch() {
    let checked = retrial(&["check", "./examples/radeon-rocm-releases.yaml"]);
    assert!(checked.status.success(), "{}", text(&checked.stdout));
    // The 4090's runs are not here, and the report states it.
    assert!(text(&checked.stdout).contains("no run is called `bert-large-rtx4090` here"));

    let planned = retrial(&["plan", "--quiet", "./examples/radeon-rocm-releases.yaml"]);
    assert!(planned.status.success(), "{}", text(&planned.stderr));
    insta::assert_snapshot!(without_host(&planned.stdout));

    let json = retrial(&["plan", "-q", "./examples/radeon-rocm-releases.yaml", "--output", "json"]);
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    let count = |pointer: &str| json.pointer(pointer).unwrap().as_array().unwrap().len();
    assert_eq!(count("/plan/cells"), 12);
    assert_eq!(count("/plan/external_cells"), 24);
    assert_eq!(count("/plan/excluded"), 12);
    assert_eq!(count("/plan/schedule/trial_runs"), 60);
    assert_eq!(count("/plan/claims"), 15);
    assert_eq!(count("/plan/claims/9/parts"), 12);
    assert_eq!(json["plan"]["claims"][9]["parts"][0]["gap_to"], "rtx4090");
    let baseline = &json["plan"]["cells"][2]["baseline"];
    assert_eq!(baseline, "resnet50,gpu=rx7900xtx,rocm=6.4.1,backend=rocm");
}

#[test]
fn a_ratio_from_a_document_is_a_claim() {
    let planned = retrial(&["plan", "-q", "./examples/mi350x-gemm.yaml", "--output", "json"]);
    assert!(planned.status.success(), "{}", text(&planned.stderr));
    let json: Value = serde_json::from_slice(&planned.stdout).unwrap();
    let claims = json["plan"]["claims"].as_array().unwrap();
    assert_eq!(claims.len(), 3);
    assert_eq!(claims[0]["figure"], "peak");
    assert_eq!(claims[0]["parts"][0]["baseline"], "mi300x");
    assert_eq!(json["plan"]["cells"].as_array().unwrap().len(), 1);
}

#[test]
fn a_batch_over_releases_says_what_changes_together() {
    let batch = "./examples/mi350x-rocm-releases.yaml";
    let host = "tests/fixtures/hosts/mi355x-8";
    let planned = retrial(&["plan", "-q", batch, "--root", host, "--output", "json"]);
    assert!(planned.status.success(), "{}", text(&planned.stderr));
    let json: Value = serde_json::from_slice(&planned.stdout).unwrap();
    assert_eq!(json["plan"]["cells"].as_array().unwrap().len(), 6);
    let changes = json["plan"]["joint_changes"].as_array().unwrap();
    let changes: Vec<&str> = changes.iter().map(|change| change.as_str().unwrap()).collect();
    assert_eq!(changes[0], "ROCm 7.0.0 → 7.2.4 and PyTorch 2.9.0 → 2.10.0 changed together");
    // Each claim is about one of the two.
    assert_eq!(changes.len(), 5, "{changes:#?}");

    let gemm = "training-benchmarks/amd/mi350x/gemm";
    let planned = retrial(&["plan", "-q", gemm, "--vary", "rocm=7.2.4,10.1.0", "--root", host]);
    let planned = text(&planned.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    let sentence = "ROCm 7.2.4 → 10.1.0 and PyTorch 2.10.0 → 2.12.0 changed together: 7.14.1 has PyTorch 2.10.0 and 2.12.0: compare through it";
    assert!(planned.contains(sentence), "{planned}");
}

#[test]
fn a_document_s_remark_on_batch_sizes_is_a_claim() {
    let batch = "./examples/mi350x-batch-size.yaml";
    let planned = retrial(&["plan", "-q", batch, "--output", "json"]);
    assert!(planned.status.success(), "{}", text(&planned.stderr));
    let json: Value = serde_json::from_slice(&planned.stdout).unwrap();
    let claims = json["plan"]["claims"].as_array().unwrap();
    let baselines = claims.iter().map(|claim| &claim["parts"][0]["baseline"]);
    assert_eq!(baselines.collect::<Vec<_>>(), ["options=--batch-size 1", "options=--batch-size 4"]);
}

#[test]
fn the_command_line_gives_the_same_plan() {
    let recipe = "mlperf-inference-reference/onnxruntime/bert-large-radeon";
    let words = ["plan", recipe, "--vary", "rocm=6.4.1,7.1.1", "--vary", "backend=rocm,migraphx"];
    let planned = retrial(
        &[&words[..], &["--trials", "2", "--claim", "migraphx is faster than backend rocm"]]
            .concat(),
    );
    assert!(planned.status.success(), "{}", text(&planned.stderr));
    insta::assert_snapshot!(without_host(&planned.stdout));

    let wrong = retrial(&[
        "plan",
        recipe,
        "--vary",
        "rocm=6.4.1,7.1.2",
        "--vary",
        "backnd=rocm",
        "--baseline",
        "rocm=6.4",
    ]);
    assert_eq!(wrong.status.code(), Some(2));
    insta::assert_snapshot!(text(&wrong.stderr));
}

#[test]
fn a_claim_on_accuracy_that_no_recipe_measures_is_warned_of() {
    let directory = tempfile::tempdir().unwrap();
    let recipe = |mode: &str| {
        format!(
            "schema: 1\ntitle: t\nsubmission: {{ suite: own, benchmark: b }}\nimage: lab/x:1\n\
             params: {{ size: {{ type: int }} }}\n\
             scenarios: {{ all: {{ {mode}: {{ run: \"bench ${{{{ params.size }}}}\" }} }} }}\n"
        )
    };
    write(directory.path(), "speed.yaml", &recipe("performance"));
    write(directory.path(), "score.yaml", &recipe("accuracy"));
    let batch = |recipes: &str| {
        let text = format!(
            "schema: 1\ntitle: t\nrecipes: [{recipes}]\nvary: {{ size: [1, 2] }}\nclaims: [size 2 is accurate, size 2 is as accurate as size 1, size 2 is faster than size 1]\n"
        );
        write(directory.path(), "batch.yaml", &text)
    };
    let warned = |command: &str, file: &str| {
        let output = retrial(&[command, file]);
        assert!(output.status.success(), "{output:?}");
        let printed = text(&output.stdout) + &text(&output.stderr);
        printed.matches("no recipe of the batch measures accuracy").count()
    };
    let file = batch("./speed.yaml");
    assert_eq!([warned("check", &file), warned("plan", &file)], [2, 2]);
    let file = batch("./speed.yaml, ./score.yaml");
    assert_eq!([warned("check", &file), warned("plan", &file)], [0, 0]);
}

#[test]
fn a_cell_has_as_many_trials_as_its_recipe_states() {
    let directory = tempfile::tempdir().unwrap();
    let recipe = |trials: &str| {
        format!(
            "schema: 1\ntitle: t\nsubmission: {{ suite: own, benchmark: b }}\nimage: lab/x:1\n\
             params: {{ size: {{ type: int }} }}\n\
             scenarios: {{ all: {{ performance: {{ run: \"bench ${{{{ params.size }}}}\"{trials} }}, accuracy: {{ run: \"score ${{{{ params.size }}}}\" }} }} }}\n"
        )
    };
    let planned_trials = |trials: &str, keys: &str, options: &[&str]| {
        write(directory.path(), "recipe.yaml", &recipe(trials));
        let batch =
            format!("schema: 1\ntitle: t\nrecipe: ./recipe.yaml\nvary: {{ size: [1, 2] }}\n{keys}");
        let file = write(directory.path(), "batch.yaml", &batch);
        let output = retrial(&[&["plan", "-q", "--output", "json", &file], options].concat());
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        let cells = json["plan"]["cells"].as_array().unwrap();
        let trials: Vec<u64> = cells.iter().map(|cell| cell["trials"].as_u64().unwrap()).collect();
        assert_eq!(json["plan"]["execution"]["trials"], trials[0]);
        assert_eq!(trials[0], trials[1]);
        trials[0]
    };
    assert_eq!(planned_trials("", "", &[]), 1);
    assert_eq!(planned_trials(", trials: 3", "", &[]), 3);
    assert_eq!(planned_trials(", trials: { min: 4, max: 9 }", "", &[]), 4);
    assert_eq!(planned_trials(", trials: 3", "trials: 2\n", &[]), 2);
    assert_eq!(planned_trials(", trials: 3", "trials: 2\n", &["--trials", "5"]), 5);
    // An accuracy is measured once.
    assert_eq!(planned_trials(", trials: 3", "modes: [accuracy]\n", &[]), 1);
}

#[test]
fn problems_of_file_recipe_and_cells_are_reported_at_once() {
    let directory = tempfile::tempdir().unwrap();
    write(
        directory.path(),
        "good.yaml",
        "schema: 1\ntitle: t\nsubmission: { suite: own, benchmark: b }\nimage: lab/x\n\
         params: { size: { type: int }, out: { type: path, default: /out } }\n\
         scenarios: { large: { performance: { run: \"bench ${{ params.size }}\", results: \"${{ params.out }}\" } } }\n",
    );
    write(directory.path(), "broken.yaml", "schema: 1\ntitle: [\n");
    let check = |name: &str, batch: &str| {
        let file = write(directory.path(), name, batch);
        let output = retrial(&["check", &file]);
        let stdout = text(&output.stdout).replace(&directory.path().display().to_string(), "DIR");
        (output.status.code(), stdout)
    };
    let (code, problems) = check(
        "a.yaml",
        "schema: 1\ntitle: t\nrecipes: [./good.yaml, ./broken.yaml, ./missing.yaml]\nvary: { size: [1, 2] }\nordre: grouped\n",
    );
    assert_eq!(code, Some(2));
    insta::assert_snapshot!("recipes", problems);
    // A param that only the cells set to what it cannot be.
    let (code, problems) = check(
        "b.yaml",
        "schema: 1\ntitle: t\nrecipe: ./good.yaml\nvary: { out: [/a, not-absolute], size: [1] }\n",
    );
    assert_eq!(code, Some(2));
    insta::assert_snapshot!("cells", problems);
    // What must be set on a host may be left to the command line, as with a recipe.
    let (code, problems) =
        check("c.yaml", "schema: 1\ntitle: t\nrecipe: ./good.yaml\nvary: { out: [/a, /b] }\n");
    assert_eq!(code, Some(0), "{problems}");
    let file = directory.path().join("c.yaml").display().to_string();
    let planned = retrial(&["plan", &file]);
    assert_eq!(planned.status.code(), Some(2));
    let stderr = text(&planned.stderr).replace(&directory.path().display().to_string(), "DIR");
    insta::assert_snapshot!("unset", stderr);
    let (code, _) =
        check("d.yaml", "schema: 1\ntitle: t\nrecipe: ./good.yaml\nvary: { size: [1, 2] }\n");
    assert_eq!(code, Some(0));
}
