//! The accelerators of a system, by its description: vendor, models and numbers. Pure.

use itertools::Itertools as _;
use serde_json::{Map, Value};

use retrial_recipe::model::GpuVendor;

/// The accelerators of a system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accelerators {
    /// The name, as the submitter wrote it.
    pub name: String,
    /// The vendor, if a recipe can require its GPUs: AMD or NVIDIA.
    pub vendor: Option<GpuVendor>,
    /// Models of accelerator, as recipes name them: `MI355X`.
    pub models: Vec<String>,
    /// The number of accelerators of one machine.
    pub per_node: Option<u32>,
    /// The number of accelerators of all machines.
    pub total: Option<u32>,
}

impl Accelerators {
    /// Reads a system's description; none if it has no accelerator.
    pub fn from_description(description: &Map<String, Value>) -> Option<Self> {
        let name = description.get("accelerator_model_name")?.as_str()?.trim();
        let per_node = read_number(description, "accelerators_per_node");
        let none = ["", "n/a", "na", "none", "-", "0"];
        if none.contains(&name.to_lowercase().as_str()) || per_node == Some(0) {
            return None;
        }
        let vendor = detect_vendor(name);
        let total =
            sum_model_counts(name).or_else(|| Some(per_node? * count_machines(description)));
        Some(Self {
            name: name.to_owned(),
            vendor,
            models: match vendor {
                Some(GpuVendor::Amd) => amd_models(name),
                Some(GpuVendor::Nvidia) => vec![nvidia_model(name)],
                None => Vec::new(),
            },
            per_node,
            total,
        })
    }

    /// Returns the number and the models: `8 x MI355X`.
    pub fn format_count_and_models(&self) -> String {
        let names = self.model_names().join(" and ");
        match self.total {
            Some(total) => format!("{total} x {names}"),
            None => names,
        }
    }

    /// Returns the models, or the submitter's name for them if no model is known.
    pub fn model_names(&self) -> &[String] {
        match self.models[..] {
            [] => std::slice::from_ref(&self.name),
            _ => &self.models,
        }
    }

    /// Returns whether `other` has the same models in the same number.
    pub fn is_like(&self, other: &Self) -> bool {
        self.model_names() == other.model_names()
            && self.total.is_some()
            && self.total == other.total
    }
}

/// Returns the number of machines of a system; one if its description does not state it.
pub fn count_machines(description: &Map<String, Value>) -> u32 {
    let nodes = read_number(description, "number_of_nodes");
    nodes.filter(|count| *count > 0).unwrap_or(1)
}

/// A number, which submitters also write as text, some with words behind it.
fn read_number(description: &Map<String, Value>, field: &str) -> Option<u32> {
    match description.get(field)? {
        Value::String(text) => parse_leading_digits(text.trim()),
        value => value.as_u64()?.try_into().ok(),
    }
}

fn parse_leading_digits(text: &str) -> Option<u32> {
    let end = text.find(|letter: char| !letter.is_ascii_digit());
    text[..end.unwrap_or(text.len())].parse().ok()
}

/// `… (x8) and … (x16)`: the numbers of a system of several models.
fn sum_model_counts(name: &str) -> Option<u32> {
    let counts = name.split("(x").skip(1).filter_map(parse_leading_digits);
    counts.reduce(u32::saturating_add)
}

fn detect_vendor(name: &str) -> Option<GpuVendor> {
    let lower = name.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if has(&["nvidia", "tesla"]) {
        Some(GpuVendor::Nvidia)
    } else if has(&["amd", "instinct", "radeon"]) {
        Some(GpuVendor::Amd)
    } else {
        None
    }
}

/// `MI300X` and `MI325X`, each once.
fn amd_models(name: &str) -> Vec<String> {
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    let is_model = |word: &&str| {
        let number = word.strip_prefix("MI");
        number.is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
    };
    let models = words.filter(is_model).unique();
    models.map(str::to_owned).collect()
}

/// `H200` of `NVIDIA H200-SXM-141GB`: MLCommons' names also have the form factor and the memory.
fn nvidia_model(name: &str) -> String {
    let model = name.split("NVIDIA ").last().unwrap_or(name).trim();
    let is_name = |part: &&str| {
        let memory = part.trim_end_matches("GB").trim_end_matches('G');
        *part != "SXM" && (memory.len() == part.len() || memory.parse::<u32>().is_err())
    };
    model.split('-').filter(is_name).join(" ")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case("AMD Instinct MI355X 288GB HBM3e", json!(8), json!("1"), "8 x MI355X")]
    #[case("AMD Instinct MI355X 288GB HBM3e (x87)", json!("8"), json!(11), "87 x MI355X")]
    #[case("AMD Instinct MI300X 192GB HBM3 (x32), AMD Instinct MI325X 256GB HBM3e (x16)", json!(8), json!(6), "48 x MI300X and MI325X")]
    #[case("NVIDIA H200-SXM-141GB", json!(8), json!(1), "8 x H200")]
    #[case("NVIDIA H200-NVL-141GB", json!(8), json!(1), "8 x H200 NVL")]
    #[case("TPU v6", json!(4), json!(2), "8 x TPU v6")]
    fn accelerators_are_read_from_descriptions(
        #[case] name: &str,
        #[case] per_node: Value,
        #[case] nodes: Value,
        #[case] shown: &str,
    ) {
        let described = json!({
            "accelerator_model_name": name, "accelerators_per_node": per_node, "number_of_nodes": nodes,
        });
        let accelerators = Accelerators::from_description(described.as_object().unwrap()).unwrap();
        assert_eq!(accelerators.format_count_and_models(), shown);
    }

    #[rstest]
    #[case(json!({ "accelerator_model_name": "N/A", "accelerators_per_node": 0 }))]
    #[case(json!({ "accelerator_model_name": "" }))]
    #[case(json!({}))]
    fn systems_without_accelerators_have_none(#[case] described: Value) {
        assert_eq!(Accelerators::from_description(described.as_object().unwrap()), None);
    }
}
