//! The results of a submission tree, one line each, as they are judged; what was broken below.

use schemars::JsonSchema;
use serde::Serialize;

use super::{marks, verdict};
use crate::format;
use crate::report::Entry;
use crate::report::document::{Block, Document, Item, Line, Section};
use crate::results::evidence::tree::Fault;
use crate::results::verdict::{
    BenchmarkVerdict, Outcome, ResultVerdict, RuleCheck, Verdict, number,
};
use retrial_recipe::model::Mode;

/// How many violated rules of a result are told where nobody asked for more.
const VIOLATED_SHOWN: usize = 4;

/// What `judge --output json` prints of a tree.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TreeVerdict {
    /// One per scenario, mode and compliance test.
    pub results: Vec<ResultVerdict>,
    /// One per benchmark and system.
    pub benchmarks: Vec<BenchmarkVerdict>,
    /// What is wrong with the tree itself, and belongs to no result.
    pub faults: Vec<Fault>,
    /// How many there were.
    pub counts: Counts,
    /// `MLCommons`' trademark notice, where the figures are `MLPerf`'s.
    pub notice: Option<String>,
}

/// How a tree is told.
#[derive(Debug, Clone, Copy, Default)]
pub struct Style {
    /// Every rule, passed or violated.
    pub verbose: bool,
    /// Only what is not in order.
    pub quiet: bool,
}

/// Tells the benchmarks of a tree one after the other, and counts.
#[derive(Debug, Default)]
pub struct Tree {
    style: Style,
    system: String,
    counts: Counts,
    notice: Option<String>,
}

/// What was judged so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Counts {
    /// Systems.
    pub systems: usize,
    /// Benchmarks of a system.
    pub benchmarks: usize,
    /// Benchmarks whose scenarios or system are not as asked.
    pub benchmarks_broken: usize,
    /// Performance results.
    pub performance: usize,
    /// Of these, valid.
    pub performance_valid: usize,
    /// Accuracy results.
    pub accuracy: usize,
    /// Of these, valid.
    pub accuracy_valid: usize,
    /// Compliance tests.
    pub compliance: usize,
    /// Of these, valid.
    pub compliance_valid: usize,
    /// Performance results that were compared with a published figure.
    pub compared: usize,
    /// Of these, reproduced.
    pub reproduced: usize,
}

