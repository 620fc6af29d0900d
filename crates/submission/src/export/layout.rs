//! The paths of a submission's tree, by round.

use super::model::Division;
use retrial_mlperf::rounds::SubmissionLayout;

/// The tree of one submitter's one system.
#[derive(Debug, Clone)]
pub(super) struct TreeLayout {
    pub layout: SubmissionLayout,
    pub division: Division,
    pub submitter: String,
    pub system: String,
}

impl TreeLayout {
    /// Returns the submitter's folder: `closed/ACME`.
    pub fn root(&self) -> String {
        format!("{}/{}", self.division, self.submitter)
    }

    /// Returns the path of the system's description: `closed/ACME/systems/1xH200.json`.
    pub fn system_file(&self) -> String {
        format!("{}/systems/{}.json", self.root(), self.system)
    }

    /// The folder of a scenario's results.
    pub fn results_folder(&self, benchmark: &str, scenario: &str) -> String {
        self.scenario_folder("results", benchmark, scenario)
    }

    /// The folder of a scenario's configuration: `user.conf` and README.
    pub fn measurements_folder(&self, benchmark: &str, scenario: &str) -> String {
        match self.layout {
            SubmissionLayout::Separate => self.scenario_folder("measurements", benchmark, scenario),
            SubmissionLayout::Together => self.results_folder(benchmark, scenario),
        }
    }

    /// The file with the data types of a scenario's weights.
    pub fn measurements_file(&self, benchmark: &str, scenario: &str) -> String {
        let folder = self.measurements_folder(benchmark, scenario);
        match self.layout {
            SubmissionLayout::Separate => format!("{folder}/{}.json", self.system),
            SubmissionLayout::Together => format!("{folder}/measurements.json"),
        }
    }

    /// The folder of a compliance test.
    pub fn compliance_folder(&self, benchmark: &str, scenario: &str, test: &str) -> String {
        let folder = match self.layout {
            SubmissionLayout::Separate => self.scenario_folder("compliance", benchmark, scenario),
            SubmissionLayout::Together => self.results_folder(benchmark, scenario),
        };
        format!("{folder}/{test}")
    }

    /// The folder of a benchmark's recipe and script.
    pub fn code_folder(&self, benchmark: &str) -> String {
        let name = match self.layout {
            SubmissionLayout::Separate => "code",
            SubmissionLayout::Together => "src",
        };
        format!("{}/{name}/{benchmark}", self.root())
    }

    fn scenario_folder(&self, part: &str, benchmark: &str, scenario: &str) -> String {
        let (root, system) = (self.root(), &self.system);
        format!("{root}/{part}/{system}/{benchmark}/{scenario}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(layout: SubmissionLayout) -> TreeLayout {
        TreeLayout {
            layout,
            division: Division::Closed,
            submitter: "ACME".to_owned(),
            system: "1xH200".to_owned(),
        }
    }

    #[test]
    fn up_to_v5_1_each_kind_has_a_separate_tree() {
        let tree = tree(SubmissionLayout::Separate);
        assert_eq!(
            tree.measurements_file("bert-99", "Offline"),
            "closed/ACME/measurements/1xH200/bert-99/Offline/1xH200.json"
        );
        assert_eq!(
            tree.compliance_folder("bert-99", "Offline", "TEST01"),
            "closed/ACME/compliance/1xH200/bert-99/Offline/TEST01"
        );
        assert_eq!(tree.code_folder("bert-99"), "closed/ACME/code/bert-99");
    }

    #[test]
    fn since_v6_0_files_of_a_result_share_a_directory() {
        let tree = tree(SubmissionLayout::Together);
        let results = "closed/ACME/results/1xH200/bert-99/Offline";
        assert_eq!(tree.results_folder("bert-99", "Offline"), results);
        assert_eq!(
            tree.measurements_file("bert-99", "Offline"),
            format!("{results}/measurements.json")
        );
        assert_eq!(
            tree.compliance_folder("bert-99", "Offline", "TEST01"),
            format!("{results}/TEST01")
        );
        assert_eq!(tree.code_folder("bert-99"), "closed/ACME/src/bert-99");
    }
}
