//! The statistics of verdicts by seeded simulation: error rates stay within their limits, and docs/statistics.md
//! shows them and the power.
//!
//! `cargo run --example simulate` prints the tables; `RETRIAL_DOCS=overwrite` writes them into the
//! page.
#![expect(clippy::unwrap_used, reason = "tests")]

mod simulation;

use std::fmt::Write as _;
use std::path::Path;

use simulation::Table;

/// What chance may add to one in twenty: three deviations of a share of so many draws.
fn at_most(draws: f64) -> f64 {
    0.05 + 3.0 * (0.05_f64 * 0.95 / draws).sqrt()
}

fn keeps_the_error(table: &Table, rows: &[&str], columns: std::ops::Range<usize>, draws: f64) {
    for (label, shares) in &table.rows {
        if !rows.is_empty() && !rows.contains(&label.as_str()) {
            continue;
        }
        let columns = columns.start..columns.end.min(shares.len());
        for share in shares[columns].iter().flatten() {
            assert!(*share <= at_most(draws), "{}, {label}: {share}", table.name);
        }
    }
}

/// The power of the one-sided 95 % t bound where a figure is truly equal, normal noise.
fn has_the_power(table: &Table) {
    let expected = [
        [0.73, 1.0, 1.0, 1.0],
        // Five and eight trials count as one in 7 to 9 % of cases, for their order.
        [0.34, 0.71, 0.94, 0.97],
        [0.19, 0.36, 0.62, 0.82],
        [0.46, 0.90, 0.99, 1.0],
    ];
    for ((label, shares), expected) in table.rows.iter().zip(expected) {
        for (share, expected) in shares.iter().zip(expected) {
            let share = share.unwrap();
            assert!((share - expected).abs() <= 0.025, "{label}: {share}, not {expected}");
        }
    }
}

fn share(table: &Table, label: &str, column: usize) -> f64 {
    let row = table.rows.iter().find(|(name, _)| name == label);
    row.unwrap_or_else(|| panic!("no row {label}")).1[column].unwrap()
}

/// Normal noise keeps the error, and no case errs clearly more often than Student's t alone.
fn cases_are_no_worse(table: &Table) {
    keeps_the_error(table, &["normal, 0.8 %: **now**"], 0..5, 10_000.0);
    keeps_the_error(table, &["normal, 1.8 %: **now**"], 1..5, 10_000.0);
    let slow = "one trial in ten 10 % slower, 0.8 % normal: **now**";
    keeps_the_error(table, &[slow], 0..5, 10_000.0);
    for pair in table.rows.chunks(2) {
        for (before, now) in pair[0].1.iter().zip(&pair[1].1) {
            assert!(now.unwrap() <= before.unwrap() + 0.01, "{}", pair[1].0);
        }
    }
    let drift = "each trial 0.5 % better than the one before, 0.4 % normal: **now**";
    assert!(share(table, drift, 4) < 0.05);
    // Three trials cannot show an order: the page says what that costs.
    let slowing = "each trial 0.5 % slower than the one before, 0.4 % normal: **now**";
    assert!(share(table, slowing, 2) > 0.9);
}

/// Three or more trials reproduce a true result no less often than one does.
fn slow_trials_do_not_count_against_it(table: &Table) {
    let slow = "one trial in ten 10 % slower, 0.8 % normal: **now**";
    for column in 2..5 {
        assert!(share(table, slow, column) >= share(table, slow, 0), "column {column}");
    }
}

