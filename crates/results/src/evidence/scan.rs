//! Scans a file for a pattern in parts, on more than one core: a long output is scanned as fast as
//! its pages can be copied, and one core copies only so many. For the last match it begins at the
//! end, where benchmarks print what they measured.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rayon::prelude::*;
use retrial_readings::decode::{ENCODING_HEAD_BYTES, Utf8Blocks, detect_encoding};
use retrial_readings::pattern::{MatchSelection, Pattern, PatternReader};
use retrial_readings::scan::Scanner;

/// A part of a file, at least. The same on every machine, so that sums are rounded the same.
const MIN_PART_BYTES: u64 = 1 << 20;
/// Bytes read at once.
const BLOCK_BYTES: usize = 256 << 10;
/// Parts read at first, at most: more threads than this only wait for memory.
const MAX_PARTS_AT_FIRST: usize = 8;
/// Parts whose values are held at once, at most.
const MAX_PARTS_AT_ONCE: usize = 64;

/// Reads the figures of a pattern in a file, as long as it is now. `number` is which of several files it is, from 0.
///
/// # Errors
/// If it cannot be read.
pub fn scan_file<'a>(
    pattern: &'a Pattern,
    file: &File,
    number: usize,
) -> io::Result<PatternReader<'a>> {
    let mut head = vec![0; ENCODING_HEAD_BYTES];
    let length = file.read_at(&mut head, 0)?;
    let (encoding, mark) = detect_encoding(&head[..length]);
    if !encoding.is_ascii_compatible() {
        return scan_decoded(pattern, file, number);
    }
    // Which lines count may depend on a line of another part.
    let size = if pattern.has_heading() { u64::MAX } else { MIN_PART_BYTES };
    let source = ScannedFile { file, number, mark: mark as u64 };
    scan_in_parts(pattern, &source, size)
}

/// A file whose text is ASCII or UTF-8.
struct ScannedFile<'a> {
    file: &'a File,
    /// The number of its file among several, from 0.
    number: usize,
    /// The length of its byte order mark.
    mark: u64,
}

/// Reads a file in another encoding, which cannot be read in parts.
fn scan_decoded<'a>(
    pattern: &'a Pattern,
    file: &File,
    number: usize,
) -> io::Result<PatternReader<'a>> {
    let mut scanner = Scanner::starting_at(pattern, number, 0);
    let mut blocks = Utf8Blocks::default();
    let mut block = vec![0; BLOCK_BYTES];
    let mut at = 0;
    loop {
        let count = file.read_at(&mut block, at)?;
        if count == 0 {
            return Ok(scanner.finish());
        }
        blocks.push(&block[..count], |text| scanner.push(text));
        at += count as u64;
    }
}

fn scan_in_parts<'a>(
    pattern: &'a Pattern,
    file: &ScannedFile<'_>,
    size: u64,
) -> io::Result<PatternReader<'a>> {
    let parts = split_into_parts(file, size)?;
    let mut whole = pattern.reader();
    let mut remaining = &parts[..];
    // Few at first: the first or the last match may be near.
    let mut count = rayon::current_num_threads().min(MAX_PARTS_AT_FIRST);
    while !remaining.is_empty() && !whole.is_decided() && !whole.is_exhausted() {
        count = count.min(remaining.len());
        if pattern.match_selection() == MatchSelection::Last {
            let (before, now) = remaining.split_at(remaining.len() - count);
            let mut joined = pattern.reader();
            for part in scan_parallel(pattern, file, now)? {
                joined.append(part);
            }
            let later = whole.clone();
            joined.append(whole);
            if joined.is_exhausted() && later.has_match() {
                return Ok(later);
            }
            (whole, remaining) = (joined, before);
        } else {
            let (now, after) = remaining.split_at(count);
            for part in scan_parallel(pattern, file, now)? {
                whole.append(part);
            }
            remaining = after;
        }
        count = (count * 4).min(MAX_PARTS_AT_ONCE);
    }
    Ok(whole)
}

fn scan_parallel<'a>(
    pattern: &'a Pattern,
    file: &ScannedFile<'_>,
    parts: &[(u64, u64)],
) -> io::Result<Vec<PatternReader<'a>>> {
    let block = || vec![0; BLOCK_BYTES];
    let part_iter = parts.par_iter();
    part_iter.map_init(block, |block, part| scan_part(pattern, file, *part, block)).collect()
}

fn scan_part<'a>(
    pattern: &'a Pattern,
    source: &ScannedFile<'_>,
    (begin, end): (u64, u64),
    block: &mut [u8],
) -> io::Result<PatternReader<'a>> {
    let mut scanner = Scanner::starting_at(pattern, source.number, begin - source.mark);
    let mut at = begin;
    while at < end {
        let most = usize::try_from(end - at).unwrap_or(usize::MAX);
        let length = most.min(block.len());
        let count = source.file.read_at(&mut block[..length], at)?;
        if count == 0 {
            break;
        }
        scanner.push(&block[..count]);
        at += count as u64;
    }
    Ok(scanner.finish())
}

/// Begin and end of the parts: each but the last ends with a line.
fn split_into_parts(source: &ScannedFile<'_>, size: u64) -> io::Result<Vec<(u64, u64)>> {
    let file = source.file;
    let length = file.metadata()?.len();
    let mut block = vec![0; 4 << 10];
    let mut parts = Vec::new();
    let mut begin = source.mark;
    let mut at = size;
    while at < length {
        let count = file.read_at(&mut block, at)?;
        if count == 0 {
            break;
        }
        match memchr::memchr(b'\n', &block[..count]) {
            Some(newline) => {
                let end = at + newline as u64 + 1;
                parts.push((begin, end));
                (begin, at) = (end, end + size);
            }
            None => at += count as u64,
        }
    }
    if begin < length {
        parts.push((begin, length));
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::Write;

    use proptest::prelude::*;

    use retrial_readings::accumulator::Accumulator;
    use retrial_readings::pattern::PatternError;

    use super::*;

    proptest! {
        #[test]
        fn scanning_in_parts_equals_scanning_the_whole(
            lines in prop::collection::vec("(speed: [0-9]{1,3}|speed: x|[a-z]{0,9})\r?", 0..60),
            size in 3_u64..80,
            marked in any::<bool>(),
            take in prop::sample::select(vec![MatchSelection::First, MatchSelection::Last, MatchSelection::All, MatchSelection::Max, MatchSelection::Mean]),
        ) {
            let mut file = tempfile::tempfile().unwrap();
            let text = lines.join("\n");
            let mark = if marked { "\u{feff}" } else { "" };
            file.write_all(format!("{mark}{text}").as_bytes()).unwrap();
            let pattern = Pattern::new(r"speed: (\d+)", take, "").unwrap();
            let mut scanner = Scanner::new(&pattern);
            scanner.push(text.as_bytes());
            let source = ScannedFile { file: &file, number: 0, mark: mark.len() as u64 };
            let reader = scan_in_parts(&pattern, &source, size).unwrap();
            let values = |reader: PatternReader<'_>| {
                let entries = reader.into_entries().map(BTreeMap::into_values);
                let entry = |entry: Accumulator<PatternError>| {
                    let place = entry.deciding_place();
                    let fault = entry.unreadable_announcement().cloned();
                    (entry.into_values(), place, fault)
                };
                entries.map(|entries| entries.map(entry).collect::<Vec<_>>())
            };
            prop_assert_eq!(values(reader), values(scanner.finish()));
        }
    }
}
