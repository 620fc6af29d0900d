//! A build context as a tar stream, made while it is sent: nothing is written to disk, and no
//! more than a few pieces are in memory.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use tokio::sync::mpsc::Sender;
use walkdir::WalkDir;

use super::ignore::Ignore;
use crate::error::EngineError;

/// A context this large is a mistake: it has a model, a data set or a build tree in it.
const SIZE_LIMIT: u64 = 4 << 30;

/// Pieces of the stream.
const PIECE: usize = 1 << 18;

/// What will be sent.
#[derive(Debug)]
pub struct BuildContext {
    root: PathBuf,
    entries: Vec<PathBuf>,
}

impl BuildContext {
    /// Looks through the directory. The Dockerfile and `.dockerignore` are always sent, for the
    /// engine reads them from the context.
    pub fn survey(root: &Path, dockerfile: &str) -> Result<Self, EngineError> {
        let failed = |reason: String| EngineError::BuildContext {
            context: root.to_owned(),
            reason,
        };
        if !root.is_dir() {
            return Err(failed("there is no such directory".into()));
        }
        if !root.join(dockerfile).is_file() {
            return Err(failed(format!("it holds no `{dockerfile}`")));
        }
        let rules = match fs::read_to_string(root.join(".dockerignore")) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(failed(format!("`.dockerignore`: {error}"))),
        };
        let ignore = Ignore::parse(&rules).map_err(failed)?;
        let always = [dockerfile, ".dockerignore"].map(Path::new);
        let (mut entries, mut size, mut largest) = (Vec::new(), 0, (0, PathBuf::new()));
        let mut walk = WalkDir::new(root)
            .min_depth(1)
            .sort_by_file_name()
            .into_iter();
        while let Some(entry) = walk.next() {
            let (entry, metadata) = match entry.and_then(|entry| Ok((entry.metadata()?, entry))) {
                Ok((metadata, entry)) => (entry, metadata),
                Err(error) if is_not_found(&error) => continue,
                Err(error) => {
                    let path = error.path().unwrap_or(root).to_owned();
                    let source = error.into();
                    return Err(EngineError::File { path, source });
                }
            };
            let path = entry.path().strip_prefix(root).unwrap_or(entry.path());
            let kind = metadata.file_type();
            let is_sent = always.contains(&path) || !ignore.excludes(&path.to_string_lossy());
            let holds_sent = || ignore.takes_back() || always.iter().any(|at| at.starts_with(path));
            if !is_sent && kind.is_dir() && !holds_sent() {
                walk.skip_current_dir();
            }
            // Sockets, pipes and devices are not part of a build.
            if !is_sent || !(kind.is_dir() || kind.is_file() || kind.is_symlink()) {
                continue;
            }
            if kind.is_file() {
                size += metadata.size();
                largest = largest.max((metadata.size(), path.to_owned()));
            }
            entries.push(path.to_owned());
        }
        if size > SIZE_LIMIT {
            return Err(failed(format!(
                "it holds {} GiB, and at most {} GiB are sent; the largest file is {}\n  name what the build does not need in `.dockerignore`",
                size >> 30,
                SIZE_LIMIT >> 30,
                largest.1.display()
            )));
        }
        Ok(Self {
            root: root.to_owned(),
            entries,
        })
    }

    /// Sends the archive piece by piece. Blocks: for a thread of its own.
    pub fn send(&self, to: &Sender<io::Result<Bytes>>) -> io::Result<()> {
        let pieces = io::BufWriter::with_capacity(PIECE, Pieces(to));
        let mut archive = tar::Builder::new(pieces);
        for path in &self.entries {
            match self.add(&mut archive, path) {
                // Removed since the survey, as temporary files are: skipped, as Docker does.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                added => added.map_err(|error| {
                    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
                })?,
            }
        }
        archive.into_inner()?.flush()
    }

    fn add<W: Write>(&self, archive: &mut tar::Builder<W>, path: &Path) -> io::Result<()> {
        let full = self.root.join(path);
        let metadata = fs::symlink_metadata(&full)?;
        let mut header = tar::Header::new_gnu();
        header.set_metadata(&metadata);
        // As with Docker, whose cached layers are then found: the builder's own user, whoever has the files
        // here, and no bits of the file's type.
        header.set_mode(metadata.mode() & 0o7777);
        header.set_uid(0);
        header.set_gid(0);
        if metadata.is_symlink() {
            header.set_size(0);
            archive.append_link(&mut header, path, fs::read_link(&full)?)
        } else if metadata.is_dir() {
            header.set_size(0);
            // With a slash at its end.
            archive.append_data(&mut header, path.join(""), io::empty())
        } else {
            let size = metadata.len();
            let mut content = Exactly {
                inner: File::open(&full)?.take(size),
                missing: size,
            };
            archive.append_data(&mut header, path, &mut content)
        }
    }
}

