//! What an auditor objects to in a submission tree: each result that violates a rule or needs a look, with the rule
//! and the lines of the logs that state it. Words are neutral: what the files state, and what the rule requires.

use itertools::{Itertools as _, join};

use super::checks::count_nouns;
use super::verdict::{notice_block, submission_title};
use crate::document::{Block, Conclusion, Document, Line, ListItem, Section, StyledText};
use retrial_document::measures::format;
use retrial_mlperf::check::{EvidenceLine, RuleCheckKind};
use retrial_recipe::model::Mode;
use retrial_results::evidence::tree::{JudgedBenchmark, TreeFault};
use retrial_results::verdict::{Reference, ResultVerdict, RuleCheck, number};

/// What the objections are made of.
pub struct ObjectionsSource<'a> {
    /// The tree, as the user named it.
    pub tree: &'a str,
    /// The judged benchmarks, in the order of their paths.
    pub benchmarks: &'a [JudgedBenchmark],
    /// The faults of the tree itself.
    pub faults: &'a [TreeFault],
    /// The name of the table, tree or run that results were compared with.
    pub reference: Option<&'a str>,
    /// Where the rules were published.
    pub rule_sources: Vec<String>,
}

/// The objections to a tree, a section for each result; where there are none, it says so.
pub fn objections_document(source: &ObjectionsSource<'_>) -> Document {
    let mut found = [0, 0];
    let mut sections = Vec::new();
    for judged in source.benchmarks {
        sections.extend(benchmark_section(judged, &mut found));
        let scenarios = judged.verdict.results.iter().map(|result| &result.scenario).unique();
        for scenario in scenarios {
            let results = judged.verdict.results.iter();
            let results = results.filter(|result| result.scenario == *scenario).collect_vec();
            sections.extend(result_section(judged, &results, source.reference, &mut found));
        }
    }
    let faults = source.faults.iter().map(|fault| {
        found[usize::from(!fault.is_violation)] += 1;
        let requires = requirement(fault.is_violation, RuleCheckKind::Value);
        let text = format!("{}; {requires} {}", fault.actual, fault.required);
        ListItem::with_key(format!("{}:", fault.path), text)
    });
    let faults = Block::list(faults.collect_vec());
    sections.extend(Section::nonempty_block("Submission tree", faults));
    let mut blocks = vec![Block::Conclusion(conclusion(source, found))];
    blocks.extend(sections);
    let mut notices = source.benchmarks.iter().filter_map(|one| one.verdict.notice.as_deref());
    blocks.extend(notice_block(notices.next()));
    Document::new(format!("Objections to {}", source.tree), blocks)
}

/// How much was judged, by which rules, and what was found.
fn conclusion(source: &ObjectionsSource<'_>, found: [usize; 2]) -> Conclusion {
    let results = || source.benchmarks.iter().flat_map(|one| &one.verdict.results);
    let of_mode = |mode: Mode| results().filter(|result| result.mode == mode).count();
    let judged = count_nouns([
        (of_mode(Mode::Performance), "performance result"),
        (of_mode(Mode::Accuracy), "accuracy run"),
        (of_mode(Mode::Compliance), "compliance test"),
    ]);
    let [violated, unusual] = found;
    let (word, end) = match found {
        [0, 0] => {
            ("nothing to object to".to_owned(), ": no rule is violated, and there is no warning")
        }
        _ => (count_nouns([(violated, "violated rule"), (unusual, "warning")]), ""),
    };
    let rounds = source.benchmarks.iter().map(|one| {
        let submission = &one.verdict.submission;
        let suite = [Some(submission.suite.as_str()), submission.round.as_deref()];
        join(suite.into_iter().flatten(), " ")
    });
    let mut remarks: Vec<(Line, StyledText)> =
        vec![("rules".into(), join(rounds.unique(), ", ").into())];
    let sources = source.rule_sources.iter();
    remarks.extend(sources.map(|source| ("rules at".into(), StyledText::Code(source.into()))));
    remarks.extend(source.reference.map(|name| ("compared with".into(), StyledText::from(name))));
    let unjudged = results().filter(|result| !result.valid && !result.violates_rule()).count();
    if unjudged > 0 {
        let count = format::format_count(unjudged, "result");
        remarks.push(("not judged".into(), format!("{count}: no rules are known for them").into()));
    }
    Conclusion { remarks, ..Conclusion::new(None, word, format!("in {judged}{end}")) }
}

