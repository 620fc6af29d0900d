//! A build context as a tar stream, made while it is sent: nothing is written to disk, and no
//! more than a few pieces are in memory.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use rustix::fs::{Mode, OFlags, readlinkat};
use rustix::io::Errno;
use tokio::sync::mpsc::Sender;
use walkdir::WalkDir;

use super::ignore::IgnorePatterns;
use crate::error::EngineError;
use retrial_beneath::{RealPath, open_beneath};

/// Opened for reading: not through a link, and without waiting for a pipe's writer.
pub(super) const READ_FLAGS: OFlags =
    OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK);

/// A context this large is a mistake: it has a model, a data set or a build tree in it.
const MAX_CONTEXT_BYTES: u64 = 4 << 30;

/// The most that is read of a Dockerfile or of `.dockerignore`, bytes.
const MAX_TEXT_BYTES: u64 = 16 << 20;

/// Pieces of the stream.
const PIECE_BYTES: usize = 1 << 18;

/// The files to send. Everything is opened by the directory's handle, so that a link that replaces a part of it leads
/// nowhere; links are sent as links.
#[derive(Debug)]
pub struct BuildContext {
    handle: OwnedFd,
    pub dockerfile: String,
    entries: Vec<PathBuf>,
}

impl BuildContext {
    /// Lists the directory, whose path must have no links. The Dockerfile and `.dockerignore` are always
    /// sent, for the engine reads them from the context.
    pub fn survey(root: &Path, dockerfile: &str) -> Result<Self, EngineError> {
        let failed = |reason: String| EngineError::BuildContext {
            context: root.to_owned(),
            reason,
            help: None,
        };
        let handle = open_context_directory(root).map_err(|error| {
            failed(match error {
                Errno::NOENT => "no such directory".into(),
                Errno::LOOP | Errno::NOTDIR => {
                    "it is no directory, or reached through a link".into()
                }
                other => other.to_string(),
            })
        })?;
        let read = |name: &str| {
            let text = read_context_file(&handle, root, name);
            text.map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => failed(format!("there is no `{name}` in it")),
                _ => failed(format!("`{name}`: {error}")),
            })
        };
        let text = read(dockerfile)?;
        let rules = if root.join(".dockerignore").exists() {
            read(".dockerignore")?
        } else {
            String::new()
        };
        let ignore = IgnorePatterns::parse(&rules).map_err(|error| failed(error.to_string()))?;
        let always = [dockerfile, ".dockerignore"].map(Path::new);
        let (mut entries, mut size, mut largest) = (Vec::new(), 0, (0, PathBuf::new()));
        let mut walk = WalkDir::new(root).min_depth(1).sort_by_file_name().into_iter();
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
            let holds_sent =
                || ignore.has_exceptions() || always.iter().any(|at| at.starts_with(path));
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
        if size > MAX_CONTEXT_BYTES {
            return Err(EngineError::BuildContext {
                context: root.to_owned(),
                reason: format!(
                    "it holds {} GiB, and at most {} GiB are sent; the largest file is {}",
                    size >> 30,
                    MAX_CONTEXT_BYTES >> 30,
                    largest.1.display()
                ),
                help: Some("name what the build does not need in `.dockerignore`"),
            });
        }
        Ok(Self { handle, dockerfile: text, entries })
    }

    pub(super) fn handle(&self) -> &OwnedFd {
        &self.handle
    }

    /// Returns the paths to send, in their order.
    pub(super) fn entries(&self) -> &[PathBuf] {
        &self.entries
    }

    /// Sends the archive piece by piece. Blocks: for a thread of its own.
    pub fn send_archive(&self, to: &Sender<io::Result<Bytes>>) -> io::Result<()> {
        let pieces = io::BufWriter::with_capacity(PIECE_BYTES, ChunkSender(to));
        let mut archive = tar::Builder::new(pieces);
        for path in &self.entries {
            match self.append_entry(&mut archive, path) {
                // Removed since the survey, as temporary files are: skipped, as Docker does.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                added => added.map_err(|error| {
                    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
                })?,
            }
        }
        archive.into_inner()?.flush()
    }

    fn append_entry<W: Write>(&self, archive: &mut tar::Builder<W>, path: &Path) -> io::Result<()> {
        let open = |flags: OFlags| Ok::<_, io::Error>(open_beneath(&self.handle, path, flags)?);
        let mut opened = File::from(open(OFlags::PATH | OFlags::NOFOLLOW)?);
        let mut metadata = opened.metadata()?;
        if metadata.is_file() {
            opened = File::from(open(READ_FLAGS)?);
            metadata = opened.metadata()?;
        }
        let mut header = tar::Header::new_gnu();
        header.set_metadata(&metadata);
        // As with Docker, whose cached layers are then found: the builder's own user, not the files' owner
        // here, and no bits of the file's type.
        header.set_mode(metadata.mode() & 0o7777);
        header.set_uid(0);
        header.set_gid(0);
        if metadata.is_symlink() {
            header.set_size(0);
            let target = readlinkat(&opened, "", Vec::new())?;
            let target = std::ffi::OsStr::from_bytes(target.as_bytes());
            archive.append_link(&mut header, path, target)
        } else if metadata.is_dir() {
            header.set_size(0);
            // With a slash at its end.
            archive.append_data(&mut header, path.join(""), io::empty())
        } else if metadata.is_file() {
            let size = metadata.len();
            let mut content = ExactSizeReader { inner: opened.take(size), bytes_missing: size };
            archive.append_data(&mut header, path, &mut content)
        } else {
            Err(io::Error::other("it is no regular file any more"))
        }
    }
}

