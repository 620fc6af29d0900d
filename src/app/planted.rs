//! Plans for unit tests.

use retrial_host::model::HostView;
use retrial_plan::build::RecipeOrigin;
use retrial_plan::{Plan, PlanOptions, build_plan};
use retrial_recipe::{NoTemplates, Source, resolve_recipe};

const RECIPE: &str = "schema: 1
title: t
submission: { suite: own, benchmark: b }
image: debian
scenarios: { s: { performance: { run: 'true', figures: { speed: { pattern: 'speed: ${number}' } } } } }
";

/// A plan of one scenario whose performance is measured once.
pub fn plan_one_measurement() -> Plan {
    let source = Source::new("r.yaml", RECIPE.to_owned());
    let resolved = resolve_recipe("r", &source, &NoTemplates, &[]).unwrap();
    let (origin, options) = (RecipeOrigin::default(), PlanOptions::default());
    build_plan(&resolved.recipe, &origin, &options, &HostView::default()).unwrap()
}
