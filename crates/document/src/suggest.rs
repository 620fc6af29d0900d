//! Suggestions for misspelt and ambiguous words.

use std::fmt::Display;

/// The most names that a list of choices has.
const MAX_CHOICES: usize = 10;

/// Returns the candidate that is nearest to the written text, if it is near enough to be a slip.
pub fn find_nearest<'a>(
    written: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    // The distance takes the product of the lengths; no key is that long.
    if written.len() > 100 {
        return None;
    }
    let low = |text: &str| text.to_lowercase().replace('-', "_");
    let written_low = low(written);
    let length = written.chars().count();
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let other = candidate.chars().count();
            let most = (length.max(other) / 3).max(usize::from(length > 1));
            if length.abs_diff(other) > most {
                return None;
            }
            let distance = strsim::osa_distance(&written_low, &low(candidate));
            (distance <= most).then_some((distance, candidate))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Returns "did you mean" with the candidate of which the word is probably a misspelling, if there is one.
pub fn suggest_nearest<'a>(
    written: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    find_nearest(written, candidates).map(suggest_name)
}

/// Returns "did you mean" with a name.
pub fn suggest_name(name: impl Display) -> String {
    format!("did you mean `{name}`?")
}

/// Returns the names among which a person has to choose, one a line, and counts those beyond the first ten.
pub fn list_choices<Name: Display>(names: &[Name]) -> String {
    let mut lines = vec!["choose one:".to_owned()];
    lines.extend(names.iter().take(MAX_CHOICES).map(|name| format!("  {name}")));
    let more = names.len().saturating_sub(MAX_CHOICES);
    lines.extend((more > 0).then(|| format!("  and {more} more")));
    lines.join("\n")
}

/// Returns "did you mean", or a list of the candidates after the words of `otherwise`.
pub fn did_you_mean<'a>(
    written: &str,
    candidates: impl IntoIterator<Item = &'a str> + Clone,
    otherwise: &str,
) -> String {
    if let Some(suggestion) = suggest_nearest(written, candidates.clone()) {
        return suggestion;
    }
    let all: Vec<&str> = candidates.into_iter().collect();
    if all.is_empty() {
        return "there are none".to_owned();
    }
    format!("{otherwise}: {}", all.join(", "))
}
