//! The machine around the GPUs: name, kernel, processors, memory, disk.

use std::collections::BTreeSet;
use std::path::Path;

use itertools::Itertools as _;

use super::model::OperatingSystem;
use super::root::HostRoot;
use retrial_readings::sanitize;

pub fn read_hostname(root: &HostRoot) -> String {
    root.read_text("proc/sys/kernel/hostname")
        .or_else(|| root.read_text("etc/hostname"))
        .unwrap_or_default()
}

/// The name of the machine whose files begin at `root`.
pub fn machine_name(root: &Path) -> String {
    read_hostname(&HostRoot::new(root))
}

/// Reads the kernel's release: `6.8.0-79-generic`.
pub fn kernel_release(root: &HostRoot) -> String {
    root.read_text("proc/sys/kernel/osrelease").unwrap_or_default()
}

pub fn read_operating_system(root: &HostRoot) -> Option<OperatingSystem> {
    let release_files = ["etc/os-release", "usr/lib/os-release"];
    let text = release_files.iter().find_map(|path| root.read_text(path))?;
    let value = |key: &str| {
        let mut pairs = text.lines().filter_map(|line| line.split_once('='));
        let (_, value) = pairs.find(|(name, _)| name.trim() == key)?;
        Some(sanitize(value.trim().trim_matches(['"', '\''])).into_owned())
    };
    let id = value("ID")?;
    let version = value("VERSION_ID").unwrap_or_default();
    Some(OperatingSystem {
        name: value("PRETTY_NAME").unwrap_or_else(|| format!("{id} {version}")),
        id,
        version,
    })
}

/// The processors, as the kernel lists them: sockets are counted over all, the rest is taken from the first
/// entry. Arm processors state neither model nor sockets.
#[derive(Default)]
pub struct Processors {
    /// The name of the processors' model: `AMD EPYC 9575F 64-Core Processor`.
    pub model: String,
    /// The number of sockets, where the kernel lists them.
    pub sockets: Option<u32>,
    /// The cores of one socket, where the kernel lists them.
    pub cores: Option<u32>,
}

/// Reads the processors from `/proc/cpuinfo`.
pub fn read_processors(root: &HostRoot) -> Processors {
    let text = root.read_text("proc/cpuinfo").unwrap_or_default();
    let lines = text.lines().filter_map(|line| {
        let (key, value) = line.split_once(':')?;
        Some((key.trim(), value))
    });
    let mut found = Processors::default();
    let mut sockets = BTreeSet::new();
    for (key, value) in lines {
        match key {
            "model name" if found.model.is_empty() => {
                found.model = value.split_whitespace().join(" ");
            }
            "cpu cores" => found.cores = found.cores.or_else(|| value.trim().parse().ok()),
            "physical id" => drop(sockets.insert(value.trim())),
            _ => {}
        }
    }
    found.sockets = u32::try_from(sockets.len()).ok().filter(|count| *count > 0);
    found
}

/// Online logical processors; 0 if unknown. Counting them in `/proc/cpuinfo` would be slower than everything
/// else here together.
pub fn online_cpus(root: &HostRoot) -> u32 {
    root.read_text("sys/devices/system/cpu/online")
        .and_then(|list| count_listed(&list))
        .unwrap_or(0)
}

/// Counts the numbers in a list such as `0-3,8`.
fn count_listed(numbers: &str) -> Option<u32> {
    numbers.split(',').try_fold(0_u32, |sum, part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        sum.checked_add(last.checked_sub(first)?.checked_add(1)?)
    })
}

/// Reads the total memory, bytes; 0 if unknown.
pub fn total_memory(root: &HostRoot) -> u64 {
    let text = root.read_text("proc/meminfo").unwrap_or_default();
    let total = text.lines().find_map(|line| {
        let rest = line.strip_prefix("MemTotal:")?;
        rest.split_whitespace().next()?.parse::<u64>().ok()
    });
    total.unwrap_or(0).saturating_mul(1024)
}

