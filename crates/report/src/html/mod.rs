//! Documents as one self-contained HTML page without scripts. Its content security policy forbids loading
//! or running anything, whatever text it contains. Pages of a website have links and one script.

mod table;
mod table_width;
mod website;

use std::cell::{Cell as Counter, RefCell};

use maud::{DOCTYPE, Markup, PreEscaped, html};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::charts::Chart;
use super::document::{
    Block, Conclusion, Document, Line, LinkTarget, ListItem, Section, StatusMark, StyledText, Tone,
};
use super::svg;
use table::render_table;

const STYLE: &str = include_str!("style.css");
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
/// The mark of our pages, in their first lines.
pub const GENERATOR: &str = "<meta name=\"generator\" content=\"retrial\"";

pub fn render_html(document: &Document) -> String {
    render_page(document, None)
}

/// Renders a document as a page of a website: it links other pages, and its tables can be filtered.
pub fn render_website_page(document: &Document, links: &[(Line, String)]) -> String {
    render_page(document, Some(links))
}

/// A page; in a website, with links to others.
fn render_page(document: &Document, links: Option<&[(Line, String)]>) -> String {
    let page = HtmlPage { is_website: links.is_some(), ..HtmlPage::default() };
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
                @if links.is_some() { (website::render_feed_link()) }
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
    is_website: bool,
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
            Block::Table(table) => render_table(table, &self.heading.borrow(), self.is_website),
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
                @if !content.sentence.is_empty() { p { (render_prose(&content.sentence)) } }
                @for alert in &content.alerts { p { span.bad { "! " (render_prose(alert)) } } }
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
            StyledText::Plain(line) => (render_prose(line)),
            StyledText::Code(line) => code { (line.as_str()) },
            StyledText::Faint(line) => span.faint { (render_prose(line)) },
            StyledText::Link(line, target) => a href=(link_address(target)) { (line.as_str()) },
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
                            (render_text(text))
                        }
                    }
                }
            }
        }
    }
}

/// Code of at most this many letters in a sentence is not wrapped: it fits the screen of a phone.
const MAX_NOWRAP_CODE_LETTERS: usize = 32;

/// A sentence, with the text between two backticks as code.
fn render_prose(text: &str) -> Markup {
    let is_short = |code: &str| code.chars().count() <= MAX_NOWRAP_CODE_LETTERS;
    let parts: Vec<&str> = text.split('`').collect();
    let count = parts.len();
    html! {
        @for (at, part) in parts.into_iter().enumerate() {
            @if at % 2 == 0 { (part) }
            @else if at + 1 < count { code class=[is_short(part).then_some("s")] { (part) } }
            @else { "`" (part) }
        }
    }
}

/// The characters that the target of a link is written without.
const ESCAPED_CHARACTERS: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b'/');

/// Returns a path as the target of a link: it has no scheme, host or fragment.
fn to_link_target(path: &str) -> String {
    if path.starts_with('#') {
        return path.to_owned();
    }
    let base = if path.starts_with('/') { "" } else { "./" };
    format!("{base}{}", utf8_percent_encode(path, ESCAPED_CHARACTERS))
}

/// Returns the address of a file, and of the passage in it, as browsers find it in a text.
fn link_address(target: &LinkTarget) -> String {
    let path = to_link_target(&target.path);
    match &target.passage {
        Some(passage) => {
            format!("{path}#:~:text={}", utf8_percent_encode(passage, NON_ALPHANUMERIC))
        }
        None => path,
    }
}

#[cfg(test)]
mod tests;
