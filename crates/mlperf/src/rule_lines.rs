//! Finds the lines of a result's files that state what a rule is about, so that a reader can check a verdict in the
//! logs. Each check names them where it is made: [`StatingLines`].

use crate::accuracy::{ACCURACY_FILE, AccuracyReader};
use crate::check::StatingLines;
use crate::loadgen::detail::{entry_key, is_error_entry};
use crate::loadgen::{
    DETAIL_FILE, SUMMARY_FILE, figure_name_of_detail_key, figure_name_of_summary_line,
};

impl StatingLines {
    pub fn of_line(file: &str, number: u64) -> Self {
        Self::Line { file: file.to_owned().into(), number }
    }

    /// The names of the files that have such lines, in the folder of the result or of a compliance test.
    pub fn files(&self) -> Vec<&str> {
        match self {
            Self::Entries(_) | Self::Errors | Self::Figures(_) => vec![DETAIL_FILE],
            Self::Figure(_) => vec![DETAIL_FILE, SUMMARY_FILE, ACCURACY_FILE],
            Self::Texts { file, .. } => vec![file],
            Self::Line { file, .. } => vec![file],
        }
    }

    /// Returns whether a line of one of its files is one of them.
    pub fn is_match(&self, file: &str, number: u64, line: &str) -> bool {
        let figure_name = || figure_name_of_detail_key(entry_key(line)?.as_ref());
        match self {
            Self::Entries(keys) => entry_key(line).is_some_and(|key| keys.contains(&key)),
            Self::Line { number: at, .. } => number == *at,
            Self::Errors => is_error_entry(line),
            Self::Figures(begin) => figure_name().is_some_and(|name| name.starts_with(begin)),
            Self::Figure(name) if file == DETAIL_FILE => {
                figure_name().is_some_and(|figure| figure == *name)
            }
            Self::Figure(name) if file == SUMMARY_FILE => {
                figure_name_of_summary_line(line).is_some_and(|figure| figure == *name)
            }
            Self::Figure(name) => {
                let mut reader = AccuracyReader::default().with_requested_figures([name.as_str()]);
                reader.push(line.as_bytes());
                let printed = reader.finish();
                printed.figure(name).is_some() || printed.not_numbers.contains_key(name.as_str())
            }
            Self::Texts { texts, .. } => texts.iter().any(|text| line.contains(text.as_ref())),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::loadgen::{LoadgenRun, TestScenario, detail::parse_detail_log};
    use crate::rounds::built_in_rounds;

    /// Every rule of a round about a value of the detail log finds the entry that states it.
    #[test]
    fn each_rule_of_a_round_finds_its_entry() {
        let results = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../examples/submission/closed/Example/results/8xEXAMPLE_2xCPU/llama2-70b-99");
        let mut found = 0;
        for scenario in [TestScenario::Offline, TestScenario::Server, TestScenario::Interactive] {
            let log = results.join(scenario.word()).join("performance/run_1").join(DETAIL_FILE);
            let log = std::fs::read_to_string(log).unwrap();
            let detail = Some(parse_detail_log(log.as_bytes()));
            let run = LoadgenRun { summary: None, detail };
            let figure = |name: &str| {
                let figure = run.resolve_figure(name)?;
                Some((figure.value, figure.unit.into_owned()))
            };
            let round = built_in_rounds().get("mlperf-inference", "v6.0").unwrap();
            let rules = round.benchmark_rules("llama2-70b-99", scenario).unwrap();
            for check in rules.check_performance(&run.run_settings(), &figure) {
                let states = |line: &str| {
                    let mut stated_in = check.stated_in.iter();
                    stated_in.any(|lines| lines.is_match(DETAIL_FILE, 1, line))
                };
                assert!(log.lines().any(states), "{scenario}: {check}");
                found += 1;
            }
        }
        assert!(found > 30, "{found}");
    }

    #[test]
    fn a_figure_is_found_where_the_accuracy_script_prints_it() {
        let is_printed = |name: &str| {
            let figure = StatingLines::Figure(name.to_owned());
            figure.is_match(ACCURACY_FILE, 1, "{'rouge1': 44.5, 'rouge2': 22.1}")
        };
        assert!(is_printed("ROUGE1") && !is_printed("ROUGEL"));
        let error =
            r#":::MLLOG {"key": "error_runtime", "value": "x", "metadata": {"is_error": true}}"#;
        assert!(StatingLines::Errors.is_match(DETAIL_FILE, 1, error));
    }
}