impl Counts {
    /// Counts a benchmark.
    pub fn add(&mut self, benchmark: &BenchmarkVerdict, verdict: &Verdict) {
        self.benchmarks += 1;
        self.benchmarks_broken += usize::from(benchmark.rules.iter().any(|rule| !rule.passed));
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

impl Tree {
    /// Nothing told yet.
    #[must_use]
    pub fn new(style: Style) -> Self {
        Self {
            style,
            ..Self::default()
        }
    }

    /// What is told of one benchmark.
    pub fn benchmark(&mut self, benchmark: &BenchmarkVerdict, verdict: &Verdict) -> Vec<Block> {
        self.counts.add(benchmark, verdict);
        self.notice = self.notice.take().or_else(|| verdict.notice.clone());
        let system = [
            benchmark.division.as_deref().unwrap_or_default(),
            benchmark.submitter.as_deref().unwrap_or_default(),
            &benchmark.system,
        ]
        .join(" ");
        let is_new = system != self.system;
        self.counts.systems += usize::from(is_new);
        let violated = benchmark.rules.iter().filter(|rule| !rule.passed);
        let violated = violated
            .map(|rule| Item::keyed(&benchmark.benchmark, required(rule)).marked(marks::BAD));
        let mut items: Vec<Item> = violated.collect();
        let fine = items.is_empty() && verdict.results.iter().all(|result| result.valid);
        let quiet = self.style.quiet && fine;
        let heading = system.clone();
        self.system = system;
        let mut scenarios: Vec<&str> = Vec::new();
        for result in &verdict.results {
            if !scenarios.contains(&result.scenario.as_str()) {
                scenarios.push(&result.scenario);
            }
        }
        for scenario in scenarios {
            let results = verdict
                .results
                .iter()
                .filter(|one| one.scenario == scenario);
            let results: Vec<&ResultVerdict> = results.collect();
            if !(self.style.quiet && results.iter().all(|result| result.valid)) {
                items.push(self.scenario(&benchmark.benchmark, scenario, &results));
            }
        }
        let items: Vec<Block> = Block::list(items).into_iter().collect();
        if is_new && !quiet {
            return vec![Section::block(heading, items)];
        }
        items
    }

    fn scenario(&self, benchmark: &str, scenario: &str, results: &[&ResultVerdict]) -> Item {
        let of = |mode: Mode| results.iter().filter(move |result| result.mode == mode);
        let performance = of(Mode::Performance).next();
        let outcome = results
            .iter()
            .filter(|result| result.mode != Mode::Compliance || performance.is_none())
            .map(|result| result.outcome)
            .max()
            .unwrap_or(Outcome::Measured);
        let accuracy = of(Mode::Accuracy).next().map_or(String::new(), |result| {
            let word = if result.valid { "passed" } else { "violated" };
            let name = result.deciding.as_ref();
            let figure = name.and_then(|name| Some((name, result.figures.get(name)?)));
            let figure = figure.map(|(name, figure)| format!(" {name} {}", shown(figure)));
            format!("accuracy {word}{}", figure.unwrap_or_default())
        });
        let tests = of(Mode::Compliance).map(|result| {
            let word = if result.valid { "" } else { " violated" };
            format!("{}{word}", last_part(&result.path))
        });
        let tests: Vec<String> = tests.collect();
        let figure = performance
            .and_then(|result| Some(shown(result.figures.get(result.deciding.as_ref()?)?)));
        let compared = performance.and_then(|result| {
            let reference = result.references.iter().find(|one| one.decides)?;
            let source = reference.source.as_deref().unwrap_or("published");
            let published = number::grouped(reference.value);
            let ratio = number::ratio(result.ratio?);
            Some(format!("{ratio} of {published} ({source})"))
        });
        // Told one after the other, so that no table can measure its columns.
        let first = format!(
            "{:>20}  {:15}",
            figure.unwrap_or_else(|| "no figure".to_owned()),
            outcome.word()
        );
        let rest = [compared.unwrap_or_default(), accuracy, tests.join(" ")];
        let parts = std::iter::once(first).chain(rest);
        let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
        let details = results.iter().flat_map(|result| self.rules(result));
        Item {
            details: details.collect(),
            ..Item::keyed(format!("{benchmark:24} {scenario:12}"), parts.join("  "))
                .marked(outcome.into())
        }
    }

    fn rules(&self, result: &ResultVerdict) -> Vec<(Line, Line)> {
        let title = match result.mode {
            Mode::Compliance => last_part(&result.path).to_owned(),
            mode => mode.to_string(),
        };
        let rules = result.rules.iter();
        let rules = rules.filter(|rule| self.style.verbose || !rule.passed);
        let rules: Vec<&RuleCheck> = rules.collect();
        let most = if self.style.verbose {
            usize::MAX
        } else {
            VIOLATED_SHOWN
        };
        let told = rules.iter().take(most).map(|rule| {
            let mark = if rule.passed { marks::GOOD } else { marks::BAD };
            let label = format!("{} {title}", mark.sign);
            (Line::from(label), Line::from(required(rule)))
        });
        let mut told: Vec<(Line, Line)> = told.collect();
        let more = rules.len().saturating_sub(most);
        if more > 0 {
            let more = format::count(more, "more violated rule");
            told.push((
                Line::default(),
                format!("and {more} (-v shows them)").into(),
            ));
        }
        if rules.is_empty() && !result.valid {
            told.push((title.into(), result.sentence.as_str().into()));
        }
        told
    }

    /// What was judged so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The end: what is wrong with the tree itself, the counts, the notice.
    #[must_use]
    pub fn end(&self, faults: &[Fault]) -> Vec<Block> {
        let counts = self.counts;
        let mut said = vec![format!(
            "{}, {}: performance {} of {} valid, accuracy {} of {}, compliance {} of {}",
            format::count(counts.systems, "system"),
            format::count(counts.benchmarks, "benchmark"),
            counts.performance_valid,
            counts.performance,
            counts.accuracy_valid,
            counts.accuracy,
            counts.compliance_valid,
            counts.compliance,
        )];
        if counts.compared > 0 {
            said.push(format!(
                "{} compared with published figures, {} reproduced",
                format::count(counts.compared, "result"),
                counts.reproduced
            ));
        }
        if counts.benchmarks_broken > 0 {
            let count = format::count(counts.benchmarks_broken, "benchmark");
            said.push(format!(
                "{count} whose scenarios or system violate the rules"
            ));
        }
        let mut blocks: Vec<Block> = faults_of(faults).into_iter().collect();
        blocks.extend(Block::list(said.into_iter().map(Item::new)));
        blocks.extend(verdict::notice(self.notice.as_deref()));
        vec![Section::block("", blocks)]
    }
}

/// The verdicts on a tree, a section each, and what is wrong with the tree itself.
#[must_use]
pub fn document(entries: &[Entry<'_>], faults: &[Fault]) -> Document {
    let mut document = verdict::documents(entries);
    let faults = faults_of(faults);
    let section = faults.map(|faults| Section::block("Submission tree", vec![faults]));
    document.blocks.extend(section);
    document
}

fn faults_of(faults: &[Fault]) -> Option<Block> {
    let items = faults.iter();
    Block::list(items.map(|fault| Item::new(fault.to_string()).marked(marks::BAD)))
}

fn required(rule: &RuleCheck) -> String {
    format!(
        "{}: {}; required: {}",
        rule.rule, rule.measured, rule.required
    )
}

fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

fn shown(figure: &crate::results::verdict::FigureValue) -> String {
    number::figure(figure.value, &figure.unit)
}
