//! Calls Slurm's programs.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use indexmap::IndexSet;
use tokio::process::{Child, Command};
use tracing::instrument;

use super::error::SlurmError;
use super::rows::{ACCOUNT_FIELDS, Job, QUEUE_FIELDS, parse_max_array_size, parse_submitted_id};

/// The timeout of a query. Slurm's programs retry for some time themselves.
const QUERY_TIMEOUT: Duration = Duration::from_mins(1);
/// The timeout of a submission: it is not killed earlier, since its job would be unknown.
const SUBMISSION_TIMEOUT: Duration = Duration::from_mins(5);

/// Returns the node of the job that this process is in, by Slurm's name for it.
pub fn current_node() -> Option<String> {
    std::env::var("SLURMD_NODENAME").ok()
}

/// Returns the nodes of the job that this process is in, the first one first.
///
/// # Errors
/// If scontrol fails.
pub async fn current_job_nodes() -> Result<Vec<String>, SlurmError> {
    let list = std::env::var("SLURM_JOB_NODELIST").unwrap_or_default();
    if !list.contains([',', '[']) {
        return Ok(Some(list).filter(|name| !name.is_empty()).into_iter().collect());
    }
    let printed = run_program("scontrol", &["show", "hostnames", &list], QUERY_TIMEOUT).await?;
    Ok(printed.lines().map(str::to_owned).collect())
}

/// Returns one more than the highest index that a task of an array may have on this cluster.
///
/// # Errors
/// If scontrol fails or does not print it.
pub async fn query_max_array_size() -> Result<u32, SlurmError> {
    let printed = run_program("scontrol", &["show", "config"], QUERY_TIMEOUT).await?;
    parse_max_array_size(&printed).ok_or(SlurmError::NoArrays)
}

/// The jobs of one name, of this user.
#[derive(Debug, Clone)]
pub struct Slurm {
    name: String,
}

impl Slurm {
    pub fn with_job_name(name: String) -> Self {
        Self { name }
    }

    /// Submits a script; returns the job's id.
    ///
    /// # Errors
    /// If sbatch fails. The job may still exist: its reply can be lost.
    pub async fn submit_script(&self, script: &Path) -> Result<String, SlurmError> {
        let program = "sbatch";
        let script_path = script.display().to_string();
        let printed =
            run_program(program, &["--parsable", &script_path], SUBMISSION_TIMEOUT).await?;
        parse_submitted_id(&printed).ok_or(SlurmError::NoId { program, printed })
    }

    /// The jobs and the tasks of arrays of Slurm's controller, ended or not, newest last. Ended ones are
    /// dropped after some minutes.
    ///
    /// # Errors
    /// If squeue fails: the controller may be unavailable.
    pub async fn query_queue(&self) -> Result<Vec<Job>, SlurmError> {
        let name = format!("--name={}", self.name);
        let arguments = ["--me", "-h", "-r", "--states=all", &name, "-o", QUEUE_FIELDS];
        let printed = run_program("squeue", &arguments, QUERY_TIMEOUT).await?;
        Ok(sort_by_id(printed.lines().filter_map(Job::from_queue_row)))
    }

    /// The accounting's rows of jobs and array tasks since a day, `2026-11-23`.
    ///
    /// # Errors
    /// If sacct fails: a site may have no accounting.
    pub async fn query_accounting(&self, since: &str) -> Result<Vec<Job>, SlurmError> {
        let name = format!("--name={}", self.name);
        let since = format!("--starttime={since}");
        let arguments = ["-X", "-n", "-P", &since, &name, "-o", ACCOUNT_FIELDS];
        let printed = run_program("sacct", &arguments, QUERY_TIMEOUT).await?;
        Ok(sort_by_id(printed.lines().filter_map(Job::from_accounting_row)))
    }

