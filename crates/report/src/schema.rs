//! JSON schemas of `--output json`, from the printed types.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use super::content::tree::TreeVerdict;
use super::json::Report;
use retrial_batch::verdict::BatchVerdict;
use retrial_bundle::verification::Verification;
use retrial_results::verdict::Verdict;
use retrial_results::verdict::comparison::{Comparison, Comparisons};

/// Of a verdict, as pretty JSON with a newline at its end.
pub fn verdict() -> String {
    written::<Verdict>("Retrial verdict")
}

/// Of a comparison.
pub fn comparison() -> String {
    written::<Comparison>("Retrial comparison")
}

/// Of a report on runs and folders of results.
pub fn report() -> String {
    written::<Report<'_>>("Retrial report")
}

/// Of the comparisons of a history.
pub fn comparisons() -> String {
    written::<Comparisons>("Retrial comparisons")
}

/// Of the verdicts on a submission tree.
pub fn tree() -> String {
    written::<TreeVerdict>("Retrial verdicts on a submission tree")
}

/// Of the verdict on a batch.
pub fn batch_verdict() -> String {
    written::<BatchVerdict>("Retrial verdict on a batch")
}

/// Of the verification of a run's archive.
pub fn verification() -> String {
    written::<Verification>("Retrial verification")
}

fn written<T: schemars::JsonSchema>(title: &str) -> String {
    let generator = SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator();
    let mut schema = Map::new();
    schema.insert(
        "$schema".to_owned(),
        Value::from("https://json-schema.org/draft/2020-12/schema"),
    );
    schema.insert("title".to_owned(), Value::from(title));
    let of_type = generator.into_root_schema_for::<T>().to_value();
    for (name, value) in of_type.as_object().into_iter().flatten() {
        schema.entry(name).or_insert_with(|| value.clone());
    }
    format!("{:#}\n", Value::Object(schema))
}
