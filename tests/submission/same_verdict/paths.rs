//! Random runs, judged on every path.

use std::env;

use fastrand::Rng;
use serde_json::{Value, json};

use super::scene::{Scene, verdict};

/// Runs that are tried.
const CASES: u64 = 40;
/// What only a run knows: which image ran, and on which host.
const OF_THE_RUN: [&str; 2] = ["unpinned image", "other hardware"];

/// What must be the same: outcomes, figures, rules with what was measured and why it was not, and
/// qualifiers. The texts are those that `rewrite` makes of them, for files lie elsewhere.
fn compared(verdict: &Value, rewrite: &dyn Fn(&str) -> String) -> Value {
    let results = verdict["results"].as_array().unwrap().iter();
    let results: Vec<Value> = results.map(of_result).collect();
    let (outcome, exit_code) = (&verdict["outcome"], &verdict["exit_code"]);
    let all = json!({ "outcome": outcome, "exit_code": exit_code, "results": results });
    serde_json::from_str(&rewrite(&all.to_string())).unwrap()
}

fn of_result(result: &Value) -> Value {
    let list = |name: &str| result[name].as_array().cloned().unwrap_or_default();
    let fields = |item: &Value, names: &[&str]| -> Value {
        names.iter().map(|name| item[name].clone()).collect()
    };
    let of_the_run = |qualifier: &Value| OF_THE_RUN.iter().any(|kind| qualifier["kind"] == **kind);
    let mut qualifiers = list("qualifiers");
    qualifiers.retain(|one| !of_the_run(one));
    let of_rules = ["rule", "measured", "required", "passed", "trial"];
    let rules = list("rules");
    let rules: Vec<Value> = rules.iter().map(|rule| fields(rule, &of_rules)).collect();
    let of_trials = ["trial", "step", "valid", "figures"];
    let trials = list("trials");
    let trials: Vec<Value> = trials.iter().map(|trial| fields(trial, &of_trials)).collect();
    json!({
        "scenario": result["scenario"],
        "mode": result["mode"],
        "outcome": result["outcome"],
        "sentence": result["sentence"],
        "figures": result["figures"],
        "judgements": result["judgements"],
        "rules": rules,
        "qualifiers": qualifiers,
        "trials": trials,
    })
}

/// The results in the order of their scenarios and modes.
fn sorted(mut compared: Value) -> Value {
    let results = compared["results"].as_array_mut().unwrap();
    let key = |result: &Value| format!("{} {}", result["scenario"], result["mode"]);
    results.sort_by_key(key);
    compared
}

#[test]
fn the_same_files_have_the_same_verdict_on_every_path() {
    let program = env!("CARGO_BIN_EXE_retrial");
    let folder = std::path::Path::new(program).parent().unwrap();
    let path = format!("{}:{}", folder.display(), env::var("PATH").unwrap());
    let seed = env::var("SAME_VERDICT_SEED").ok();
    let seed: u64 = seed.map_or_else(|| fastrand::u64(..1 << 32), |seed| seed.parse().unwrap());
    let mut invalid = 0;
    for case in seed..seed + CASES {
        let scene = Scene::plant(&mut Rng::with_seed(case));
        let own = ["judge", "planted", "--output", "json"];
        let own = verdict(&scene.retrial().args(own).output().unwrap());
        invalid += u32::from(own["outcome"] == "invalid");
        let named = |text: &str| scene.as_in_the_script(text);
        let expected = sorted(compared(&own, &named));

        // Where the script left them, by the script's own command.
        let command = format!("{} --output json", scene.judge_command());
        let mut shell = std::process::Command::new("sh");
        shell.arg("-c").arg(command).env("PATH", &path).env("RETRIAL_HOME", scene.path("other"));
        let output = shell.current_dir(scene.path("shell")).output().unwrap();
        let judged = verdict(&output);
        let shell = scene.path("shell/results").display().to_string();
        let named = |text: &str| text.replace(&format!("{shell}/"), "");
        let left = serde_json::to_string_pretty(&sorted(compared(&judged, &named))).unwrap();
        let expected_text = serde_json::to_string_pretty(&expected).unwrap();
        assert_same(case, &expected_text, &left);
        assert_eq!(output.status.code().map(i64::from), own["exit_code"].as_i64(), "seed {case}");

        // Packed, every second time as a bundle, and imported elsewhere.
        let own_text = serde_json::to_vec(&own).unwrap();
        std::fs::write(scene.run().join("verdict.json"), own_text).unwrap();
        let name = ["packed.tar.gz", "packed.tar.zst"][usize::from(case % 2 == 1)];
        let archive = scene.path(name).display().to_string();
        let packed = ["runs", "pack", "planted", "--to", &archive];
        let packed = scene.retrial().args(packed).output().unwrap();
        assert!(packed.status.success(), "seed {case}: {packed:?}");
        let elsewhere = |arguments: &[&str]| {
            let mut command = scene.retrial();
            command.args(arguments).env("RETRIAL_HOME", scene.path("elsewhere"));
            command.output().unwrap()
        };
        let imported = elsewhere(&["runs", "import", &archive]);
        assert!(imported.status.success(), "seed {case}: {imported:?}");
        let again = verdict(&elsewhere(&["judge", "planted", "--output", "json"]));
        let named = |text: &str| scene.as_in_the_script(text);
        let again = serde_json::to_string_pretty(&sorted(compared(&again, &named))).unwrap();
        assert_same(case, &expected_text, &again);
    }
    assert!(invalid > 0, "no run was invalid: seed {seed}");
}

/// Both texts must be equal; else their differing lines are shown.
fn assert_same(case: u64, run: &str, folder: &str) {
    let difference = similar::TextDiff::from_lines(run, folder);
    let changes =
        difference.unified_diff().context_radius(6).header("the run's", "other").to_string();
    assert!(run == folder, "SAME_VERDICT_SEED={case}\n{changes}");
}
