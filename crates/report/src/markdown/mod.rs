//! Documents as Markdown, for the summary of a CI job.

use itertools::join;

use super::document::{Block, Conclusion, Document, ListItem, Section, StyledText, Table};

pub fn render_markdown(document: &Document) -> String {
    render_heading(1, &document.title) + &render_blocks(&document.blocks, 2)
}

fn render_heading(level: usize, title: &str) -> String {
    if title.is_empty() {
        return String::new();
    }
    format!("{} {}\n\n", "#".repeat(level.min(6)), escape_markup(title))
}

/// Renders blocks with blank lines in between.
fn render_blocks(all: &[Block], level: usize) -> String {
    join(all.iter().map(|inner| render_block(inner, level)), "\n")
}

fn render_block(block: &Block, level: usize) -> String {
    match block {
        Block::Conclusion(content) => render_conclusion(content),
        Block::Paragraph(text) => render_text(text) + "\n",
        Block::List(items) => items.iter().map(render_item).collect(),
        Block::Table(table) => render_table(table),
        Block::Charts(charts) => {
            let lines = charts.iter().map(|chart| {
                let line = format!("{}: {}", chart.title, chart.description);
                format!("- {}\n", escape_markup(&line.replace('\n', " ")))
            });
            lines.collect()
        }
        Block::Verbatim(label, lines) => {
            let longest = lines.iter().map(|line| longest_backtick_run(line)).max().unwrap_or(0);
            let fence = "`".repeat(longest.max(2) + 1);
            let line_texts = lines.iter().map(|line| format!("{line}\n"));
            let lines: String = line_texts.collect();
            let label = match label.as_str() {
                "" => String::new(),
                label => format!("{}\n\n", escape_markup(label)),
            };
            format!("{label}{fence}\n{lines}{fence}\n")
        }
        Block::Folded(summary, inner) => {
            format!("**{}**\n\n{}", escape_markup(summary), render_blocks(inner, level))
        }
        Block::Section(Section { title, blocks: inner, .. }) => {
            render_heading(level, title) + &render_blocks(inner, level + 1)
        }
        Block::Notice(notice) => format!("> {}\n", escape_markup(notice)),
    }
}

fn render_conclusion(content: &Conclusion) -> String {
    let sign = content.mark.map_or("", |mark| mark.sign);
    let word = format!("{sign} {}", content.word);
    let word = match word.trim() {
        "" => String::new(),
        word => format!("**{}** ", escape_markup(word)),
    };
    let alerts = content.alerts.iter().map(|alert| format!("- **! {}**\n", escape_markup(alert)));
    let remarks = content.remarks.iter();
    let remarks = remarks
        .map(|(label, text)| format!("- *{}*: {}\n", escape_markup(label), render_text(text)));
    let list: String = alerts.chain(remarks).collect();
    let gap = if list.is_empty() { "" } else { "\n" };
    format!("{word}{}\n{gap}{list}", escape_markup(&content.sentence))
}

fn render_item(item: &ListItem) -> String {
    let sign = item.mark.map(|mark| format!("{} ", mark.sign));
    let key = match item.key.as_str() {
        "" => String::new(),
        key => format!("**{}** ", escape_markup(key)),
    };
    let text = format!("{}{key}{}", sign.unwrap_or_default(), render_text(&item.text));
    let detail_lines = item.details.iter().map(|(label, detail)| {
        let colon = if label.is_empty() { "" } else { ": " };
        format!("  - {}{colon}{}\n", escape_markup(label), render_text(detail))
    });
    let details: String = detail_lines.collect();
    format!("- {}\n{details}", text.trim_end())
}

fn render_table(table: &Table) -> String {
    let title = format!("**{}**\n\n", escape_markup(&table.caption));
    let title = Some(title).filter(|_| table.titled).unwrap_or_default();
    let used = table.used_columns();
    let used_columns = used.iter();
    let heads = used_columns.map(|at| escape_markup(&table.columns[*at].full_name()));
    let rule = used.iter().map(|_| "---");
    let mut rows = vec![join(heads, " | "), join(rule, " | ")];
    for group in &table.groups {
        let group_title = group.title.as_ref();
        let title =
            group_title.map_or(String::new(), |title| escape_markup(&title.full_text()) + ": ");
        rows.extend(group.rows.iter().map(|row| {
            let cells = used.iter().filter_map(|at| row.get(*at));
            title.clone() + &join(cells.map(|cell| escape_markup(&cell.full_text())), " | ")
        }));
    }
    let lines = rows.iter().map(|line| format!("| {line} |\n"));
    title + &lines.collect::<String>()
}

fn render_text(text: &StyledText) -> String {
    match text {
        StyledText::Plain(line) | StyledText::Faint(line) | StyledText::Link(line, _) => {
            escape_markup(line)
        }
        StyledText::Code(line) => render_code(line),
    }
}

/// Escapes markup and the separators of cells.
fn escape_markup(text: &str) -> String {
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

fn longest_backtick_run(text: &str) -> usize {
    text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0)
}

/// A code span, with enough backticks for those in the text.
fn render_code(text: &str) -> String {
    let longest = longest_backtick_run(text);
    let fence = "`".repeat(longest + 1);
    let gap = if longest > 0 { " " } else { "" };
    format!("{fence}{gap}{text}{gap}{fence}")
}

#[cfg(test)]
mod tests;
