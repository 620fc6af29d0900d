//! The figures of an `accuracy.txt`, where no recipe says how they are printed.

use std::collections::BTreeMap;
use std::path::Path;

use super::figures::{self, Text};
use crate::recipe::model::{Aggregate, Better, FigureSource, Find, Take};
use crate::verdict::FigureValue;

/// The file that `MLPerf Inference`'s accuracy scripts leave beside the log.
pub const ACCURACY: &str = "accuracy.txt";

/// The lines that the suite's accuracy scripts print: a figure's name, a pattern, a unit.
const PRINTED: [(&str, &str, &str); 12] = [
    ("rouge1", "'rouge1': ([0-9.]+)", ""),
    ("rouge2", "'rouge2': ([0-9.]+)", ""),
    ("rougeL", "'rougeL': ([0-9.]+)", ""),
    ("tokens_per_sample", "'tokens_per_sample': ([0-9.]+)", ""),
    ("exact_match", "['\"]exact_match['\"]: *([0-9.]+)", "%"),
    ("f1", "['\"]f1['\"]: *([0-9.]+)", "%"),
    ("accuracy", "(?:^|[ ,])accuracy=([0-9.]+)%", "%"),
    ("mAP", "mAP=([0-9.]+)%", "%"),
    ("AUC", "AUC=([0-9.]+)", "%"),
    ("mean_dice", "Accuracy: mean = ([0-9.]+)", ""),
    ("FID_SCORE", "FID_SCORE['\"]?: *['\"]?([0-9.]+)", ""),
    ("CLIP_SCORE", "CLIP_SCORE['\"]?: *['\"]?([0-9.]+)", ""),
];

/// What an `accuracy.txt` in this folder says; nothing where there is none.
#[must_use]
pub fn read(folder: &Path) -> BTreeMap<String, FigureValue> {
    let text = [Text {
        directory: folder.to_owned(),
        file: ACCURACY.into(),
    }];
    PRINTED
        .into_iter()
        .filter_map(|(name, pattern, unit)| {
            let source = FigureSource {
                find: Find::Pattern(pattern.to_owned()),
                file: None,
                by: Vec::new(),
                unit: Some(unit.to_owned()).filter(|unit| !unit.is_empty()),
                better: Better::Higher,
                take: Take::Last,
                aggregate: Aggregate::Mean,
                noise: None,
            };
            let mut found = figures::find(name, &source, &text).ok()?;
            Some((name.to_owned(), found.remove(name)?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(text: &str) -> Vec<(String, f64)> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(ACCURACY), text).unwrap();
        let found = read(folder.path());
        found
            .into_iter()
            .map(|(name, figure)| (name, figure.value))
            .collect()
    }

    #[test]
    fn what_the_suites_scripts_print() {
        let one = |name: &str, value: f64| vec![(name.to_owned(), value)];
        assert_eq!(
            figures("accuracy=76.078%, good=38039, total=50000\nhash=0f"),
            one("accuracy", 76.078)
        );
        assert_eq!(
            figures("AUC=80.24119408703937\n"),
            one("AUC", 80.241_194_087_039_37)
        );
        assert_eq!(
            figures("Accuracy: mean = 0.86112, kidney = 0.9346, tumor = 0.7877\n"),
            one("mean_dice", 0.86112)
        );
        let rouge =
            figures("{'rouge1': 44.5633, 'rouge2': 22.1252, 'rougeL': 28.7479, 'gen_len': 1}");
        assert_eq!(rouge.len(), 3);
        assert!(figures("hash=0f").is_empty());
    }
}
