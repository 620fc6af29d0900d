//! Names of packages without the releases in them: `amdrocm-hipblaslt10.0` and `amdrocm-hipblaslt10.1` are one
//! package in two releases.
//!
//! A number in a name is a release if it is the beginning of the package's own version or of `ROCm`'s in the
//! image, or if it follows the name of the platform that the package is built for (`cu12`, `cuda-12`, `rocm7`).

/// The platforms whose releases stand in names of packages.
const PLATFORMS: [&str; 3] = ["cuda", "cu", "rocm"];
/// What Debian and RPM put behind the name of a library for its headers and symbols.
const PART_ENDINGS: [&str; 5] = ["-dev", "-devel", "-dbg", "-dbgsym", "-debuginfo"];

/// Returns a package's name without the releases in it.
pub fn name_without_release(name: &str, version: &str, rocm: Option<&str>) -> String {
    // An epoch counts changes of the scheme: `1:2.36`.
    let own = version.split_once(':').map_or(version, |(_, version)| version);
    let releases: Vec<Vec<&str>> = [Some(own), rocm].into_iter().flatten().map(numbers).collect();
    let mut rest = name;
    let mut base = String::new();
    while let Some(start) = rest.find(|letter: char| letter.is_ascii_digit()) {
        let (word, after) = rest.split_at(start);
        let (token, after) = split_number(after);
        base.push_str(word);
        rest = after;
        if !ends_word(rest) || base.is_empty() {
            base.push_str(token);
        } else if let Some(platform) = platform_behind(&base) {
            base.truncate(base.len() - platform);
            // CuPy is built for `cuda12x`.
            rest = rest.strip_prefix('x').unwrap_or(rest);
        } else {
            base.push_str(without_release(token, &releases));
            base.truncate(base.trim_end_matches(['-', '.', '_']).len());
        }
    }
    base.push_str(rest);
    base
}

/// Returns the name of a library without its release, `lib`, the number of its interface, and `-dev`.
pub fn library_name(name_without_release: &str) -> &str {
    let part = PART_ENDINGS.iter().find_map(|ending| name_without_release.strip_suffix(ending));
    let name = part.unwrap_or(name_without_release);
    let name = name.split_once("-gfx").map_or(name, |(name, _)| name);
    let bare = name
        .strip_prefix("lib")
        .map(|bare| bare.trim_end_matches(|last: char| last.is_ascii_digit()));
    bare.filter(|bare| !bare.is_empty()).unwrap_or(name)
}

/// Splits numbers joined by `.` or `-` from the beginning of a text: `12-4` from `12-4-config`.
fn split_number(text: &str) -> (&str, &str) {
    let mut end = 0;
    let bytes = text.as_bytes();
    while end < bytes.len() {
        let is_joint = matches!(bytes[end], b'.' | b'-');
        let digit_follows = bytes.get(end + 1).is_some_and(u8::is_ascii_digit);
        if !(bytes[end].is_ascii_digit() || is_joint && digit_follows) {
            break;
        }
        end += 1;
    }
    text.split_at(end)
}

fn ends_word(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(['-', '_', '.', 'x'])
}

/// Returns the length of the platform at the end of a name, with the sign before it.
fn platform_behind(base: &str) -> Option<usize> {
    let trimmed = base.trim_end_matches('-');
    let platform = PLATFORMS.iter().find(|platform| trimmed.ends_with(*platform))?;
    let before = trimmed[..trimmed.len() - platform.len()].strip_suffix(['-', '_'])?;
    (!before.is_empty()).then_some(base.len() - before.len())
}

/// Returns a number of a name without the release that it ends in: `64-5` of version 5.7 is 64.
fn without_release<'a>(token: &'a str, releases: &[Vec<&str>]) -> &'a str {
    let mut at = 0;
    loop {
        let parts = numbers(&token[at..]);
        if releases.iter().any(|release| release.starts_with(&parts)) {
            return &token[..at];
        }
        match token[at..].find(['.', '-']) {
            Some(joint) => at += joint + 1,
            None => return token,
        }
    }
}

/// Returns the numbers of a version, in their order, up to the first that is followed by a letter.
fn numbers(text: &str) -> Vec<&str> {
    let end = text.find(|letter: char| !(letter.is_ascii_digit() || matches!(letter, '.' | '-')));
    text[..end.unwrap_or(text.len())].split(['.', '-']).filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("amdrocm-hipblaslt10.0", "10.0.0-4", "amdrocm-hipblaslt")]
    #[case("amdrocm-core-sdk10.0-gfx942", "10.0.0~pre1-1", "amdrocm-core-sdk-gfx942")]
    #[case("hipblaslt7.2.4", "1.2.1.70204-93", "hipblaslt")]
    #[case("cuda-cudart-12-4", "12.4.127-1", "cuda-cudart")]
    #[case("cuda-toolkit-12-4-config-common", "12.4.127-1", "cuda-toolkit-config-common")]
    #[case("cuda-12-4", "12.4.1-1", "cuda")]
    #[case("libcudnn9-dev-cuda-12", "9.1.0.70-1", "libcudnn-dev")]
    #[case("libnccl2", "2.21.5-1+cuda12.4", "libnccl")]
    #[case("nvidia-nccl-cu12", "2.27.3", "nvidia-nccl")]
    #[case("tensorrt-cu12-libs", "10.1.0", "tensorrt-libs")]
    #[case("cupy-cuda12x", "13.3.0", "cupy")]
    #[case("jax-rocm7-plugin", "0.8.0", "jax-plugin")]
    #[case("libamdhip64-5", "5.7.1-3", "libamdhip64")]
    #[case("gcc-12", "12.2.0-14", "gcc")]
    #[case("libssl3", "1:3.0.11-1", "libssl")]
    // A number that is no release stays.
    #[case("libc6", "2.36-9", "libc6")]
    #[case("zlib1g", "1:1.2.13", "zlib1g")]
    #[case("pytorch-triton-rocm", "3.4.0", "pytorch-triton-rocm")]
    #[case("rocm-cmake", "0.14", "rocm-cmake")]
    #[case("7zip", "7.1", "7zip")]
    #[case("", "", "")]
    fn releases_are_stripped(#[case] name: &str, #[case] version: &str, #[case] expected: &str) {
        assert_eq!(name_without_release(name, version, Some("7.2.4")), expected);
    }

    #[rstest]
    #[case("librccl", "rccl")]
    #[case("librccl1-dev", "rccl")]
    #[case("hipblaslt-dev", "hipblaslt")]
    #[case("rocm-sdk-libraries-gfx94x-dcgpu", "rocm-sdk-libraries")]
    #[case("composablekernel-devel", "composablekernel")]
    #[case("lib6", "lib6")]
    fn libraries_have_one_name(#[case] name: &str, #[case] expected: &str) {
        assert_eq!(library_name(name), expected);
    }
}
