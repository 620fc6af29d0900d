//! The results of a submission tree, one line each, with their violated rules.

use std::fmt::Write as _;

use itertools::{Itertools as _, join};
use schemars::JsonSchema;
use serde::Serialize;

use super::marks;
use super::verdict;
use crate::ReportedVerdict;
use crate::document::{Block, Document, ListItem, Section, StatusMark};
use retrial_document::measures::format;
use retrial_mlperf::Division;
use retrial_recipe::model::Mode;
use retrial_results::evidence::tree::TreeFault;
use retrial_results::verdict::{
    BenchmarkVerdict, Outcome, QualifiedOutcome, QualifierKind, Reference, ResultVerdict,
    RuleCheck, Verdict, number,
};

/// The most files of a rule that are named.
const MAX_NAMED_FILES: usize = 3;
/// The violated rules of a result that are shown by default.
const MAX_VIOLATED_RULES: usize = 4;

/// The output of `judge --output json` for a tree.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TreeVerdict {
    /// The verdicts, one per scenario, mode and compliance test.
    pub results: Vec<ResultVerdict>,
    /// The verdicts on whole benchmarks, one per benchmark and system.
    pub benchmarks: Vec<BenchmarkVerdict>,
    /// Faults of the tree itself, which belong to no result.
    pub faults: Vec<TreeFault>,
    /// The name of the table, tree or run that results were compared with.
    pub reference: Option<String>,
    /// The numbers of results.
    pub counts: TreeCounts,
    /// `MLCommons`' trademark notice, for figures of `MLPerf`.
    pub notice: Option<String>,
}

/// The verbosity of a tree's report.
#[derive(Debug, Clone, Default)]
pub struct TreeReportStyle {
    /// Whether every rule is listed, not only notable ones.
    pub verbose: bool,
    /// Whether only results with violations are reported.
    pub quiet: bool,
    /// Only results with these outcomes are reported; all if empty.
    pub outcomes: Vec<String>,
}

/// Reports the benchmarks of a tree one after the other, and counts them.
#[derive(Debug, Default)]
pub struct TreeReport {
    style: TreeReportStyle,
    /// Of the benchmark before.
    system: String,
    /// Whose section is open: nothing may have been reported of the one before.
    reported_system: String,
    /// The numbers of judged results.
    pub counts: TreeCounts,
    notice: Option<String>,
}

/// The numbers of judged results.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TreeCounts {
    /// The number of systems.
    pub systems: usize,
    /// The number of benchmarks, of each system.
    pub benchmarks: usize,
    /// Benchmarks whose scenarios or system violate the rules.
    pub benchmarks_broken: usize,
    /// Benchmarks with scenarios that were not selected.
    pub benchmarks_in_part: usize,
    /// The number of performance results.
    pub performance: usize,
    /// The number of performance results that are valid.
    pub performance_valid: usize,
    /// The number of accuracy results.
    pub accuracy: usize,
    /// The number of accuracy results that are valid.
    pub accuracy_valid: usize,
    /// The number of compliance tests.
    pub compliance: usize,
    /// The number of compliance tests that are valid.
    pub compliance_valid: usize,
    /// Performance results that were compared with a published figure.
    pub compared: usize,
    /// The number of compared results that are reproduced.
    pub reproduced: usize,
}

impl TreeCounts {
    pub fn add(&mut self, benchmark: &BenchmarkVerdict, verdict: &Verdict) {
        self.benchmarks += 1;
        self.benchmarks_broken += usize::from(benchmark.rules.iter().any(|rule| !rule.passed));
        let mut qualifiers = verdict.qualifiers.iter();
        let is_part = qualifiers.any(|qualifier| qualifier.kind == QualifierKind::InPart);
        self.benchmarks_in_part += usize::from(is_part);
        for result in &verdict.results {
            let (all, valid) = match result.mode {
                Mode::Performance => (&mut self.performance, &mut self.performance_valid),
                Mode::Accuracy => (&mut self.accuracy, &mut self.accuracy_valid),
                Mode::Compliance => (&mut self.compliance, &mut self.compliance_valid),
            };
            *all += 1;
            *valid += usize::from(result.valid);
            if result.mode == Mode::Performance && !result.references.is_empty() {
                self.compared += 1;
                self.reproduced += usize::from(result.outcome == Outcome::Reproduced);
            }
        }
    }
}

impl TreeCounts {
    /// `2 results compared with summary_results.json, 1 reproduced`
    fn describe_comparison(self, reference: &str) -> String {
        let count = format::format_count(self.compared, "result");
        match self.compared {
            0 => format!("no result compared with {reference}"),
            _ => format!("{count} compared with {reference}, {} reproduced", self.reproduced),
        }
    }
}

impl TreeReport {
    pub fn new(style: TreeReportStyle) -> Self {
        Self { style, ..Self::default() }
    }

