//! Evidence whose signer wrote its plan, its qualifiers or its statement by hand: the logs are honest, and say
//! nothing about what was forged.

use std::fs;
use std::path::Path;

use retrial_bundle::signature::{self, Signer, SigningError};
use retrial_bundle::{BundleHead, BundleManifest};
use retrial_run::judge_run;
use retrial_store::RunDirectory;
use rstest::rstest;
use serde_json::{Value, json};
use ssh_key::public::KeyData;
use ssh_key::{HashAlg, PrivateKey, Signature};

use super::evidence::{Packing, REPRODUCED};

/// A run whose files are changed, and judged by what they have then.
struct Forgery(Packing);

impl Forgery {
    fn new() -> Self {
        Self(Packing::new())
    }

    /// Changes a JSON file of the run, in the form in which it was written.
    fn change(&self, name: &str, change: impl FnOnce(&mut Value)) {
        let path = self.0.scene.run(REPRODUCED).join(name);
        let mut value: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let before = value.clone();
        change(&mut value);
        assert_ne!(value, before, "{name}");
        fs::write(path, serde_json::to_string_pretty(&value).unwrap() + "\n").unwrap();
    }

    /// Writes the verdict that follows from the forged plan.
    fn judge(&self) {
        let run = RunDirectory::from_path(self.0.scene.run(REPRODUCED));
        let verdict = judge_run(&run, false).unwrap();
        run.write_json("verdict.json", &verdict).unwrap();
    }

    /// Packs and verifies; returns the report and its text.
    fn verify(&self) -> (i32, Value, String) {
        let archive = self.0.pack("forged.tar.zst", None);
        let (code, report) = self.0.verify(&archive, &[]);
        let arguments = ["verify", archive.to_str().unwrap()];
        (code, report, self.0.scene.retrial(&arguments).out)
    }
}

#[rstest]
#[case::expectation("/measurements/0/expect/0/1/0/value", json!(80_000.0), "measurements.0.expect.tokens_per_second.0.value")]
#[case::no_expectation("/measurements/0/expect", json!([]), "measurements.0.expect.tokens_per_second")]
#[case::limit("/measurements/0/limits", json!([["tokens_per_second", { "min": 1.0, "max": null, "below": null }]]), "measurements.0.limits")]
#[case::margin("/judge/margin", json!(0.5), "judge.margin")]
#[case::image("/image", json!("example.com/other:1"), "image")]
#[case::pinned("/pinned", json!(true), "pinned")]
#[case::container("/container/image", json!("example.com/other:1"), "container.image")]
#[case::env("/container/env/0/1", json!("other"), "container.env.")]
#[case::system("/submission/system", json!("9xMI355X"), "submission.system")]
#[case::modified("/modified", json!(["batch_size"]), "modified")]
#[case::parameter("/params/batch_size", json!(1), "params.batch_size")]
#[case::variant("/variant/rocm", json!("9.9"), "variant.rocm")]
#[case::title("/title", json!("certified"), "title")]
#[case::same_sku("/same_sku", json!(true), "same_sku")]
#[case::requirement("/requires/gpus/count", json!(1), "requires.gpus.count")]
fn a_plan_that_does_not_follow_from_its_recipe_is_not_verified(
    #[case] pointer: &str,
    #[case] value: Value,
    #[case] path: &str,
) {
    let forgery = Forgery::new();
    forgery.change("plan.json", |plan| {
        let target = plan.pointer_mut(pointer);
        let Some(target) = target else {
            let (parent, key) = pointer.rsplit_once('/').unwrap();
            plan.pointer_mut(parent).unwrap()[key] = value;
            return;
        };
        // The other of two words.
        *target = if *target == value { json!(false) } else { value };
    });
    forgery.judge();
    let (code, report, text) = forgery.verify();
    assert_eq!((code, &report["verified"]), (1, &json!(false)), "{report}");
    let plan = &report["judged"]["plan"];
    assert_eq!(plan["state"], "differs", "{report}");
    let differences = plan["differences"].as_array().unwrap();
    let named = differences.iter().any(|one| one["path"].as_str().unwrap().starts_with(path));
    assert!(named, "{path}: {plan}");
    let problems = report["problems"].to_string();
    assert!(problems.contains("its plan does not follow from its recipe: "), "{problems}");
    let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("! recipe ./llama2.yaml: the plan does not follow from it"), "{text}");
}

