//! What is claimed of a figure: which direction is better, how trials are aggregated, which claim is tested.
//!
//! Recipes state it and `retrial-stats` tests it: neither needs the other.

use retrial_document::words;
use schemars::JsonSchema;

words! {
    /// Whether higher or lower is better.
    #[derive(Default, JsonSchema)]
    pub enum Better {
        /// Throughput, accuracy.
        #[default]
        Higher = "higher",
        /// Latency, time.
        Lower = "lower",
    }
}

words! {
    /// How trials are aggregated to one figure.
    #[derive(Default, JsonSchema)]
    pub enum Aggregate {
        /// The geometric mean: of trials a few per cent apart the arithmetic one, to a hundredth of one.
        #[default]
        Mean = "mean",
        /// The median.
        Median = "median",
        /// Fastest and slowest dropped, mean of the rest.
        Olympic = "olympic",
    }
}

impl Aggregate {
    /// Returns its name in sentences: `geometric mean`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mean => "geometric mean",
            Self::Median => "median",
            Self::Olympic => "Olympic mean",
        }
    }
}

words! {
    /// The claim that is tested of a figure against a reference.
    #[derive(Default, JsonSchema)]
    pub enum Claim {
        /// No worse than the reference less the margin (non-inferiority).
        #[default]
        NotWorse = "not-worse",
        /// Within the margin of it, either way (equivalence).
        Equivalent = "equivalent",
        /// Better than the reference, by a margin where there is one (superiority).
        Better = "better",
    }
}

impl Claim {
    /// Returns the margin for an amount as people state it: of superiority by 10 % the baseline is 1/1.1 of the
    /// candidate, a margin of 9.1 %; of the others the allowed loss itself.
    pub fn margin_of(self, amount: f64) -> f64 {
        match self {
            Self::Better => amount / (1.0 + amount),
            Self::NotWorse | Self::Equivalent => amount,
        }
    }

    /// Returns whether this is the default claim, non-inferiority.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
