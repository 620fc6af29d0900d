//! Prints the verdicts on submission trees.

use crate::app::failure::Failure;
use crate::app::judge::{JudgedTrees, SuiteTrees};
use crate::app::options::{GlobalOptions, JudgeRequest, OutputFormat};
use crate::app::{judge, terminal};
use retrial_report::content::tree::{self as content, TreeReport, TreeReportStyle, TreeVerdict};
use retrial_report::{ReportedVerdict, junit, markdown};
use retrial_results::evidence::tree::JudgedBenchmark;
use retrial_results::verdict::{BenchmarkVerdict, ExitCode, Verdict};

/// Judges submission trees and prints the verdicts.
pub fn judge_and_print(
    global: &GlobalOptions,
    trees: &SuiteTrees,
    request: &JudgeRequest,
) -> Result<ExitCode, Failure> {
    let mut printer = TreePrinter {
        output: global.output,
        outcomes: request.outcome.clone(),
        tree: TreeReport::new(TreeReportStyle {
            verbose: global.verbose,
            quiet: global.quiet,
            outcomes: request.outcome.clone(),
        }),
        benchmarks: Vec::new(),
        verdicts: Vec::new(),
    };
    let judged = judge::judge_trees(trees, request, |judged| printer.add_benchmark(judged))?;
    let exit = judged.exit;
    printer.finish(judged);
    Ok(exit)
}

/// Prints each benchmark as soon as it is judged in text, so that a whole round is never held;
/// the other formats are one document, which is printed at the end.
struct TreePrinter {
    output: OutputFormat,
    /// The outcomes whose results are printed; all if empty.
    outcomes: Vec<String>,
    tree: TreeReport,
    benchmarks: Vec<BenchmarkVerdict>,
    verdicts: Vec<Verdict>,
}

impl TreePrinter {
    fn add_benchmark(&mut self, mut judged: JudgedBenchmark) {
        let blocks = self.tree.report_benchmark(&judged.benchmark, &judged.verdict);
        match self.output {
            OutputFormat::Text => terminal::print_blocks(&blocks),
            OutputFormat::Json | OutputFormat::Junit | OutputFormat::Markdown => {
                if judge::select_outcomes(&mut judged.verdict, &self.outcomes) {
                    self.verdicts.push(judged.verdict);
                    self.benchmarks.push(judged.benchmark);
                }
            }
        }
    }

    fn finish(self, trees: JudgedTrees) {
        let (faults, reference) = (&trees.faults[..], trees.reference.as_deref());
        let text = match self.output {
            OutputFormat::Text => {
                return terminal::print_blocks(&self.tree.closing_blocks(faults, reference));
            }
            OutputFormat::Junit => junit::render_tree(&self.entries(), faults),
            OutputFormat::Markdown => {
                let document = content::tree_document(&self.entries(), faults, reference);
                markdown::render_markdown(&document)
            }
            OutputFormat::Json => return terminal::print_json(&self.into_tree_verdict(trees)),
        };
        terminal::print_text(&text);
    }

    fn entries(&self) -> Vec<ReportedVerdict<'_>> {
        let judged = self.benchmarks.iter().zip(&self.verdicts);
        let entries = judged.map(|(benchmark, verdict)| ReportedVerdict {
            rules: &benchmark.rules,
            ..ReportedVerdict::new(benchmark.path.clone(), verdict)
        });
        entries.collect()
    }

    fn into_tree_verdict(self, trees: JudgedTrees) -> TreeVerdict {
        let notice = self.verdicts.iter().find_map(|one| one.notice.clone());
        let results = self.verdicts.into_iter().flat_map(|one| one.results);
        TreeVerdict {
            results: results.collect(),
            benchmarks: self.benchmarks,
            faults: trees.faults,
            reference: trees.reference,
            counts: self.tree.counts,
            notice,
        }
    }
}
