//! What is mounted on this machine: a bind mount gives a file or directory a second path, which resolving links does not
//! show.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Where the kernel's own file systems belong. Elsewhere somebody has mounted them on purpose.
const KERNEL_DIRECTORIES: [&str; 3] = ["/proc", "/sys", "/dev"];

/// File systems without files that anybody keeps.
const KERNEL_FILE_SYSTEMS: [&str; 12] = [
    "autofs",
    "binfmt_misc",
    "bpf",
    "configfs",
    "debugfs",
    "devpts",
    "fusectl",
    "mqueue",
    "nsfs",
    "pstore",
    "securityfs",
    "tracefs",
];

/// The mounts of this process, `/proc/self/mountinfo`. Its methods take absolute paths without links.
#[derive(Debug, Default)]
pub struct MountTable(Vec<Mount>);

#[derive(Debug)]
struct Mount {
    /// The file system, by its device.
    device: String,
    /// The part of the file system that is mounted.
    root: PathBuf,
    point: PathBuf,
    /// `ext4`.
    kind: String,
}

impl MountTable {
    /// Reads the table; without /proc a path has only its own name.
    pub fn read() -> Self {
        let text = fs::read("/proc/self/mountinfo").unwrap_or_default();
        Self::parse(&String::from_utf8_lossy(&text))
    }

    fn parse(text: &str) -> Self {
        // https://man7.org/linux/man-pages/man5/proc_pid_mountinfo.5.html
        let mounts = text.lines().filter_map(|line| {
            let (fields, kind) = line.split_once(" - ")?;
            let mut fields = fields.split(' ').skip(2);
            let device = fields.next()?.to_owned();
            let mut path = || Some(PathBuf::from(OsString::from_vec(decode_octal(fields.next()?))));
            let (root, point) = (path()?, path()?);
            Some(Mount { device, root, point, kind: kind.split(' ').next()?.to_owned() })
        });
        Self(mounts.collect())
    }

    /// Returns whether a path is a directory or is in it, by any path of either.
    pub fn is_within(&self, path: &Path, directory: &Path) -> bool {
        let names = self.names(path);
        names.iter().flat_map(|name| name.ancestors()).any(|above| is_same_file(above, directory))
    }

    /// Returns whether two paths are the same file or directory.
    pub fn is_same(&self, one: &Path, other: &Path) -> bool {
        self.names(one).iter().any(|name| is_same_file(name, other))
    }

    /// Returns the paths of a file or directory, the given one among them.
    pub fn names(&self, path: &Path) -> Vec<PathBuf> {
        let find_names = || {
            let own = self.find_mount(path)?;
            let inner = join(&own.root, path.strip_prefix(&own.point).ok()?);
            let same = self.0.iter().filter(|mount| mount.device == own.device);
            let named = same.filter_map(|mount| {
                let name = join(&mount.point, inner.strip_prefix(&mount.root).ok()?);
                // Not where another file system hides it.
                let is_seen = self.find_mount(&name).is_some_and(|seen| std::ptr::eq(seen, mount));
                is_seen.then_some(name)
            });
            Some(named.collect())
        };
        find_names().unwrap_or_else(|| vec![path.to_owned()])
    }

    /// The mount that has a path: of two at one point the later one.
    fn find_mount(&self, path: &Path) -> Option<&Mount> {
        let above = self.0.iter().filter(|mount| path.starts_with(&mount.point));
        above.max_by_key(|mount| mount.point.as_os_str().len())
    }

    /// Returns where file systems are mounted below a directory, without those of the kernel's own state in its own
    /// directories.
    pub fn points_below(&self, directory: &Path) -> impl Iterator<Item = &Path> {
        let kept = self.0.iter().filter(|mount| {
            let is_at_home = KERNEL_DIRECTORIES.iter().any(|own| mount.point.starts_with(own));
            !(is_at_home && KERNEL_FILE_SYSTEMS.contains(&mount.kind.as_str()))
        });
        let points = kept.map(|mount| mount.point.as_path());
        points.filter(move |point| point.starts_with(directory) && *point != directory)
    }
}

/// Joins a directory with what is below it; with nothing, a file's path would end with a slash.
fn join(directory: &Path, below: &Path) -> PathBuf {
    if below.as_os_str().is_empty() { directory.to_owned() } else { directory.join(below) }
}

/// Returns whether two paths without links are one file or directory by its device and inode.
fn is_same_file(one: &Path, other: &Path) -> bool {
    let identity = |path: &Path| fs::metadata(path).map(|found| (found.dev(), found.ino())).ok();
    one == other || identity(one).is_some_and(|found| identity(other) == Some(found))
}

/// Decodes what the kernel writes as `\040`: a blank, a tab, a line's end and a backslash.
fn decode_octal(text: &str) -> Vec<u8> {
    let mut decoded = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let digits = after.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        let code = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        rest = if let Some(code) = code.filter(|_| *first == b'\\') {
            decoded.push(code);
            &after[3..]
        } else {
            decoded.push(*first);
            after
        };
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mount_points_are_decoded() {
        assert_eq!(decode_octal(r"/a\040b\134c\012"), b"/a b\\c\n");
        assert_eq!(decode_octal(r"/a\9\04"), br"/a\9\04");
    }

    #[test]
    fn a_bind_mount_gives_what_is_in_it_a_second_path() {
        let table = MountTable::parse(
            "20 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n\
             21 20 8:2 / /home rw - ext4 /dev/sda2 rw\n\
             22 20 8:2 /eve/.ssh /work/d/keys rw - ext4 /dev/sda2 rw\n\
             23 20 8:1 / /work/whole rw - ext4 /dev/sda1 rw\n\
             24 20 0:9 / /work/d/pts rw - devpts devpts rw\n",
        );
        let is_within =
            |path: &str, outer: &str| table.is_within(Path::new(path), Path::new(outer));
        assert!(is_within("/work/d/keys/key", "/home/eve"));
        assert!(is_within("/home/eve/.ssh/key", "/work/d/keys"));
        assert!(!is_within("/home/eve/key", "/work/d/keys"));
        assert!(is_within("/srv/x", "/work/whole/srv"));
        assert!(is_within("/work/whole/srv/x", "/srv"));
        // Without what is mounted there.
        assert!(!is_within("/work/whole/home/eve", "/home"));
        assert!(table.is_same(Path::new("/work/d/keys"), Path::new("/home/eve/.ssh")));
        let below: Vec<&Path> = table.points_below(Path::new("/work/d")).collect();
        assert_eq!(below, [Path::new("/work/d/keys"), Path::new("/work/d/pts")]);
    }

    #[test]
    fn a_file_system_of_the_kernel_counts_where_somebody_mounted_it() {
        let table = MountTable::parse(
            "20 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
             21 20 0:19 / /dev/mqueue rw - mqueue none rw\n\
             22 20 0:19 / /work/queues rw - mqueue none rw\n",
        );
        let below = |directory: &str| table.points_below(Path::new(directory)).count();
        assert_eq!([below("/dev"), below("/work"), below("/")], [0, 1, 1]);
    }
}
