//! What was meant.

/// The candidate that is nearest to what was written, if it is near enough to be a slip.
pub(crate) fn nearest<'a>(
    written: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    // The distance takes the product of the lengths; no key is that long.
    if written.len() > 100 {
        return None;
    }
    let written_low = written.to_lowercase().replace('-', "_");
    candidates
        .into_iter()
        .map(|candidate| {
            let candidate_low = candidate.to_lowercase().replace('-', "_");
            (
                strsim::damerau_levenshtein(&written_low, &candidate_low),
                candidate,
            )
        })
        .filter(|(distance, candidate)| {
            let length = written.chars().count().max(candidate.chars().count());
            *distance <= length / 3 || (*distance == 1 && length > 1)
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// "did you mean", or the list of what there is, after words of `otherwise`.
pub(crate) fn did_you_mean<'a>(
    written: &str,
    candidates: impl IntoIterator<Item = &'a str> + Clone,
    otherwise: &str,
) -> String {
    if let Some(near) = nearest(written, candidates.clone()) {
        return format!("did you mean `{near}`?");
    }
    let all: Vec<&str> = candidates.into_iter().collect();
    if all.is_empty() {
        return "there are none".to_owned();
    }
    format!("{otherwise}: {}", all.join(", "))
}