/// Temporary files go while the directory is read.
fn is_not_found(error: &walkdir::Error) -> bool {
    let error = error.io_error();
    error.is_some_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// Gives exactly the size that the header promised, or an error: a file that shrinks while it
/// is read would shift everything after it.
struct Exactly<R> {
    inner: R,
    missing: u64,
}

impl<R: Read> Read for Exactly<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.missing -= count as u64;
        if count == 0 && self.missing > 0 && !buffer.is_empty() {
            return Err(io::Error::other("the file shrank while it was read"));
        }
        Ok(count)
    }
}

struct Pieces<'a>(&'a Sender<io::Result<Bytes>>);

impl Write for Pieces<'_> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let sent = self.0.blocking_send(Ok(Bytes::copy_from_slice(piece)));
        sent.map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(root: &Path, dockerfile: &str) -> Vec<String> {
        sent(&BuildContext::survey(root, dockerfile).unwrap())
    }

    /// The names in the archive.
    fn sent(context: &BuildContext) -> Vec<String> {
        let (to, mut from) = tokio::sync::mpsc::channel(1000);
        context.send(&to).unwrap();
        drop(to);
        let mut bytes = Vec::new();
        while let Some(piece) = from.blocking_recv() {
            bytes.extend_from_slice(&piece.unwrap());
        }
        let mut archive = tar::Archive::new(&bytes[..]);
        let entries = archive.entries().unwrap();
        entries
            .map(|entry| {
                let entry = entry.unwrap();
                assert_eq!(entry.header().uid().unwrap(), 0);
                let link = entry.link_name().unwrap();
                let link = link.map_or(String::new(), |link| format!(" -> {}", link.display()));
                format!("{}{link}", entry.path().unwrap().display())
            })
            .collect()
    }

    #[test]
    fn ignored_files_are_not_sent_and_symlinks_are_preserved() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::create_dir_all(at("sub/deep")).unwrap();
        fs::write(at("Dockerfile"), "FROM scratch\n").unwrap();
        fs::write(at(".dockerignore"), "*\n!sub/deep/keep\n").unwrap();
        fs::write(at("big.log"), "x").unwrap();
        fs::write(at("sub/other"), "x").unwrap();
        std::os::unix::fs::symlink("/etc/passwd", at("sub/deep/keep")).unwrap();
        assert_eq!(
            names(root.path(), "Dockerfile"),
            [
                ".dockerignore",
                "Dockerfile",
                "sub/deep/keep -> /etc/passwd"
            ]
        );
    }

    #[test]
    fn a_file_deleted_after_the_survey_is_skipped() {
        let root = tempfile::tempdir().unwrap();
        for name in ["Dockerfile", "gone", "kept"] {
            fs::write(root.path().join(name), "x").unwrap();
        }
        let context = BuildContext::survey(root.path(), "Dockerfile").unwrap();
        fs::remove_file(root.path().join("gone")).unwrap();
        assert_eq!(sent(&context), ["Dockerfile", "kept"]);
    }

    #[test]
    fn long_names_and_a_dockerfile_elsewhere() {
        let root = tempfile::tempdir().unwrap();
        let long = "d".repeat(120);
        fs::create_dir_all(root.path().join("docker").join(&long)).unwrap();
        fs::write(root.path().join("docker/Dockerfile.cpu"), "").unwrap();
        fs::write(root.path().join("docker").join(&long).join("file"), "abc").unwrap();
        let names = names(root.path(), "docker/Dockerfile.cpu");
        assert!(names.contains(&format!("docker/{long}/file")), "{names:?}");
    }

    #[test]
    fn missing_dockerfile_and_directory_are_reported() {
        let root = tempfile::tempdir().unwrap();
        let error = BuildContext::survey(root.path(), "Dockerfile")
            .unwrap_err()
            .to_string();
        assert!(error.contains("no `Dockerfile`"), "{error}");
        let missing = BuildContext::survey(&root.path().join("no"), "Dockerfile").unwrap_err();
        assert!(missing.to_string().contains("no such directory"));
    }
}