/// Commands, timeouts and the order of steps are what a reader takes for the vendor's.
#[test]
fn forged_steps_are_named() {
    let forgery = Forgery::new();
    forgery.change("plan.json", |plan| {
        let steps = plan["steps"].as_array_mut().unwrap();
        let exec = steps.iter_mut().find(|step| step["action"] == "exec").unwrap();
        exec["run"] = json!("bash fast.sh");
    });
    forgery.judge();
    let (code, report, _) = forgery.verify();
    assert_eq!(code, 1, "{report}");
    let problems = report["problems"].to_string();
    assert!(problems.contains("steps.offline-performance.run"), "{problems}");
}

#[rstest]
#[case("recipe.yaml", "recipe.yaml: it is missing")]
#[case("host.json", "host.json: it is missing")]
fn a_plan_that_cannot_be_derived_is_not_verified(#[case] file: &str, #[case] reason: &str) {
    let forgery = Forgery::new();
    fs::remove_file(forgery.0.scene.run(REPRODUCED).join(file)).unwrap();
    let (code, report, _) = forgery.verify();
    assert_eq!((code, &report["judged"]["plan"]["state"]), (1, &json!("not_derived")));
    assert!(report["problems"].to_string().contains(reason), "{report}");
}

/// A recipe of another schema has no plan in this version: nothing is vouched for.
#[test]
fn a_recipe_of_a_later_schema_is_not_vouched_for() {
    let forgery = Forgery::new();
    let path = forgery.0.scene.run(REPRODUCED).join("recipe.yaml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(path, text.replace("schema: 1", "schema: 2")).unwrap();
    let (code, report, _) = forgery.verify();
    assert_eq!(code, 1, "{report}");
    assert!(report["problems"].to_string().contains("requires schema 2"), "{report}");
}

/// Somebody else's run, imported or judged where it lies.
#[test]
fn a_forged_plan_is_judged_by_its_recipe_and_named() {
    let forgery = Forgery::new();
    forgery.change("plan.json", |plan| {
        let value = plan.pointer_mut("/measurements/0/expect/0/1/0/value");
        *value.unwrap() = json!(80_000.0);
    });
    let warning = "its plan does not follow from its recipe.yaml: \
                   measurements.0.expect.tokens_per_second.0.value: recorded 80000.0, derived 103480.0";
    let run = forgery.0.scene.run(REPRODUCED);
    let judge = |scene: &super::Scene, run: &str| {
        let output = scene.retrial(&["judge", run, "--output", "json"]);
        let verdict: Value = serde_json::from_str(&output.out).unwrap();
        // The figure is judged by the recipe's value.
        let results = verdict["results"].to_string();
        assert!(results.contains("103480.0") && !results.contains("80000.0"), "{results}");
        verdict["warnings"].to_string()
    };
    let warnings = judge(&forgery.0.scene, run.to_str().unwrap());
    assert!(warnings.contains(warning), "{warnings}");
    forgery.judge();
    let archive = forgery.0.pack("forged.tar.zst", None);
    let here = super::Scene::new(0..0);
    let output = here.retrial(&["runs", "import", archive.to_str().unwrap()]);
    assert_eq!(output.code, 0, "{}", output.err);
    let warnings = judge(&here, &forgery.0.run);
    assert!(warnings.contains(warning), "{warnings}");
}

#[test]
fn qualifiers_are_derived_again_and_printed() {
    let forgery = Forgery::new();
    let (code, report, text) = forgery.verify();
    assert_eq!(code, 0, "{report}");
    let qualifiers = report["judged"]["verdict"]["qualifiers"].as_array().unwrap();
    assert!(!qualifiers.is_empty());
    let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for qualifier in qualifiers {
        let kind = qualifier["kind"].as_str().unwrap();
        let reason = qualifier["reason"].as_str().unwrap();
        let line = format!("{kind}: {reason}");
        let line: String = line.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(&line), "{line}: {text}");
    }
}

