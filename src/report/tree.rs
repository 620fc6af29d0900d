//! The results of a submission tree, one line each, as they are judged; what was broken below.

use std::fmt::{self, Write as _};

use schemars::JsonSchema;
use serde::Serialize;

use super::terminal::style::Paint;
use super::words::{clean, symbol};
use crate::format;
use crate::recipe::model::Mode;
use crate::verdict::{BenchmarkVerdict, Outcome, ResultVerdict, RuleCheck, Verdict, number};

/// How many broken rules of a result are told where nobody asked for more.
const BROKEN_SHOWN: usize = 4;

/// What `judge --output json` prints of a tree.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TreeVerdict {
    /// One per scenario, mode and compliance test.
    pub results: Vec<ResultVerdict>,
    /// What holds for the tree as a whole.
    #[serde(flatten)]
    pub rest: Rest,
}

/// What holds for a tree as a whole; it is told after its results.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Rest {
    /// One per benchmark and system.
    pub benchmarks: Vec<BenchmarkVerdict>,
    /// What is wrong with the tree itself, and belongs to no result.
    pub faults: Vec<Fault>,
    /// How many there were.
    pub counts: Counts,
    /// `MLCommons`' trademark notice, where the figures are `MLPerf`'s.
    pub notice: Option<String>,
}

/// Something that is wrong with the tree itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Fault {
    /// Where, below its root.
    pub path: String,
    /// What is there.
    pub found: String,
    /// What should be.
    pub asked: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}: {}; asked {}",
            self.path, self.found, self.asked
        )
    }
}

/// How a tree is told.
#[derive(Debug, Clone, Copy, Default)]
pub struct Style {
    /// With colours.
    pub color: bool,
    /// Every rule, kept or broken.
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

    /// The lines of one benchmark.
    pub fn benchmark(&mut self, benchmark: &BenchmarkVerdict, verdict: &Verdict) -> String {
        self.counts.add(benchmark, verdict);
        self.notice = self.notice.take().or_else(|| verdict.notice.clone());
        let mut text = String::new();
        let system = [
            benchmark.division.as_deref().unwrap_or_default(),
            benchmark.submitter.as_deref().unwrap_or_default(),
            &benchmark.system,
        ]
        .join(" ");
        let broken: Vec<&RuleCheck> = benchmark.rules.iter().filter(|rule| !rule.passed).collect();
        let fine = broken.is_empty() && verdict.results.iter().all(|result| result.valid);
        if system != self.system {
            self.counts.systems += 1;
        }
        if self.style.quiet && fine {
            self.system = system;
            return text;
        }
        let paint = Paint {
            color: self.style.color,
        };
        if system != self.system {
            let _ = writeln!(text, "\n{}", paint.bold(&clean(&system)));
            self.system = system;
        }
        for rule in broken {
            let line = format!("{}: {}; asked {}", rule.rule, rule.found, rule.asked);
            let sign = paint.outcome(Outcome::Invalid, symbol(Outcome::Invalid));
            let _ = writeln!(
                text,
                "{sign} {}  {}",
                clean(&benchmark.benchmark),
                clean(&line)
            );
        }
        let mut scenarios: Vec<&str> = Vec::new();
        for result in &verdict.results {
            if !scenarios.contains(&result.scenario.as_str()) {
                scenarios.push(&result.scenario);
            }
        }
        for scenario in scenarios {
            let results: Vec<&ResultVerdict> = verdict
                .results
                .iter()
                .filter(|result| result.scenario == scenario)
                .collect();
            if !(self.style.quiet && results.iter().all(|result| result.valid)) {
                self.scenario(&mut text, &benchmark.benchmark, scenario, &results, paint);
            }
        }
        text
    }

