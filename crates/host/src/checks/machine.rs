//! Disk and memory.

use itertools::join;

use super::{Check, CheckKind, CheckState, Disk, Facts};
use retrial_document::measures::format::size;

pub fn checks(facts: &Facts<'_>) -> Vec<Check> {
    let required = facts.requires.and_then(|requires| requires.disk);
    let disks = by_file_system(&facts.disks, required);
    let disks = disks.iter().map(|entry| disk(entry, required));
    disks.chain(memory(facts)).collect()
}

/// Directories of one file system share its space: it needs the sum of the parts, or the recipe's total,
/// whichever is more.
fn by_file_system(disks: &[Disk], required: Option<u64>) -> Vec<Disk> {
    let mut groups: Vec<Vec<&Disk>> = Vec::new();
    for disk in disks {
        let shares = |group: &&mut Vec<&Disk>| {
            let first = group[0];
            first.device.is_some() && first.device == disk.device && first.writable && disk.writable
        };
        match groups.iter_mut().find(shares) {
            Some(group) => group.push(disk),
            None => groups.push(vec![disk]),
        }
    }
    let merge = |group: Vec<&Disk>| {
        if group.len() == 1 {
            return group[0].clone();
        }
        let list = |field: fn(&Disk) -> &str| join(group.iter().map(|disk| field(disk)), ", ");
        let needed = group.iter().filter_map(|disk| disk.needed);
        Disk {
            what: list(|disk| &disk.what),
            path: list(|disk| &disk.path),
            needed: needed.reduce(u64::saturating_add).max(required),
            ..group[0].clone()
        }
    };
    groups.into_iter().map(merge).collect()
}

/// The recipe states the total; its distribution depends on the disks, so each disk that cannot hold it alone
/// gets a warning.
fn disk(disk: &Disk, required: Option<u64>) -> Check {
    let system = disk.network.iter().map(|system| format!(" ({system})"));
    let path = disk.path.clone() + &system.collect::<String>();
    let needed = disk.needed.or(required);
    let short = needed.is_some_and(|needed| disk.free.is_some_and(|free| free < needed));
    let at = if path.is_empty() { "" } else { " at " };
    let free = disk
        .free
        .map(|free| format!("{} free{at}{path}", size(free)));
    let check = match free {
        None => CheckKind::Disk.unknown(path),
        Some(_) if !disk.writable => CheckKind::Disk
            .error(format!("{path}: not writable"))
            .required("a writable directory")
            .fix("choose another: --home DIR, --cache DIR, HF_HOME"),
        Some(free) if short => CheckKind::Disk.warning(free).fix(
            "free some (`retrial clean`, `docker system df`), or choose another disk: --home DIR, --cache DIR, HF_HOME",
        ),
        Some(free) if disk.network.is_some() => CheckKind::Disk.warning(free).fix(
            "the engine's root may not write to a network home (root_squash): choose a local disk with --home DIR",
        ),
        Some(free) => CheckKind::Disk.ok(free),
    };
    let check = check.named(format!("disk for {}", disk.what));
    if !check.required.is_empty() {
        return check;
    }
    match (disk.needed, required) {
        (Some(needed), _) => check.required(size(needed)),
        (None, Some(required)) => check.required(format!("{} in total", size(required))),
        (None, None) => check,
    }
}

fn memory(facts: &Facts<'_>) -> Option<Check> {
    let actual = Some(facts.host.memory).filter(|bytes| *bytes > 0)?;
    let Some(required) = facts.requires.and_then(|requires| requires.memory) else {
        return Some(CheckKind::Memory.ok(size(actual)));
    };
    let state = if actual < required {
        CheckState::Warning
    } else {
        CheckState::Ok
    };
    let check = CheckKind::Memory.check(state, size(actual));
    Some(
        check
            .required(size(required))
            .fix("run on a host that has it"),
    )
}
