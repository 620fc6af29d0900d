//! The tables of docs/architecture.md name every crate and folder with its lines, as a reader would find them.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::{root, walk};

/// How far a number may be off before it misleads, percent: a change of some lines is none.
const TOLERANCE: usize = 10;

/// Lines of code below a directory, without tests, comments and empty lines.
fn count_lines(directory: &Path) -> usize {
    let mut files = Vec::new();
    walk(directory, &mut files);
    let is_test = |path: &Path| {
        let mut names =
            path.strip_prefix(directory).unwrap().iter().map(|name| name.to_str().unwrap());
        names.any(|name| {
            matches!(name.trim_end_matches(".rs"), "test" | "tests") || name.ends_with("_tests.rs")
        })
    };
    let code = |path: &Path| {
        let text = fs::read_to_string(path).unwrap();
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        let lines = code.lines().map(str::trim);
        lines.filter(|line| !line.is_empty() && !line.starts_with("//")).count()
    };
    files.iter().filter(|path| !is_test(path)).map(|path| code(path)).sum()
}

/// The directory of a row of a table, and its text of lines.
fn row_of(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.strip_prefix("| `")?.split_once("` |")?;
    let is_room = name.starts_with("crates/") || name.starts_with("src/");
    let lines = rest.trim_end().strip_suffix('|')?.rsplit('|').next()?.trim();
    (is_room && name.matches('/').count() == 1).then_some((name, lines))
}

/// `12,300`: to hundreds.
fn format_lines(lines: usize) -> String {
    let hundreds = (lines + 50) / 100 * 100;
    if hundreds < 1000 {
        hundreds.to_string()
    } else {
        format!("{},{:03}", hundreds / 1000, hundreds % 1000)
    }
}

#[test]
fn the_tables_have_the_lines_of_every_crate() {
    let path = root().join("docs/architecture.md");
    let page = fs::read_to_string(&path).unwrap();
    let mut rooms: Vec<String> = vec!["src/app".to_owned(), "src/cli".to_owned()];
    let crates = fs::read_dir(root().join("crates")).unwrap();
    rooms.extend(crates.map(|entry| format!("crates/{}", entry.unwrap().file_name().display())));
    let (mut updated, mut wrong) = (String::new(), Vec::new());
    for line in page.lines() {
        match row_of(line) {
            Some((room, stated)) if rooms.iter().any(|known| known == room) => {
                rooms.retain(|known| known != room);
                let actual = count_lines(&root().join(room));
                let number: usize = stated.replace(',', "").parse().unwrap_or_default();
                if number.abs_diff(actual) > actual * TOLERANCE / 100 + 50 {
                    wrong.push(format!("{room}: {actual} lines, and the page has {stated}"));
                }
                let start = line.trim_end().trim_end_matches('|').rfind('|').unwrap();
                writeln!(updated, "{}| {} |", &line[..start], format_lines(actual)).unwrap();
            }
            _ => writeln!(updated, "{line}").unwrap(),
        }
    }
    if std::env::var_os("RETRIAL_DOCS").is_some_and(|action| action == "overwrite") {
        fs::write(path, updated).unwrap();
        return;
    }
    assert!(rooms.is_empty(), "no row: {rooms:?}");
    assert!(
        wrong.is_empty(),
        "RETRIAL_DOCS=overwrite cargo nextest run --test architecture: {wrong:#?}"
    );
}
