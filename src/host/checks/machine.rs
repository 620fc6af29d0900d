//! Disk and memory.

use super::{Check, CheckKind, CheckState, Disk, Facts};

pub fn checks(facts: &Facts<'_>) -> Vec<Check> {
    let wanted = facts.requires.and_then(|requires| requires.disk);
    let mut checks: Vec<Check> = facts
        .disks
        .iter()
        .map(|place| disk(place, wanted))
        .collect();
    checks.extend(memory(facts));
    checks
}

/// The recipe states what it takes in all; where that will lie depends on the disks, so each that
/// cannot hold it alone is told.
fn disk(place: &Disk, wanted: Option<u64>) -> Check {
    let name = format!("disk for {}", place.what);
    let on = match &place.network {
        Some(system) => format!(" ({system})"),
        None => String::new(),
    };
    let Some(free) = place.free else {
        return Check::new(
            CheckKind::Disk,
            &name,
            CheckState::Unknown,
            format!("{}{on}", place.path),
        );
    };
    if !place.writable {
        return Check::new(
            CheckKind::Disk,
            &name,
            CheckState::Error,
            format!("{}{on}: you may not write there", place.path),
        )
        .required("a directory of yours")
        .fix("choose another one: --home DIR, --cache DIR, HF_HOME");
    }
    let short = wanted.is_some_and(|wanted| free < wanted);
    let state = if short || place.network.is_some() {
        CheckState::Warning
    } else {
        CheckState::Ok
    };
    let check = Check::new(
        CheckKind::Disk,
        &name,
        state,
        format!("{} free at {}{on}", bytes(free), place.path),
    );
    let check = match wanted {
        Some(wanted) => check.required(format!("{} in all", bytes(wanted))),
        None => check,
    };
    check.fix(if short {
        "free some (`retrial clean`, `docker system df`), or choose another disk: --home DIR, --cache DIR, HF_HOME"
    } else {
        "the engine's root may not write to a network home (root_squash): choose a local disk by --home DIR"
    })
}

fn memory(facts: &Facts<'_>) -> Option<Check> {
    let have = facts.host.memory;
    if have == 0 {
        return None;
    }
    let wanted = facts.requires.and_then(|requires| requires.memory);
    let state = match wanted {
        Some(wanted) if have < wanted => CheckState::Warning,
        _ => CheckState::Ok,
    };
    let check = Check::new(CheckKind::Memory, "memory", state, bytes(have));
    Some(match wanted {
        Some(wanted) => check
            .required(bytes(wanted))
            .fix("run it on a host that has it"),
        None => check,
    })
}

fn bytes(count: u64) -> String {
    crate::format::size(count)
}
