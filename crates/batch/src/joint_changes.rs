//! What changes together between the cells that a batch compares, by what its recipes state of their images.

use itertools::Itertools as _;

use super::axis_domain::AxisDomain;
use super::cell::Cell;
use super::claim::BatchClaim;
use retrial_recipe::VariantChoice;
use retrial_results::verdict::comparison::{StackVersions, describe_joint_change};

/// Says of each pair of cells, by baseline and by claim, what changes together.
pub(super) fn describe_planned_changes(
    cells: &[Cell],
    claims: &[BatchClaim],
    recipes: &[AxisDomain],
) -> Vec<String> {
    let baseline_pairs =
        cells.iter().filter_map(|cell| Some((cell.baseline.as_ref()?, &cell.name)));
    let parts = claims.iter().flat_map(|claim| &claim.parts);
    let claim_pairs = parts.filter_map(|part| Some((part.baseline.as_ref()?, &part.candidate)));
    let find = |name: &String| cells.iter().find(|cell| cell.name == *name);
    let pairs = baseline_pairs.chain(claim_pairs).unique();
    let sentences = pairs.filter_map(|(from, to)| {
        let (from, to) = (find(from)?, find(to)?);
        let domain = recipes.iter().find(|domain| domain.name == from.recipe)?;
        (to.recipe == from.recipe).then(|| describe_change(domain, from, to))?
    });
    sentences.unique().collect()
}

fn describe_change(domain: &AxisDomain, from: &Cell, to: &Cell) -> Option<String> {
    let [base, other] = [from, to].map(|cell| choice(domain, cell));
    let contents =
        |choice: &VariantChoice| StackVersions::from_contents(&domain.image_contents(choice));
    let differing =
        domain.variants.axes.iter().filter(|axis| base.get(&axis.name) != other.get(&axis.name));
    let values = differing.flat_map(|axis| {
        axis.values.iter().map(|value| {
            let mut choice = base.clone();
            choice.insert(axis.name.clone(), value.clone());
            choice
        })
    });
    let supported = values.filter(|choice| domain.variants.find_unsupported(choice).is_none());
    let known: Vec<StackVersions> = supported.map(|choice| contents(&choice)).collect();
    describe_joint_change(&contents(&base), &contents(&other), &known)
}

/// Returns the variants of a cell: by default, as set, as varied. Another image has contents that no recipe states.
fn choice(domain: &AxisDomain, cell: &Cell) -> VariantChoice {
    let mut choice = domain.variants.default_choice();
    for setting in cell.recipe_settings() {
        choice.insert(setting.name, setting.value);
    }
    choice
}
