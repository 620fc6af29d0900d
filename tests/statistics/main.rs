//! The statistics of verdicts by seeded simulation: the error is what was asked, the power is the
//! table's, and docs/statistics.md shows what comes of it.
//!
//! `cargo run --example simulate` prints the tables; `RETRIAL_DOCS=overwrite` writes them into the
//! page.
#![expect(clippy::unwrap_used, reason = "tests")]

mod simulation;

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
        [0.34, 0.71, 0.98, 1.0],
        [0.19, 0.36, 0.65, 0.88],
        [0.46, 0.90, 1.0, 1.0],
    ];
    for ((label, shares), expected) in table.rows.iter().zip(expected) {
        for (share, expected) in shares.iter().zip(expected) {
            let share = share.unwrap();
            assert!(
                (share - expected).abs() <= 0.025,
                "{label}: {share}, not {expected}"
            );
        }
    }
}

fn check(table: &Table) {
    match table.name {
        "power" => has_the_power(table),
        "error" | "worse" => keeps_the_error(table, &[], 0..4, 10_000.0),
        // Of the normal noise that was assumed.
        "assumed" => keeps_the_error(
            table,
            &["reproduced, the truth on the margin"],
            0..2,
            10_000.0,
        ),
        // Tails that are heavy on both sides, and rare slow trials beside what is typical.
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
        _ => {}
    }
}

#[test]
fn the_page_shows_what_the_simulation_gives() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/statistics.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let mut fresh = page.clone();
    for table in simulation::tables() {
        check(&table);
        let begin = format!("<!-- simulated: {} -->\n", table.name);
        let at = fresh.find(&begin).map(|at| at + begin.len());
        let at = at.unwrap_or_else(|| panic!("docs/statistics.md has no place for {}", table.name));
        let end = at + fresh[at..].find("<!-- end -->").unwrap();
        fresh.replace_range(at..end, &format!("\n{}\n", table.markdown()));
    }
    if std::env::var("RETRIAL_DOCS").is_ok_and(|value| value == "overwrite") {
        std::fs::write(&path, &fresh).unwrap();
    }
    assert!(
        fresh == page || std::env::var_os("RETRIAL_DOCS").is_some(),
        "docs/statistics.md is old: RETRIAL_DOCS=overwrite cargo test --test statistics"
    );
}
