//! What a page shows: commands with their output, files, and how these compare with what was printed.

use std::sync::LazyLock;

use regex::Regex;

/// A command and its output on the page.
pub struct Shown {
    pub command: String,
    pub output: Vec<String>,
    /// Lines of the file: the first of the output, and the one after the last.
    pub lines: (usize, usize),
}

pub fn commands(text: &str) -> Vec<Shown> {
    let mut found: Vec<Shown> = Vec::new();
    let mut inside = false;
    for (number, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            if inside && let Some(last) = found.last_mut() {
                last.lines.1 = number;
            }
            inside = line == "```console";
            continue;
        }
        if !inside {
            continue;
        }
        if let Some(command) = line.strip_prefix("$ ") {
            if let Some(last) = found.last_mut().filter(|last| last.lines.1 == 0) {
                last.lines.1 = number;
            }
            found.push(Shown {
                command: command.to_owned(),
                output: Vec::new(),
                lines: (number + 1, 0),
            });
        } else if let Some(last) = found.last_mut() {
            last.output.push(line.to_owned());
        }
    }
    found
}

/// The files of a page, a fenced block each.
pub fn files(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let text = text.replace("\n```sh ", "\n```yaml ");
    let text = text.replace("\n```text ", "\n```yaml ");
    let text = text.replace("\n```json ", "\n```yaml ");
    for block in text.split("```yaml ").skip(1) {
        let (name, rest) = block.split_once('\n').unwrap();
        let body = rest.split("```").next().unwrap();
        found.push((name.trim().to_owned(), body.to_owned()));
    }
    found
}

/// What differs between runs, and what stands for it.
static FOLDED: LazyLock<[(Regex, &str); 9]> = LazyLock::new(|| {
    [
        (r"\d{8}-\d{6}-([a-z0-9-]+)-[0-9a-f]{4}", "ID-$1"),
        // Its decimals may be as long as a digest's beginning: 6.1370000000000005.
        (r"\b\d+\.\d{6,}\b", "N"),
        (r"sha256:[0-9a-f]{12,}|\b[0-9a-f]{12,64}\b", "HEX"),
        (r"SHA256:[A-Za-z0-9+/]{43}", "KEY"),
        (r"unix://\S+", "SOCKET"),
        (r"[\d][\d,.:]*", "N"),
        (r"N (ns|µs|ms|s|min|m|h|kB|MB|GB|KiB|MiB|GiB)\b", "N U"),
        (r"[─━]+", "─"),
        (r"\s+", " "),
    ]
    .map(|(pattern, with)| (Regex::new(pattern).unwrap(), with))
});

/// A line without the parts that differ between runs.
fn folded(line: &str) -> String {
    let mut line = line.to_owned();
    for (pattern, with) in &*FOLDED {
        line = pattern.replace_all(&line, *with).into_owned();
    }
    line.trim().to_owned()
}

/// Whether the output matches the page.
pub fn same(shown: &[String], printed: &[String]) -> bool {
    // The width of figures determines line breaks in tables and paragraphs.
    let paragraphs = |lines: &[String]| -> Vec<String> {
        lines
            .iter()
            .map(|line| folded(line))
            .filter(|line| !line.is_empty() && line != "─")
            .collect()
    };
    let shown = paragraphs(shown);
    let printed = paragraphs(printed).join(" ");
    let mut rest = printed.as_str();
    for (index, part) in shown.split(|line| line == "…").enumerate() {
        let part = part.join(" ");
        match rest.find(&part) {
            Some(at) if index > 0 || at == 0 => rest = rest[at + part.len()..].trim_start(),
            _ => return false,
        }
    }
    rest.is_empty() || shown.last().is_some_and(|line| line == "…")
}

/// The lines of `printed` that stand where the parts of `shown` between `…` stood: each part from the line that is
/// most like its first one to the line that is most like its last one.
pub fn excerpt(shown: &[String], printed: &[String]) -> Vec<String> {
    if !shown.iter().any(|line| line == "…") {
        return printed.to_vec();
    }
    let nearest = |target: &str, from: usize| -> Option<usize> {
        (from..printed.len()).rev().max_by(|&a, &b| {
            likeness(target, &printed[a]).total_cmp(&likeness(target, &printed[b]))
        })
    };
    let mut lines = Vec::new();
    let mut from = 0;
    let parts: Vec<&[String]> = shown.split(|line| line == "…").collect();
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            lines.push("…".to_owned());
        }
        let (Some(first), Some(last)) = (part.first(), part.last()) else {
            continue;
        };
        let start = if index == 0 { Some(0) } else { nearest(first, from) };
        let Some(start) = start else { continue };
        let end = if index + 1 == parts.len() {
            printed.len().checked_sub(1)
        } else {
            nearest(last, start)
        };
        let Some(end) = end else { continue };
        lines.extend_from_slice(&printed[start..=end]);
        from = end + 1;
    }
    lines
}

/// The share of two lines' words that both have, figures aside.
fn likeness(a: &str, b: &str) -> f64 {
    let (a, b) = (folded(a), folded(b));
    let a: std::collections::BTreeSet<&str> = a.split(' ').collect();
    let b: std::collections::BTreeSet<&str> = b.split(' ').collect();
    let common = u32::try_from(a.intersection(&b).count()).unwrap();
    let all = u32::try_from(a.union(&b).count()).unwrap();
    f64::from(common) / f64::from(all)
}

#[test]
fn an_excerpt_remains_an_excerpt() {
    let lines = |text: &str| -> Vec<String> { text.lines().map(str::to_owned).collect() };
    let shown = lines("…\nsteps\n  01 pull: began\n…\nrun X ended after 3 s\n…");
    let printed = lines("plan\nsteps\n  01 pull: started\n  02 create\nrun Y ended after 4 s\nbye");
    let expected = lines("…\nsteps\n  01 pull: started\n…\nrun Y ended after 4 s\n…");
    assert_eq!(excerpt(&shown, &printed), expected);
}
