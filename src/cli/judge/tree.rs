//! Prints the verdicts on submission trees.

use crate::app::failure::Failure;
use crate::app::judge::SuiteTrees;
use crate::app::options::{GlobalOptions, JudgeRequest, OutputFormat};
use crate::app::{judge, terminal};
use retrial_report::content::tree::{self as content, TreeReport, TreeReportStyle, TreeVerdict};
use retrial_report::{ReportedVerdict, junit, markdown};
use retrial_results::evidence::tree::{JudgedBenchmark, TreeFault};
use retrial_results::verdict::{BenchmarkVerdict, ExitCode, Verdict};

/// Judges submission trees and prints the verdicts.
pub fn judge_and_print(
    global: &GlobalOptions,
    trees: &SuiteTrees,
    request: &JudgeRequest,
) -> Result<ExitCode, Failure> {
    let mut printer = TreePrinter {
        output: global.output,
        tree: TreeReport::new(TreeReportStyle {
            verbose: global.verbose,
            quiet: global.quiet,
            outcomes: request.outcome.clone(),
        }),
        benchmarks: Vec::new(),
        verdicts: Vec::new(),
    };
    let (exit, faults) =
        judge::judge_trees(trees, request, |judged| printer.add_benchmark(judged))?;
    printer.finish(&faults);
    Ok(exit)
}

/// Prints each benchmark as soon as it is judged in text, so that a whole round is never held;
/// the other formats are one document, which is printed at the end.
struct TreePrinter {
    output: OutputFormat,
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
                let is_whole_shown = self.tree.is_selected(judged.verdict.outcome);
                judged.verdict.results.retain(|result| self.tree.is_selected(result.outcome));
                if is_whole_shown || !judged.verdict.results.is_empty() {
                    self.verdicts.push(judged.verdict);
                    self.benchmarks.push(judged.benchmark);
                }
            }
        }
    }

    fn finish(self, faults: &[TreeFault]) {
        let text = match self.output {
            OutputFormat::Text => {
                return terminal::print_blocks(&self.tree.closing_blocks(faults));
            }
            OutputFormat::Junit => junit::render_tree(&self.entries(), faults),
            OutputFormat::Markdown => {
                markdown::render_markdown(&content::tree_document(&self.entries(), faults))
            }
            OutputFormat::Json => {
                return terminal::print_json(&self.into_tree_verdict(faults.to_vec()));
            }
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

    fn into_tree_verdict(self, faults: Vec<TreeFault>) -> TreeVerdict {
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
