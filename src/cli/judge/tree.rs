//! A submission tree: every benchmark judged by its round, told as it comes.

use rayon::prelude::*;

use super::{Gathered, JudgedHere, reference};
use crate::app::catalog;
use crate::app::failure::Failure;
use crate::app::options::JudgeRequest;
use crate::app::options::{GlobalOptions, Output};
use crate::app::terminal;
use crate::report::content::suites;
use crate::report::content::tree::{self as told, Style, Tree, TreeVerdict};
use crate::report::{Entry, junit, markdown};
use crate::results::evidence::tree::{
    self, Fault, JudgeContext, Judged, Published, SubmissionTrees,
};
use crate::results::verdict::{BenchmarkVerdict, ExitCode, Verdict};
use retrial_mlperf::rounds::{Round, Rounds};
use retrial_recipe::model::JudgeRules;

/// How many benchmarks are read by all cores before they are told, in their order: enough that no
/// core waits long for the slowest, and so few that a tree of any size takes little memory.
const TOGETHER: usize = 64;

/// What the command line names to judge a tree by.
struct Basis<'a> {
    arguments: &'a JudgeRequest,
    rounds: Rounds,
    published: Option<Published>,
    rules: JudgeRules,
}

impl<'a> Basis<'a> {
    fn read(arguments: &'a JudgeRequest) -> Result<Self, Failure> {
        let rounds = rounds(arguments)?;
        Ok(Self {
            arguments,
            published: reference::read(arguments, &rounds)?,
            rounds,
            rules: JudgeRules::default(),
        })
    }

    fn judge_context(&self, found: &SubmissionTrees) -> Result<JudgeContext<'_>, Failure> {
        Ok(JudgeContext {
            round: round(found, self.arguments, &self.rounds)?,
            benchmark: self.arguments.benchmark.as_deref(),
            published: self.published.as_ref(),
            rules: &self.rules,
            require_accuracy: self.arguments.require_accuracy,
        })
    }
}

/// The evidence of every benchmark in what was found, not judged yet.
pub fn gather(found: &SubmissionTrees, asked: &JudgeRequest) -> Result<Vec<Gathered>, Failure> {
    let basis = Basis::read(asked)?;
    let judge_context = basis.judge_context(found)?;
    let gathered = found.benchmarks.iter().map(|benchmark| {
        let places = benchmark.scenarios.iter();
        let evidence =
            places.flat_map(|place| tree::gather::gather(place, &judge_context).evidence);
        let path = benchmark.submitter.root.join(benchmark.relative());
        (
            path,
            tree::judge::context(benchmark, &judge_context),
            evidence.collect(),
        )
    });
    Ok(gathered.collect())
}

/// The verdict on every benchmark in what was found.
pub fn judged(found: &SubmissionTrees, asked: &JudgeRequest) -> Result<Vec<JudgedHere>, Failure> {
    let basis = Basis::read(asked)?;
    let judge_context = basis.judge_context(found)?;
    let benchmarks = found.benchmarks.par_iter();
    let judged = benchmarks.map(|benchmark| {
        let judged = tree::judge(benchmark, &judge_context);
        JudgedHere {
            path: judged.benchmark.path,
            verdict: judged.verdict,
            rules: judged.benchmark.rules,
        }
    });
    Ok(judged.collect())
}

/// The round that is asked for, else the one whose seeds the logs have.
pub fn round<'a>(
    found: &SubmissionTrees,
    asked: &JudgeRequest,
    rounds: &'a Rounds,
) -> Result<Option<&'a Round>, Failure> {
    match &asked.round {
        Some(name) => round_named(rounds, name).map(Some),
        None => Ok(tree::round_of(found, rounds)),
    }
}

