//! Documents as Markdown, for the summary of a CI job.

use itertools::join;

use super::document::{Block, Conclusion, Document, ListItem, Section, StyledText, Table};

/// Renders a document as Markdown.
pub fn render(document: &Document) -> String {
    heading(1, &document.title) + &blocks(&document.blocks, 2)
}

fn heading(level: usize, title: &str) -> String {
    if title.is_empty() {
        return String::new();
    }
    format!("{} {}\n\n", "#".repeat(level.min(6)), escaped(title))
}

/// Renders blocks with blank lines in between.
fn blocks(all: &[Block], level: usize) -> String {
    join(all.iter().map(|inner| block(inner, level)), "\n")
}

fn block(block: &Block, level: usize) -> String {
    match block {
        Block::Conclusion(content) => conclusion(content),
        Block::Paragraph(text) => styled(text) + "\n",
        Block::List(items) => items.iter().map(item).collect(),
        Block::Table(table) => grid(table),
        Block::Charts(charts) => {
            let lines = charts.iter().map(|chart| {
                let line = format!("{}: {}", chart.title, chart.description);
                format!("- {}\n", escaped(&line.replace('\n', " ")))
            });
            lines.collect()
        }
        Block::Verbatim(label, lines) => {
            let longest = lines.iter().map(|line| ticks(line)).max().unwrap_or(0);
            let fence = "`".repeat(longest.max(2) + 1);
            let lines = lines.iter().map(|line| format!("{line}\n"));
            let lines: String = lines.collect();
            format!("{}\n\n{fence}\n{lines}{fence}\n", escaped(label))
        }
        Block::Folded(summary, inner) => {
            format!("**{}**\n\n{}", escaped(summary), blocks(inner, level))
        }
        Block::Section(Section {
            title,
            blocks: inner,
            ..
        }) => heading(level, title) + &blocks(inner, level + 1),
        Block::Notice(notice) => format!("> {}\n", escaped(notice)),
    }
}

fn conclusion(content: &Conclusion) -> String {
    let sign = content.mark.map_or("", |mark| mark.sign);
    let word = format!("{sign} {}", content.word);
    let word = match word.trim() {
        "" => String::new(),
        word => format!("**{}** ", escaped(word)),
    };
    let alerts = content.alerts.iter();
    let alerts = alerts.map(|alert| format!("- **! {}**\n", escaped(alert)));
    let remarks = content.remarks.iter();
    let remarks =
        remarks.map(|(label, text)| format!("- *{}*: {}\n", escaped(label), styled(text)));
    let list: String = alerts.chain(remarks).collect();
    let gap = if list.is_empty() { "" } else { "\n" };
    format!("{word}{}\n{gap}{list}", escaped(&content.sentence))
}

fn item(item: &ListItem) -> String {
    let sign = item.mark.map(|mark| format!("{} ", mark.sign));
    let key = match item.key.as_str() {
        "" => String::new(),
        key => format!("**{}** ", escaped(key)),
    };
    let text = format!("{}{key}{}", sign.unwrap_or_default(), styled(&item.text));
    let details = item.details.iter().map(|(label, detail)| {
        let colon = if label.is_empty() { "" } else { ": " };
        format!("  - {}{colon}{}\n", escaped(label), escaped(detail))
    });
    let details: String = details.collect();
    format!("- {}\n{details}", text.trim_end())
}

fn grid(table: &Table) -> String {
    let title = format!("**{}**\n\n", escaped(&table.caption));
    let title = Some(title).filter(|_| table.titled).unwrap_or_default();
    let used = table.used();
    let heads = used.iter();
    let heads = heads.map(|at| escaped(&table.columns[*at].full_name()));
    let rule = used.iter().map(|_| "---");
    let mut lines = vec![join(heads, " | "), join(rule, " | ")];
    for group in &table.groups {
        let title = group.title.as_ref();
        let title = title.map_or(String::new(), |title| escaped(&title.text) + ": ");
        lines.extend(group.rows.iter().map(|row| {
            let cells = used.iter().filter_map(|at| row.get(*at));
            title.clone() + &join(cells.map(|cell| escaped(&cell.text)), " | ")
        }));
    }
    let lines = lines.iter().map(|line| format!("| {line} |\n"));
    title + &lines.collect::<String>()
}

fn styled(text: &StyledText) -> String {
    match text {
        StyledText::Plain(line) | StyledText::Faint(line) => escaped(line),
        StyledText::Code(line) => code(line),
    }
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
