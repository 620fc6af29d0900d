//! The early-stopping blocks: whether enough queries were run for the percentile to be reliable.
//!
//! The summary prints them as bulleted sentences over several lines, the detail log the same
//! sentences on one line; both are read from the text with its whitespace squeezed.

use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct EarlyStoppingBlock {
    /// `Run successful.` or `Run unsuccessful.` (Server).
    pub successful: Option<bool>,
    /// Percentile and estimate in ns (SingleStream, MultiStream), the target percentile first.
    pub estimates: Vec<(f64, u64)>,
    /// The block's text, its whitespace squeezed.
    pub text: String,
}

/// The early-stopping blocks of a run. Offline has none.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct EarlyStopping {
    /// `Early Stopping Result:`.
    pub query: Option<EarlyStoppingBlock>,
    /// `TTFT Early Stopping Result:`.
    pub ttft: Option<EarlyStoppingBlock>,
    /// `TPOT Early Stopping Result:`.
    pub tpot: Option<EarlyStoppingBlock>,
}

impl EarlyStopping {
    /// Returns the blocks that have a text, each with its name. LoadGen leaves the TTFT
    /// block blank where TPOT fails first.
    pub fn nonempty_blocks(&self) -> impl Iterator<Item = (&'static str, &EarlyStoppingBlock)> {
        [
            ("early stopping", self.query.as_ref()),
            ("TTFT early stopping", self.ttft.as_ref()),
            ("TPOT early stopping", self.tpot.as_ref()),
        ]
        .into_iter()
        .filter_map(|(name, stop)| Some((name, stop.filter(|stop| !stop.text.is_empty())?)))
    }

    /// Takes each block from here, else from `other`.
    #[must_use]
    pub(super) fn or(&self, other: &Self) -> Self {
        Self {
            query: self.query.clone().or_else(|| other.query.clone()),
            ttft: self.ttft.clone().or_else(|| other.ttft.clone()),
            tpot: self.tpot.clone().or_else(|| other.tpot.clone()),
        }
    }
}

impl EarlyStoppingBlock {
    /// Reads a block's text; a blank one gives a blank [`EarlyStoppingBlock`].
    pub(super) fn parse(text: &str) -> Self {
        let words: Vec<&str> = text.split_whitespace().collect();
        let squeezed = words.join(" ");
        let lower = squeezed.to_ascii_lowercase();
        let successful = if lower.contains("run unsuccessful") {
            Some(false)
        } else {
            lower.contains("run successful").then_some(true)
        };
        Self { successful, estimates: parse_estimates(&words), text: squeezed }
    }
}

/// `90.0th percentile estimate: N`, in v4.1 `90th percentile estimate: N`.
fn parse_estimates(words: &[&str]) -> Vec<(f64, u64)> {
    words
        .windows(4)
        .filter_map(|window| match window {
            [ordinal, "percentile", "estimate:", value] => {
                let percentile = ordinal.trim_end_matches("th").parse().ok()?;
                Some((percentile, value.parse().ok()?))
            }
            _ => None,
        })
        .take(16)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unsuccessful_run_has_no_estimates() {
        let stop = EarlyStoppingBlock::parse(
            " * Run unsuccessful.\n * Processed 600 queries.\n * Would need to run at least 65320 more queries,\n with the run being successful if every additional\n query were under latency.",
        );
        assert_eq!(stop.successful, Some(false));
        assert!(stop.estimates.is_empty());
    }

    #[test]
    fn estimates_with_their_percentiles() {
        let stop = EarlyStoppingBlock::parse(
            "* Processed at least 64 queries (1024). * Would discard 79 highest latency queries.  * Early stopping 90.0th percentile estimate: 2210774\n * Early stopping 99.0th percentile estimate: 18776619",
        );
        assert_eq!(stop.estimates, [(90.0, 2_210_774), (99.0, 18_776_619)]);
    }

    #[test]
    fn v41_prints_the_percentile_without_a_decimal() {
        let stop = EarlyStoppingBlock::parse(
            " * Early stopping 90th percentile estimate: 10013002783\n * Not enough queries processed for 99th percentile\n early stopping estimate (would need to process at\n least 662 total queries).",
        );
        assert_eq!(stop.estimates, [(90.0, 10_013_002_783)]);
    }

    #[test]
    fn too_few_queries() {
        let stop = EarlyStoppingBlock::parse(
            " * Only processed 50 queries.\n * Need to process at least 64 queries for early stopping.",
        );
        assert_eq!(stop.successful, None);
    }

    #[test]
    fn blank_blocks_are_omitted() {
        let blocks = EarlyStopping {
            ttft: Some(EarlyStoppingBlock::parse("\n")),
            tpot: Some(EarlyStoppingBlock::parse(" * Run unsuccessful.")),
            query: None,
        };
        let names: Vec<_> = blocks.nonempty_blocks().map(|(name, _)| name).collect();
        assert_eq!(names, ["TPOT early stopping"]);
    }
}
