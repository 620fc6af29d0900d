//! The release that an image's name states: a guess, until something has been read in a container of it.

use retrial_container::ImageRef;

use crate::release::RocmRelease;
use crate::table::ReleaseTable;

/// GPUs that AMD builds separate images for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GpuFamily {
    /// Instinct.
    Cdna,
    /// Radeon, and the GPUs of Ryzen processors.
    Rdna,
}

impl GpuFamily {
    /// The family of a GPU's target; none for one that is not known.
    pub fn of_target(target: &str) -> Option<Self> {
        let generation = target.strip_prefix("gfx")?;
        match generation.len() {
            3 if generation.starts_with('9') => Some(Self::Cdna),
            // gfx1250 is an Instinct GPU that no support table lists yet.
            4 if generation.starts_with("125") => None,
            4 if generation.starts_with('1') => Some(Self::Rdna),
            _ => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Cdna => "CDNA",
            Self::Rdna => "RDNA",
        }
    }
}

/// The family of GPUs that an image's tag names: `rocm7.14.0_rdna_ubuntu24.04_…`.
pub fn target_family_in_name(image: &str) -> Option<GpuFamily> {
    let tag = ImageRef::parse(image).ok()?.tag?;
    tag.split(['_', '-']).find_map(|word| match word {
        "cdna" => Some(GpuFamily::Cdna),
        "rdna" => Some(GpuFamily::Rdna),
        _ => None,
    })
}

/// The release that an image's tag states (`rocm7.2.4_ubuntu24.04_…`, `…-rocm724-mi35x`, of AMD's base images
/// `7.2.4-complete`), or that documents state for it; none if neither does.
pub fn release_in_name(image: &str, table: &ReleaseTable) -> Option<RocmRelease> {
    let image = ImageRef::parse(image).ok()?;
    let tag = image.tag.as_deref()?;
    // A mirror's path may begin with folders of its own.
    let mut parts = image.repository.rsplit('/');
    let (name, owner) = (parts.next()?, parts.next().unwrap_or_default());
    if let Some(release) = table.documented_release(&format!("{owner}/{name}"), tag) {
        return Some(release.clone());
    }
    // AMD's own tags leave out the zero of 7.14.0, others that of any 7.2.
    let parse_release = |text: &str| {
        let (release, _) = RocmRelease::parse_prefix(text)?;
        Some(if owner == "rocm" { release.with_stated_patch() } else { release })
    };
    let behind_word = tag.match_indices("rocm").find_map(|(at, word)| {
        let text = tag[at + word.len()..].trim_start_matches(['-', '_']);
        parse_release(text).or_else(|| release_of_digits(text, table))
    });
    let base_images = ["dev-ubuntu-", "dev-almalinux-", "rocm-terminal"];
    let is_base = owner == "rocm" && base_images.iter().any(|start| name.starts_with(start));
    behind_word.or_else(|| parse_release(tag).filter(|_| is_base))
}

