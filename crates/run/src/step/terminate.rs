//! Ends the processes of a step: TERM, wait, KILL. The engine has no call for it, so a script signals them
//! where the step runs; in the container as root.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::target::StepCommand;
use retrial_plan::service::StopPolicy;
use retrial_recipe::model::StopSignal;

/// How long leftover processes of a step may take to exit by themselves, before they are reported and
/// terminated.
const LEFTOVER_GRACE_PERIOD: Duration = Duration::from_secs(2);

/// The signals, and how long each is waited for.
fn signal_sequence(stop: StopPolicy) -> [(StopSignal, Duration); 2] {
    let after_kill = StopPolicy::OF_COMMANDS.timeout_s;
    [
        (stop.signal, Duration::from_secs(stop.timeout_s)),
        (StopSignal::Kill, Duration::from_secs(after_kill)),
    ]
}

/// The state of a step whose exec is not known to be running.
pub struct Probe {
    /// Whether the step's own shell is running.
    pub alive: bool,
    /// Processes that the kernel killed for memory so far, if it reports them.
    pub oom_kills: Option<u64>,
}

impl StepCommand<'_> {
    /// Terminates the running command and its leftovers. Returns false if the first signal did not suffice.
    pub async fn terminate(&self, stop: StopPolicy) -> bool {
        for (index, (signal, grace)) in signal_sequence(stop).into_iter().enumerate() {
            if self.signal_processes(&signal.to_string()).await.is_none() {
                // The engine or the container is unavailable: there is nothing to wait for.
                return true;
            }
            let until = Instant::now() + grace;
            while Instant::now() < until {
                if self.files.read_exit().is_some() {
                    self.terminate_leftovers(StopPolicy::OF_COMMANDS).await;
                    return index == 0;
                }
                sleep(Duration::from_millis(50)).await;
            }
        }
        false
    }

    /// The processes that it left running, `pid name` of each, without those that exit soon by themselves, such
    /// as Python's helpers for child processes. None without a response.
    pub async fn find_leftovers(&self) -> Option<Vec<String>> {
        let until = Instant::now() + LEFTOVER_GRACE_PERIOD;
        loop {
            let left = self.signal_processes("0").await?;
            if left.is_empty() || Instant::now() > until {
                return Some(left.lines().map(str::to_owned).collect());
            }
            sleep(LEFTOVER_GRACE_PERIOD / 20).await;
        }
    }

    /// Terminates the processes that it left running.
    pub async fn terminate_leftovers(&self, stop: StopPolicy) {
        let until = Instant::now() + Duration::from_secs(stop.timeout_s);
        let mut pause = Duration::from_millis(20);
        for (signal, _) in signal_sequence(stop) {
            loop {
                match self.signal_processes(&signal.to_string()).await.as_deref() {
                    None | Some("") => return,
                    Some(_) => {}
                }
                if Instant::now() > until {
                    break;
                }
                sleep(pause).await;
                pause = (pause * 2).min(Duration::from_millis(500));
            }
        }
    }

    /// Signals its processes, and waits for an unavailable engine: a service must not run on next to the steps after
    /// it. Returns `pid name` of each, none without a response.
    async fn signal_processes(&self, signal: &str) -> Option<String> {
        self.run_script("terminate", &[signal]).await
    }

    /// Checks whether its own shell is running. None without a response.
    pub async fn probe_shell(&self) -> Option<Probe> {
        let output = self.run_script_once("probe", &[]).await?;
        let count = |line: &str| line.strip_prefix("oom ")?.trim().parse().ok();
        Some(Probe {
            alive: output.lines().any(|line| line == "alive"),
            oom_kills: output.lines().find_map(count),
        })
    }
}
