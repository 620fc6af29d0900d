//! Documents as one HTML page that needs nothing else: no network, no script. The page forbids itself
//! to load or run anything, whatever text got into it.

use std::cell::Cell as Counter;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::document::{
    Block, Cell, Column, ColumnKind, Conclusion, Document, Item, Line, Mark, NOTHING, Section,
    Span, Table, Text, Tone,
};
use super::svg;

const STYLE: &str = include_str!("style.css");
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
/// What every page of ours says at its beginning.
pub const GENERATOR: &str = "<meta name=\"generator\" content=\"retrial\"";

/// A document as a page.
#[must_use]
pub fn render(document: &Document) -> String {
    let page = Page::default();
    let mut notices: Vec<&Line> = Vec::new();
    collect_notices(&document.blocks, &mut notices);
    let made = html! { p.made { "Report made by " (document.made.as_str()) } };
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width,initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="generator" content="retrial";
                title { (document.title.as_str()) }
                style { (PreEscaped(STYLE)) (PreEscaped(svg::STYLE)) }
            }
            body {
                a.skip href="#main" { "Skip to the verdict" }
                header { h1 { (document.title.as_str()) } (made) }
                main #main { (page.blocks(&document.blocks, 2)) }
                footer {
                    @for notice in notices { p.made { (notice.as_str()) } }
                    (made)
                }
            }
        }
    };
    page.into_string() + "\n"
}

/// Each notice once, wherever it stands.
fn collect_notices<'a>(blocks: &'a [Block], notices: &mut Vec<&'a Line>) {
    for block in blocks {
        match block {
            Block::Notice(notice) if !notices.contains(&notice) => notices.push(notice),
            Block::Section(Section { blocks, .. }) | Block::Folded(_, blocks) => {
                collect_notices(blocks, notices);
            }
            _ => {}
        }
    }
}

fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "good",
        Tone::Plain => "plain",
        Tone::Open => "open",
        Tone::Bad => "bad",
        Tone::Faint => "faint",
    }
}

/// The page that is being written.
#[derive(Default)]
struct Page {
    /// Charts have ids of their own.
    charts: Counter<usize>,
    /// A notice is shown once where it belongs, and at the end.
    notices: std::cell::RefCell<Vec<Line>>,
}

impl Page {
    /// Blocks whose sections have headings of this level.
    fn blocks(&self, blocks: &[Block], level: u8) -> Markup {
        html! { @for block in blocks { (self.block(block, level)) "\n" } }
    }

    fn block(&self, block: &Block, level: u8) -> Markup {
        match block {
            Block::Conclusion(one) => conclusion(one),
            Block::Paragraph(text) => html! { p { (spans(text)) } },
            Block::List(items) => list(items),
            Block::Table(table) if table.cards => cards(table),
            Block::Table(table) => grid(table),
            Block::Charts(charts) => html! {
                div.charts {
                    @for chart in charts {
                        figure {
                            figcaption { (Line::from(&chart.title).as_str()) }
                            (svg::inline(chart, &format!("c{}", self.charts.replace(self.charts.get() + 1))))
                        }
                        "\n"
                    }
                }
            },
            Block::Verbatim(label, lines) => html! {
                pre tabindex="0" role="region" aria-label=(label.as_str()) {
                    @for line in lines { (line.as_str()) "\n" }
                }
            },
            Block::Folded(summary, blocks) => html! {
                details { summary { (summary.as_str()) } (self.blocks(blocks, level)) }
            },
            Block::Section(section) => self.section(section, level),
            Block::Notice(notice) => {
                let mut seen = self.notices.borrow_mut();
                let is_new = !seen.contains(notice);
                seen.push(notice.clone());
                html! { @if is_new { blockquote { (notice.as_str()) } } }
            }
        }
    }

    fn section(&self, section: &Section, level: u8) -> Markup {
        let title = section.title.as_str();
        let id = section.id.as_deref();
        html! {
            section aria-labelledby=[id] {
                @match level {
                    _ if title.is_empty() => {},
                    2 => h2 id=[id] { (title) },
                    3 => h3 id=[id] { (title) },
                    _ => h4 id=[id] { (title) },
                }
                (self.blocks(&section.blocks, level + 1))
            }
        }
    }
}

fn spans(text: &Text) -> Markup {
    html! {
        @for span in &text.0 {
            @match span {
                Span::Plain(line) => (line.as_str()),
                Span::Code(line) => code { (line.as_str()) },
                Span::Faint(line) => span.faint { (line.as_str()) },
            }
        }
    }
}

fn conclusion(one: &Conclusion) -> Markup {
    let tone = one.mark.map_or(Tone::Plain, |mark| mark.tone);
    html! {
        div class=(format!("verdict {}", class(tone))) {
            p.word { @if let Some(mark) = one.mark { (mark.sign) " " } (one.word.as_str()) }
            @if !one.sentence.is_empty() { p { (one.sentence.as_str()) } }
            @for alert in &one.alerts { p { span.bad { "! " (alert.as_str()) } } }
        }
        @if !one.remarks.is_empty() {
            dl.remarks {
                @for (label, text) in &one.remarks { dt { (label.as_str()) } dd { (spans(text)) } }
            }
        }
    }
}