/// The rules of a benchmark as a whole: its files, its scenarios, its system.
fn benchmark_section(judged: &JudgedBenchmark, found: &mut [usize; 2]) -> Option<Block> {
    let benchmark = &judged.benchmark;
    let rules = benchmark.rules.iter().map(|rule| ("", &*benchmark.path, rule));
    let title = format!("{} · the whole benchmark", submission_title(&judged.verdict));
    rule_section(title, Vec::new(), &rules.collect_vec(), None, found)
}

/// The results of one scenario, if there is anything to object to.
fn result_section(
    judged: &JudgedBenchmark,
    results: &[&ResultVerdict],
    reference: Option<&str>,
    found: &mut [usize; 2],
) -> Option<Block> {
    let performance = results.iter().find(|result| result.mode == Mode::Performance).copied();
    let titles = results.iter().map(|result| (part_title(result), *result)).collect_vec();
    // A performance result names a violated test, whose own rules follow.
    let is_repeated = |rule: &RuleCheck| {
        let named = |(title, test): &(String, &ResultVerdict)| {
            test.mode == Mode::Compliance && test.violates_rule() && *title == rule.rule
        };
        titles.iter().any(named)
    };
    let rules = titles.iter().flat_map(|(title, result)| {
        let rules = result.rules.iter().filter(|rule| !is_repeated(rule));
        rules.map(|rule| (title.as_str(), result.path.as_str(), rule))
    });
    let scenario = &results.first()?.scenario;
    let title = format!("{} · {scenario}", submission_title(&judged.verdict));
    let outcomes = titles.iter().map(|(title, result)| format!("{title} {}", result.outcome));
    let submitted = performance.and_then(|result| Some(result.deciding_figure()?.1.to_string()));
    let mut facts: Vec<(Line, StyledText)> = vec![
        ("submitted".into(), submitted.unwrap_or_else(|| "no figure".to_owned()).into()),
        ("outcome".into(), join(outcomes, ", ").into()),
    ];
    facts.extend(judged.benchmark.round.as_ref().map(|round| {
        let official = judged.benchmark.official.as_deref();
        let benchmark = official.unwrap_or(&judged.benchmark.benchmark);
        ("rules".into(), format!("{round}, {benchmark}, {scenario}").into())
    }));
    let facts =
        facts.into_iter().map(|(label, fact)| ListItem::with_key(format!("{label}:"), fact));
    let differs = performance.filter(|result| result.differs_from_published());
    let published = differs.zip(reference).and_then(|(result, name)| published_item(result, name));
    let facts = Vec::from_iter(Block::list(facts));
    rule_section(title, facts, &rules.collect_vec(), published, found)
}

/// A section with the violated rules and the warnings among these, each with its part of the result and its path.
fn rule_section(
    title: String,
    mut blocks: Vec<Block>,
    rules: &[(&str, &str, &RuleCheck)],
    published: Option<ListItem>,
    found: &mut [usize; 2],
) -> Option<Block> {
    let items = |is_listed: &dyn Fn(&RuleCheck) -> bool| {
        let listed = rules.iter().filter(|(_, _, rule)| is_listed(rule));
        listed.map(|(part, path, rule)| rule_item(part, path, rule)).collect_vec()
    };
    let violated = violated_items(rules);
    let mut unusual = items(&|rule| rule.passed && rule.warning);
    unusual.extend(published);
    if violated.is_empty() && unusual.is_empty() {
        return None;
    }
    found[0] += violated.len();
    found[1] += unusual.len();
    let parts = [("Violated rules", violated), ("Warnings (no rule is violated)", unusual)];
    blocks.extend(
        parts
            .into_iter()
            .filter_map(|(title, items)| Section::nonempty_block(title, Block::list(items))),
    );
    Some(Section::new_block(title, blocks))
}