    /// Returns whether results with an outcome are reported.
    fn is_selected(&self, outcome: Outcome) -> bool {
        self.style.outcomes.is_empty() || self.names_outcome(outcome)
    }

    fn names_outcome(&self, outcome: Outcome) -> bool {
        self.style.outcomes.iter().any(|word| word == outcome.word())
    }

    /// Renders one benchmark: its violated rules and its results.
    pub fn report_benchmark(
        &mut self,
        benchmark: &BenchmarkVerdict,
        verdict: &Verdict,
    ) -> Vec<Block> {
        self.counts.add(benchmark, verdict);
        self.notice = self.notice.take().or_else(|| verdict.notice.clone());
        let system = [
            benchmark.division.map_or("", Division::word),
            benchmark.submitter.as_deref().unwrap_or_default(),
            &benchmark.system,
        ]
        .join(" ");
        let is_new = system != self.system;
        self.counts.systems += usize::from(is_new);
        self.system.clone_from(&system);
        let notable_rules = benchmark.rules.iter().filter(|rule| rule.is_notable());
        let notable = notable_rules
            .map(|rule| ListItem::with_key(&benchmark.benchmark, rule.to_string()).with_mark(rule));
        let is_broken = benchmark.rules.iter().any(|rule| !rule.passed);
        let are_rules_shown =
            self.style.outcomes.is_empty() || is_broken && self.names_outcome(Outcome::Invalid);
        let mut items: Vec<ListItem> = if are_rules_shown { notable.collect() } else { Vec::new() };
        let scenarios = verdict.results.iter().map(|result| &result.scenario);
        for scenario in scenarios.unique() {
            let results = verdict.results.iter();
            let results = results.filter(|result| result.scenario == *scenario).collect_vec();
            let is_silent = self.style.quiet && results.iter().all(|result| result.valid);
            if !is_silent && results.iter().any(|result| self.is_selected(result.outcome)) {
                items.push(self.scenario_item(&benchmark.benchmark, scenario, &results));
            }
        }
        let items = Block::list(items);
        if items.is_none() {
            return Vec::new();
        }
        if system != self.reported_system {
            self.reported_system.clone_from(&system);
            return vec![Section::new_block(system, items)];
        }
        items.into_iter().collect()
    }

    fn scenario_item(
        &self,
        benchmark: &str,
        scenario: &str,
        results: &[&ResultVerdict],
    ) -> ListItem {
        let of_mode = |mode: Mode| results.iter().filter(move |result| result.mode == mode);
        let performance = of_mode(Mode::Performance).next();
        let decides =
            |result: &&&ResultVerdict| result.mode != Mode::Compliance || performance.is_none();
        let deciding = || results.iter().filter(decides);
        let outcomes = deciding().map(|result| result.outcome);
        let outcome = outcomes.max().unwrap_or(Outcome::Measured);
        let qualifiers = deciding().flat_map(|result| &result.qualifiers);
        let kinds = qualifiers.map(|qualifier| qualifier.kind);
        let qualified = QualifiedOutcome::from_kinds(outcome, kinds).to_string();
        let accuracy = of_mode(Mode::Accuracy).next().map(|result| {
            let word = match (result.valid, result.violates_rule()) {
                (true, _) if result.division == Some(Division::Open) => "measured",
                (true, _) => "passed",
                (false, true) if violates_limit(result) => "violated",
                // The figure may be good, and something else of its run not.
                (false, true) => "invalid",
                (false, false) => "not judged",
            };
            let deciding_figure = result.deciding_figure();
            let figure = deciding_figure.map(|(name, figure)| format!(" {name} {figure}"));
            format!("accuracy {word}{}", figure.unwrap_or_default())
        });
        let tests = of_mode(Mode::Compliance).map(|result| {
            let word = match (result.valid, result.violates_rule()) {
                (true, _) => "",
                (false, true) => " violated",
                (false, false) => " not judged",
            };
            format!("{}{word}", last_part(&result.path))
        });
        let tests = join(tests, " ");
        let deciding_figure = performance.and_then(|result| result.deciding_figure());
        let figure =
            deciding_figure.map_or("no figure".to_owned(), |(_, figure)| figure.to_string());
        let compared = performance.and_then(|result| {
            let reference = Reference::find_deciding(&result.references)?;
            let source = reference.source.as_deref().unwrap_or("published");
            let published = number::format_grouped(reference.value);
            let ratio = number::format_ratio(result.ratio?);
            Some(format!("{ratio} of {published} ({source})"))
        });
        // Results are printed as they come, so that columns have fixed widths.
        let first = format!("{figure:>20}  {qualified:15}");
        let parts = [Some(first), compared, accuracy, Some(tests)];
        let parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
        let details = results.iter().flat_map(|result| self.rule_lines(result));
        ListItem::with_key(format!("{benchmark:24} {scenario:12}"), join(parts, "  "))
            .with_mark(outcome)
            .with_details(details)
    }