fn check(table: &Table) {
    match table.name {
        "power" => has_the_power(table),
        "error" | "worse" => keeps_the_error(table, &[], 0..4, 10_000.0),
        // Of the normal noise that was assumed.
        "assumed" => {
            keeps_the_error(table, &["reproduced, the truth on the margin"], 0..2, 10_000.0);
        }
        "cases-error" => cases_are_no_worse(table),
        "cases-worse" => {
            keeps_the_error(table, &["normal, 0.8 %"], 0..5, 10_000.0);
            let slow = "one trial in ten 10 % slower, 0.8 % normal";
            assert!(share(table, slow, 4) < 0.15);
        }
        "cases-power" => slow_trials_do_not_count_against_it(table),
        "printed" => {
            let now = ["0.05 %: **now**", "0.2 %: **now**", "0.5 %: **now**"];
            keeps_the_error(table, &now, 0..4, 10_000.0);
            assert!(share(table, "0.05 %: taken as exact", 1) > 0.9);
        }
        "fail-if" => {
            let labels =
                ["2 % slower, 1.8 % each, 1.8 % assumed", "2 % slower, 0.3 % each, 0.3 % assumed"];
            keeps_the_error(table, &labels, 0..5, 10_000.0);
        }
        // Tails that are heavy on both sides, and rare slow trials among typical ones.
        "tails" => {
            for noise in [
                "Student's t with 3 degrees of freedom",
                "one trial in ten 10 % slower, the typical trial on the margin",
            ] {
                for made in ["mean", "median", "Olympic mean"] {
                    let row = format!("{noise}: {made}");
                    keeps_the_error(table, &[&row], 0..4, 10_000.0);
                }
            }
        }
        "stages" => keeps_the_error(table, &[], 0..2, 6_000.0),
        "holm" => {
            keeps_the_error(table, &["not reproduced (Holm)"], 0..2, 6_000.0 / 3.0);
            keeps_the_error(table, &["not reproduced (Holm)"], 2..4, 6_000.0 / 8.0);
        }
        "equivalence" => keeps_the_error(
            table,
            &["on the lower edge, 0.950", "on the upper edge, 1.053"],
            0..4,
            6_000.0,
        ),
        "equal" => {
            keeps_the_error(table, &["0.8 % each"], 0..4, 10_000.0);
            let paired = "0.5 % each and 2 % shared, paired";
            keeps_the_error(table, &[paired], 0..4, 10_000.0);
        }
        "consistent-error" => {
            let regular = ["normal", "two levels 2 % apart, 0.2 % besides"];
            keeps_the_error(table, &regular, 0..5, 4_000.0);
            let heavy = "Student's t with 3 degrees of freedom";
            keeps_the_error(table, &[heavy], 0..4, 4_000.0);
        }
        "search-right" => {
            for (label, shares) in &table.rows {
                let right = |share: &Option<f64>| share.is_some_and(|share| share >= 0.95);
                assert!(shares.iter().all(right), "{label}: {shares:?}");
            }
        }
        // At most two fifths of a sweep from 32 releases on; of eight a sweep is as cheap.
        "search-trials" => {
            for (label, shares) in &table.rows[4..] {
                let few = |share: &Option<f64>| share.is_some_and(|share| share <= 0.4);
                assert!(shares.iter().all(few), "{label}: {shares:?}");
            }
        }
        "search-cases" => {
            assert!(share(table, "no change, 1 %: a pair is named", 0) <= at_most(1_000.0));
        }
        "consistent-power" => assert!(share(table, "normal", 2) > 0.7),
        _ => {}
    }
}

/// The benchmarks whose own pairs are used.
fn assumed_noise() -> String {
    let mut text =
        "| benchmark | scenario | pairs | median | 90th percentile | noise |\n".to_owned();
    text += "| --- | --- | --- | --- | --- | --- |\n";
    for group in retrial_mlperf::noise::groups_with_enough_pairs() {
        let cells = [&group.round, &group.benchmark, &group.scenario];
        let [round, benchmark, scenario] = cells.map(|cell| cell.as_deref().unwrap_or("all"));
        let version = match round {
            "all" => benchmark.to_owned(),
            round => format!("{benchmark} of {round}"),
        };
        let shares = [group.median, group.p90, group.relative_deviation()];
        let [median, p90, noise] = shares.map(|share| format!("{:.2} %", share * 100.0));
        let _ = writeln!(
            text,
            "| {version} | {scenario} | {} | {median} | {p90} | {noise} |",
            group.pairs
        );
    }
    text
}

/// Puts a table into its place.
fn draw(page: &mut String, name: &str, table: &str) {
    let begin = format!("<!-- {name} -->\n");
    let at = page.find(&begin).map(|at| at + begin.len());
    let at = at.unwrap_or_else(|| panic!("docs/statistics.md has no place for {name}"));
    let end = at + page[at..].find("<!-- end -->").unwrap();
    page.replace_range(at..end, &format!("\n{table}\n"));
}

#[test]
fn the_page_matches_the_simulation() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/statistics.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let mut fresh = page.clone();
    draw(&mut fresh, "noise", &assumed_noise());
    for table in simulation::tables() {
        check(&table);
        draw(&mut fresh, &format!("simulated: {}", table.name), &table.markdown());
    }
    if std::env::var("RETRIAL_DOCS").is_ok_and(|value| value == "overwrite") {
        std::fs::write(&path, &fresh).unwrap();
    }
    assert!(
        fresh == page || std::env::var_os("RETRIAL_DOCS").is_some(),
        "docs/statistics.md is old: RETRIAL_DOCS=overwrite cargo test --test docs statistics"
    );
}
