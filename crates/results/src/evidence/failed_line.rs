//! Lines that show a failure by the recipe's `fail_on`, in the output of a command that Retrial did not run. Of
//! one that it ran, the journal says how it ended.

use std::time::Instant;

use retrial_plan::failure::{FailureSigns, LineSearch};
use retrial_readings::decode::Utf8Blocks;
use retrial_store::blocks;

use super::figures::TextFile;

/// Returns why a command failed, by a line that it printed. When a line was printed is not known, so that
/// patterns with a time count none.
pub(super) fn find_failure_line(signs: &FailureSigns, output: &TextFile) -> Option<String> {
    if signs.output.is_empty() {
        return None;
    }
    // An output that is not there has no such line; its figures are missing.
    let files = output.matching_files().ok()?;
    files.iter().find_map(|file| search_file(signs, file))
}

fn search_file(signs: &FailureSigns, file: &TextFile) -> Option<String> {
    let opened = file.open().ok()?;
    let mut search = match LineSearch::new(signs, Instant::now()) {
        Ok(search) => search,
        Err(error) => return Some(format!("`fail_on` cannot be searched: {error}")),
    };
    let mut found = None;
    let mut utf8 = Utf8Blocks::default();
    let read = blocks::for_each_block(opened, |block| {
        utf8.push(block, |text| {
            if found.is_none() {
                found = search.push(text, None, Instant::now());
            }
        });
    });
    if let Err(error) = read {
        return Some(format!("its output cannot be read: {error}"));
    }
    let failure_line = found.or_else(|| search.search_unterminated(None, Instant::now(), true));
    failure_line.map(|line| line.to_string())
}
