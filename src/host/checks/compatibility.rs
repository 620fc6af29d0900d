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

/// What a `ROCm` release lists.
struct Release {
    /// `6.4`: the releases that begin so.
    begins: &'static str,
    drivers: &'static [&'static str],
    targets: &'static [&'static str],
}

const RELEASES: [Release; 7] = [
    Release {
        begins: "6.1",
        drivers: &["6.3", "6.2", "6.1"],
        targets: &["gfx942", "gfx90a", "gfx908", "gfx1100", "gfx1030"],
    },
    Release {
        begins: "6.2",
        // Until 6.4 a driver goes with two releases before and after its own.
        drivers: &["6.4", "6.3", "6.2", "6.1", "6.0"],
        targets: &["gfx942", "gfx90a", "gfx908", "gfx1100", "gfx1030"],
    },
    Release {
        begins: "6.3",
        // 30.30's notes list 6.3, and the drivers between are nearer to it.
        drivers: &["30.30", "30.20", "30.10", "6.4", "6.3", "6.2", "6.1"],
        targets: &["gfx942", "gfx90a", "gfx908", "gfx1100", "gfx1030"],
    },
    Release {
        begins: "6.4",
        // 30.30's own notes list 6.4, too.
        drivers: &["30.30", "30.20", "30.10", "6.4", "6.3", "6.2", "6.1"],
        targets: &[
            "gfx942", "gfx90a", "gfx908", "gfx1100", "gfx1030", "gfx1101", "gfx1200", "gfx1201",
        ],
    },
    Release {
        begins: "7.0",
        drivers: &["30.30", "30.20", "30.10", "6.4", "6.3", "6.2"],
        targets: &[
            "gfx950", "gfx942", "gfx90a", "gfx908", "gfx1100", "gfx1030", "gfx1101", "gfx1200",
            "gfx1201",
        ],
    },
    Release {
        begins: "7.1",
        drivers: &["30.30", "30.20", "30.10", "6.4"],
        targets: &[
            "gfx950", "gfx942", "gfx90a", "gfx908", "gfx1100", "gfx1030", "gfx1101", "gfx1200",
            "gfx1201",
        ],
    },
    Release {
        begins: "7.2",
        drivers: &["30.30", "30.20", "30.10"],
        targets: &[
            "gfx950", "gfx942", "gfx90a", "gfx908", "gfx1100", "gfx1030", "gfx1101", "gfx1200",
            "gfx1201",
        ],
    },
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
    Some(release(rocm)?.drivers.contains(&series))
}

/// Whether a release has code for a GPU; none where the release is not known here.
pub fn lists_target(rocm: &str, gfx: &str) -> Option<bool> {
    Some(release(rocm)?.targets.contains(&gfx))
}

fn release(rocm: &str) -> Option<&'static Release> {
    RELEASES.iter().find(|known| {
        rocm.strip_prefix(known.begins)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-']))
    })
}