#[rstest]
#[case::run("/qualifiers")]
#[case::result("/results/0/qualifiers")]
fn removed_or_invented_qualifiers_are_detected(#[case] pointer: &str) {
    let forgery = Forgery::new();
    let mut kept = Value::Null;
    forgery.change("verdict.json", |verdict| {
        let qualifiers = verdict.pointer_mut(pointer).unwrap();
        kept = qualifiers.clone();
        *qualifiers = json!([]);
    });
    let refused = |reason: &str| {
        let _ = fs::remove_file(forgery.0.path("forged.tar.zst"));
        let (code, report, _) = forgery.verify();
        assert_eq!((code, &report["verified"]), (1, &json!(false)), "{report}");
        let problems = report["problems"].to_string();
        assert!(problems.contains(reason), "{problems}");
    };
    refused("qualifier missing: unpinned image: ");
    forgery.change("verdict.json", |verdict| {
        // The kind is there, the reason is another.
        kept[0]["reason"] = json!("reviewed by its vendor");
        *verdict.pointer_mut(pointer).unwrap() = kept;
    });
    refused("qualifier not derived: unpinned image: reviewed by its vendor");
}

#[rstest]
#[case::unknown("verdict.json", "{\n", "{\n  \"certified_by\": \"MLCommons\",\n")]
#[case::nested(
    "verdict.json",
    "\"submission\": {\n",
    "\"submission\": {\n    \"certified\": true,\n"
)]
#[case::duplicate("plan.json", "{\n", "{\n  \"schema\": 1,\n")]
#[case::of_a_step("plan.json", "\"number\": 1,\n", "\"number\": 1,\n      \"signed_off\": true,\n")]
fn unknown_and_duplicate_keys_of_signed_files_are_refused(
    #[case] name: &str,
    #[case] from: &str,
    #[case] to: &str,
) {
    let forgery = Forgery::new();
    let path = forgery.0.scene.run(REPRODUCED).join(name);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{text}");
    let packed = forgery.0.pack("honest.tar.zst", None);
    assert_eq!(forgery.0.verify(&packed, &[]).0, 0);
    fs::write(path, text.replacen(from, to, 1)).unwrap();
    let output = forgery.0.try_pack(&forgery.0.path("forged.tar.zst"), None);
    // A duplicate key of a struct is not even packed.
    if output.code != 0 {
        return;
    }
    let (code, report) = forgery.0.verify(&forgery.0.path("forged.tar.zst"), &[]);
    assert_eq!((code, &report["verified"]), (1, &json!(false)), "{report}");
    assert!(report["problems"].to_string().contains(name), "{report}");
}

/// A key from a file, as `runs pack --sign` uses it.
struct Key(PrivateKey);

impl Signer for Key {
    fn public_key(&self) -> &KeyData {
        self.0.public_key().key_data()
    }

    fn sign(&mut self, bytes: &[u8], _: HashAlg) -> Result<Signature, SigningError> {
        use ssh_key::private::KeypairData;
        assert!(matches!(self.0.key_data(), KeypairData::Ed25519(_)));
        rsa::signature::Signer::try_sign(&self.0, bytes).map_err(SigningError::refused)
    }
}

