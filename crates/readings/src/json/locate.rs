//! Where a value stands in the text of its document, for people who look it up. It must not decide what is read.

use std::ops::Range;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Deserializer, Value};
use serde_json_path::PathElement;

use super::documents::MAX_BEGINNINGS_PER_LINE;
use crate::json_path::parse_json_path;

/// Returns the bytes of a value in a text on whose first line its document begins: of the one of this number, from 0,
/// among those that the path selects, or of its `member`. None where the document is not printed as JSON has it.
pub fn locate_value(
    text: &str,
    path: &str,
    member: Option<&str>,
    number: u32,
) -> Option<Range<usize>> {
    let first_line = text.lines().next()?;
    let mut brackets = first_line.match_indices(['{', '[']).take(MAX_BEGINNINGS_PER_LINE);
    brackets.find_map(|(begin, _)| {
        let range = locate_in_document(&text[begin..], path, member, number)?;
        Some(range.start + begin..range.end + begin)
    })
}

fn locate_in_document(
    text: &str,
    path: &str,
    member: Option<&str>,
    number: u32,
) -> Option<Range<usize>> {
    let document = Deserializer::from_str(text).into_iter::<Value>().next()?.ok()?;
    let selected = parse_json_path(path).ok()?.query_located(&document).all();
    let location = selected.get(number as usize)?.location();
    let member = member.map(PathElement::Name);
    location.iter().chain(&member).try_fold(0..text.len(), |range, element| {
        let inner = match element {
            PathElement::Name(name) => find_member(&text[range.clone()], name),
            PathElement::Index(index) => find_item(&text[range.clone()], *index),
        }?;
        Some(range.start + inner.start..range.start + inner.end)
    })
}

/// Returns the bytes of an object's member; of several with one name the last, as it is read.
fn find_member(object: &str, name: &str) -> Option<Range<usize>> {
    let mut at = skip_to(object, 0, '{')?;
    let mut found = None;
    loop {
        let key_length = value_length::<String>(&object[at..]);
        let Some((key, length)) = key_length else { return found };
        let begin = skip_to(object, at + length, ':')?;
        let (_, length) = value_length::<IgnoredAny>(&object[begin..])?;
        if key == name {
            found = Some(without_space(object, begin, begin + length));
        }
        match skip_to(object, begin + length, ',') {
            Some(next) => at = next,
            None => return found,
        }
    }
}

fn find_item(list: &str, index: usize) -> Option<Range<usize>> {
    let mut at = skip_to(list, 0, '[')?;
    for _ in 0..index {
        let (_, length) = value_length::<IgnoredAny>(&list[at..])?;
        at = skip_to(list, at + length, ',')?;
    }
    let (_, length) = value_length::<IgnoredAny>(&list[at..])?;
    Some(without_space(list, at, at + length))
}

/// Reads the value that begins here, and returns it with the bytes up to its end.
fn value_length<'a, T: Deserialize<'a>>(text: &'a str) -> Option<(T, usize)> {
    let mut values = Deserializer::from_str(text).into_iter::<T>();
    let value = values.next()?.ok()?;
    Some((value, values.byte_offset()))
}

/// Returns the byte behind a sign, if it is the next but for white space.
fn skip_to(text: &str, from: usize, sign: char) -> Option<usize> {
    let rest = text.get(from..)?.trim_start();
    rest.starts_with(sign).then(|| text.len() - rest.len() + sign.len_utf8())
}

fn without_space(text: &str, begin: usize, end: usize) -> Range<usize> {
    let value = text[begin..end].trim_start();
    end - value.len()..end
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::member(r#"{"a": 1, "rate": 812.5}"#, "$.rate", None, 0, Some("812.5"))]
    #[case::nested("{\"a\": {\n  \"rate\" : 812.5\n}}", "$.a.rate", None, 0, Some("812.5"))]
    #[case::in_a_list(
        r#"{"runs": [{"r": 1}, {"r": "2,5"}]}"#,
        "$.runs[*].r",
        None,
        1,
        Some("\"2,5\"")
    )]
    #[case::anywhere(r#"[{"r": 1}, {"x": {"r": 2}}]"#, "$..r", None, 1, Some("2"))]
    #[case::of_a_table(r#"[{"k": "a", "v": 7}]"#, "$[*]", Some("v"), 0, Some("7"))]
    #[case::behind_text(r#"[rank0]: {"rate": 3} done"#, "$.rate", None, 0, Some("3"))]
    #[case::twice(r#"{"rate": 1, "rate": 2}"#, "$.rate", None, 0, Some("2"))]
    #[case::absent(r#"{"a": 1}"#, "$.rate", None, 0, None)]
    #[case::not_json(r#"{"a": nan, "rate": 1}"#, "$.rate", None, 0, None)]
    #[case::cut(r#"{"a": 1, "rate": 1"#, "$.rate", None, 0, None)]
    fn a_value_is_found_in_its_text(
        #[case] text: &str,
        #[case] path: &str,
        #[case] member: Option<&str>,
        #[case] number: u32,
        #[case] expected: Option<&str>,
    ) {
        let found = locate_value(text, path, member, number).map(|range| &text[range]);
        assert_eq!(found, expected);
    }
}
