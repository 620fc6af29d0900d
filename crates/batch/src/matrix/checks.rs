//! Checks of the finished matrix: exclusions that apply to no cell, and a batch without cells.

use itertools::join;

use super::{MatrixBuilder, with_recipe};
use crate::cell::{ExcludedCell, ExclusionReason};

impl MatrixBuilder<'_> {
    pub(super) fn check_excludes(&mut self) {
        for exclude in &self.batch.exclude {
            let plain = exclude.to_values();
            let applies = |cell: &ExcludedCell| {
                matches!(cell.reason, ExclusionReason::Excluded { .. })
                    && plain.is_subset_of(&with_recipe(&cell.recipe, &cell.axes))
            };
            if !self.excluded.iter().any(applies) {
                let message = format!("no cell has {plain}");
                let help = "remove it from `exclude`";
                self.problems.error("excludes-nothing", message, &exclude.span, help);
            }
        }
    }

    pub(super) fn check_any_cell(&mut self) {
        if !self.cells.is_empty() {
            return;
        }
        let first_excluded = self.excluded.iter().take(5);
        let reasons = first_excluded.map(|cell| format!("{}: {}", cell.name, cell.reason));
        let axis_span = self.batch.vary.first().map(|axis| &axis.name.span);
        let at = axis_span.or(self.batch.recipes.first().map(|recipe| &recipe.recipe.span));
        if let Some(at) = at {
            let help = join(reasons, "; ");
            self.problems.error("nothing-left", "no cell is left", at, help);
        }
    }
}