/// Violated rules. Figures that were not found because their file cannot be read are listed with the file: that is one
/// violation.
fn violated_items(rules: &[(&str, &str, &RuleCheck)]) -> Vec<ListItem> {
    let of_kind = |kind: RuleCheckKind, part: &str| {
        let is_one = move |(other, _, rule): &&(&str, &str, &RuleCheck)| {
            !rule.passed && rule.kind == kind && *other == part
        };
        rules.iter().filter(is_one).map(|(_, _, rule)| rule.rule.as_str()).collect_vec()
    };
    let violated = rules.iter().filter(|(part, _, rule)| {
        let has_figure = rule.kind != RuleCheckKind::NoFigure;
        !rule.passed && (has_figure || of_kind(RuleCheckKind::File, part).is_empty())
    });
    let items = violated.map(|(part, path, rule)| {
        let mut item = rule_item(part, path, rule);
        let unchecked = of_kind(RuleCheckKind::NoFigure, part);
        if rule.kind == RuleCheckKind::File && !unchecked.is_empty() {
            item.details.push(("not checked".into(), unchecked.join(", ").into()));
        }
        item
    });
    items.collect()
}

/// `performance`, `accuracy`, or the name of a test.
fn part_title(result: &ResultVerdict) -> String {
    match result.mode {
        Mode::Compliance => result.path.rsplit('/').next().unwrap_or_default().to_owned(),
        mode => mode.to_string(),
    }
}

/// The words before what is required of a rule.
fn requirement(is_violated: bool, kind: RuleCheckKind) -> &'static str {
    match (is_violated, kind) {
        (_, RuleCheckKind::Relation) => "the logs of an unmodified LoadGen have",
        (true, _) => "the rule requires",
        (false, _) => "expected:",
    }
}

/// A rule: what is stated, what it requires, and the lines of evidence; without lines, the folder that it is about.
fn rule_item(part: &str, path: &str, rule: &RuleCheck) -> ListItem {
    let RuleCheck { measured, required, .. } = rule;
    let requires = requirement(!rule.passed, rule.kind);
    let text = match rule.kind {
        RuleCheckKind::Missing => format!("missing; {required}"),
        RuleCheckKind::NotStated => format!("the logs do not state it; {requires} {required}"),
        _ => format!("{measured}; {requires} {required}"),
    };
    let key = join([part, &rule.rule].into_iter().filter(|part| !part.is_empty()), ": ");
    let path = rule.path.as_deref().unwrap_or(path);
    ListItem::with_key(key + ":", text).with_details(evidence_details(path, &rule.lines))
}

/// The lines of evidence, each with its file; without lines, the folder.
fn evidence_details(folder: &str, lines: &[EvidenceLine]) -> Vec<(Line, StyledText)> {
    if lines.is_empty() {
        return vec![("in".into(), StyledText::Code(folder.into()))];
    }
    let mut details: Vec<(Line, StyledText)> = Vec::new();
    for (file, lines) in &lines.iter().chunk_by(|line| line.file.as_str()) {
        details.push(("in".into(), StyledText::Code(file.into())));
        let lines = lines.map(|line| {
            let text = StyledText::Code(line.text.as_str().into());
            (format!("line {}", line.line).into(), text)
        });
        details.extend(lines);
    }
    details
}

/// A figure that differs from the published one.
fn published_item(result: &ResultVerdict, name: &str) -> Option<ListItem> {
    let reference = Reference::find_deciding(&result.references)?;
    let (_, figure) = result.deciding_figure()?;
    let listed = number::format_grouped(reference.value);
    let id = reference.source.as_ref().filter(|source| !source.starts_with(name));
    let id = id.map(|id| format!(" ({id})")).unwrap_or_default();
    let ratio = result.ratio.map(|ratio| format!(", ratio {}", number::format_ratio(ratio)));
    let text = format!("{figure}; {name} lists {listed}{id}{}", ratio.unwrap_or_default());
    let item = ListItem::with_key("performance: published figure:", text);
    Some(item.with_details(evidence_details(&result.path, &result.lines)))
}
