//! Texts in UTF-16, as `PowerShell` redirects output, and byte order marks.
//!
//! Without a mark, a text is UTF-16 if every second of its first bytes is zero: then it is ASCII in
//! two bytes a character.

use std::borrow::Cow;

use encoding_rs::{Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// Bytes at the beginning of a text that show its encoding.
pub const ENCODING_HEAD_BYTES: usize = 1024;
/// The fewest bytes of a text whose zeros show that it is UTF-16.
const MIN_BYTES_TO_DETECT_UTF16: usize = 8;

/// Returns the encoding of a text by its beginning, and the length of its byte order mark.
pub fn detect_encoding(head: &[u8]) -> (&'static Encoding, usize) {
    Encoding::for_bom(head).unwrap_or_else(|| {
        let pairs = head[..head.len().min(ENCODING_HEAD_BYTES)].as_chunks::<2>().0;
        let zeros = |at: usize| pairs.iter().filter(|pair| pair[at] == 0).count();
        let most = pairs.len() * 9 / 10;
        let (first, second) = (zeros(0), zeros(1));
        match head.len() {
            length if length < MIN_BYTES_TO_DETECT_UTF16 => (UTF_8, 0),
            _ if second > most && first == 0 => (UTF_16LE, 0),
            _ if first > most && second == 0 => (UTF_16BE, 0),
            _ => (UTF_8, 0),
        }
    })
}

/// Returns a whole text as UTF-8, without a byte order mark. Bytes that are not UTF-8 stay.
pub fn to_utf8(text: &[u8]) -> Cow<'_, [u8]> {
    let (encoding, mark) = detect_encoding(text);
    let text = &text[mark..];
    if encoding == UTF_8 {
        return Cow::Borrowed(text);
    }
    let (decoded, _) = encoding.decode_without_bom_handling(text);
    Cow::Owned(decoded.into_owned().into_bytes())
}

/// Returns the ASCII of a line of UTF-16 that was appended to a text in UTF-8, as `PowerShell` does; none of any other
/// line. The zero of its line end, or of the one before, is in another line.
pub(crate) fn narrow_utf16(line: &[u8]) -> Option<Vec<u8>> {
    let zeros = memchr::memchr_iter(0, line).count();
    let is_wide = zeros > 0
        && line.len().abs_diff(2 * zeros) <= 2
        && !line.windows(2).any(|pair| pair == [0, 0]);
    is_wide.then(|| line.iter().copied().filter(|byte| *byte != 0).collect())
}

/// Decodes a text that comes block by block.
#[derive(Default)]
pub struct Utf8Blocks {
    has_begun: bool,
    decoder: Option<Decoder>,
    decoded: Vec<u8>,
}

impl Utf8Blocks {
    /// Hands the next block to `emit`, as UTF-8 and without a byte order mark. The first one should
    /// have [`ENCODING_HEAD_BYTES`] bytes, if the text has.
    pub fn push(&mut self, mut block: &[u8], mut emit: impl FnMut(&[u8])) {
        if !self.has_begun {
            self.has_begun = true;
            let (encoding, mark) = detect_encoding(block);
            block = &block[mark..];
            let is_other = encoding != UTF_8;
            self.decoder = is_other.then(|| encoding.new_decoder_without_bom_handling());
        }
        let Some(decoder) = &mut self.decoder else {
            return emit(block);
        };
        let length = decoder.max_utf8_buffer_length(block.len()).unwrap_or(0);
        self.decoded.resize(length, 0);
        let (_, _, written, _) = decoder.decode_to_utf8(block, &mut self.decoded, false);
        emit(&self.decoded[..written]);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn utf16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(to_bytes).collect()
    }

    #[rstest]
    #[case::plain("rate: 5 µs".as_bytes().to_vec())]
    #[case::marked("\u{feff}rate: 5 µs".as_bytes().to_vec())]
    #[case::marked_little(utf16("\u{feff}rate: 5 µs", u16::to_le_bytes))]
    #[case::marked_big(utf16("\u{feff}rate: 5 µs", u16::to_be_bytes))]
    #[case::little(utf16("rate: 5 µs", u16::to_le_bytes))]
    #[case::big(utf16("rate: 5 µs", u16::to_be_bytes))]
    fn texts_are_decoded(#[case] text: Vec<u8>) {
        assert_eq!(String::from_utf8_lossy(&to_utf8(&text)), "rate: 5 µs");
        let (mut blocks, mut decoded) = (Utf8Blocks::default(), Vec::new());
        let (first, rest) = text.split_at(text.len().min(11));
        for block in std::iter::once(first).chain(rest.chunks(1)) {
            blocks.push(block, |block| decoded.extend_from_slice(block));
        }
        assert_eq!(String::from_utf8_lossy(&decoded), "rate: 5 µs");
    }

    #[rstest]
    #[case(b"")]
    #[case(b"a\0b\0")]
    #[case(b"\0\0\0\0\0\0\0\0\0\0")]
    #[case(b"rate: 5 \xff\xfe")]
    fn other_bytes_stay(#[case] text: &[u8]) {
        assert_eq!(to_utf8(text), text);
    }

    proptest! {
        #[test]
        fn any_bytes_can_be_decoded(text in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = to_utf8(&text);
        }
    }
}
