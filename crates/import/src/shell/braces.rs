//! Lists in braces, which bash expands before anything else.

use brush_parser::word::{BraceExpressionMember, BraceExpressionOrText};

use super::parse::parser_options;

/// Expands lists in braces: `renderD{128,129}`.
pub fn expand_braces(text: &str) -> Vec<String> {
    let is_plain = text.contains('{') && !text.contains(['$', '"', '\'', '\\', '`']);
    let parsed =
        is_plain.then(|| brush_parser::word::parse_brace_expansions(text, &parser_options()));
    match parsed {
        Some(Ok(Some(pieces))) => combine_braces(&pieces),
        _ => vec![text.to_owned()],
    }
}

fn combine_braces(pieces: &[BraceExpressionOrText]) -> Vec<String> {
    let mut out = vec![String::new()];
    for piece in pieces {
        let choices = match piece {
            BraceExpressionOrText::Text(text) => vec![text.clone()],
            BraceExpressionOrText::Expr(members) => members.iter().flat_map(list_member).collect(),
        };
        out = out
            .iter()
            .flat_map(|start| choices.iter().map(move |end| format!("{start}{end}")))
            .collect();
    }
    out
}

fn list_member(member: &BraceExpressionMember) -> Vec<String> {
    match member {
        BraceExpressionMember::Child(pieces) => combine_braces(pieces),
        BraceExpressionMember::NumberSequence { start, end, increment } => {
            let step = usize::try_from(increment.unsigned_abs()).unwrap_or(1).max(1);
            let range = *start.min(end)..=*start.max(end);
            let mut numbers: Vec<i64> = range.take(10_000).collect();
            if start > end {
                numbers.reverse();
            }
            numbers.into_iter().step_by(step).map(|number| number.to_string()).collect()
        }
        BraceExpressionMember::CharSequence { start, end, .. } => {
            let range = *start.min(end)..=*start.max(end);
            let mut letters: Vec<char> = range.collect();
            if start > end {
                letters.reverse();
            }
            letters.into_iter().map(String::from).collect()
        }
    }
}