    fn rule_lines(&self, result: &ResultVerdict) -> Vec<(String, String)> {
        let title = match result.mode {
            Mode::Compliance => last_part(&result.path).to_owned(),
            mode => mode.to_string(),
        };
        let all = self.style.verbose;
        let mut rules: Vec<&RuleCheck> =
            result.rules.iter().filter(|rule| all || rule.is_notable()).collect();
        rules.sort_by_key(|rule| !all && rule.passed);
        if rules.is_empty() && !result.valid {
            return vec![(title, result.sentence.to_string())];
        }
        let count = if all { rules.len() } else { MAX_VIOLATED_RULES };
        let more = rules.len().saturating_sub(count);
        let more = (more > 0).then(|| {
            let more = format::format_count(more, "more rule");
            (String::new(), format!("and {more} (-v shows them)"))
        });
        let lines = rules.into_iter().take(count).map(|rule| {
            let sign = StatusMark::from(rule).sign;
            (format!("{sign} {title}"), format!("{rule}{}", describe_places(rule)))
        });
        lines.chain(more).collect()
    }

    /// The end of the report: the faults of the tree itself, the counts, the notice. `reference` is the name of
    /// the table, tree or run that results were compared with.
    pub fn closing_blocks(&self, faults: &[TreeFault], reference: Option<&str>) -> Vec<Block> {
        let counts = self.counts;
        let mut first = format!(
            "{}, {}: performance {} of {} valid",
            format::format_count(counts.systems, "system"),
            format::format_count(counts.benchmarks, "benchmark"),
            counts.performance_valid,
            counts.performance,
        );
        // MLPerf Training has neither.
        if counts.accuracy + counts.compliance > 0 {
            let (accuracy, compliance) = (counts.accuracy_valid, counts.compliance_valid);
            let _ = write!(
                first,
                ", accuracy {accuracy} of {}, compliance {compliance} of {}",
                counts.accuracy, counts.compliance
            );
        }
        let is_none_selected = !self.style.outcomes.is_empty() && self.reported_system.is_empty();
        let none = || format!("no result is {}", join(&self.style.outcomes, " or "));
        let mut lines = Vec::from_iter(is_none_selected.then(none));
        lines.push(first);
        lines.extend(reference.map(|reference| counts.describe_comparison(reference)));
        if counts.benchmarks_in_part > 0 {
            let count = format::format_count(counts.benchmarks_in_part, "benchmark");
            lines.push(format!("{count} in part: the other scenarios were not selected"));
        }
        if counts.benchmarks_broken > 0 {
            let count = format::format_count(counts.benchmarks_broken, "benchmark");
            lines.push(format!("{count} with scenarios or a system that violate the rules"));
        }
        let mut blocks = Vec::from_iter(faults_list(faults));
        blocks.extend(Block::list(lines.into_iter().map(ListItem::new)));
        blocks.extend(verdict::notice_block(self.notice.as_deref()));
        vec![Section::new_block("", blocks)]
    }
}

/// The verdicts on a tree, a section each, and the faults of the tree itself.
pub fn tree_document(
    entries: &[ReportedVerdict<'_>],
    faults: &[TreeFault],
    reference: Option<&str>,
) -> Document {
    let mut document = verdict::verdicts_document(entries);
    let compared = reference.map(|name| Block::paragraph(format!("Compared with {name}.")));
    document.blocks.extend(compared);
    let faults = faults_list(faults);
    document.blocks.extend(Section::nonempty_block("Submission tree", faults));
    document
}

fn faults_list(faults: &[TreeFault]) -> Option<Block> {
    let items = faults.iter().map(|fault| {
        let mark = if fault.is_violation { marks::BAD } else { marks::WARNING };
        ListItem::new(fault.to_string()).with_mark(mark)
    });
    Block::list(items)
}

/// Returns whether a figure is outside its limit, whatever else is violated.
fn violates_limit(result: &ResultVerdict) -> bool {
    let mut violated = result.rules.iter().filter(|rule| !rule.passed);
    violated.any(|rule| result.figures.keys().any(|name| name.eq_ignore_ascii_case(&rule.rule)))
}

fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// The first line of each file that states a rule: ` (result_0.txt:29, result_2.txt:29)`.
fn describe_places(rule: &RuleCheck) -> String {
    let first_lines = rule.lines.iter().unique_by(|line| &line.file);
    let places = first_lines.map(|line| format!("{}:{}", last_part(&line.file), line.line));
    let places: Vec<String> = places.collect();
    if places.is_empty() {
        return String::new();
    }
    format!(" ({})", format::join_first(&places, MAX_NAMED_FILES))
}