    /// Returns the position of a pending job in its partition, from 1, and the number of pending jobs there.
    ///
    /// # Errors
    /// If squeue fails.
    pub async fn query_position(&self, job: &Job) -> Result<Option<(usize, usize)>, SlurmError> {
        let partition = format!("--partition={}", job.partition);
        let arguments = ["-h", "--states=PENDING", &partition, "--sort=-p,i", "-o", "%i"];
        let printed = run_program("squeue", &arguments, QUERY_TIMEOUT).await?;
        let printed_ids = printed.lines().map(str::trim).filter(|id| !id.is_empty());
        // A job of several partitions has a row in each.
        let ids: IndexSet<&str> = printed_ids.collect();
        let place = ids.get_index_of(&*job.id);
        Ok(place.map(|place| (place + 1, ids.len())))
    }

    /// Cancels a job that has not started.
    ///
    /// # Errors
    /// If scancel fails.
    pub async fn cancel_pending(&self, id: &str) -> Result<(), SlurmError> {
        self.run_scancel(&["--state=PENDING", id]).await
    }

    /// Sends TERM to the job's script, which is Retrial: it ends the benchmark and saves its evidence.
    ///
    /// # Errors
    /// If scancel fails.
    pub async fn terminate_script(&self, id: &str) -> Result<(), SlurmError> {
        self.run_scancel(&["--batch", "--signal=TERM", id]).await
    }

    /// Makes Slurm end a job: everything in it is killed after the site's `KillWait`.
    ///
    /// # Errors
    /// If scancel fails.
    pub async fn cancel(&self, id: &str) -> Result<(), SlurmError> {
        self.run_scancel(&[id]).await
    }

    async fn run_scancel(&self, arguments: &[&str]) -> Result<(), SlurmError> {
        // Ids are reused after a controller has lost its state: the name is matched, too.
        let name = format!("--name={}", self.name);
        let arguments: Vec<&str> =
            std::iter::once(&*name).chain(arguments.iter().copied()).collect();
        run_program("scancel", &arguments, QUERY_TIMEOUT).await.map(drop)
    }
}

fn sort_by_id(jobs: impl Iterator<Item = Job>) -> Vec<Job> {
    let mut sorted: Vec<Job> = jobs.collect();
    sorted.sort_by_key(|job| job.id.parse::<u64>().unwrap_or_default());
    sorted
}

/// Starts a program on nodes of its own, which `srun` waits for. TERM ends it and its child processes.
///
/// # Errors
/// If srun cannot be started.
pub fn start_on_nodes(options: &[String], program: &[String]) -> Result<Child, SlurmError> {
    let mut command = build_command("srun");
    command.args(options).arg("--kill-on-bad-exit=0").args(program);
    tracing::debug!(command = ?command.as_std(), "starting on nodes");
    let program = "srun";
    let started = command.spawn();
    started.map_err(|source| SlurmError::Start { program, source })
}

/// Returns the command of a Slurm program, with piped output.
fn build_command(program: &str) -> Command {
    let mut command = Command::new(program);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .env("SLURM_TIME_FORMAT", "standard");
    // They would override the script and the arguments.
    let defaults = ["SBATCH_", "SQUEUE_", "SACCT_", "SCANCEL_"];
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if defaults.iter().any(|start| text.starts_with(start)) {
            command.env_remove(name);
        }
    }
    command
}

/// Calls a program and returns its standard output. It gets no signal of our terminal: a Ctrl-C must not end an
/// sbatch whose reply is in transit.
#[instrument(level = "debug", skip(patience), err(level = "debug"))]
async fn run_program(
    program: &'static str,
    arguments: &[&str],
    patience: Duration,
) -> Result<String, SlurmError> {
    let mut command = build_command(program);
    command.args(arguments).kill_on_drop(program != "sbatch");
    let output = tokio::time::timeout(patience, command.output()).await;
    let Ok(spawned) = output else {
        let seconds = patience.as_secs();
        return Err(SlurmError::NoResponse { program, seconds });
    };
    let output = spawned.map_err(|source| SlurmError::Start { program, source })?;
    tracing::debug!(status = %output.status, bytes = output.stdout.len(), "ended");
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let error_text = String::from_utf8_lossy(&output.stderr);
    let error_lines = error_text.lines().map(str::trim);
    let stderr: Vec<_> =
        error_lines.filter(|line| !line.is_empty()).map(retrial_readings::sanitize).collect();
    let message = if stderr.is_empty() { output.status.to_string() } else { stderr.join("; ") };
    Err(SlurmError::Failed { program, message })
}
