//! `user.conf`: what a submitter asked of `LoadGen`. Pure.

/// The value of a key for a scenario; the last line that has it counts, as `LoadGen` reads it. None
/// where models of the file differ in it: which of them is meant, only the harness knows.
pub(super) fn value(text: &str, scenario: &str, key: &str) -> Option<f64> {
    let mut found: Vec<(&str, f64)> = Vec::new();
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default();
        let Some((name, value)) = line.split_once('=') else {
            continue;
        };
        // A model's name may have dots: `llama3.1-405b.Server.target_qps`.
        let mut parts = name.trim().rsplitn(3, '.');
        let (Some(last), Some(of), Some(model)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        let is_meant = last == key && (of == scenario || of == "*");
        if let (true, Ok(value)) = (is_meant, value.trim().parse()) {
            found.retain(|(known, _)| *known != model);
            found.push((model, value));
        }
    }
    let (_, first) = *found.first()?;
    let is_same = |(_, value): &(&str, f64)| (value - first).abs() <= f64::EPSILON * first.abs();
    found.iter().all(is_same).then_some(first)
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
    fn values(#[case] scenario: &str, #[case] key: &str, #[case] expected: Option<f64>) {
        assert_eq!(value(TEXT, scenario, key), expected);
    }
}
