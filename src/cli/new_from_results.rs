//! `retrial new NAME --from-results`: the recipe of a published result.

use std::path::Path;

use crate::app::catalog;
use crate::app::failure::Failure;
use crate::app::published::{self, ImportRequest};
use crate::format;
use crate::import::{self, Index};

/// The recipe's text, and what it needs.
pub fn read(tree: &Path, request: &ImportRequest) -> Result<(String, Vec<String>), Failure> {
    let index = Index::open(tree, catalog::rounds())?;
    let entries = index.entries();
    let entry = published::choose(&index, &entries, request)?;
    let others = if request.with_others {
        published::others(&index, &entries, entry)
    } else {
        Vec::new()
    };
    let (text, incomplete) = import::recipe::text(&import::read(&index, entry, &others)?);
    let added = || format!("figures of {}", format::count(others.len(), "other result"));
    let added = request.with_others.then(added);
    let left = format!(
        "{} of `incomplete` to be completed before it can run",
        format::count(incomplete, "line")
    );
    Ok((text, added.into_iter().chain([left]).collect()))
}
