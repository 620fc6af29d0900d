//! Suites of `MLCommons` whose results look like `MLPerf Inference`'s and follow rules of their own: what
//! their published trees and logs have that those of `MLPerf Inference` never have.

use std::fmt;

use crate::loadgen::LoadgenRun;
use crate::rounds::Seeds;

/// A suite that is not judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherSuite {
    /// Automotive: `LoadGen` with a scenario of its own, `ConstantStream`.
    Automotive,
    /// Mobile: `LoadGen` in an app.
    Mobile,
    /// Tiny: microcontrollers, without `LoadGen`.
    Tiny,
    /// MLPerf Storage, by the logs that `DLIO` writes.
    Storage,
    /// MLPerf Endpoints: curves over concurrencies, each point a folder of its own.
    Endpoints,
}

/// `MLPerf Automotive`
impl fmt::Display for OtherSuite {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Automotive => "Automotive",
            Self::Mobile => "Mobile",
            Self::Tiny => "Tiny",
            Self::Storage => "Storage",
            Self::Endpoints => "Endpoints",
        };
        write!(formatter, "MLPerf {name}")
    }
}

/// The scenario that only Automotive's `LoadGen` has.
const CONSTANT_STREAM: &str = "constantstream";
/// The seeds of Automotive v0.5.
/// <https://github.com/mlcommons/mlperf_automotive/blob/main/loadgen/mlperf.conf>
const AUTOMOTIVE_SEEDS: Seeds =
    Seeds { qsl: 1_575_625_098, sample_index: 2_227_286_192, schedule: 3_495_234_579 };
/// Folders of benchmarks in `automotive_results_v0.5`.
const AUTOMOTIVE_FOLDERS: [&str; 4] = ["bevformer", "deeplabv3plus", "ssd", CONSTANT_STREAM];
/// Folders in `mobile_results_v2.1` to v5.0; the first two are of runs.
const MOBILE_FOLDERS: [&str; 17] = [
    "log_performance",
    "log_accuracy",
    "mobilebert",
    "mobiledetssd",
    "mobilenetedgetpu",
    "mobilenetv4",
    "mosaic",
    "edsr",
    "image_classification",
    "image_classification_v2",
    "image_classification_offline",
    "image_classification_offline_v2",
    "image_segmentation_v2",
    "natural_language_processing",
    "object_detection",
    "stable_diffusion",
    "super_resolution",
];
/// Folders in `tiny_results_v0.5` to v1.3.
const TINY_FOLDERS: [&str; 5] = ["ad", "ic", "kws", "vww", "sww"];
/// Folders in `storage_results_v0.5` to v3.0: `unet3d-h100`, and kinds of workloads since v2.0.
const STORAGE_FOLDERS: [&str; 6] =
    ["unet3d", "cosmoflow", "training", "checkpointing", "vector_database", "kv_cache"];
/// Suffixes of a benchmark's folder in Storage v1.0.
const ACCELERATOR_SUFFIXES: [&str; 3] = ["-a100", "-h100", "-b200"];

/// The description of a point, next to its results, since Endpoints v1.0.
pub const ENDPOINTS_POINT_FILE: &str = "point.yaml";