fn list(items: &[Item]) -> Markup {
    let marked = items.iter().any(|item| item.mark.is_some());
    let sign = |mark: Mark| html! { span class=(class(mark.tone)) { (mark.sign) } };
    html! {
        ul class=[marked.then_some("told")] {
            @for item in items {
                li {
                    @if let Some(mark) = item.mark { (sign(mark)) }
                    @if !item.key.is_empty() { strong { (item.key.as_str()) } " " }
                    (spans(&item.text))
                    @for (label, text) in &item.details {
                        div.faint {
                            @if !label.is_empty() { em { (label.as_str()) } ": " }
                            (text.as_str())
                        }
                    }
                }
            }
        }
    }
}

/// A table in a region that scrolls by itself where it is too wide.
fn grid(table: &Table) -> Markup {
    let used = table.used();
    let caption = table.caption.as_str();
    html! {
        div.table role="region" tabindex="0" aria-label=(caption) {
            table {
                caption { (caption) }
                thead { tr { @for at in &used { (head(&table.columns[*at])) } } }
                @for group in &table.groups {
                    tbody {
                        @if let Some(title) = &group.title {
                            tr { th scope="rowgroup" colspan=(used.len()) { (linked(title)) } }
                        }
                        @for row in &group.rows {
                            tr {
                                @for at in &used {
                                    @if let Some(cell) = row.get(*at) {
                                        (cell_of(cell, table.columns[*at].kind))
                                    }
                                }
                            }
                            "\n"
                        }
                    }
                }
            }
        }
    }
}

fn head(column: &Column) -> Markup {
    let name = column.full_name();
    html! {
        @if name.is_empty() { td {} }
        @else { th scope="col" class=[(column.kind == ColumnKind::Number).then_some("n")] { (name) } }
    }
}

fn linked(cell: &Cell) -> Markup {
    html! {
        @match cell.link.as_deref().map(address) {
            Some(to) => a href=(to) { (cell.text.as_str()) },
            None => (cell.text.as_str()),
        }
    }
}

fn cell_of(cell: &Cell, kind: ColumnKind) -> Markup {
    let toned = cell.tone.map(|tone| format!("w {}", class(tone)));
    html! {
        @match kind {
            ColumnKind::Head => th scope="row" class=[toned] { (linked(cell)) },
            ColumnKind::Number if cell.tone.is_none() => td.n { (linked(cell)) },
            _ => td class=[toned] { (linked(cell)) },
        }
    }
}

/// Each row as a card: what it is about, its first number, its other cells, how it stands.
fn cards(table: &Table) -> Markup {
    let used = table.used();
    let of = |kind: ColumnKind| {
        used.iter()
            .copied()
            .filter(move |at| table.columns[*at].kind == kind)
    };
    let card = |row: &Vec<Cell>| {
        let said = |cell: &&Cell| !matches!(cell.text.as_str(), "" | NOTHING);
        let cell = |at: usize| row.get(at).filter(said);
        let title: Vec<&str> = of(ColumnKind::Head)
            .filter_map(|at| Some(&*cell(at)?.text))
            .collect();
        let first = of(ColumnKind::Number).next();
        let status = of(ColumnKind::Status).find_map(cell);
        let tone = status.and_then(|cell| cell.tone).map_or("", class);
        html! {
            li class=(format!("card {tone}")) {
                p.of { (title.join(" ")) }
                @if let Some((at, cell)) = first.and_then(|at| Some((at, cell(at)?))) {
                    p.value {
                        (cell.text.as_str())
                        @if !table.columns[at].note.is_empty() { " " small { (table.columns[at].note.as_str()) } }
                    }
                }
                dl {
                    @for at in &used {
                        @let column = &table.columns[*at];
                        @if matches!(column.kind, ColumnKind::Text | ColumnKind::Number) && Some(*at) != first {
                            @if let Some(cell) = cell(*at) {
                                dt { (column.full_name()) } dd { (cell.text.as_str()) }
                            }
                        }
                    }
                }
                @if let Some(cell) = status { p { span class=(tone) { (cell.text.as_str()) } } }
            }
        }
    };
    html! { ul.cards { @for row in table.rows() { (card(row)) "\n" } } }
}

/// A path as the address of a link from the page: nothing in it is a scheme, a host or a fragment.
fn address(path: &str) -> String {
    use std::fmt::Write as _;
    if path.starts_with('#') {
        return path.to_owned();
    }
    let mut address = String::from(if path.starts_with('/') { "" } else { "./" });
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => {
                address.push(char::from(byte));
            }
            byte => {
                let _ = write!(address, "%{byte:02X}");
            }
        }
    }
    address
}

#[cfg(test)]
mod tests;
