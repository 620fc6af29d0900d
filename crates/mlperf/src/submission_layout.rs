//! The layout of a submission tree, as `MLCommons` defines it: names of folders and files, and paths below the tree's
//! root. What reads a tree and what writes one both have it from here. No file is looked at.
//!
//! ```text
//! DIVISION/SUBMITTER/systems/SYSTEM.json
//!                    results/SYSTEM/BENCHMARK/SCENARIO/performance/run_1
//!                                                      accuracy
//!                    measurements/SYSTEM/BENCHMARK/SCENARIO/SYSTEM.json
//!                    compliance/SYSTEM/BENCHMARK/SCENARIO/TEST06
//!                    code/BENCHMARK
//!                    calibration.md, model_mapping.json
//! ```
//!
//! Since v6.0, `measurements` (as `measurements.json`) and `compliance` are among the results, and the code is in `src`.

use super::rounds::SubmissionLayout;
use crate::Division;

/// The folder of a submitter's results.
pub const RESULTS_FOLDER: &str = "results";
/// The folder of a submitter's descriptions of systems.
pub const SYSTEMS_FOLDER: &str = "systems";
/// The folder of the configurations, up to v5.1.
pub const MEASUREMENTS_FOLDER: &str = "measurements";
/// The folder of the audit's tests, up to v5.1; some submitters have it among the results since.
pub const COMPLIANCE_FOLDER: &str = "compliance";
/// The folders of a submitter that are laid out by system, benchmark and scenario.
pub const LAID_OUT_FOLDERS: [&str; 3] = [RESULTS_FOLDER, COMPLIANCE_FOLDER, MEASUREMENTS_FOLDER];
/// The folder of a scenario's performance run, with `run_1` in it.
pub const PERFORMANCE_FOLDER: &str = "performance";
/// The performance run of a scenario, or of a test of the audit, below its folder.
pub const PERFORMANCE_RUN: &str = "performance/run_1";
/// The folder of a scenario's accuracy run.
pub const ACCURACY_FOLDER: &str = "accuracy";
/// The submitter's own names of benchmarks, each with `MLCommons`'.
pub const BENCHMARK_NAMES_FILE: &str = "model_mapping.json";
/// How the weights were quantized.
pub const CALIBRATION_FILE: &str = "calibration.md";
/// The description of a measurement since v6.0; before, it has the system's name.
pub const MEASUREMENTS_FILE: &str = "measurements.json";

/// Returns whether a folder has the name of a test of the audit: `TEST06`, in any case.
pub fn is_test(name: &str) -> bool {
    let digits = name.get(4..).unwrap_or_default();
    name.get(..4).is_some_and(|word| word.eq_ignore_ascii_case("test"))
        && digits.len() == 2
        && digits.bytes().all(|digit| digit.is_ascii_digit())
}

/// A part of a scenario's result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScenarioPart {
    /// The performance run, in `performance`.
    Performance,
    /// The accuracy run, in `accuracy`.
    Accuracy,
    /// All compliance tests.
    Compliance,
    /// One of them: `TEST06`.
    Test(String),
}

impl ScenarioPart {
    /// Returns the name of the part's folder.
    pub fn name(&self) -> &str {
        match self {
            Self::Performance => PERFORMANCE_FOLDER,
            Self::Accuracy => ACCURACY_FOLDER,
            Self::Compliance => COMPLIANCE_FOLDER,
            Self::Test(name) => name,
        }
    }

    fn from_names(kind: &str, names: &[String]) -> Option<Self> {
        let below_scenario = names.iter().map(String::as_str).take(2);
        let mut below =
            [kind].into_iter().chain(below_scenario).skip_while(|name| *name != COMPLIANCE_FOLDER);
        let in_compliance = below.next().is_some();
        let first = names.first().map(String::as_str);
        match if in_compliance { below.next() } else { first } {
            Some(name) if is_test(name) => Some(Self::Test(name.to_owned())),
            _ if in_compliance => Some(Self::Compliance),
            Some(PERFORMANCE_FOLDER) => Some(Self::Performance),
            Some(ACCURACY_FOLDER) => Some(Self::Accuracy),
            _ => None,
        }
    }
}

