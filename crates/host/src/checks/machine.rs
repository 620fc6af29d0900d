//! Disk and memory.

use itertools::join;

use super::{DiskSpace, HostCheck, HostCheckKind, HostCheckState, HostFacts};
use retrial_document::measures::format::format_bytes;

pub fn check_machine(facts: &HostFacts<'_>) -> Vec<HostCheck> {
    let required = facts.requires.and_then(|requires| requires.disk);
    let merged = merge_by_file_system(&facts.disks, required);
    let total_free = merged.iter().map(|disk| disk.free).sum::<Option<u64>>();
    let disks = merged.iter().map(|disk| {
        let is_short = total_free.zip(required).is_some_and(|(free, all)| free < all);
        let is_needed = disk.needed.is_some() || is_short;
        let is_fatal = facts.is_fetch_pending == Some(true) && is_needed;
        check_disk(disk, required, is_fatal)
    });
    disks.chain(check_memory(facts)).collect()
}

/// Directories of one file system share its space: it needs the sum of the parts, or the recipe's total,
/// whichever is more.
fn merge_by_file_system(disks: &[DiskSpace], required: Option<u64>) -> Vec<DiskSpace> {
    let mut groups: Vec<Vec<&DiskSpace>> = Vec::new();
    for disk in disks {
        let shares = |group: &&mut Vec<&DiskSpace>| {
            let first = group[0];
            first.device.is_some() && first.device == disk.device && first.writable && disk.writable
        };
        match groups.iter_mut().find(shares) {
            Some(group) => group.push(disk),
            None => groups.push(vec![disk]),
        }
    }
    let merge = |group: Vec<&DiskSpace>| {
        if group.len() == 1 {
            return group[0].clone();
        }
        let list = |field: fn(&DiskSpace) -> &str| join(group.iter().map(|disk| field(disk)), ", ");
        let needed = group.iter().filter_map(|disk| disk.needed);
        DiskSpace {
            purpose: list(|disk| &disk.purpose),
            path: list(|disk| &disk.path),
            needed: needed.reduce(u64::saturating_add).max(required),
            ..group[0].clone()
        }
    };
    groups.into_iter().map(merge).collect()
}

/// The recipe states the total; its distribution depends on the disks, so each disk that cannot hold it alone
/// gets a warning. `is_fatal`: what is still to be fetched does not fit.
fn check_disk(disk: &DiskSpace, required: Option<u64>, is_fatal: bool) -> HostCheck {
    let system = disk.network.iter().map(|system| format!(" ({system})"));
    let path = disk.path.clone() + &system.collect::<String>();
    let needed = disk.needed.or(required);
    let short = needed.is_some_and(|needed| disk.free.is_some_and(|free| free < needed));
    let short_state = if is_fatal { HostCheckState::Error } else { HostCheckState::Warning };
    let at = if path.is_empty() { "" } else { " at " };
    let free = disk.free.map(|free| format!("{} free{at}{path}", format_bytes(free)));
    let unnamed = match free {
        None => HostCheckKind::Disk.undetermined(path),
        Some(_) if !disk.writable => HostCheckKind::Disk
            .fail(format!("{path}: not writable"))
            .with_requirement("a writable directory")
            .with_fix("choose another: --home DIR, --cache DIR, HF_HOME"),
        Some(free) if short => HostCheckKind::Disk.new_check(short_state, free).with_fix(
            "free some (`retrial clean`, `docker system df`), or choose another disk: --home DIR, --cache DIR, HF_HOME",
        ),
        Some(free) if disk.network.is_some() => HostCheckKind::Disk.warn(free).with_fix(
            "the engine's root may not write to a network home (root_squash): choose a local disk with --home DIR",
        ),
        Some(free) => HostCheckKind::Disk.pass(free),
    };
    let check = unnamed.with_name(format!("disk for {}", disk.purpose));
    if !check.required.is_empty() {
        return check;
    }
    match (disk.needed, required) {
        (Some(needed), _) => check.with_requirement(format_bytes(needed)),
        (None, Some(required)) => {
            check.with_requirement(format!("{} in total", format_bytes(required)))
        }
        (None, None) => check,
    }
}

fn check_memory(facts: &HostFacts<'_>) -> Option<HostCheck> {
    let actual = Some(facts.host.memory).filter(|bytes| *bytes > 0)?;
    let Some(required) = facts.requires.and_then(|requires| requires.memory) else {
        return Some(HostCheckKind::Memory.pass(format_bytes(actual)));
    };
    let state = if actual < required { HostCheckState::Warning } else { HostCheckState::Ok };
    let check = HostCheckKind::Memory.new_check(state, format_bytes(actual));
    Some(check.with_requirement(format_bytes(required)).with_fix("run on a host that has it"))
}
