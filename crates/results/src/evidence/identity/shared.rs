//! Runs that several results of a submission tree have: results may be copied between submitters and systems.

use std::collections::HashMap;
use std::path::Path;

use crate::evidence::tree::TreeFault;
use crate::verdict::{Evidence, LogIdentity};

/// A run of a submitted result.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultRun {
    /// Logs of one run share one of these, in any number of trees.
    keys: Vec<u64>,
    /// The path of its logs below the tree's root.
    path: String,
}

impl ResultRun {
    /// Returns the runs of a result, as far as their logs tell them from others.
    pub fn from_evidence(evidence: &[Evidence]) -> Vec<Self> {
        let trials = evidence.iter().flat_map(|one| &one.trials);
        let logs = trials.flat_map(|trial| &trial.logs);
        let runs = logs.map(|log| Self {
            keys: match &log.identity {
                LogIdentity::LoadGen(run) => run.lookup_keys(),
                LogIdentity::Endpoint(digest) => vec![*digest],
                LogIdentity::Training(run) => run.lookup_key().into_iter().collect(),
                LogIdentity::Text(_) => Vec::new(),
            },
            path: Path::new(&log.directory).join(&log.file).display().to_string(),
        });
        runs.collect()
    }
}

/// Finds runs that results of several owners have: an owner is what may have a run several times, such as a
/// submitter's system.
#[derive(Debug, Default)]
pub struct SharedRuns {
    /// The first owner of each run, with the path of its logs.
    seen: HashMap<u64, (String, String)>,
    copies: Vec<CopiedRuns>,
}

/// Runs of an owner that another one has, too.
#[derive(Debug)]
struct CopiedRuns {
    owners: (String, String),
    /// The paths of the first one.
    first: (String, String),
    count: usize,
}

impl SharedRuns {
    pub fn add_runs(&mut self, owner: &str, runs: &[ResultRun]) {
        for run in runs {
            let original = run.keys.iter().find_map(|key| self.seen.get(key).cloned());
            let (other, path) = original.unwrap_or_else(|| (owner.to_owned(), run.path.clone()));
            for key in &run.keys {
                self.seen.entry(*key).or_insert_with(|| (other.clone(), path.clone()));
            }
            if other == owner {
                continue;
            }
            let mut copies = self.copies.iter_mut();
            let known = copies.find(|copies| copies.owners.0 == owner && copies.owners.1 == other);
            if let Some(known) = known {
                known.count += 1;
            } else {
                self.copies.push(CopiedRuns {
                    owners: (owner.to_owned(), other),
                    first: (run.path.clone(), path),
                    count: 1,
                });
            }
        }
    }

    /// Returns a remark for each two owners that have the same runs. None is a violation: in a published round, a
    /// system has been renamed and both names have stayed.
    pub fn remarks(&self) -> impl Iterator<Item = TreeFault> {
        self.copies.iter().map(|copies| {
            let (path, original) = &copies.first;
            let more = match copies.count {
                1 => String::new(),
                2 => "; so is 1 more of its runs".to_owned(),
                count => format!("; so are {} more of its runs", count - 1),
            };
            TreeFault {
                path: path.clone(),
                actual: format!("the same run as {original}{more}"),
                required: "runs that no other result has".to_owned(),
                is_violation: false,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(key: u64, path: &str) -> ResultRun {
        ResultRun { keys: vec![key, key + 1000], path: path.to_owned() }
    }

    #[test]
    fn runs_of_two_systems_are_named_with_both_paths() {
        let mut shared = SharedRuns::default();
        let first = [run(1, "A/99/Offline"), run(2, "A/99/Server"), run(3, "A/x")];
        shared.add_runs("A", &first);
        // Benchmarks of one system may have the same run: two targets of accuracy.
        shared.add_runs("A", &[run(1, "A/99.9/Offline")]);
        assert_eq!(shared.remarks().count(), 0);
        shared.add_runs("B", &[run(1, "B/99/Offline"), run(4, "B/own")]);
        shared.add_runs("C", &[run(3, "C/x")]);
        shared.add_runs("B", &[run(2, "B/99/Server")]);
        let remarks: Vec<TreeFault> = shared.remarks().collect();
        assert!(remarks.iter().all(|remark| !remark.is_violation));
        let remarks: Vec<(&str, &str)> =
            remarks.iter().map(|remark| (remark.path.as_str(), remark.actual.as_str())).collect();
        let more = "the same run as A/99/Offline; so is 1 more of its runs";
        let expected = [("B/99/Offline", more), ("C/x", "the same run as A/x")];
        assert_eq!(remarks, expected);
    }
}
