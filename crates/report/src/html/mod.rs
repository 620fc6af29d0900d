//! Documents as one self-contained HTML page without scripts. Its content security policy forbids loading
//! or running anything, whatever text it contains. Pages of a website have links and one script.

mod website;

use std::cell::{Cell as Counter, RefCell};

use itertools::join;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::charts::{Chart, to_f64};
use super::document::{
    Block, Column, ColumnKind, Conclusion, Document, Line, ListItem, Section, StatusMark,
    StyledText, Table, TableCell, Tone,
};
use super::svg;

const STYLE: &str = include_str!("style.css");
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
/// The mark of our pages, in their first lines.
pub const GENERATOR: &str = "<meta name=\"generator\" content=\"retrial\"";

/// Renders a document as a page.
pub fn render_html(document: &Document) -> String {
    render_page(document, None)
}

/// Renders a document as a page of a website: it links other pages, and its tables can be filtered.
pub fn render_website_page(document: &Document, links: &[(Line, String)]) -> String {
    render_page(document, Some(links))
}

/// A page; in a website, with links to others.
fn render_page(document: &Document, links: Option<&[(Line, String)]>) -> String {
    let page = HtmlPage::default();
    let body = page.render_blocks(&document.blocks, 2);
    let made_by = html! { p.made { "Made by " (document.made_by.as_str()) } };
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width,initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(links.map_or(POLICY, |_| &website::POLICY_WITH_SCRIPT));
                meta name="generator" content="retrial";
                @if links.is_some() { (website::render_feed_links()) }
                title { (document.title.as_str()) }
                style { (PreEscaped(STYLE)) (PreEscaped(svg::STYLE)) }
            }
            body class=[links.map(|_| "website")] {
                a.skip href="#main" { "Skip to the verdict" }
                header {
                    h1 { (document.title.as_str()) }
                    (made_by)
                    @if let Some(links) = links { (website::render_navigation("Pages", links)) }
                }
                main #main { (body) }
                footer {
                    @if let Some(links) = links { (website::render_navigation("Pages, again", links)) }
                    @for notice in page.notices.into_inner() { p.made { (notice.as_str()) } }
                    (made_by)
                }
                @if links.is_some() { script { (PreEscaped(website::SCRIPT)) } }
            }
        }
    };
    markup.into_string() + "\n"
}

fn tone_class(tone: Tone) -> &'static str {
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
struct HtmlPage {
    /// The number of charts, for their ids.
    charts: Counter<usize>,
    /// Notices that were shown: each is shown once in its place, and at the end.
    notices: RefCell<Vec<Line>>,
    /// The heading above: a caption that is the same is not shown again.
    heading: RefCell<String>,
}

impl HtmlPage {
    /// Renders blocks whose sections have headings of this level.
    fn render_blocks(&self, blocks: &[Block], level: u8) -> Markup {
        html! { @for render_block in blocks { (self.render_block(render_block, level)) "\n" } }
    }

    fn render_block(&self, block: &Block, level: u8) -> Markup {
        match block {
            Block::Conclusion(content) => self.render_conclusion(content),
            Block::Paragraph(text) => html! { p { (render_text(text)) } },
            Block::List(items) => render_list(items),
            Block::Table(table) => render_table(table, &self.heading.borrow()),
            Block::Charts(charts) => html! {
                div.charts { @for chart in charts { (self.render_figure(chart)) "\n" } }
            },
            Block::Verbatim(label, lines) => html! {
                pre tabindex="0" role="region" aria-label=(label.as_str()) {
                    @for line in lines { (line.as_str()) "\n" }
                }
            },
            Block::Folded(summary, blocks) => html! {
                details { summary { (summary.as_str()) } (self.render_blocks(blocks, level)) }
            },
            Block::Section(section) => self.render_section(section, level),
            Block::Notice(notice) => {
                let mut notices = self.notices.borrow_mut();
                if notices.contains(notice) {
                    return html! {};
                }
                notices.push(notice.clone());
                html! { blockquote { (notice.as_str()) } }
            }
        }
    }

    fn render_figure(&self, chart: &Chart) -> Markup {
        let number = self.charts.replace(self.charts.get() + 1);
        html! {
            figure class=[svg::is_wide(chart).then_some("full")] {
                figcaption { (Line::from(&chart.title).as_str()) }
                (svg::render_inline(chart, &format!("c{number}")))
            }
        }
    }

