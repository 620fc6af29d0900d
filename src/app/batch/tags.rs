//! The values of a search along images: the tags of a repository that match a pattern.

use crate::app::failure::Failure;
use crate::app::{runtime, terminal};
use retrial_batch::search::{MAX_SEARCH_VALUES, MIN_SEARCH_VALUES, TagPattern};
use retrial_document::measures::format::format_count;
use retrial_engine::tags::list_tags;
use retrial_rocm::ReleaseTable;

/// Tags without a place in the order that are listed; the rest is counted.
const MAX_SHOWN_TAGS: usize = 10;

/// Asks the registry for the tags that match, and returns their images in order. Reports those without a place in it.
pub fn search_images(pattern: &TagPattern) -> Result<Vec<String>, Failure> {
    let tags = runtime::start_runtime()?.block_on(list_tags(&pattern.repository))?;
    let order = pattern.order(&tags, ReleaseTable::built_in());
    for (image, reason) in order.unordered.iter().take(MAX_SHOWN_TAGS) {
        terminal::print_note(&format!("not searched: {image}: {reason}"));
    }
    if let Some(more) = order.unordered.len().checked_sub(MAX_SHOWN_TAGS).filter(|more| *more > 0) {
        terminal::print_note(&format!("not searched: {more} more tags"));
    }
    let count = order.ordered.len();
    if !(MIN_SEARCH_VALUES..=MAX_SEARCH_VALUES).contains(&count) {
        let failure = Failure::usage(format!(
            "{} of {pattern} can be ordered, and a search needs {MIN_SEARCH_VALUES} to {MAX_SEARCH_VALUES}",
            format_count(count, "tag")
        ));
        return Err(failure.with_help(if count > MAX_SEARCH_VALUES {
            "narrow the pattern, for example by a month: `nightly-202611*`"
        } else {
            "widen the pattern, or name the images in their order: --values A,B,C"
        }));
    }
    Ok(order.ordered)
}
