//! Which amdgpu driver goes with which `ROCm` release, and which GPUs a release has code for.
//!
//! Source: `ROCm`'s compatibility matrices and release notes 6.1 to 7.2.2, its table of drivers and
//! user space (in the installation guide of 6.3), and the notes of the drivers 30.30 and later. What is not listed is told as such, not guessed: since 6.4 AMD
//! supports a driver and a user space that are up to a year apart.

/// A driver's series by the version of its kernel module (`/sys/module/amdgpu/version`).
const SERIES: [(&str, &str); 7] = [
    ("6.10.5", "6.3"),
    ("6.12.12", "6.4"),
    ("6.14.14", "30.10"),
    ("6.16.6", "30.20"),
    ("6.16.13", "30.30"),
    ("6.19.4", "31.30"),
    ("6.19.14", "31.40"),
];

/// How a `ROCm` release begins, oldest first, and the drivers that it lists.
const RELEASES: [(&str, &[&str]); 7] = [
    ("6.1", &["6.3", "6.2", "6.1"]),
    // Until 6.4 a driver goes with two releases before and after its own.
    ("6.2", &["6.4", "6.3", "6.2", "6.1", "6.0"]),
    // 30.30's notes list 6.3, and the drivers between are nearer to it.
    (
        "6.3",
        &["30.30", "30.20", "30.10", "6.4", "6.3", "6.2", "6.1"],
    ),
    // 30.30's own notes list 6.4, too.
    (
        "6.4",
        &["30.30", "30.20", "30.10", "6.4", "6.3", "6.2", "6.1"],
    ),
    ("7.0", &["30.30", "30.20", "30.10", "6.4", "6.3", "6.2"]),
    ("7.1", &["30.30", "30.20", "30.10", "6.4"]),
    ("7.2", &["30.30", "30.20", "30.10"]),
];

/// GPUs, and the first of these releases that has code for them; the later ones have it, too.
const TARGETS: [(&str, &str); 9] = [
    ("gfx908", "6.1"),
    ("gfx90a", "6.1"),
    ("gfx942", "6.1"),
    ("gfx1030", "6.1"),
    ("gfx1100", "6.1"),
    ("gfx1101", "6.4"),
    ("gfx1200", "6.4"),
    ("gfx1201", "6.4"),
    ("gfx950", "7.0"),
];

/// The series of a driver; none for a version that is not known here.
pub fn series(module: &str) -> Option<&'static str> {
    SERIES
        .iter()
        .find(|(version, _)| *version == module)
        .map(|(_, series)| *series)
}

/// Whether a release lists the driver's series; none where the release is not known here.
pub fn lists_driver(rocm: &str, series: &str) -> Option<bool> {
    Some(RELEASES[release(rocm)?].1.contains(&series))
}

/// Whether a release has code for a GPU; none where the release is not known here.
pub fn lists_target(rocm: &str, gfx: &str) -> Option<bool> {
    let release = release(rocm)?;
    let mut targets = TARGETS.iter().filter(|(target, _)| *target == gfx);
    Some(targets.any(|(_, first)| self::release(first).is_some_and(|first| first <= release)))
}

/// Its place among the releases.
fn release(rocm: &str) -> Option<usize> {
    RELEASES.iter().position(|(begins, _)| {
        rocm.strip_prefix(begins)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-']))
    })
}
