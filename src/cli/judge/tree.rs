//! Prints the verdicts on submission trees.

use crate::app::failure::Failure;
use crate::app::judge::Trees;
use crate::app::options::{GlobalOptions, JudgeRequest, Output};
use crate::app::{judge, terminal};
use retrial_report::content::tree::{self as content, Style, Tree, TreeVerdict};
use retrial_report::{Entry, junit, markdown};
use retrial_results::evidence::tree::{Fault, Judged};
use retrial_results::verdict::{BenchmarkVerdict, ExitCode, Verdict};

/// Judges submission trees and prints the verdicts.
pub fn judge(
    global: &GlobalOptions,
    trees: &Trees,
    request: &JudgeRequest,
) -> Result<ExitCode, Failure> {
    let mut printer = Printer {
        output: global.output,
        tree: Tree::new(Style {
            verbose: global.verbose,
            quiet: global.quiet,
        }),
        benchmarks: Vec::new(),
        verdicts: Vec::new(),
    };
    let (exit, faults) = judge::judge_trees(trees, request, |judged| printer.benchmark(judged))?;
    printer.end(&faults);
    Ok(exit)
}

/// Prints each benchmark as soon as it is judged in text, so that a whole round is never held;
/// the other formats are one document, which is printed at the end.
struct Printer {
    output: Output,
    tree: Tree,
    benchmarks: Vec<BenchmarkVerdict>,
    verdicts: Vec<Verdict>,
}

impl Printer {
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

    fn end(self, faults: &[Fault]) {
        let text = match self.output {
            Output::Text | Output::Html | Output::Csv => {
                return terminal::show_blocks(&self.tree.end(faults));
            }
            Output::Junit => junit::tree(&self.entries(), faults),
            Output::Markdown => markdown::render(&content::document(&self.entries(), faults)),
            Output::Json => return terminal::print_json(&self.json(faults.to_vec())),
        };
        terminal::print(&text);
    }

    fn entries(&self) -> Vec<Entry<'_>> {
        let judged = self.benchmarks.iter().zip(&self.verdicts);
        let entries = judged.map(|(benchmark, verdict)| Entry {
            rules: &benchmark.rules,
            ..Entry::new(benchmark.path.clone(), verdict)
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
            counts: self.tree.counts,
            notice,
        }
    }
}
