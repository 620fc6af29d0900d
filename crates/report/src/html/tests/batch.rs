//! The page of a batch.

use super::*;
use crate::content::batch::batch_document;
use crate::document::Block;
use crate::markdown::render_markdown;
use crate::terminal::{Terminal, render_terminal};
use retrial_batch::verdict::CellEnvironments;
use retrial_results::verdict::comparison::compare_fact_groups;

fn side(subject: &str, value: f64) -> MeasuredSide {
    MeasuredSide {
        subject: subject.to_owned(),
        value: Some(value),
        trials: vec![value, value * 1.01],
    }
}

const BOUNDS: Option<Bounds> = Some(Bounds { lower: 1.02, upper: 1.06 });

fn cell(rocm: &str, backend: &str, value: f64) -> CellVerdict {
    let evidence = offline(&[value, value * 1.01]).expecting(TOKENS, official(100.0));
    let is_baseline = (rocm, backend) == ("6.4.1", "vllm");
    let axes = [("rocm", rocm), ("backend", backend)];
    let axes = axes.map(|(name, value)| (name.to_owned(), value.to_owned()));
    CellVerdict {
        name: format!("rocm={rocm},backend={backend}"),
        recipe: "llama2".to_owned(),
        external: None,
        axes: axes.into_iter().collect(),
        is_baseline,
        against: None,
        trials: 2,
        runs: vec![CellRun {
            run: "20261121-000000-one-abcd".to_owned(),
            trial: 1,
            start: None,
            lost: None,
        }],
        outcome: Some(Outcome::Reproduced),
        failure: None,
        sentence: "It holds.".to_owned(),
        verdict: Some(judge(&mlperf(), &[evidence])),
        differences: vec![ComparedFigure {
            benchmark: "llama2-70b-99".to_owned(),
            scenario: "Offline".into(),
            mode: Mode::Performance,
            figure: TOKENS.to_owned(),
            unit: "tokens/s".to_owned(),
            better: Better::Higher,
            baseline: side("rocm=6.4.1,backend=vllm", 100.0),
            candidate: side(rocm, value),
            paired: true,
            aggregate: Aggregate::Mean,
            ratio: Some(value / 100.0),
            interval: BOUNDS,
            change: Change::Faster,
            limit: None,
            sentence: "It is faster.".to_owned(),
        }],
    }
}

/// Another host, with one run.
fn other(name: &str, value: f64) -> CellVerdict {
    CellVerdict {
        name: name.to_owned(),
        external: Some(name.to_owned()),
        axes: NamedValues::default(),
        is_baseline: false,
        differences: Vec::new(),
        ..cell("", "", value)
    }
}

fn part() -> ClaimPart {
    ClaimPart {
        of: "backend=vllm".to_owned(),
        benchmark: "llama2-70b-99".to_owned(),
        scenario: "Offline".into(),
        mode: Mode::Performance,
        figure: TOKENS.to_owned(),
        unit: "tokens/s".to_owned(),
        better: Better::Higher,
        required: RequiredRatio { claim: None, margin: 0.0, negated: false },
        statistic: Statistic::Value,
        candidate: side("rocm=7.1.1", 104.0),
        baseline: Some(side("rocm=6.4.1", 100.0)),
        gaps: Vec::new(),
        paired: true,
        ratio: Some(1.04),
        bounds: BOUNDS,
        outcome: ClaimOutcome::Supported,
        more_trials: None,
        sentence: "It holds.".to_owned(),
    }
}