impl OtherSuite {
    /// Returns the suite by the names of folders below `results`: system, benchmark, and those in it.
    pub fn from_folder_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let mut numbered_names = names.into_iter().enumerate();
        numbered_names.find_map(|(depth, name)| Self::from_folder(depth, name))
    }

    /// Returns the suite by one folder; its depth is 0 for a system's.
    fn from_folder(depth: usize, name: &str) -> Option<Self> {
        let lower_name = name.to_ascii_lowercase();
        let run = ["-performance", "-accuracy"];
        let task = run.iter().find_map(|run| lower_name.strip_suffix(run));
        // Some submitters of Mobile have no folder for the system.
        if MOBILE_FOLDERS.contains(&task.unwrap_or(&lower_name)) {
            return Some(Self::Mobile);
        }
        let workload = ACCELERATOR_SUFFIXES.iter().find_map(|gpu| lower_name.strip_suffix(gpu));
        match depth {
            0 => None,
            _ if AUTOMOTIVE_FOLDERS.contains(&lower_name.as_str()) => Some(Self::Automotive),
            1 if TINY_FOLDERS.contains(&lower_name.as_str()) => Some(Self::Tiny),
            1 if STORAGE_FOLDERS.contains(&workload.unwrap_or(&lower_name)) => Some(Self::Storage),
            1 if workload.is_some_and(|workload| workload == "resnet50") => Some(Self::Storage),
            _ => None,
        }
    }

    /// Returns the suite by the logs of a run.
    pub fn from_run(run: &LoadgenRun) -> Option<Self> {
        let settings = run.parameters();
        let seeds = || {
            Some(Seeds {
                qsl: settings.qsl_rng_seed?,
                sample_index: settings.sample_index_rng_seed?,
                schedule: settings.schedule_rng_seed?,
            })
        };
        let of_detail = run.detail.as_ref().and_then(|detail| detail.other_scenario.as_deref());
        let of_summary = run.summary.as_ref().and_then(|summary| summary.other_scenario.as_deref());
        let scenario = of_detail.or(of_summary);
        let is_constant = scenario.is_some_and(|name| name.eq_ignore_ascii_case(CONSTANT_STREAM));
        (is_constant || seeds() == Some(AUTOMOTIVE_SEEDS)).then_some(Self::Automotive)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::loadgen::{detail, summary};

    #[rstest]
    #[case("Thor-X_TRT/bevformer/ConstantStream", Some(OtherSuite::Automotive))]
    #[case("spr-reference-cpu/ssd/singlestream/performance/run_1", Some(OtherSuite::Automotive))]
    #[case("SD7G3/mobileBERT/SingleStream/log_performance", Some(OtherSuite::Mobile))]
    #[case("mobileBERT/SingleStream/log_performance", Some(OtherSuite::Mobile))]
    #[case("SD8Elite/image_classification_offline_v2-performance", Some(OtherSuite::Mobile))]
    #[case("exynos2600/2025-11-16/stable_diffusion-accuracy", Some(OtherSuite::Mobile))]
    #[case("NUCLEO/kws/performance", Some(OtherSuite::Tiny))]
    #[case("AI400X2T_16clients/cosmoflow-h100/runs", Some(OtherSuite::Storage))]
    #[case("AI400X2T_16clients/resnet50-a100/runs", Some(OtherSuite::Storage))]
    #[case("aws_8c/training/unet3d/run", Some(OtherSuite::Storage))]
    #[case("8xMI355X/llama2-70b-99/Offline/performance/run_1", None)]
    #[case("H100-SXM-80GBx8_TRT/resnet50/SingleStream", None)]
    #[case("rpi5/mobilenet-v1-1.0-224/singlestream/accuracy", None)]
    #[case("dgx/stable-diffusion-xl/Server", None)]
    #[case("training/resnet/Offline", None)]
    #[case("ad/ssd-resnet34/Offline", None)]
    fn a_suite_has_folders_of_its_own(#[case] path: &str, #[case] expected: Option<OtherSuite>) {
        assert_eq!(OtherSuite::from_folder_names(path.split('/')), expected);
    }

    #[test]
    fn automotive_is_known_by_its_scenario_or_its_seeds() {
        let of = |text: &str| {
            OtherSuite::from_run(&LoadgenRun {
                summary: Some(summary::parse_summary(text).unwrap()),
                detail: None,
            })
        };
        let head = "SUT name : A\nScenario : ConstantStream\nMode : PerformanceOnly\n";
        assert_eq!(of(head), Some(OtherSuite::Automotive));
        let seeds = "SUT name : A\nScenario : SingleStream\nqsl_rng_seed : 1575625098\n\
                     sample_index_rng_seed : 2227286192\nschedule_rng_seed : 3495234579\n";
        assert_eq!(of(seeds), Some(OtherSuite::Automotive));
        assert_eq!(of(&seeds.replace("1575625098", "0")), None);
        let log =
            br#":::MLLOG {"key": "effective_scenario", "value": "ConstantStream", "time_ms": 1.0}"#;
        let run = LoadgenRun { summary: None, detail: Some(detail::parse_detail_log(log)) };
        assert_eq!(OtherSuite::from_run(&run), Some(OtherSuite::Automotive));
    }
}