fn open_context_directory(root: &Path) -> Result<OwnedFd, Errno> {
    let relative = root.strip_prefix("/").unwrap_or(root);
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    open_beneath(rustix::fs::open("/", flags, Mode::empty())?, relative, flags)
}

/// The text of a file in the directory, also through a link that stays inside.
fn read_context_file(handle: &OwnedFd, root: &Path, name: &str) -> io::Result<String> {
    let outside = || io::Error::other("it leads out of the build context");
    let real = RealPath::resolve_beneath(root, &root.join(name))?.ok_or_else(outside)?;
    let relative = real.path().strip_prefix(root).map_err(|_| outside())?;
    let file = File::from(open_beneath(handle, relative, READ_FLAGS)?);
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut text = Vec::new();
    file.take(MAX_TEXT_BYTES).read_to_end(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Temporary files go while the directory is read.
fn is_not_found(error: &walkdir::Error) -> bool {
    let io_error = error.io_error();
    io_error.is_some_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// Reads exactly the size that the header states, or fails: a file that shrinks while it
/// is read would shift everything after it.
struct ExactSizeReader<R> {
    inner: R,
    bytes_missing: u64,
}

impl<R: Read> Read for ExactSizeReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.bytes_missing -= count as u64;
        if count == 0 && self.bytes_missing > 0 && !buffer.is_empty() {
            return Err(io::Error::other("the file shrank while it was read"));
        }
        Ok(count)
    }
}

struct ChunkSender<'a>(&'a Sender<io::Result<Bytes>>);

impl Write for ChunkSender<'_> {
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
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn nothing_outside_the_context_is_sent() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::create_dir_all(at("outside/secrets")).unwrap();
        fs::write(at("outside/secrets/key"), "private").unwrap();
        fs::write(at("outside/Dockerfile"), "FROM scratch\n").unwrap();
        symlink("outside", at("context")).unwrap();
        let error = BuildContext::survey(&at("context"), "Dockerfile").unwrap_err();
        assert!(error.to_string().contains("reached through a link"), "{error}");
        fs::create_dir_all(at("own/sub")).unwrap();
        symlink("../outside/Dockerfile", at("own/Dockerfile")).unwrap();
        let error = BuildContext::survey(&at("own"), "Dockerfile").unwrap_err();
        assert!(error.to_string().contains("leads out of the build context"), "{error}");
        fs::remove_file(at("own/Dockerfile")).unwrap();
        fs::write(at("own/sub/Dockerfile"), "FROM scratch\n").unwrap();
        fs::write(at("own/sub/key"), "mine").unwrap();
        symlink("sub/Dockerfile", at("own/Dockerfile")).unwrap();
        let context = BuildContext::survey(&at("own"), "Dockerfile").unwrap();
        assert_eq!(context.dockerfile, "FROM scratch\n");
        // A directory that becomes a link between the survey and the upload.
        fs::rename(at("own/sub"), at("aside")).unwrap();
        symlink("../outside/secrets", at("own/sub")).unwrap();
        let (to, from) = tokio::sync::mpsc::channel(1000);
        let sent = context.send_archive(&to);
        drop(from);
        assert!(sent.is_err(), "sub/key would be that of another directory");
    }

    fn names(root: &Path, dockerfile: &str) -> Vec<String> {
        sent(&BuildContext::survey(root, dockerfile).unwrap())
    }

    /// The names in the archive.
    fn sent(context: &BuildContext) -> Vec<String> {
        let (to, mut from) = tokio::sync::mpsc::channel(1000);
        context.send_archive(&to).unwrap();
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
            [".dockerignore", "Dockerfile", "sub/deep/keep -> /etc/passwd"]
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
        let error = BuildContext::survey(root.path(), "Dockerfile").unwrap_err().to_string();
        assert!(error.contains("no `Dockerfile`"), "{error}");
        let missing = BuildContext::survey(&root.path().join("no"), "Dockerfile").unwrap_err();
        assert!(missing.to_string().contains("no such directory"));
    }
}
