//! Errors of the jobs of runs and batches.

use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

use crate::site::script::ScriptError;
use crate::slurm::SlurmError;
use retrial_document::ErrorText;
use retrial_document::measures::format::format_time_limit;
use retrial_store::StoreError;

/// A job that cannot be submitted, found or stopped.
#[derive(Debug, Error)]
pub enum ClusterError {
    /// The records of a job cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The script of the job cannot be rendered.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// A path is not UTF-8.
    #[error("{} is not UTF-8, which a job script must be", .path.display())]
    NotUtf8 {
        /// The directory or the program that the script names.
        path: PathBuf,
    },
    /// One of Slurm's programs failed, and nothing was submitted.
    #[error(transparent)]
    Slurm(#[from] SlurmError),
    /// Slurm's controller did not answer in time: a job may exist.
    #[error("{source}")]
    NoAnswer {
        /// The id of the run or the batch.
        id: String,
        /// The last failure of a query.
        source: SlurmError,
    },
    /// Slurm refused the job.
    #[error("{source}")]
    Refused {
        /// The id of the run or the batch.
        id: String,
        /// The options of the site that Slurm may have refused: `partition: gpu`.
        options: String,
        /// The site file whose options Slurm refused.
        site_path: PathBuf,
        source: SlurmError,
    },
    /// A job runs on although it was cancelled.
    #[error("job {id} has not ended {} after it was cancelled", format_time_limit(.timeout.as_secs()))]
    StillRunning {
        /// The id that Slurm gave it.
        id: String,
        /// How long Slurm had to end it.
        timeout: Duration,
    },
}

impl ClusterError {
    /// The message and its remedies.
    pub fn to_error_text(&self) -> ErrorText {
        match self {
            Self::Store(error) => ErrorText::of(error),
            Self::Slurm(error) => ErrorText::of(error),
            Self::Script(_) | Self::NotUtf8 { .. } => ErrorText::new(self.to_string()),
            Self::NoAnswer { id, source } => ErrorText::of(source)
                .with_help(format!(
                    "{id} may already have a job; nothing more was submitted"
                ))
                .with_help(format!("check again: retrial resume {id}")),
            Self::Refused {
                id,
                options,
                site_path,
                source,
            } => ErrorText::of(source)
                .with_help(format!("nothing was submitted; the site has {options}"))
                .with_help(format!(
                    "correct {} (partitions and their limits: sinfo -o '%P %l %G'; your accounts: sacctmgr show assoc user=$USER format=account,partition,qos), then: retrial resume {id}",
                    site_path.display()
                )),
            Self::StillRunning { id, .. } => {
                ErrorText::new(self.to_string()).with_help(format!("see it: squeue -j {id}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slurm_error() -> SlurmError {
        SlurmError::Failed { program: "sbatch", message: "invalid partition".to_owned() }
    }

    #[test]
    fn a_refusal_names_the_options_and_the_site_file() {
        let refused = ClusterError::Refused {
            id: "r1".to_owned(),
            options: "partition: gpu".to_owned(),
            site_path: "sites/lab.yaml".into(),
            source: slurm_error(),
        };
        let ErrorText { message, help } = refused.to_error_text();
        assert_eq!(message, "`sbatch` failed: invalid partition");
        let [submitted, correct] = &help[..] else { panic!("{help:?}") };
        assert_eq!(submitted, "nothing was submitted; the site has partition: gpu");
        assert!(correct.starts_with("correct sites/lab.yaml ("), "{correct}");
        assert!(correct.ends_with("then: retrial resume r1"), "{correct}");
    }

    #[test]
    fn without_an_answer_a_job_may_exist() {
        let silent = ClusterError::NoAnswer { id: "r1".to_owned(), source: slurm_error() };
        assert_eq!(
            silent.to_error_text().help,
            [
                "r1 may already have a job; nothing more was submitted",
                "check again: retrial resume r1"
            ]
        );
    }

    #[test]
    fn a_job_that_runs_on_is_named_with_its_timeout() {
        let running =
            ClusterError::StillRunning { id: "7".to_owned(), timeout: Duration::from_mins(3) };
        let text = running.to_error_text();
        assert_eq!(text.message, "job 7 has not ended 3m after it was cancelled");
        assert_eq!(text.help, ["see it: squeue -j 7"]);
    }
}
