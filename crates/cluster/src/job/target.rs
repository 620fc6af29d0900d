//! How the jobs of a run or a batch are submitted: their site, and how they are executed there.

use std::path::Path;
use std::time::Duration;

use itertools::join;

use crate::error::ClusterError;
use crate::site::script::{JobOptions, JobWork};
use crate::site::time_limit::format_slurm_time;
use crate::site_files::SiteFile;

/// How the jobs of a run or a batch are submitted.
pub struct JobTarget {
    /// The site, with the file that describes it.
    pub site_file: SiteFile,
    /// How its jobs are executed.
    pub job: JobOptions,
}

impl JobTarget {
    /// The script of the job of a run or an array in this directory.
    ///
    /// # Errors
    /// If a value cannot be part of a script.
    pub fn job_script(&self, work: JobWork<'_>, directory: &Path) -> Result<String, ClusterError> {
        Ok(self.job.render_script(work, &path_to_utf8(directory)?)?)
    }

    /// The options of srun, and its command line on each node, by which nodes like those of a job examine
    /// themselves.
    ///
    /// # Errors
    /// If the directory is not UTF-8.
    pub fn examination_command(
        &self,
        directory: &Path,
        time_limit: Duration,
    ) -> Result<[Vec<String>; 2], ClusterError> {
        let directory = path_to_utf8(directory)?;
        Ok(self.job.examination_command(&directory, time_limit))
    }

    /// The options that a scheduler may refuse, as in the site file: `partition: gpu, time_limit: 4:00:00`.
    pub fn describe_options(&self) -> String {
        let site = &self.site_file.site;
        let sbatch_keys = site.sbatch_keys();
        let keys = sbatch_keys.map(|(name, value)| (name, value.to_owned()));
        let limit = ("time_limit", format_slurm_time(self.job.time_limit));
        let options = (!site.options.is_empty()).then(|| ("options", site.options.join(" ")));
        let all = keys.chain([limit]).chain(options);
        join(all.map(|(name, value)| format!("{name}: {value}")), ", ")
    }
}

/// A path as a job script can have it.
///
/// # Errors
/// If it is not UTF-8.
pub fn path_to_utf8(path: &Path) -> Result<String, ClusterError> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| ClusterError::NotUtf8 { path: path.to_owned() })
}