/// The names of a path in a tree, from the division's on, as far as the path goes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SubmissionNames {
    pub division: Option<Division>,
    pub submitter: Option<String>,
    /// The submitter's folder in which it is: `results`.
    pub kind: Option<String>,
    pub system: Option<String>,
    pub benchmark: Option<String>,
    /// The scenario's folder.
    pub scenario: Option<String>,
    pub part: Option<ScenarioPart>,
}

impl SubmissionNames {
    /// Reads the names from a division's on; none if the first is no division, or if below the submitter there is a
    /// folder that is not laid out by system.
    pub fn parse(names: &[String]) -> Option<Self> {
        let name = |at: usize| names.get(at).cloned();
        let kind = name(2);
        let is_laid_out = |kind: &String| LAID_OUT_FOLDERS.contains(&kind.as_str());
        let division = names.first()?.parse().ok()?;
        kind.as_ref().is_none_or(is_laid_out).then(|| Self {
            division: Some(division),
            submitter: name(1),
            system: name(3),
            benchmark: name(4),
            scenario: name(5),
            part: ScenarioPart::from_names(
                kind.as_deref().unwrap_or_default(),
                names.get(6..).unwrap_or_default(),
            ),
            kind,
        })
    }
}

/// A submitter's part of a tree.
#[derive(Debug, Clone, Copy)]
pub struct SubmitterPaths<'a> {
    /// The division whose folder it is in.
    pub division: Division,
    /// The name of the submitter's folder.
    pub submitter: &'a str,
}

impl<'a> SubmitterPaths<'a> {
    /// The submitter's folder: `closed/ACME`.
    pub fn root(self) -> String {
        format!("{}/{}", self.division, self.submitter)
    }

    /// The system's description.
    pub fn system_file(self, system: &str) -> String {
        format!("{}/{SYSTEMS_FOLDER}/{system}.json", self.root())
    }

    /// The folder of a system's results.
    pub fn system_results(self, system: &str) -> String {
        format!("{}/{RESULTS_FOLDER}/{system}", self.root())
    }

    /// The folder of a benchmark's results on a system.
    pub fn benchmark_results(self, system: &str, benchmark: &str) -> String {
        format!("{}/{benchmark}", self.system_results(system))
    }

    /// The folder of a benchmark's code.
    pub fn code(self, layout: SubmissionLayout, benchmark: &str) -> String {
        let folder = match layout {
            SubmissionLayout::Separate => "code",
            SubmissionLayout::Together => "src",
        };
        format!("{}/{folder}/{benchmark}", self.root())
    }

    /// One scenario of a benchmark on a system.
    pub fn scenario(
        self,
        system: &'a str,
        benchmark: &'a str,
        scenario: &'a str,
    ) -> ScenarioPaths<'a> {
        ScenarioPaths { submitter: self, system, benchmark, scenario }
    }
}

/// One scenario of a benchmark on a system.
#[derive(Debug, Clone, Copy)]
pub struct ScenarioPaths<'a> {
    submitter: SubmitterPaths<'a>,
    system: &'a str,
    benchmark: &'a str,
    scenario: &'a str,
}