/// Signs another text in place of an archive's statement.
fn with_statement(archive: &Path, key: &Path, statement: String) -> Vec<u8> {
    let bytes = fs::read(archive).unwrap();
    let head = BundleHead::read(&mut &bytes[..]).unwrap();
    let mut own = Vec::new();
    head.write(&mut own).unwrap();
    let mut key = Key(PrivateKey::read_openssh_file(key).unwrap());
    let signatures = signature::sign_statement(statement.as_bytes(), &mut key).unwrap();
    let other =
        BundleHead { statement: statement.into_bytes(), signatures: Some(signatures), ..head };
    let mut forged = Vec::new();
    other.write(&mut forged).unwrap();
    forged.extend(&bytes[own.len()..]);
    forged
}

#[test]
#[ignore = "needs ssh-keygen"]
fn unknown_and_duplicate_keys_of_a_signed_statement_are_refused() {
    let packing = Packing::new();
    let key = packing.key("key", &["-t", "ed25519"]);
    let allowed = packing.allow("alice@example.com", &key);
    let archive = packing.pack("a.tar.zst", Some(&key));
    let bytes = fs::read(&archive).unwrap();
    let head = BundleHead::read(&mut &bytes[..]).unwrap();
    BundleManifest::parse(&head.manifest).unwrap();
    let text = String::from_utf8(head.statement).unwrap();
    assert_eq!(with_statement(&archive, &key, text.clone()), bytes);
    for (from, to) in [
        ("{\n", "{\n  \"certified by\": \"MLCommons\",\n"),
        ("\"predicate\": {\n", "\"predicate\": {\n    \"certified\": true,\n"),
        ("\"predicate\": {\n", "\"predicate\": {\n    \"result\": \"PASSED\",\n"),
        ("\"sha256\": ", "\"sha512\": \"00\",\n        \"sha256\": "),
        ("\"kind\": ", "\"note\": \"reviewed\",\n          \"kind\": "),
        ("  \"predicate\"", "   \"predicate\""),
        ("PASSED", "\\u0050ASSED"),
    ] {
        let other = text.replacen(from, to, 1);
        assert_ne!(other, text, "{from}");
        let forged = packing.path("forged.tar.zst");
        fs::write(&forged, with_statement(&archive, &key, other)).unwrap();
        let arguments = ["--signers", allowed.to_str().unwrap()];
        let (code, report) = packing.verify(&forged, &arguments);
        assert_eq!((code, &report["verified"]), (1, &json!(false)), "{to}: {report}");
        let problems = report["problems"].to_string();
        assert!(problems.contains("statement.json"), "{to}: {problems}");
    }
}

/// What `verify` says of a built-in recipe holds for each of them: its plan follows from the recipe that a run stores.
#[test]
fn the_plan_of_every_built_in_recipe_follows_from_its_stored_recipe() {
    use retrial::app::catalog;
    use retrial_plan::build::RecipeOrigin;
    use retrial_plan::{PlanOptions, build_plan};
    use retrial_results::evidence::plan_source::plan_differences;

    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hosts/mi355x-8");
    let host = retrial_host::probe_host(&root);
    let mut count = 0;
    for entry in catalog::builtin_recipes() {
        let Ok(resolved) = retrial_recipe::resolve_recipe(&entry.name, &entry.source, &entry, &[])
        else {
            // Some have params that must be set.
            continue;
        };
        let origin = RecipeOrigin {
            directory: Some("/recipes/one".to_owned()),
            hash: resolved.hash.clone(),
            ..RecipeOrigin::default()
        };
        let Ok(mut plan) = build_plan(&resolved.recipe, &origin, &PlanOptions::default(), &host)
        else {
            continue;
        };
        plan.add_round_rules(catalog::built_in_rounds());
        let directory = tempfile::tempdir().unwrap();
        let run = RunDirectory::from_path(directory.path().to_owned());
        fs::write(run.join("recipe.yaml"), &resolved.yaml).unwrap();
        run.write_json("host.json", &json!({ "host": host })).unwrap();
        let found = plan_differences(&run, &plan).unwrap();
        assert!(found.is_empty(), "{}: {found:#?}", entry.name);
        count += 1;
    }
    assert!(count > 20, "{count}");
}
