//! Starts `retrial examine` on machines, and collects their answers.

use std::process::Stdio;
use std::time::Duration;

use futures_util::future::join_all;
use jiff::Timestamp;
use tokio::io::AsyncRead;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::machine::ExaminedMachine;
use crate::app::failure::Failure;
use crate::app::signals::Signals;
use crate::app::terminal;
use retrial_cluster::nodes::allocation::NodeAllocation;
use retrial_cluster::nodes::compare::KnownMachine;
use retrial_cluster::slurm;
use retrial_document::measures::format;
use retrial_readings::natural::natural_sort_key;
use retrial_readings::sanitize;
use retrial_results::verdict::ExitCode;
use retrial_run::nodes::{LineReader, clock_lead_s};

/// How long a machine may take to examine itself.
const MACHINE_TIMEOUT: Duration = Duration::from_mins(5);
/// How long an answer may be under way: a job may have waited for its nodes long before it.
const MAX_ANSWER_DELAY: Duration = Duration::from_secs(5);
/// The maximum length of a line, bytes; the rest of a longer one is not read.
const MAX_LINE_BYTES: usize = 1 << 20;
/// How long a process may take to end after TERM.
const TERMINATION_TIMEOUT: Duration = Duration::from_secs(10);

/// Asks this machine and those of an allocation; `command` is the command line on a machine.
///
/// # Errors
/// If a process cannot be started, or this one is interrupted.
pub async fn examine_machines(
    host: &str,
    allocation: &NodeAllocation,
    command: impl Fn(&str) -> Vec<String>,
) -> Result<Vec<KnownMachine>, Failure> {
    let cannot = |name: &str, error: &std::io::Error| {
        Failure::host(format!("{name}: failed to start a process: {error}"))
    };
    let here = start_locally(&command(host)).map_err(|error| cannot(host, &error))?;
    let mut started = vec![Examination::new(host, here)];
    for name in &allocation.others {
        let child = allocation.launcher.start_process(name, &command(name));
        started.push(Examination::new(name, child.map_err(|error| cannot(name, &error))?));
    }
    collect_answers(started, Some(MACHINE_TIMEOUT)).await
}

/// Asks the nodes of a job of their own, which may have to wait for them.
///
/// # Errors
/// If `srun` cannot be started, or this process is interrupted.
pub async fn examine_job_nodes(
    options: &[String],
    command: &[String],
) -> Result<Vec<KnownMachine>, Failure> {
    let spawn_result = slurm::start_on_nodes(options, command);
    let child = spawn_result.map_err(|error| Failure::host(error.to_string()))?;
    collect_answers(vec![Examination::new("", child)], None).await
}

fn start_locally(words: &[String]) -> std::io::Result<Child> {
    let (program, arguments) = words.split_first().ok_or(std::io::ErrorKind::InvalidInput)?;
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
}

/// Waits for all answers, and sorts them by name. An interrupt ends the started processes.
async fn collect_answers(
    mut started: Vec<Examination>,
    limit: Option<Duration>,
) -> Result<Vec<KnownMachine>, Failure> {
    let all = join_all(started.iter_mut().map(|one| one.listen(limit)));
    let failed = |error: std::io::Error| Failure::host(format!("cannot handle signals: {error}"));
    let mut signals = Signals::new().map_err(failed)?;
    let is_complete = tokio::select! {
        _ = all => true,
        _ = signals.next() => false,
    };
    if !is_complete {
        join_all(started.iter_mut().map(Examination::terminate)).await;
        return Err(Failure::new(ExitCode::Interrupted, "interrupted"));
    }
    let mut all: Vec<KnownMachine> = started.into_iter().flat_map(|one| one.machines).collect();
    all.sort_by_cached_key(|one| natural_sort_key(&one.name));
    Ok(all)
}

/// A process that examines one machine, or those of a job.
struct Examination {
    /// Precedes its messages; nothing for a job, which names its nodes itself.
    name: String,
    child: Child,
    started: Timestamp,
    machines: Vec<KnownMachine>,
}

impl Examination {
    fn new(name: &str, child: Child) -> Self {
        let name = name.to_owned();
        Self { name, child, started: Timestamp::now(), machines: Vec::new() }
    }

    /// Keeps the answers, and passes messages on, until the process ends.
    async fn listen(&mut self, limit: Option<Duration>) {
        let (answers, messages) = (self.child.stdout.take(), self.child.stderr.take());
        let machines = &mut self.machines;
        let (name, started) = (&self.name, self.started);
        let listening = async {
            tokio::join!(
                for_each_line(answers, |line| {
                    let received = Timestamp::now();
                    let sent = started.max(received - MAX_ANSWER_DELAY);
                    machines.extend(ExaminedMachine::parse(line).map(|answer| KnownMachine {
                        name: answer.name,
                        ahead: clock_lead_s(answer.time, sent, received),
                        facts: answer.facts,
                    }));
                }),
                for_each_line(messages, |line| print_message(name, line)),
            );
        };
        let Some(limit) = limit else {
            listening.await;
            return;
        };
        if timeout(limit, listening).await.is_err() {
            print_message(
                name,
                &format!("no answer within {}", format::format_duration(limit.as_secs_f64())),
            );
            self.terminate().await;
        }
    }

    async fn terminate(&mut self) {
        let process = self.child.id().and_then(|id| i32::try_from(id).ok());
        if let Some(process) = process.and_then(rustix::process::Pid::from_raw) {
            // It may have ended meanwhile.
            let _ = rustix::process::kill_process(process, rustix::process::Signal::TERM);
        }
        if timeout(TERMINATION_TIMEOUT, self.child.wait()).await.is_err() {
            // It may have ended meanwhile.
            let _ = self.child.kill().await;
        }
    }
}

fn print_message(name: &str, line: &str) {
    let line = sanitize(line);
    if name.is_empty() {
        terminal::print_note(&line);
    } else {
        terminal::print_note(&format!("{name}: {line}"));
    }
}

async fn for_each_line(input: Option<impl AsyncRead + Unpin>, mut take: impl FnMut(&str)) {
    let Some(input) = input else { return };
    let mut lines = LineReader::new(input, MAX_LINE_BYTES);
    while let Some(line) = lines.next_line().await {
        take(&String::from_utf8_lossy(line.as_bytes()));
    }
}