/// Digits without dots: `724` is 7.2.4, `72` a 7.2, and `10` a 10.0, by the series that the table knows.
fn release_of_digits(text: &str, table: &ReleaseTable) -> Option<RocmRelease> {
    let length = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(length);
    if digits.len() < 2 || rest.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
        return None;
    }
    let series = table.dates().map(|(release, _)| release.series());
    let stated = series.clone().filter_map(|(major, minor)| {
        let after = digits.strip_prefix(&format!("{major}{minor}"))?;
        let patch = if after.is_empty() { None } else { Some(after.parse().ok()?) };
        (after.len() < 2).then_some((after.len(), major, minor, patch))
    });
    // `714` is 7.14, not 7.1.4.
    let stated = stated.min_by_key(|(after, ..)| *after);
    let first = || series.clone().find(|(major, _)| major.to_string() == digits);
    let (major, minor, patch) = stated
        .map(|(_, major, minor, patch)| (major, minor, patch))
        .or_else(|| first().map(|(major, _)| (major, 0, None)))?;
    Some(RocmRelease::from_numbers(major, minor, patch, digits))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn stated(image: &str) -> Option<String> {
        let release = release_in_name(image, ReleaseTable::built_in());
        release.map(|release| release.to_string())
    }

    #[rstest]
    #[case("rocm/pytorch:rocm6.3.4_ubuntu24.04_py3.12_pytorch_release_2.4.0", "6.3.4")]
    #[case("rocm/pytorch:rocm7.2.4_ubuntu24.04_py3.12_pytorch_release_2.10.0", "7.2.4")]
    #[case("rocm/pytorch:rocm7.14_ubuntu24.04_py3.12_pytorch_release_2.10.0", "7.14.0")]
    #[case("rocm/pytorch:rocm7.14.1_ubuntu24.04_py3.12_pytorch_release_2.12.0", "7.14.1")]
    #[case("rocm/pytorch:rocm10.0_ubuntu24.04_py3.12_pytorch_release_2.12.0", "10.0.0")]
    #[case("rocm/pytorch:rocm10.1.0_ubuntu24.04_py3.12_pytorch_release_2.13.0", "10.1.0")]
    #[case("rocm/vllm:rocm10.1.0_ubuntu24.04_py3.14_pytorch_2.13.0_vllm_0.29.0", "10.1.0")]
    #[case("rocm/vllm:rocm7.14.0_rdna_ubuntu24.04_py3.14_pytorch_2.11.0_vllm_0.23.0", "7.14.0")]
    #[case("rocm/vllm:rocm7.0.0_vllm_0.11.2_20251210", "7.0.0")]
    #[case("rocm/dev-ubuntu-24.04:10.0.0-full", "10.0.0")]
    #[case("rocm/dev-ubuntu-24.04:7.1.1-complete", "7.1.1")]
    #[case("rocm/sgl-dev:v0.5.18.post1-ubuntu24.04-py3.14-rocm10.1.0", "10.1.0")]
    #[case("rocm/sgl-dev:v0.5.13.post1-ubuntu24.04-py3.14-rocm7.14", "7.14.0")]
    #[case("rocm/sgl-dev:v0.5.20-rocm10-mi35x-20260928", "10.0")]
    #[case("rocm/sgl-dev:v0.5.18-rocm724-mi35x-20260826", "7.2.4")]
    #[case("lmsysorg/sglang:v0.5.16-rocm720-mi30x", "7.2.0")]
    #[case("lmsysorg/sglang:v0.5.19-rocm10-mi35x", "10.0")]
    #[case("vllm/vllm-openai-rocm:v0.27.1", "7.2.3")]
    #[case("rocm/primus:v26.7", "10.0.0")]
    #[case("rocm/primus:v26.4", "7.14.0a20260608")]
    #[case("registry.local:5000/mirror/rocm/primus:v26.7", "10.0.0")]
    #[case("rocm/jax-training:maxtext-v26.5", "7.14.0")]
    #[case("rocm/jax:rocm10.0-jax0.11.0-py3.12", "10.0.0")]
    #[case("example/x:rocm7.2-torch", "7.2")]
    #[case("example/x:rocm1010", "10.1.0")]
    #[case("example/x:rocm714", "7.14")]
    #[case("example/x:rocm72", "7.2")]
    fn the_release_is_read_from_the_name(#[case] image: &str, #[case] release: &str) {
        assert_eq!(stated(image).as_deref(), Some(release));
    }

    #[rstest]
    #[case("rocm/amd-mlperf:mi355x_llama2_70b_inference_6.0")]
    #[case("debian:bookworm-slim")]
    #[case("127.0.0.1:5155/rocm7/x")]
    #[case("rocm/pytorch:latest")]
    #[case("example/x:rocm7")]
    #[case("example/x:rocm20251210")]
    #[case("example/x:7.2.4-complete")]
    #[case("rocm/primus:v99.9")]
    #[case("not an image")]
    fn other_names_state_none(#[case] image: &str) {
        assert_eq!(stated(image), None);
    }

    #[test]
    fn a_tag_may_name_a_family_of_gpus() {
        let family = |image| target_family_in_name(image);
        assert_eq!(family("rocm/vllm:rocm7.14.0_rdna_ubuntu24.04"), Some(GpuFamily::Rdna));
        assert_eq!(family("rocm/vllm:rocm10.0.0_ubuntu24.04"), None);
        let of_targets = ["gfx950", "gfx90a", "gfx1151", "gfx1250"].map(GpuFamily::of_target);
        let (cdna, rdna) = (Some(GpuFamily::Cdna), Some(GpuFamily::Rdna));
        assert_eq!(of_targets, [cdna, cdna, rdna, None]);
    }
}