impl ScenarioPaths<'_> {
    /// The folder of its results.
    pub fn results(self) -> String {
        self.laid_out(RESULTS_FOLDER)
    }

    /// The folder of its configuration: `user.conf` and README.
    pub fn measurements(self, layout: SubmissionLayout) -> String {
        match layout {
            SubmissionLayout::Separate => self.laid_out(MEASUREMENTS_FOLDER),
            SubmissionLayout::Together => self.results(),
        }
    }

    /// The file with the data types of its weights.
    pub fn measurements_file(self, layout: SubmissionLayout) -> String {
        let folder = self.measurements(layout);
        match layout {
            SubmissionLayout::Separate => format!("{folder}/{}.json", self.system),
            SubmissionLayout::Together => format!("{folder}/{MEASUREMENTS_FILE}"),
        }
    }

    /// The folder in which the tests of the audit are.
    pub fn compliance(self, layout: SubmissionLayout) -> String {
        match layout {
            SubmissionLayout::Separate => self.laid_out(COMPLIANCE_FOLDER),
            SubmissionLayout::Together => self.results(),
        }
    }

    /// The folders in which submitters of any round have the tests of the audit: next to the results, among them, or in
    /// a folder of their own among them.
    pub fn compliance_of_any_round(self) -> [String; 3] {
        [
            self.compliance(SubmissionLayout::Separate),
            self.compliance(SubmissionLayout::Together),
            format!("{}/{COMPLIANCE_FOLDER}", self.results()),
        ]
    }

    fn laid_out(self, folder: &str) -> String {
        let root = self.submitter.root();
        let Self { system, benchmark, scenario, .. } = self;
        format!("{root}/{folder}/{system}/{benchmark}/{scenario}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACME: SubmitterPaths<'_> =
        SubmitterPaths { division: Division::Closed, submitter: "ACME" };

    #[test]
    fn up_to_v5_1_each_kind_has_a_separate_tree() {
        let layout = SubmissionLayout::Separate;
        let scenario = ACME.scenario("1xH200", "bert-99", "Offline");
        assert_eq!(
            scenario.measurements_file(layout),
            "closed/ACME/measurements/1xH200/bert-99/Offline/1xH200.json"
        );
        assert_eq!(scenario.compliance(layout), "closed/ACME/compliance/1xH200/bert-99/Offline");
        assert_eq!(ACME.code(layout, "bert-99"), "closed/ACME/code/bert-99");
        assert_eq!(ACME.system_file("1xH200"), "closed/ACME/systems/1xH200.json");
    }

    #[test]
    fn since_v6_0_files_of_a_result_share_a_directory() {
        let layout = SubmissionLayout::Together;
        let scenario = ACME.scenario("1xH200", "bert-99", "Offline");
        let results = "closed/ACME/results/1xH200/bert-99/Offline";
        assert_eq!(scenario.results(), results);
        assert_eq!(scenario.measurements_file(layout), format!("{results}/measurements.json"));
        assert_eq!(scenario.compliance(layout), results);
        assert_eq!(ACME.code(layout, "bert-99"), "closed/ACME/src/bert-99");
    }

    #[test]
    fn a_path_is_read_as_far_as_it_goes() {
        let parse = |path: &str| {
            let names: Vec<String> = path.split('/').map(str::to_owned).collect();
            SubmissionNames::parse(&names)
        };
        let part = |path: &str| parse(path).unwrap().part;
        let run =
            parse("closed/AMD/results/8xMI300X/llama2-70b-99/Offline/performance/run_1").unwrap();
        assert_eq!(run.division, Some(Division::Closed));
        assert_eq!(run.system.as_deref(), Some("8xMI300X"));
        assert_eq!(run.scenario.as_deref(), Some("Offline"));
        assert_eq!(run.part, Some(ScenarioPart::Performance));
        assert_eq!(part("open/AMD/results/S/B/Offline/accuracy"), Some(ScenarioPart::Accuracy));
        assert_eq!(part("open/AMD/results/S/B/Offline"), None);
        assert_eq!(part("open/AMD/compliance/S"), Some(ScenarioPart::Compliance));
        let test = Some(ScenarioPart::Test("TEST06".to_owned()));
        for path in [
            "results/S/B/Offline/TEST06",
            "results/S/B/Offline/compliance/TEST06",
            "compliance/S/B/Offline/TEST06/performance",
        ] {
            assert_eq!(part(&format!("closed/AMD/{path}")), test, "{path}");
        }
        assert_eq!(parse("closed/AMD/code/x"), None);
        assert_eq!(parse("notes"), None);
    }

    #[test]
    fn tests_of_the_audit_are_recognized_in_any_case() {
        for name in ["TEST01", "test06"] {
            assert!(is_test(name), "{name}");
        }
        for name in ["TEST6", "TEST061", "TESTab", "", "tést06"] {
            assert!(!is_test(name), "{name}");
        }
    }
}