    fn render_conclusion(&self, content: &Conclusion) -> Markup {
        let tone = content.mark.map_or(Tone::Plain, |mark| mark.tone);
        html! {
            div class=(format!("verdict {}", tone_class(tone))) {
                p.word { @if let Some(mark) = content.mark { (mark.sign) " " } (content.word.as_str()) }
                @if !content.sentence.is_empty() { p { (content.sentence.as_str()) } }
                @for alert in &content.alerts { p { span.bad { "! " (alert.as_str()) } } }
            }
            @if let Some(chart) = &content.chart { div.charts { (self.render_figure(chart)) } }
            @if !content.remarks.is_empty() {
                dl.remarks {
                    @for (label, text) in &content.remarks {
                        dt { (label.as_str()) }
                        dd { (render_text(text)) }
                    }
                }
            }
        }
    }

    fn render_section(&self, section: &Section, level: u8) -> Markup {
        let title = section.title.as_str();
        title.clone_into(&mut self.heading.borrow_mut());
        let id = section.id.as_deref();
        html! {
            section aria-labelledby=[id] {
                @match level {
                    _ if title.is_empty() => {},
                    2 => h2 id=[id] { (title) },
                    3 => h3 id=[id] { (title) },
                    _ => h4 id=[id] { (title) },
                }
                (self.render_blocks(&section.blocks, level + 1))
            }
        }
    }
}

fn render_text(text: &StyledText) -> Markup {
    html! {
        @match text {
            StyledText::Plain(line) => (line.as_str()),
            StyledText::Code(line) => code { (line.as_str()) },
            StyledText::Faint(line) => span.faint { (line.as_str()) },
            StyledText::Link(line, path) => a href=(to_link_target(path)) { (line.as_str()) },
        }
    }
}

