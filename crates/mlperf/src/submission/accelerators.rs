//! The number of accelerators that a system's name states, against its description.

use serde_json::{Map, Value};

use crate::check::RuleCheck;
use retrial_readings::nearest::truncate_for_message;

/// Words in place of a number where there is nothing to count.
const NOTHING: [&str; 5] = ["n/a", "na", "none", "-", "not applicable"];

/// Warns of a name like `8xMI300X_2xEPYC_9575F` or `H100-SXM-80GBx8_TRT` whose number the description
/// does not have. Only numbers of what the description names as an accelerator count.
pub fn check_accelerator_count(name: &str, system: &Map<String, Value>) -> Option<RuleCheck> {
    let model = keep_letters_and_digits(system.get("accelerator_model_name")?.as_str()?);
    let per_node = to_count(system.get("accelerators_per_node")?).filter(|count| *count > 0)?;
    let nodes = system.get("number_of_nodes").and_then(to_count);
    let described = per_node * nodes.filter(|count| *count > 0).unwrap_or(1);
    let stated = stated_accelerator_count(name, &model)?;
    (stated != described).then(|| {
        let rule = "accelerators by the system's name";
        let required = format!("{described}, by the system's description");
        RuleCheck::warning(rule, stated.to_string(), required)
    })
}

/// Warns of numbers of nodes and accelerators that are none. Text counts, with words behind it or none at all, as
/// submitters write it; so does a system without accelerators.
pub fn check_counts(system: &Map<String, Value>) -> Vec<RuleCheck> {
    let fields = ["number_of_nodes", "accelerators_per_node"].into_iter();
    let wrong = fields.filter_map(|field| {
        let value = system.get(field)?;
        let is_count = match value {
            Value::String(text) => {
                let text = text.trim();
                let stated = text
                    .chars()
                    .next()
                    .filter(|_| !NOTHING.contains(&text.to_lowercase().as_str()));
                stated.is_none_or(|first| first.is_ascii_digit())
            }
            Value::Null => true,
            value => value.as_u64().is_some(),
        };
        (!is_count).then(|| {
            RuleCheck::warning(field, truncate_for_message(&value.to_string()), "a number")
        })
    });
    wrong.collect()
}

/// Returns the sum of the numbers in a name.
fn stated_accelerator_count(name: &str, model: &str) -> Option<u64> {
    let is_model = |word: &str| {
        let word = keep_letters_and_digits(word);
        !word.is_empty() && model.contains(&word)
    };
    let words: Vec<&str> = name.split(['_', '-', ' ']).collect();
    let found_counts = words.iter().enumerate().filter_map(|(at, word)| {
        let before = words[..at].last().copied().unwrap_or_default();
        let (first, last) = (word.find(['x', 'X'])?, word.rfind(['x', 'X'])?);
        let leading = word[..first].parse().ok();
        let trailing = word[last + 1..].parse().ok();
        match (leading, trailing) {
            (Some(count), _) if is_model(&word[first + 1..]) => Some(count),
            // `h100_x8`
            (_, Some(count)) if last == 0 => is_model(before).then_some(count),
            (_, Some(count)) if is_model(&word[..last]) => Some(count),
            _ => None,
        }
    });
    let counts: Vec<u64> = found_counts.collect();
    (!counts.is_empty()).then(|| counts.iter().sum())
}

/// Reads a number, which submitters also write as text.
fn to_count(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        value => value.as_u64(),
    }
}

fn keep_letters_and_digits(text: &str) -> String {
    let kept = text.chars().filter(char::is_ascii_alphanumeric);
    kept.collect::<String>().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case("8xMI300X_2xEPYC_9575F", "AMD Instinct MI300X 192GB HBM3", json!(8), json!(1), None)]
    #[case("8xMI300X_2xEPYC_9575F", "AMD Instinct MI300X 192GB HBM3", json!(4), json!(1), Some("8"))]
    #[case("8xMI300X_2xEPYC_9575F", "AMD Instinct MI300X 192GB HBM3", json!("8"), json!("2"), Some("8"))]
    #[case("16xMI325X_8xMI300X", "AMD MI325X (x16), AMD MI300X (x8)", json!(8), json!(3), None)]
    #[case("DGX-H100_H100-SXM-80GBx32_TRT", "NVIDIA H100-SXM-80GB", json!(8), json!(4), None)]
    #[case("XE9680_H100_SXM_80GBx8_TRT", "NVIDIA H100-SXM-80GB", json!(4), json!(1), Some("8"))]
    #[case("ESC4000A_E12_4XH100_TRT", "NVIDIA H100-NVL-94GB", json!(8), json!(1), Some("4"))]
    #[case("h100_x8", "NVIDIA H100-SXM-80GB", json!(4), json!(1), Some("8"))]
    #[case("xe9680_mi300x_x8_vllm", "AMD Instinct MI300X", json!(8), json!(1), None)]
    // Numbers of something else.
    #[case("GB200-NVL72_GB200-186GB_aarch64x72", "NVIDIA GB200", json!(4), json!(1), None)]
    #[case("R770_XEON6787Px2", "N/A", json!("0"), json!("1"), None)]
    #[case("gx3-48x240x2l40s_vLLM", "NVIDIA L40S", json!("1"), json!("1"), None)]
    fn a_name_is_compared_with_the_description(
        #[case] name: &str,
        #[case] model: &str,
        #[case] per_node: Value,
        #[case] nodes: Value,
        #[case] warned: Option<&str>,
    ) {
        let system = json!({
            "accelerator_model_name": model,
            "accelerators_per_node": per_node,
            "number_of_nodes": nodes,
        });
        let check = check_accelerator_count(name, system.as_object().unwrap());
        assert!(check.iter().all(|check| check.warning && check.passed));
        assert_eq!(check.map(|check| check.measured).as_deref(), warned);
    }
}