/// Two releases of two backends, the first of them the baseline, and two other hosts.
pub(crate) fn batch() -> BatchVerdict {
    let axis = |name: &str, values: [&str; 2]| BatchAxis {
        name: name.to_owned(),
        values: values.map(str::to_owned).to_vec(),
    };
    BatchVerdict {
        schema: 1,
        batch: None,
        title: "Releases".to_owned(),
        outcome: Some(Outcome::Reproduced),
        sentence: "4 cells: 4 reproduced.".to_owned(),
        exit_code: ExitCode::Success,
        confidence: 0.95,
        order: RunOrder::Interleaved,
        parallel: 2,
        notes: vec!["two runs at once".to_owned()],
        axes: vec![axis("rocm", ["6.4.1", "7.1.1"]), axis("backend", ["vllm", "migraphx"])],
        cells: vec![
            cell("6.4.1", "vllm", 100.0),
            cell("7.1.1", "vllm", 104.0),
            cell("6.4.1", "migraphx", 98.0),
            cell("7.1.1", "migraphx", 103.0),
        ],
        excluded: Vec::new(),
        external_results: vec![other("b200", 180.0), other("b300", 250.0)],
        claims: vec![ClaimVerdict {
            claim: "rocm 7.1.1 is faster than 6.4.1".to_owned(),
            source: Some("a page".to_owned()),
            outcome: ClaimOutcome::Supported,
            sentence: "All parts hold.".to_owned(),
            parts: vec![part()],
        }],
        environments: None,
        search: None,
        notice: None,
    }
}

/// Two releases, each with two backends: a column for the cells of each release.
#[test]
fn a_batch_begins_with_the_stack() {
    let mut batch = batch();
    let facts = |rocm: &str| {
        let package = |number| {
            Fact::new(FactGroup::Packages, format!("library{number} (dpkg)"), format!("1.{rocm}"))
        };
        let stack = [("ROCm in the image", rocm), ("RCCL", "2.27.7")];
        let stack = stack.map(|(name, value)| Fact::new(FactGroup::Stack, name, value));
        stack.into_iter().chain((0..20).map(package)).collect::<Vec<Fact>>()
    };
    let cells: Vec<String> = batch.cells.iter().map(|cell| cell.name.clone()).collect();
    let facts = ["6.4.1", "7.1.1", "6.4.1", "7.1.1"].map(facts);
    let facts: Vec<&[Fact]> = facts.iter().map(Vec::as_slice).collect();
    let groups = compare_fact_groups(&cells, &facts);
    batch.environments = Some(CellEnvironments { cells, groups });
    let text = render_markdown(&batch_document(&batch, "", &[]));
    insta::assert_snapshot!(text.split("## Claims").next().unwrap());
    let page = page_of(&batch);
    check(&page);
    let position = |words: &str| page.find(words).unwrap_or_else(|| panic!("no {words}"));
    assert!(position("ROCm in the image") < position("Claims</h2>"));
    assert!(position("Claims</h2>") < position("library19 (dpkg)"));
}

/// The head has two lines, and cells of two axes have one each; the reasons of failures are below the table.
#[test]
fn a_cell_of_a_batch_is_a_line_of_100_columns() {
    let mut batch = batch();
    batch.external_results.clear();
    batch.notice = Some("Unverified".to_owned());
    batch.cells[2].differences[0].change = Change::NoDifference;
    let failed = batch.cells[3].verdict.as_mut().unwrap();
    failed.results[0].valid = false;
    batch.cells[3].outcome = Some(failed.results[0].outcome);
    let terminal = Terminal { width: 100, color: false, unicode: true };
    let text = render_terminal(&batch_document(&batch, "", &[]), terminal);
    let (_, table) = text.split_once("\nCells\n").unwrap();
    insta::assert_snapshot!(table.split("\n\n").take(3).collect::<Vec<_>>().join("\n\n"));
}

fn page_of(batch: &BatchVerdict) -> String {
    let subjects = batch.all_results().map(|cell| ReportSubject {
        runs: vec![(
            CellRun {
                run: "20261121-000000-one-abcd".to_owned(),
                trial: 1,
                start: None,
                lost: None,
            },
            Some("../../runs/one".to_owned()),
        )],
        ..ReportSubject::new(
            cell.name.clone(),
            ReportedVerdict::new("", cell.verdict.as_ref().unwrap()),
        )
    });
    render_html(&page_document(&ReportPage {
        made_by: "retrial 0.1.0".to_owned(),
        subjects: subjects.collect(),
        batch: Some(batch),
        ..ReportPage::default()
    }))
}

