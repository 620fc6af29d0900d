//! What was claimed of two figures of one run: that one is better than the other, or as good.

use retrial_document::{FieldType as T, object};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::figures::figure_name;
use super::{Claim, Mode};
use crate::formats;

/// The allowed difference of a claim that one figure is as good as another, where none is stated: 2 % are materially
/// different to `MLPerf`'s auditors.
const DEFAULT_ALLOWED_DIFFERENCE: f64 = 0.02;

object! {
    /// A published claim that compares two figures of one run.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
    pub struct FigureClaim: "a claim";
    keys {
        /// The claim in the words in which it was published: F.linear is 11 to 13 % faster than torch.matmul.
        claim: String [required] = T::Text(formats::LINE),
        /// Where it was published.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source: Option<String> = T::Text(formats::LINE),
        /// The figure that the claim is about.
        candidate: ClaimedFigure [required],
        /// The figure that it is compared with.
        baseline: ClaimedFigure [required],
        /// What has to hold of the candidate, compared with the baseline.
        is: Claim [default = "better"],
        /// By how much it is better: 10% (0 unless stated). Of the others the allowed difference (2% unless stated).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<f64> = T::Fraction,
    }
}

object! {
    /// A figure of a measurement. Of a table each entry that both sides have is compared.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub struct ClaimedFigure: "a figure of a measurement";
    keys {
        /// The scenario, as the recipe names it.
        scenario: String [required] = T::Text(formats::NAME),
        /// The mode in which it is measured.
        mode: Mode [default = "performance"],
        /// The figure's name; of a table, or `name[entry]`.
        figure: String [required, read = read_figure_name] = T::Text(formats::FIGURE),
    }
}

fn read_figure_name(node: &retrial_document::Node) -> Option<String> {
    node.text().map(figure_name)
}

impl FigureClaim {
    /// Returns the margin of the required ratio, a fraction.
    pub fn margin(&self) -> f64 {
        let default = match self.is {
            Claim::Better => 0.0,
            Claim::NotWorse | Claim::Equivalent => DEFAULT_ALLOWED_DIFFERENCE,
        };
        self.is.margin_of(self.by.unwrap_or(default))
    }

    /// Returns both sides: the candidate and the baseline.
    pub fn sides(&self) -> [&ClaimedFigure; 2] {
        [&self.candidate, &self.baseline]
    }
}
