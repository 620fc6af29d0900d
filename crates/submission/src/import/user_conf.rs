//! `user.conf`: the settings of `LoadGen` that a submitter chose. Pure.

/// Returns the value of a key for a scenario. The last line with the key applies, as for `LoadGen`. None if
/// the file has different values for several models: only the harness knows which model was measured.
pub(super) fn find_value(text: &str, scenario: &str, key: &str) -> Option<f64> {
    let mut values: Vec<(&str, f64)> = Vec::new();
    for line in text.lines() {
        let setting = line.split('#').next().unwrap_or_default();
        let Some((name, value)) = setting.split_once('=') else {
            continue;
        };
        // A model's name may have dots: `llama3.1-405b.Server.target_qps`.
        let mut parts = name.trim().rsplitn(3, '.');
        let (Some(last), Some(section), Some(model)) = (parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        let is_match = last == key && (section == scenario || section == "*");
        if let (true, Ok(value)) = (is_match, value.trim().parse()) {
            values.retain(|(other, _)| *other != model);
            values.push((model, value));
        }
    }
    let (_, first) = *values.first()?;
    let is_same = |(_, value): &(&str, f64)| (value - first).abs() <= f64::EPSILON * first.abs();
    values.iter().all(is_same).then_some(first)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const TEXT: &str = "# llama2\n*.Server.target_qps = 100\n*.Server.target_qps = 124.2 # at last\n\
        llama3.1-405b.Offline.target_qps = 3\n*.*.min_duration = 600000\n\
        a.SingleStream.target_latency = 1\nb.SingleStream.target_latency = 2\n";

    #[rstest]
    #[case("Server", "target_qps", Some(124.2))]
    #[case("Offline", "target_qps", Some(3.0))]
    #[case("Offline", "min_duration", Some(600_000.0))]
    #[case("SingleStream", "target_latency", None)]
    #[case("Interactive", "target_qps", None)]
    fn the_last_matching_line_applies(
        #[case] scenario: &str,
        #[case] key: &str,
        #[case] expected: Option<f64>,
    ) {
        assert_eq!(find_value(TEXT, scenario, key), expected);
    }
}