fn render_list(items: &[ListItem]) -> Markup {
    let marked = items.iter().any(|item| item.mark.is_some());
    let sign = |mark: StatusMark| html! { span class=(tone_class(mark.tone)) { (mark.sign) } };
    html! {
        ul class=[marked.then_some("marked")] {
            @for item in items {
                li {
                    @if let Some(mark) = item.mark { (sign(mark)) }
                    @if !item.key.is_empty() { strong { (item.key.as_str()) } " " }
                    (render_text(&item.text))
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

/// More columns are below each other on a narrow screen.
const MAX_UNSTACKED_COLUMNS: usize = 3;
/// Cells of at most this many letters are not wrapped.
const MAX_NOWRAP_LETTERS: usize = 16;
/// Notes of at most this many letters, after texts of at most so many, are lines of their own.
const MAX_NOTE_LINE_LETTERS: usize = 40;
const MAX_NOTED_LETTERS: usize = 24;
/// The size of a note's letters, of those of its text.
const NOTE_SIZE: f64 = 0.8;
/// The width of a letter in a table, rem: a generous guess, since fonts differ.
const LETTER_REM: f64 = 0.465;
/// The letters that are missing at the end of a line: in lists of words, and at most in subjects.
const BROKEN_LINE_LETTERS: f64 = 4.5;
const MAX_BROKEN_LETTERS: f64 = 7.0;
/// Narrower columns need no stated width, rem.
const MIN_STATED_WIDTH: f64 = 9.0;

/// A table in a region that scrolls by itself if it is too wide.
fn render_table(table: &Table, heading: &str) -> Markup {
    let used = table.used_columns();
    let caption = table.caption.as_str();
    let is_stacked = used.len() > MAX_UNSTACKED_COLUMNS;
    html! {
        div.table role="region" tabindex="0" aria-label=(caption) {
            table class=[is_stacked.then_some("stacked")] {
                caption class=[(caption == heading).then_some("hidden")] { (caption) }
                thead { tr { @for at in &used { (render_head(table, *at)) } } }
                @for group in &table.groups {
                    tbody {
                        @if let Some(title) = &group.title {
                            tr { th scope="rowgroup" colspan=(used.len()) { (render_content(title)) } }
                        }
                        @for row in &group.rows {
                            tr {
                                @for (at, cell) in used.iter().filter_map(|at| Some((at, row.get(*at)?))) {
                                    (render_cell(cell, &table.columns[*at], is_stacked))
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

/// Returns whether a note follows the text of its cell: a short one after a short text is a line of its own.
fn is_flowing(cell: &TableCell) -> bool {
    let (text, note) = (cell.text.chars().count(), cell.note.chars().count());
    note > MAX_NOTE_LINE_LETTERS || note > 0 && text > MAX_NOTED_LETTERS
}

/// The width of a text in letters: capitals and digits are wider than others.
fn count_letters(text: &str) -> f64 {
    let is_wide = |letter: &char| letter.is_uppercase() || letter.is_ascii_digit();
    to_f64(text.chars().count()) + to_f64(text.chars().filter(is_wide).count()) * 0.2
}

/// The letters of the longest part of a cell that a line cannot break.
fn longest_word(cell: &TableCell) -> f64 {
    let words = [&cell.text, &cell.note].into_iter();
    let words = words.flat_map(|line| line.split([' ', '-', '/']));
    to_f64(words.map(|word| word.chars().count()).max().unwrap_or(0))
}

/// The width with which each cell of a column takes at most two lines, rem.
fn two_line_width(table: &Table, at: usize) -> Option<f64> {
    let is_subject = table.columns[at].kind == ColumnKind::Head;
    let widths = table.rows().filter_map(|row| row.get(at)).map(|cell| {
        let text = count_letters(&cell.text);
        let note = count_letters(&cell.note) * NOTE_SIZE;
        let letters = if cell.note.is_empty() || is_flowing(cell) {
            let broken = if is_subject {
                (longest_word(cell) / 2.0).min(MAX_BROKEN_LETTERS)
            } else {
                BROKEN_LINE_LETTERS
            };
            f64::midpoint(text, note) + broken
        } else {
            text.max(note)
        };
        letters * LETTER_REM
    });
    let is_wrapped = table.columns[at].kind != ColumnKind::Number;
    let widest = is_wrapped.then(|| widths.fold(0.0, f64::max))?;
    (widest > MIN_STATED_WIDTH).then_some(widest)
}

fn render_head(table: &Table, at: usize) -> Markup {
    let column = &table.columns[at];
    let width = two_line_width(table, at).map(|width| format!("--width:{width:.1}rem"));
    html! {
        @if column.name.is_empty() { td {} }
        @else {
            th scope="col" class=[(column.kind == ColumnKind::Number).then_some("n")] style=[width] {
                (column.name.as_str())
                @if !column.note.is_empty() { " " small { (column.note.as_str()) } }
            }
        }
    }
}

/// The text of a cell, with its note and bar.
fn render_content(cell: &TableCell) -> Markup {
    html! {
        @match cell.link.as_deref().map(to_link_target) {
            Some(to) => a href=(to) { (cell.text.as_str()) },
            None => (cell.text.as_str()),
        }
        @if !cell.note.is_empty() { " " small.note { (cell.note.as_str()) } }
        @if let Some(ratio) = cell.ratio { (render_ratio_bar(ratio)) }
    }
}

/// The ratio at either end of a bar, above and below 1.
const BAR_RANGE: f64 = 0.2;

/// A bar from the middle, which is 1, to a ratio: to the right if it is above 1.
fn render_ratio_bar(ratio: f64) -> Markup {
    let end = ((ratio - 1.0) / BAR_RANGE).clamp(-1.0, 1.0) * 50.0 + 50.0;
    let place = format!(
        "left:{:.0}%;right:{:.0}%",
        end.min(50.0),
        100.0 - end.max(50.0)
    );
    html! { span.bar aria-hidden="true" { span style=(place) {} } }
}

/// A cell; a stacked one has its column's name as its label.
fn render_cell(cell: &TableCell, column: &Column, is_stacked: bool) -> Markup {
    let is_long = is_flowing(cell);
    let is_short = cell.text.chars().count() <= MAX_NOWRAP_LETTERS;
    let is_on_one_line = !is_long && (is_short || !cell.note.is_empty());
    let classes = [
        cell.tone.map(|tone| format!("w {}", tone_class(tone))),
        (column.kind == ColumnKind::Number && cell.tone.is_none()).then(|| "n".to_owned()),
        (column.kind != ColumnKind::Number && is_on_one_line).then(|| "s".to_owned()),
        is_long.then(|| "long".to_owned()),
    ];
    let classes = join(classes.into_iter().flatten(), " ");
    let class = Some(classes).filter(|classes| !classes.is_empty());
    let label = (is_stacked && !cell.text.is_empty()).then(|| column.full_name());
    html! {
        @match column.kind {
            ColumnKind::Head => th scope="row" class=[class] { (render_content(cell)) },
            _ => td class=[class] data-label=[label] {
                // One part of a grid next to the label.
                @if is_stacked { div { (render_content(cell)) } } @else { (render_content(cell)) }
            },
        }
    }
}

/// The characters that the target of a link is written without.
const ESCAPED_CHARACTERS: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~')
    .remove(b'/');

/// Returns a path as the target of a link: it has no scheme, host or fragment.
fn to_link_target(path: &str) -> String {
    if path.starts_with('#') {
        return path.to_owned();
    }
    let base = if path.starts_with('/') { "" } else { "./" };
    format!("{base}{}", utf8_percent_encode(path, ESCAPED_CHARACTERS))
}

#[cfg(test)]
mod tests;
