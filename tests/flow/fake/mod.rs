//! A scripted engine in memory, for tests of flows. What a real process would do is a closure
//! that finds the control directory of its container on this host.

mod answers;
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use retrial_container::{ContainerSpec, EngineInfo};
use retrial_engine::EngineError;
use retrial_engine::api::{ContainerState, ExecOutput, ExecSpec, ExecStatus, ImageInfo};

type OnExec = Box<dyn Fn(&ExecSpec, &Path) -> ExecStatus + Send + Sync>;
type OnRun = Box<dyn Fn(&ExecSpec, &Path) -> ExecOutput + Send + Sync>;

/// The engine. Everything succeeds unless [`Fake::fail`] says otherwise.
pub struct Fake {
    info: EngineInfo,
    on_exec: OnExec,
    on_run: OnRun,
    /// How long a pull takes.
    pull_time: Duration,
    /// A container ended.
    ends: Notify,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    calls: Vec<String>,
    counts: BTreeMap<String, usize>,
    faults: Vec<(String, usize, EngineError)>,
    /// The call, counted from 0, from which on so many fail.
    away: Option<(usize, usize)>,
    images: BTreeSet<String>,
    containers: BTreeMap<String, (ContainerSpec, ContainerState)>,
    execs: BTreeMap<String, ExecStatus>,
    archives: BTreeMap<String, Vec<u8>>,
}

impl Default for Fake {
    fn default() -> Self {
        let text = |text: &str| text.to_owned();
        Self {
            info: EngineInfo {
                endpoint: text("fake://"),
                chosen_by: text("test"),
                product: text("Fake Engine"),
                version: text("1.0"),
                api: text("1.41"),
                platform: text("linux/amd64, kernel 6.1"),
            },
            on_exec: Box::new(|_, _| ExecStatus::Exited(0)),
            on_run: Box::new(|_, _| ExecOutput {
                code: 0,
                stdout: String::new(),
                stderr: String::new(),
            }),
            pull_time: Duration::ZERO,
            ends: Notify::new(),
            state: Mutex::default(),
        }
    }
}

impl Fake {
    /// An engine without images and containers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What a detached process does at once, with its container's control directory (empty path
    /// if there is none), and how the engine then says it stands.
    #[must_use]
    pub fn on_exec(
        mut self,
        process: impl Fn(&ExecSpec, &Path) -> ExecStatus + Send + Sync + 'static,
    ) -> Self {
        self.on_exec = Box::new(process);
        self
    }

    /// What a short process does and prints.
    #[must_use]
    pub fn on_run(
        mut self,
        process: impl Fn(&ExecSpec, &Path) -> ExecOutput + Send + Sync + 'static,
    ) -> Self {
        self.on_run = Box::new(process);
        self
    }

    /// The engine already has this image.
    #[must_use]
    pub fn with_image(self, reference: &str) -> Self {
        self.lock().images.insert(reference.to_owned());
        self
    }

    /// A pull takes so long, whatever its outcome.
    #[must_use]
    pub fn with_pull_time(mut self, time: Duration) -> Self {
        self.pull_time = time;
        self
    }

    /// What `copy_out` of a path gives; an empty archive never ends.
    #[must_use]
    pub fn with_archive(self, path: &str, archive: Vec<u8>) -> Self {
        self.lock().archives.insert(path.to_owned(), archive);
        self
    }

    /// The first call of an operation (a method's name) fails.
    #[must_use]
    pub fn fail(self, operation: &str, error: EngineError) -> Self {
        self.fail_nth(operation, 1, error)
    }

    /// The n-th call of an operation fails, counted from 1.
    #[must_use]
    pub fn fail_nth(self, operation: &str, nth: usize, error: EngineError) -> Self {
        self.lock().faults.push((operation.to_owned(), nth, error));
        self
    }

    /// So many calls fail from one on, counted from 0: the engine is unavailable.
    #[must_use]
    pub fn away(self, from: usize, calls: usize) -> Self {
        self.lock().away = Some((from, calls));
        self
    }

    /// All calls so far: the method's name and what it was about.
    pub fn calls(&self) -> Vec<String> {
        self.lock().calls.clone()
    }

    /// The descriptions of the containers there are.
    pub fn specs(&self) -> Vec<ContainerSpec> {
        let state = self.lock();
        state.containers.values().map(|(spec, _)| spec.clone()).collect()
    }

    /// The first process of a container ends, and with it all others.
    pub fn dies(&self, container: &str, code: i64) {
        let mut state = self.lock();
        if let Ok((_, found)) = state.find(container, "kill") {
            end(found, code);
        }
        state.execs.clear();
        self.ends.notify_waiters();
    }

    /// The engine is restarted and no longer knows its processes.
    pub fn forgets_processes(&self) {
        self.lock().execs.clear();
    }

    /// How a process stands from now on.
    pub fn process_is(&self, exec: &str, status: ExecStatus) {
        self.lock().execs.insert(exec.to_owned(), status);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a call and gives the fault that is due.
    fn call(&self, operation: &str, about: &str) -> Result<MutexGuard<'_, State>, EngineError> {
        let mut state = self.lock();
        state.calls.push(format!("{operation} {about}"));
        let number = state.calls.len() - 1;
        let away = state.away;
        if away.is_some_and(|(from, calls)| (from..from + calls).contains(&number)) {
            return Err(EngineError::Disconnected {
                operation: operation.to_owned(),
                reason: "it is away".to_owned(),
            });
        }
        let count = state.counts.entry(operation.to_owned()).or_default();
        *count += 1;
        let now = *count;
        let due = state.faults.iter().position(|(name, nth, _)| name == operation && *nth == now);
        match due {
            Some(index) => Err(state.faults.swap_remove(index).2),
            None => Ok(state),
        }
    }
}

impl State {
    fn find(
        &mut self,
        container: &str,
        operation: &str,
    ) -> Result<&mut (ContainerSpec, ContainerState), EngineError> {
        self.containers
            .values_mut()
            .find(|(_, state)| state.id == container || state.name == container)
            .ok_or_else(|| EngineError::NoContainer {
                operation: operation.to_owned(),
                container: container.to_owned(),
            })
    }

    fn control(&mut self, container: &str) -> Result<PathBuf, EngineError> {
        let (spec, _) = self.find(container, "run a process in")?;
        Ok(spec.control.as_ref().map(PathBuf::from).unwrap_or_default())
    }
}

fn end(state: &mut ContainerState, code: i64) {
    state.running = false;
    state.exit_code = Some(code);
}

fn image(reference: &str) -> ImageInfo {
    let name = reference.split([':', '@']).next().unwrap_or(reference);
    ImageInfo {
        id: format!("sha256:{:0>64}", reference.len()),
        repo_digests: vec![format!("{name}@sha256:{:0>64}", reference.len())],
        size: 1 << 20,
        env: vec!["PATH=/usr/bin:/bin".into()],
        entrypoint: Vec::new(),
        command: Vec::new(),
    }
}
