//! Links between the pages lead to files and headings that exist.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use regex::Regex;

use crate::root;

fn pages() -> Vec<PathBuf> {
    let documents = std::fs::read_dir(root().join("docs")).unwrap();
    let mut pages: Vec<PathBuf> = documents.map(|entry| entry.unwrap().path()).collect();
    pages.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    pages.extend(["README.md", "CONTRIBUTING.md"].map(|name| root().join(name)));
    pages
}

/// The text outside of fenced blocks, whose `#` are comments.
fn prose(page: &Path) -> String {
    let text = std::fs::read_to_string(page).unwrap();
    let blocks = text.split("\n```");
    let outside = blocks.step_by(2).collect::<Vec<_>>();
    outside.join("\n")
}

/// The anchors of a page's headings, as code hosts derive them.
fn anchors(page: &Path) -> BTreeSet<String> {
    let text = prose(page);
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|line| {
            let heading = line.trim_start_matches('#').trim().to_lowercase();
            let is_kept = |letter: &char| letter.is_alphanumeric() || " -_".contains(*letter);
            heading.chars().filter(is_kept).collect::<String>()
        })
        .map(|heading| heading.replace(' ', "-"))
        .collect()
}

#[test]
fn every_link_of_a_page_leads_to_a_file_and_a_heading() {
    let link = Regex::new(r"\]\(([^)#\s:]*)(?:#([^)\s]*))?\)").unwrap();
    let mut broken = Vec::new();
    for page in pages() {
        for found in link.captures_iter(&prose(&page)) {
            let target = match &found[1] {
                "" => page.clone(),
                path => page.parent().unwrap().join(path),
            };
            let is_heading = |anchor: &str| anchors(&target).contains(anchor);
            let is_there =
                target.exists() && found.get(2).is_none_or(|anchor| is_heading(anchor.as_str()));
            if !is_there {
                broken.push(format!("{}: {}", page.display(), &found[0]));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn every_question_of_the_decisions_is_in_their_index() {
    let page = root().join("docs/decisions.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let questions = text.lines().filter_map(|line| line.strip_prefix("### "));
    let absent: Vec<&str> =
        questions.filter(|question| !text.contains(&format!("[{question}](#"))).collect();
    assert!(absent.is_empty(), "{absent:#?}");
}
