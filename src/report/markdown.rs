//! Documents as Markdown, for the summary of a CI job.

use std::fmt::Write as _;

use super::document::{Block, Cell, Conclusion, Document, Item, Section, Span, Table, Text};

/// Renders a document as Markdown.
#[must_use]
pub fn render(document: &Document) -> String {
    let mut text = String::new();
    if !document.title.is_empty() {
        let _ = writeln!(text, "# {}\n", escaped(&document.title));
    }
    blocks(&mut text, &document.blocks, 2);
    text
}

/// Writes blocks with blank lines in between.
fn blocks(text: &mut String, all: &[Block], level: usize) {
    for (position, one) in all.iter().enumerate() {
        if position > 0 {
            text.push('\n');
        }
        block(text, one, level);
    }
}

fn block(text: &mut String, block: &Block, level: usize) {
    // Writing to a string cannot fail.
    let _ = match block {
        Block::Conclusion(one) => {
            conclusion(text, one);
            Ok(())
        }
        Block::Paragraph(one) => writeln!(text, "{}", spans(one)),
        Block::List(items) => {
            for one in items {
                item(text, one);
            }
            Ok(())
        }
        Block::Table(table) => {
            grid(text, table);
            Ok(())
        }
        Block::Charts(charts) => charts.iter().try_for_each(|chart| {
            let line = format!("{}: {}", chart.title, chart.description);
            writeln!(text, "- {}", escaped(&line.replace('\n', " ")))
        }),
        Block::Verbatim(label, lines) => {
            let fence = "`".repeat(
                lines
                    .iter()
                    .map(|line| ticks(line))
                    .max()
                    .unwrap_or(0)
                    .max(2)
                    + 1,
            );
            let lines: String = lines
                .iter()
                .flat_map(|line| [line.as_str(), "\n"])
                .collect();
            writeln!(text, "{}\n\n{fence}\n{lines}{fence}", escaped(label))
        }
        Block::Folded(summary, inner) => {
            let begun = writeln!(text, "**{}**\n", escaped(summary));
            blocks(text, inner, level);
            begun
        }
        Block::Section(Section {
            title,
            blocks: inner,
            ..
        }) => {
            if !title.is_empty() {
                let _ = writeln!(text, "{} {}\n", "#".repeat(level.min(6)), escaped(title));
            }
            blocks(text, inner, level + 1);
            Ok(())
        }
        Block::Notice(notice) => writeln!(text, "> {}", escaped(notice)),
    };
}

fn conclusion(text: &mut String, one: &Conclusion) {
    let sign = one.mark.map_or("", |mark| mark.sign);
    let word = format!("{sign} {}", one.word);
    if !word.trim().is_empty() {
        let _ = write!(text, "**{}** ", escaped(word.trim()));
    }
    let _ = writeln!(text, "{}", escaped(&one.sentence));
    if !one.alerts.is_empty() || !one.remarks.is_empty() {
        text.push('\n');
    }
    for alert in &one.alerts {
        let _ = writeln!(text, "- **! {}**", escaped(alert));
    }
    for (label, remark) in &one.remarks {
        let _ = writeln!(text, "- *{}*: {}", escaped(label), spans(remark));
    }
}

fn item(text: &mut String, item: &Item) {
    let sign = item
        .mark
        .map_or(String::new(), |mark| format!("{} ", mark.sign));
    let key = match item.key.as_str() {
        "" => String::new(),
        key => format!("**{}** ", escaped(key)),
    };
    let _ = writeln!(
        text,
        "- {}",
        format!("{sign}{key}{}", spans(&item.text)).trim_end()
    );
    for (label, detail) in &item.details {
        let colon = if label.is_empty() { "" } else { ": " };
        let _ = writeln!(text, "  - {}{colon}{}", escaped(label), escaped(detail));
    }
}

fn grid(text: &mut String, table: &Table) {
    if table.titled {
        let _ = writeln!(text, "**{}**\n", escaped(&table.caption));
    }
    let used = table.used();
    let heads = used
        .iter()
        .map(|at| escaped(&table.columns[*at].full_name()));
    let heads: Vec<String> = heads.collect();
    let rule = vec!["---"; heads.len()];
    let _ = writeln!(text, "| {} |\n| {} |", heads.join(" | "), rule.join(" | "));
    for group in &table.groups {
        for row in &group.rows {
            let cells = used.iter().filter_map(|at| row.get(*at)).enumerate();
            let cells = cells.map(|(position, cell)| match &group.title {
                Some(title) if position == 0 => {
                    format!("{}: {}", escaped(&title.text), cell_of(cell))
                }
                _ => cell_of(cell),
            });
            let cells: Vec<String> = cells.collect();
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        }
    }
}

fn cell_of(cell: &Cell) -> String {
    escaped(&cell.text)
}

fn spans(text: &Text) -> String {
    let spans = text.0.iter().map(|span| match span {
        Span::Plain(line) | Span::Faint(line) => escaped(line),
        Span::Code(line) => code(line),
    });
    spans.collect()
}

/// Escapes markup and the separators of cells.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '`' | '*' | '[' | ']' | '|' | '~' | '#' | '!' => {
                out.push('\\');
                out.push(letter);
            }
            letter => out.push(letter),
        }
    }
    out
}

/// The longest run of backticks.
fn ticks(text: &str) -> usize {
    text.split(|letter| letter != '`')
        .map(str::len)
        .max()
        .unwrap_or(0)
}

/// A code span, with enough backticks for those in the text.
fn code(text: &str) -> String {
    let longest = ticks(text);
    let fence = "`".repeat(longest + 1);
    let gap = if longest > 0 { " " } else { "" };
    format!("{fence}{gap}{text}{gap}{fence}")
}

#[cfg(test)]
mod tests;