    fn scenario(
        &self,
        text: &mut String,
        benchmark: &str,
        scenario: &str,
        results: &[&ResultVerdict],
        paint: Paint,
    ) {
        let of = |mode: Mode| results.iter().filter(move |result| result.mode == mode);
        let performance = of(Mode::Performance).next();
        let outcome = results
            .iter()
            .filter(|result| result.mode != Mode::Compliance || performance.is_none())
            .map(|result| result.outcome)
            .max()
            .unwrap_or(Outcome::Measured);
        let word = |result: &ResultVerdict| if result.valid { "ok" } else { "broken" };
        let accuracy = of(Mode::Accuracy).next().map_or(String::new(), |result| {
            let figure = result
                .deciding
                .as_ref()
                .and_then(|name| Some(format!(" {} {}", name, shown(result.figures.get(name)?))));
            format!("accuracy {}{}", word(result), figure.unwrap_or_default())
        });
        let tests: Vec<String> = of(Mode::Compliance)
            .map(|result| {
                let name = result.path.rsplit('/').next().unwrap_or_default();
                if result.valid {
                    name.to_owned()
                } else {
                    format!("{name} broken")
                }
            })
            .collect();
        let figure = performance
            .and_then(|result| Some(shown(result.figures.get(result.deciding.as_ref()?)?)));
        let compared = performance.and_then(|result| {
            let reference = result.references.iter().find(|one| one.decides)?;
            let source = reference.source.as_deref().unwrap_or("published");
            let published = number::grouped(reference.value);
            let ratio = number::ratio(result.ratio?);
            Some(format!("{ratio} of {published} ({source})"))
        });
        let compared = compared.unwrap_or_default();
        let sign = paint.outcome(outcome, symbol(outcome));
        let line = format!(
            "{benchmark:24} {scenario:12} {:>20}  ",
            figure.unwrap_or_else(|| "no figure".to_owned()),
        );
        let rest = [compared, accuracy, tests.join(" ")];
        let rest: Vec<String> = rest.into_iter().filter(|part| !part.is_empty()).collect();
        let _ = writeln!(
            text,
            "{sign} {}{}{}",
            clean(&line),
            paint.outcome(outcome, &format!("{:15}", outcome.word())),
            clean(&rest.join("  "))
        );
        for result in results {
            self.rules(text, result, paint);
        }
    }

    fn rules(&self, text: &mut String, result: &ResultVerdict, paint: Paint) {
        let title = match result.mode {
            Mode::Compliance => result
                .path
                .rsplit('/')
                .next()
                .unwrap_or_default()
                .to_owned(),
            mode => mode.to_string(),
        };
        let rules = result
            .rules
            .iter()
            .filter(|rule| self.style.verbose || !rule.passed);
        let rules: Vec<&RuleCheck> = rules.collect();
        let most = if self.style.verbose {
            usize::MAX
        } else {
            BROKEN_SHOWN
        };
        for rule in rules.iter().take(most) {
            let sign = if rule.passed {
                Outcome::Reproduced
            } else {
                Outcome::Invalid
            };
            let line = format!(
                "{title}: {}: {}; asked {}",
                rule.rule, rule.found, rule.asked
            );
            let _ = writeln!(
                text,
                "    {} {}",
                paint.outcome(sign, symbol(sign)),
                clean(&line)
            );
        }
        let more = rules.len().saturating_sub(most);
        if more > 0 {
            let _ = writeln!(
                text,
                "      and {} (-v shows them)",
                format::count(more, "more broken rule")
            );
        }
        if rules.is_empty() && !result.valid {
            let _ = writeln!(text, "    {title}: {}", clean(&result.sentence));
        }
    }

    /// What was judged so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The end: what is wrong with the tree itself, the counts, the notice.
    #[must_use]
    pub fn end(&self, faults: &[Fault]) -> String {
        let mut text = String::from("\n");
        for fault in faults {
            let _ = writeln!(text, "! {}", clean(&fault.to_string()));
        }
        let counts = self.counts;
        let _ = writeln!(
            text,
            "{}, {}: performance {} of {} valid, accuracy {} of {}, compliance {} of {}",
            format::count(counts.systems, "system"),
            format::count(counts.benchmarks, "benchmark"),
            counts.performance_valid,
            counts.performance,
            counts.accuracy_valid,
            counts.accuracy,
            counts.compliance_valid,
            counts.compliance,
        );
        if counts.compared > 0 {
            let _ = writeln!(
                text,
                "{} compared with published figures, {} reproduced",
                format::count(counts.compared, "result"),
                counts.reproduced
            );
        }
        if counts.benchmarks_broken > 0 {
            let _ = writeln!(
                text,
                "{} whose scenarios or system are not as asked",
                format::count(counts.benchmarks_broken, "benchmark")
            );
        }
        if let Some(notice) = &self.notice {
            let _ = writeln!(text, "\n{notice}");
        }
        text
    }
}

fn shown(figure: &crate::verdict::FigureValue) -> String {
    number::figure(figure.value, &figure.unit)
}