/// Judges the benchmarks found in submission trees and prints the verdicts.
pub fn judge(
    global: &GlobalOptions,
    found: &SubmissionTrees,
    asked: &JudgeRequest,
) -> Result<ExitCode, Failure> {
    let basis = Basis::read(asked)?;
    let judge_context = basis.judge_context(found)?;
    if judge_context.round.is_none() {
        terminal::note(
            "no log of it has the seeds of a round that is known, so that only LoadGen's own rules \
             are checked\n  choose a round: --round v5.1    bring its rules: --rules FILE",
        );
    }
    let mut out = Out::new(global);
    let mut exit = ExitCode::Success;
    for benchmarks in found.benchmarks.chunks(TOGETHER) {
        let judged: Vec<Judged> = benchmarks
            .par_iter()
            .map(|benchmark| tree::judge(benchmark, &judge_context))
            .collect();
        for judged in judged {
            let broken = judged.benchmark.rules.iter().any(|rule| !rule.passed);
            let own = if broken {
                ExitCode::NotReproduced
            } else {
                ExitCode::Success
            };
            exit = ExitCode::first([exit, own, judged.verdict.exit_code]);
            out.benchmark(judged);
        }
    }
    if found.faults.iter().any(|fault| fault.is_violation) {
        exit = ExitCode::first([exit, ExitCode::NotReproduced]);
    }
    out.end(found);
    Ok(exit)
}

/// The built-in rounds, and those of the command line.
pub fn rounds(asked: &JudgeRequest) -> Result<Rounds, Failure> {
    catalog::rounds_with(&asked.rules).map_err(|error| Failure::usage(error.to_string()))
}

/// A round by its name.
pub fn round_named<'a>(rounds: &'a Rounds, name: &str) -> Result<&'a Round, Failure> {
    rounds.get("mlperf-inference", name).ok_or_else(|| {
        let known: Vec<&str> = rounds.names().collect();
        Failure::usage(format!(
            "there are no rules of a round {name:?}; there are {}, and --rules FILE brings others",
            known.join(", ")
        ))
    })
}

/// Prints each benchmark as soon as it is judged in text, so that a whole round is never held;
/// the other formats are one document, which is printed at the end.
struct Out {
    output: Output,
    tree: Tree,
    benchmarks: Vec<BenchmarkVerdict>,
    verdicts: Vec<Verdict>,
}

impl Out {
    fn new(global: &GlobalOptions) -> Self {
        Self {
            output: global.output,
            tree: Tree::new(Style {
                verbose: global.verbose,
                quiet: global.quiet,
            }),
            benchmarks: Vec::new(),
            verdicts: Vec::new(),
        }
    }

    fn benchmark(&mut self, judged: Judged) {
        let blocks = self.tree.benchmark(&judged.benchmark, &judged.verdict);
        match self.output {
            Output::Text | Output::Html | Output::Csv => terminal::show_blocks(&blocks),
            Output::Json | Output::Junit | Output::Markdown => {
                self.verdicts.push(judged.verdict);
                self.benchmarks.push(judged.benchmark);
            }
        }
    }

    fn end(self, found: &SubmissionTrees) {
        let faults = &found.faults;
        let text = match self.output {
            Output::Text | Output::Html | Output::Csv => {
                return terminal::show_blocks(&self.tree.end(faults));
            }
            Output::Junit => junit::render(&suites::tree(&self.entries(), faults)),
            Output::Markdown => markdown::render(&told::document(&self.entries(), faults)),
            Output::Json => return terminal::print_json(&self.json(faults.clone())),
        };
        terminal::print(&text);
    }

    fn entries(&self) -> Vec<Entry<'_>> {
        let judged = self.benchmarks.iter().zip(&self.verdicts);
        let entries = judged.map(|(benchmark, verdict)| Entry {
            evidence: benchmark.path.clone(),
            verdict,
            rules: &benchmark.rules,
        });
        entries.collect()
    }

    fn json(self, faults: Vec<Fault>) -> TreeVerdict {
        let notice = self.verdicts.iter().find_map(|one| one.notice.clone());
        let results = self.verdicts.into_iter().flat_map(|one| one.results);
        TreeVerdict {
            results: results.collect(),
            benchmarks: self.benchmarks,
            faults,
            counts: self.tree.counts(),
            notice,
        }
    }
}