/// Listening ports, from the kernel's list of sockets: the local address ends in the port, in hexadecimal, and
/// the state 0A is listening.
pub fn listening_ports(root: &Path) -> Vec<u16> {
    let root = HostRoot::new(root);
    let port = |line: &str| {
        let mut words = line.split_whitespace();
        let (_, port) = words.nth(1)?.rsplit_once(':')?;
        let listens = words.nth(1)? == "0A";
        u16::from_str_radix(port, 16).ok().filter(|_| listens)
    };
    let table_paths = ["proc/net/tcp", "proc/net/tcp6"];
    let tables = table_paths.iter().filter_map(|path| root.read_text(path));
    let ports = tables.flat_map(|text| text.lines().filter_map(port).collect_vec());
    ports.sorted().dedup().collect()
}

/// Bytes that we may still write at a path, or at its nearest existing ancestor.
pub fn free_disk_bytes(path: &Path) -> Option<u64> {
    let status = query_nearest_ancestor(path, |place| rustix::fs::statvfs(place).ok())?;
    Some(status.f_bavail.saturating_mul(status.f_frsize))
}

/// Returns whether so little is free at a path that the last write may be truncated.
pub fn is_disk_full(path: &Path) -> bool {
    free_disk_bytes(path).is_some_and(|free| free < 64 << 10)
}

/// File systems of the network, by the kernel's magic numbers (`linux/magic.h`, Lustre, `BeeGFS`).
const NETWORK_FILE_SYSTEMS: [(u32, &str); 7] = [
    (0x6969, "NFS"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB2"),
    (0x0bd0_0bd0, "Lustre"),
    (0x00c3_6400, "CephFS"),
    (0x1983_0326, "BeeGFS"),
    (0x4750_4653, "GPFS"),
];

pub fn network_file_system(path: &Path) -> Option<String> {
    let status = query_nearest_ancestor(path, |place| rustix::fs::statfs(place).ok())?;
    // The field's width and sign differ between architectures; the number has 32 bits.
    let magic = u32::try_from(status.f_type & 0xffff_ffff).ok()?;
    NETWORK_FILE_SYSTEMS
        .iter()
        .find(|(number, _)| *number == magic)
        .map(|(_, name)| (*name).to_owned())
}

/// The result of a query of a path, or of its nearest ancestor with one.
fn query_nearest_ancestor<T>(path: &Path, query: impl Fn(&Path) -> Option<T>) -> Option<T> {
    // The last ancestor of a relative path is empty, which no query finds.
    let mut places = path.ancestors().chain([Path::new(".")]);
    places.find_map(query)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rstest::rstest;

    use super::{count_listed, free_disk_bytes, listening_ports};

    #[test]
    fn listening_ports_are_found() {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = socket.local_addr().unwrap().port();
        assert!(listening_ports(Path::new("/")).contains(&port));
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("proc/net")).unwrap();
        let text = "  sl  local_address rem_address   st\n   0: 0100007F:1F40 00000000:0000 0A 00000000\n   1: 0100007F:1F41 0100007F:1F40 01 0\n   2: x\n";
        std::fs::write(folder.path().join("proc/net/tcp"), text).unwrap();
        assert_eq!(listening_ports(folder.path()), [8000]);
    }

    #[rstest]
    #[case("0-383", Some(384))]
    #[case("0-3,8", Some(5))]
    #[case("0", Some(1))]
    #[case("3-0", None)]
    #[case("", None)]
    #[case("0-4294967295", None)]
    fn a_processor_list_is_counted(#[case] list: &str, #[case] processors: Option<u32>) {
        assert_eq!(count_listed(list), processors);
    }

    #[test]
    fn free_disk_space_is_read_from_the_nearest_existing_parent() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("runs/not/yet");
        assert!(free_disk_bytes(&deep).unwrap() > 0);
        assert!(free_disk_bytes(Path::new("not/yet/here")).unwrap() > 0);
    }
}
