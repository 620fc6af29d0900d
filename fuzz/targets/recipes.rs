//! What people write: recipes, rules, locks, command lines.

use std::sync::OnceLock;

use retrial::app::catalog::{self, FoundRecipe};
use retrial_host::model::HostView;
use retrial_import::{MeasuredFigures, NoCompanions, Selection, draft_from_guide};
use retrial_mlperf::rounds::{self, Round};
use retrial_plan::build::{self, RecipeOrigin};
use retrial_plan::download::LocalHubSettings;
use retrial_plan::options::PlanOptions;
use retrial_plan::{shell, text};
use retrial_recipe::expression::{self, ExpressionScope};
use retrial_recipe::lock::RecipeLock;
use retrial_recipe::model::{Mode, ParamValue, Template};
use retrial_recipe::{
    Diagnostics, ParamSetting, RecipeFileKind, Source, check_source, compute_fingerprint,
    resolve_recipe,
};

fn source(data: &[u8]) -> Option<Source> {
    Source::from_bytes("fuzz.yaml", data).ok()
}

/// The built-in templates, as a built-in recipe finds them.
fn templates() -> &'static FoundRecipe {
    static OPENED: OnceLock<FoundRecipe> = OnceLock::new();
    OPENED.get_or_init(|| catalog::builtin_recipes().swap_remove(0))
}

fn shown(problems: &Diagnostics) {
    assert!(problems.render(true).len() < 4 << 20);
}

/// A recipe: checked, resolved, planned; and a recipe without problems is one that resolves to itself.
pub fn recipe(data: &[u8]) {
    let Some(source) = source(data) else { return };
    let templates = templates();
    shown(&check_source(&source, RecipeFileKind::Template, templates));
    let problems = check_source(&source, RecipeFileKind::Recipe, templates);
    shown(&problems);
    let _ = compute_fingerprint(&source, templates);
    let resolved = match resolve_recipe("fuzz", &source, templates, &[]) {
        Ok(resolved) => resolved,
        Err(problems) => {
            shown(&problems);
            shown(
                &resolve_recipe("fuzz", &source, templates, &[ParamSetting::new("gpu", "x")])
                    .err()
                    .unwrap_or_default(),
            );
            return;
        }
    };
    let again = Source::new("resolved.yaml", resolved.yaml.as_str());
    let again = resolve_recipe("fuzz", &again, templates, &[]);
    let again = again.unwrap_or_else(|problems| panic!("{}\n{problems}", resolved.yaml));
    assert_eq!(again.hash, resolved.hash, "{}\n{}", resolved.yaml, again.yaml);
    let plan = build::build_plan(
        &resolved.recipe,
        &RecipeOrigin::default(),
        &PlanOptions::default(),
        &HostView::default(),
    );
    let _ = plan.map(|plan| {
        (
            text::render_plan(&plan, None, &LocalHubSettings::default(), str::to_owned),
            shell::render_script(&plan, &[]),
        )
    });
}

/// A round's rules.
pub fn rules(data: &[u8]) {
    let Some(source) = source(data) else { return };
    let _ = rounds::is_rules_file(&source);
    shown(&rounds::check_rules_file(&source));
    match Round::parse(&source) {
        Ok(round) => {
            for benchmark in ["llama2-70b-99", "resnet50"] {
                let _ =
                    round.benchmark_rules(benchmark, retrial_mlperf::loadgen::TestScenario::Server);
            }
        }
        Err(problems) => shown(&problems),
    }
}

/// A recipe's lock: what is read is written so that it is read again.
pub fn lock(data: &[u8]) {
    let Some(source) = source(data) else { return };
    match RecipeLock::parse(&source) {
        Ok(lock) => {
            let written = lock.to_yaml();
            let again = RecipeLock::parse(&Source::new("again.yaml", written.as_str()));
            assert_eq!(again.ok().as_ref(), Some(&lock), "{written}");
        }
        Err(problems) => shown(&problems),
    }
}

/// A guide: the recipe that comes of it is one.
pub fn docker_run(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    let Ok(draft) = draft_from_guide("README.md", text, Selection::All, &NoCompanions) else {
        return;
    };
    let reading = draft.write("fuzz", &MeasuredFigures::default());
    let source = Source::new("new.yaml", reading.recipe.as_str());
    let problems = check_source(&source, RecipeFileKind::Recipe, templates());
    let syntax = problems.iter().find(|problem| problem.code == "syntax");
    assert!(syntax.is_none(), "{}\n{problems}", reading.recipe);
}

/// A text with expressions.
pub fn expressions(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    let scope = ExpressionScope {
        params: [
            ("results".into(), ParamValue::Text("/r".into())),
            ("count".into(), ParamValue::Int(4)),
            ("flag".into(), ParamValue::Bool(true)),
        ]
        .into(),
        variant: [("rocm".into(), "7.1.1".into())].into(),
        scenario: Some("Offline".into()),
        mode: Some(Mode::Accuracy),
        trial: Some(2),
        gpus: Some(8),
        models: [("llama-2".into(), "abc".into())].into(),
        models_later: [("qwen".into(), "…".into())].into(),
        node: None,
    };
    let rendered = expression::render_template(&Template(text.into()), &scope);
    if !text.contains("${{") {
        assert_eq!(rendered.as_deref(), Ok(text));
    }
}
