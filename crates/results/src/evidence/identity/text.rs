//! What tells a file from the files of other runs: its content, and the times in it.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use sha1::{Digest, Sha1};

use super::stamps;
use crate::evidence::texts::Text;
use crate::verdict::{LogIdentity, TextIdentity, TrialLog};

/// How much of the beginning and of the end of a file is read: files of gigabytes differ there, too.
const END: u64 = 1 << 20;

/// A file that figures are read from; none where it cannot be read.
pub(crate) fn text_log(text: &Text) -> Option<TrialLog> {
    let identity = identity(&text.open().ok()?).ok()?;
    Some(TrialLog {
        directory: text.directory.display().to_string(),
        file: text.file.display().to_string(),
        identity: LogIdentity::Text(identity),
    })
}

fn identity(file: &File) -> io::Result<TextIdentity> {
    let length = file.metadata()?.len();
    let first = read_range(file, 0, length.min(END))?;
    let last = read_range(
        file,
        length.saturating_sub(END).max(END.min(length)),
        length,
    )?;
    let mut digest = Sha1::new();
    digest.update(&first);
    digest.update(&last);
    Ok(TextIdentity {
        length,
        digest: digest.finalize().into(),
        latest: stamps::latest(&first).max(stamps::latest(&last)),
    })
}

fn read_range(file: &File, begin: u64, end: u64) -> io::Result<Vec<u8>> {
    let length = usize::try_from(end.saturating_sub(begin)).unwrap_or_default();
    let mut bytes = vec![0; length];
    let mut read = 0;
    while read < length {
        match file.read_at(&mut bytes[read..], begin + read as u64)? {
            0 => break,
            count => read += count,
        }
    }
    bytes.truncate(read);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn identity_of(content: &[u8]) -> TextIdentity {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content).unwrap();
        identity(&file).unwrap()
    }

    #[test]
    fn both_ends_of_a_long_file_count() {
        let end = usize::try_from(END).unwrap();
        let long = vec![b'x'; 3 * end];
        let changed = |at: usize| {
            let mut bytes = long.clone();
            bytes[at] = b'y';
            identity_of(&bytes)
        };
        let whole = identity_of(&long);
        assert_eq!(whole.length, 3 * END);
        assert_ne!(changed(0), whole);
        assert_ne!(changed(3 * end - 1), whole);
        assert_ne!(identity_of(&long[1..]), whole);
        assert_eq!(identity_of(&long), whole);
    }

    #[test]
    fn a_file_between_one_and_two_ends_is_read_once() {
        let end = usize::try_from(END).unwrap();
        let mut bytes = vec![b'\n'; end];
        bytes.extend_from_slice(b"2026-03-02 10:17:07 done");
        let identity = identity_of(&bytes);
        assert_eq!(identity.latest, "2026-03-02T10:17:07Z".parse().ok());
        let digest: [u8; 20] = Sha1::digest(&bytes).into();
        assert_eq!(identity.digest, digest);
    }
}
