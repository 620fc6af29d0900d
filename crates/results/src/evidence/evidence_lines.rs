//! The lines of a result's files that state what its violated rules and its warnings are about.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use itertools::Itertools as _;

use crate::verdict::ResultVerdict;
use retrial_mlperf::check::{EvidenceLine, StatingLines};
use retrial_mlperf::submission_layout::PERFORMANCE_RUN;
use retrial_readings::decode::Utf8Blocks;
use retrial_readings::lines::LineSplitter;
use retrial_readings::nearest::truncate_to_chars;
use retrial_recipe::model::Mode;
use retrial_store::{blocks, open};

/// The most lines of a rule.
const MAX_LINES_OF_RULE: usize = 12;
/// An entry of `LoadGen` has its key and its value at the beginning.
const MAX_CHARS_OF_LINE: usize = 160;
/// The longest line that is looked at whole.
const MAX_LINE_BYTES: usize = 1 << 20;

/// Adds the lines that state each notable rule of a result, and its figure where that differs from the published one.
/// Files are read beneath the tree's root, each once.
pub(super) fn add_evidence_lines(root: &Path, result: &mut ResultVerdict) {
    let folder = PathBuf::from(&result.path);
    let mut folders = vec![folder.clone()];
    if result.mode == Mode::Compliance {
        folders.push(folder.join(PERFORMANCE_RUN));
    }
    let deciding = result.deciding.clone().filter(|_| result.differs_from_published());
    let notable = result.rules.iter_mut().filter(|rule| rule.is_notable());
    let mut sought: Vec<(Vec<StatingLines>, &mut Vec<EvidenceLine>)> =
        notable.map(|rule| (std::mem::take(&mut rule.stated_in), &mut rule.lines)).collect();
    if let Some(figure) = deciding {
        sought.push((vec![StatingLines::Figure(figure)], &mut result.lines));
    }
    let all = sought.iter().flat_map(|(stated_in, _)| stated_in);
    let files = all.flat_map(StatingLines::files).map(str::to_owned);
    let files: BTreeSet<String> = files.collect();
    for (file, folder) in files.iter().cartesian_product(&folders) {
        let path = folder.join(file);
        for_each_numbered_line(root, &path, |number, text| {
            for (stated_in, found) in &mut sought {
                let is_match = |lines: &StatingLines| {
                    lines.files().contains(&file.as_str()) && lines.is_match(file, number, text)
                };
                if found.len() < MAX_LINES_OF_RULE && stated_in.iter().any(is_match) {
                    found.push(EvidenceLine {
                        file: path.display().to_string(),
                        line: number,
                        text: truncate_to_chars(text.trim(), MAX_CHARS_OF_LINE),
                    });
                }
            }
        });
    }
}

/// Hands on each line with its number, from 1; of a long one its first piece. A file that cannot be read has none: its
/// own rule says so.
fn for_each_numbered_line(root: &Path, path: &Path, mut each: impl FnMut(u64, &str)) {
    let Ok(file) = open::open_beneath(root, path) else {
        return;
    };
    let (mut number, mut is_first_piece) = (1, true);
    let mut feed = |text: &str, continues: bool| {
        if is_first_piece {
            each(number, text);
        }
        is_first_piece = !continues;
        number += u64::from(!continues);
    };
    let mut splitter = LineSplitter::with_limit(MAX_LINE_BYTES);
    let mut utf8 = Utf8Blocks::default();
    let read = blocks::for_each_block(file, |block| {
        utf8.push(block, |block| splitter.push(block, |line| feed(&line.text, line.continues)));
    });
    if read.is_ok() {
        splitter.finish(|line| feed(&line.text, line.continues));
    }
}