#[test]
fn a_batch_page_shows_claims_and_escapes_hostile_text() {
    let page = page_of(&batch());
    check(&page);
    for words in [
        "✓ supported",
        "rocm 7.1.1 is faster than 6.4.1",
        "two runs at once",
        "Offline: tokens per second",
        "rocm, each with backend",
        "b200: 180.898 tokens/s",
        "higher is better",
        "Compared with the baseline",
        "▲ faster",
        "../../runs/one",
    ] {
        assert!(page.contains(words), "{words}");
    }
    let mut value = serde_json::to_value(batch()).unwrap();
    replaced(&mut value, HOSTILE);
    check(&page_of(&serde_json::from_value(value).unwrap()));
}

#[test]
fn columns_are_grouped_by_the_first_axis_and_lines_are_other_hosts() {
    let all = crate::charts::batch_charts(&batch());
    let columns = all.iter().find_map(|chart| match &chart.kind {
        ChartKind::Columns(columns) => Some(columns),
        _ => None,
    });
    let columns = columns.unwrap();
    assert_eq!(columns.groups, ["6.4.1", "7.1.1"]);
    let names: Vec<&str> = columns.series.iter().map(|series| &*series.name).collect();
    assert_eq!(names, ["vllm", "migraphx"]);
    let first = columns.series[0].columns[0].unwrap();
    assert_eq!(first.range, Some((100.0, 101.0)));
    // All cells have the same published value: it is a line, too.
    assert_eq!(first.published, None);
    let lines: Vec<&str> = columns.references.iter().map(|line| &*line.name).collect();
    assert_eq!(lines, ["b200", "b300", "published"]);
    // A batch of one cell has no axis.
    let mut single = batch();
    single.cells.truncate(1);
    let all = crate::charts::batch_charts(&single);
    let alone = all.iter().find_map(|chart| match &chart.kind {
        ChartKind::Columns(columns) => Some(&columns.groups),
        _ => None,
    });
    assert_eq!(alone.unwrap(), &["rocm=6.4.1,backend=vllm"]);
}

/// A claim of a cell's recipe that is not supported is the reason of its outcome.
#[test]
fn a_claim_of_a_cell_is_its_reason() {
    let mut batch = batch();
    let claim = &batch.claims[0];
    let of_recipe =
        |text: &str, outcome| ClaimVerdict { claim: text.to_owned(), outcome, ..claim.clone() };
    let claims = vec![
        of_recipe("linear is faster than matmul", ClaimOutcome::Contradicted),
        of_recipe("linear is as fast as cublas", ClaimOutcome::NotDecided),
    ];
    batch.cells[1].verdict.as_mut().unwrap().claims = claims;
    let page = page_of(&batch);
    let reason = "claim contradicted: linear is faster than matmul";
    assert_eq!(page.matches(reason).count(), 1, "{page}");
    assert!(!page.contains("claim not decided"), "{page}");
}

/// Claims between cells may hold where a published figure does not.
#[rstest]
#[case(ClaimOutcome::Supported, Outcome::Reproduced, "all claims supported")]
#[case(
    ClaimOutcome::Supported,
    Outcome::NotReproduced,
    "all claims supported, cells not reproduced (performance only, unpinned image)"
)]
#[case(
    ClaimOutcome::Contradicted,
    Outcome::Inconclusive,
    "claim contradicted, cells inconclusive (performance only, unpinned image)"
)]
fn claims_lead_and_the_cells_stand_beside_them(
    #[case] claim: ClaimOutcome,
    #[case] outcome: Outcome,
    #[case] word: &str,
) {
    let mut batch = batch();
    batch.outcome = Some(outcome);
    batch.claims[0].outcome = claim;
    let document = batch_document(&batch, "", &[]);
    let conclusion = document.blocks.iter().find_map(|block| match block {
        Block::Conclusion(conclusion) => Some(conclusion),
        _ => None,
    });
    assert_eq!(conclusion.unwrap().word.as_str(), word);
}
