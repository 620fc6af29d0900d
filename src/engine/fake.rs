//! A scripted engine in memory, for tests of flows. What a real process would do is a closure
//! that finds the control directory of its container (the mount at `/.retrial`) on this host.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tokio::sync::mpsc::UnboundedSender;

use super::api::{
    BuildSpec, ContainerState, Engine, EngineInfo, ExecOutput, ExecSpec, ExecStatus, ImageInfo,
    ImageProgress, RegistryAuth,
};
use super::error::EngineError;
use crate::plan::container::ContainerSpec;

/// Where a run's control directory is mounted.
const CONTROL: &str = "/.retrial";

type OnExec = Box<dyn Fn(&ExecSpec, &Path) -> ExecStatus + Send + Sync>;
type OnRun = Box<dyn Fn(&ExecSpec, &Path) -> ExecOutput + Send + Sync>;

/// The engine. Everything succeeds unless [`Fake::fail`] says otherwise.
pub struct Fake {
    info: EngineInfo,
    on_exec: OnExec,
    on_run: OnRun,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    calls: Vec<String>,
    counts: BTreeMap<String, usize>,
    faults: Vec<(String, usize, EngineError)>,
    images: BTreeSet<String>,
    containers: BTreeMap<String, (ContainerSpec, ContainerState)>,
    execs: BTreeMap<String, ExecStatus>,
    archives: BTreeMap<String, Vec<u8>>,
    log: String,
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

    /// What `copy_out` of a path gives.
    #[must_use]
    pub fn with_archive(self, path: &str, archive: Vec<u8>) -> Self {
        self.lock().archives.insert(path.to_owned(), archive);
        self
    }

    /// What the first process of every container printed.
    #[must_use]
    pub fn with_log(self, text: &str) -> Self {
        text.clone_into(&mut self.lock().log);
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

    /// All calls so far: the method's name and what it was about.
    pub fn calls(&self) -> Vec<String> {
        self.lock().calls.clone()
    }

    /// The descriptions of the containers there are.
    pub fn specs(&self) -> Vec<ContainerSpec> {
        let state = self.lock();
        state
            .containers
            .values()
            .map(|(spec, _)| spec.clone())
            .collect()
    }

    /// The first process of a container ends, and with it all others.
    pub fn dies(&self, container: &str, code: i64) {
        let mut state = self.lock();
        if let Ok((_, found)) = state.find(container, "kill") {
            end(found, code);
        }
        state.execs.clear();
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
        let count = state.counts.entry(operation.to_owned()).or_default();
        *count += 1;
        let now = *count;
        let due = state
            .faults
            .iter()
            .position(|(name, nth, _)| name == operation && *nth == now);
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
        let mount = spec.mounts.iter().find(|mount| mount.target == CONTROL);
        Ok(mount
            .map(|mount| PathBuf::from(&mount.source))
            .unwrap_or_default())
    }
}

fn end(state: &mut ContainerState, code: i64) {
    "exited".clone_into(&mut state.status);
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
        user: String::new(),
        workdir: String::new(),
        architecture: "amd64".into(),
    }
}

#[async_trait]
impl Engine for Fake {
    fn info(&self) -> &EngineInfo {
        &self.info
    }

    async fn image(&self, reference: &str) -> Result<Option<ImageInfo>, EngineError> {
        let state = self.call("image", reference)?;
        Ok(state.images.contains(reference).then(|| image(reference)))
    }

    async fn pull(
        &self,
        reference: &str,
        _auth: Option<RegistryAuth>,
        progress: UnboundedSender<ImageProgress>,
    ) -> Result<ImageInfo, EngineError> {
        let mut state = self.call("pull", reference)?;
        state.images.insert(reference.to_owned());
        let _ = progress.send(ImageProgress::Line(format!("Pulling {reference}")));
        Ok(image(reference))
    }

    async fn build(
        &self,
        spec: &BuildSpec,
        progress: UnboundedSender<ImageProgress>,
    ) -> Result<ImageInfo, EngineError> {
        let mut state = self.call("build", &spec.tag)?;
        state.images.insert(spec.tag.clone());
        let _ = progress.send(ImageProgress::Line("Step 1/1 : FROM scratch".into()));
        Ok(image(&spec.tag))
    }

    async fn create(&self, spec: &ContainerSpec) -> Result<String, EngineError> {
        let mut state = self.call("create", &spec.name)?;
        let id = format!("{:0>64}", state.counts["create"]);
        let made = ContainerState {
            id: id.clone(),
            name: spec.name.clone(),
            status: "created".into(),
            running: false,
            exit_code: None,
            oom_killed: false,
            error: String::new(),
            image: image(&spec.image).id,
            labels: spec.labels.clone(),
        };
        state.containers.insert(id.clone(), (spec.clone(), made));
        Ok(id)
    }

    async fn start(&self, container: &str) -> Result<(), EngineError> {
        let mut state = self.call("start", container)?;
        let (_, found) = state.find(container, "start")?;
        found.running = true;
        "running".clone_into(&mut found.status);
        Ok(())
    }

    async fn exec_detached(&self, container: &str, spec: &ExecSpec) -> Result<String, EngineError> {
        let about = format!("{container} {}", spec.command.join(" "));
        let (control, id) = {
            let mut state = self.call("exec_detached", &about)?;
            let id = format!("exec-{}", state.counts["exec_detached"]);
            (state.control(container)?, id)
        };
        let status = (self.on_exec)(spec, &control);
        self.process_is(&id, status);
        Ok(id)
    }

    async fn exec_status(&self, exec: &str) -> Result<ExecStatus, EngineError> {
        let state = self.call("exec_status", exec)?;
        Ok(*state.execs.get(exec).unwrap_or(&ExecStatus::Unknown))
    }

    async fn exec(&self, container: &str, spec: &ExecSpec) -> Result<ExecOutput, EngineError> {
        let about = format!("{container} {}", spec.command.join(" "));
        let control = self.call("exec", &about)?.control(container)?;
        Ok((self.on_run)(spec, &control))
    }

    async fn container(&self, container: &str) -> Result<Option<ContainerState>, EngineError> {
        let mut state = self.call("container", container)?;
        let found = state.find(container, "inspect").ok();
        Ok(found.map(|(_, found)| found.clone()))
    }

    async fn containers(&self, label: &str) -> Result<Vec<ContainerState>, EngineError> {
        let state = self.call("containers", label)?;
        let (key, value) = label
            .split_once('=')
            .map_or((label, None), |(k, v)| (k, Some(v)));
        let fits = |found: &&ContainerState| {
            let has = found.labels.get(key);
            has.is_some_and(|has| value.is_none_or(|value| has == value))
        };
        let all = state.containers.values().map(|(_, found)| found);
        Ok(all.filter(fits).cloned().collect())
    }

    async fn container_log(&self, container: &str, lines: usize) -> Result<String, EngineError> {
        let state = self.call("container_log", container)?;
        let all: Vec<&str> = state.log.lines().collect();
        Ok(all[all.len().saturating_sub(lines)..].join("\n"))
    }

    async fn stop(&self, container: &str, _grace_s: u32) -> Result<(), EngineError> {
        let mut state = self.call("stop", container)?;
        if let Ok((_, found)) = state.find(container, "stop") {
            end(found, 143);
        }
        Ok(())
    }

    async fn remove(&self, container: &str) -> Result<(), EngineError> {
        let mut state = self.call("remove", container)?;
        state
            .containers
            .retain(|id, (spec, _)| id != container && spec.name != container);
        Ok(())
    }

    async fn copy_out(
        &self,
        container: &str,
        path: &str,
        to: &Path,
        limit: u64,
    ) -> Result<bool, EngineError> {
        let state = self.call("copy_out", &format!("{container} {path}"))?;
        let Some(archive) = state.archives.get(path) else {
            return Ok(false);
        };
        if archive.len() as u64 > limit {
            return Err(EngineError::TooLarge {
                path: path.to_owned(),
                limit,
            });
        }
        let written = std::fs::write(to, archive);
        written.map(|()| true).map_err(|source| EngineError::File {
            path: to.to_owned(),
            source,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::container::Mount;

    #[tokio::test]
    async fn a_flow_runs_and_a_fault_comes_once() {
        let control = tempfile::tempdir().unwrap();
        let gone = EngineError::Gone {
            operation: "exec".into(),
            because: "test".into(),
        };
        let fake = Fake::new()
            .on_exec(|_, control| {
                std::fs::write(control.join("exit"), "0").unwrap();
                ExecStatus::Exited(0)
            })
            .fail_nth("exec_detached", 2, gone);
        let spec = ContainerSpec {
            name: "one".into(),
            labels: BTreeMap::from([("run".into(), "7".into())]),
            mounts: vec![Mount {
                source: control.path().to_str().unwrap().into(),
                target: CONTROL.into(),
                read_only: false,
            }],
            ..ContainerSpec::default()
        };
        let id = fake.create(&spec).await.unwrap();
        fake.start(&id).await.unwrap();
        assert_eq!(fake.containers("run=7").await.unwrap().len(), 1);
        assert_eq!(fake.containers("run=8").await.unwrap().len(), 0);

        let exec = fake
            .exec_detached("one", &ExecSpec::default())
            .await
            .unwrap();
        assert!(control.path().join("exit").exists());
        assert_eq!(
            fake.exec_status(&exec).await.unwrap(),
            ExecStatus::Exited(0)
        );
        let fault = fake.exec_detached("one", &ExecSpec::default()).await;
        assert!(fault.unwrap_err().is_gone());
        fake.exec_detached("one", &ExecSpec::default())
            .await
            .unwrap();

        fake.forgets_processes();
        assert_eq!(fake.exec_status(&exec).await.unwrap(), ExecStatus::Unknown);
        fake.remove("one").await.unwrap();
        assert!(fake.container(&id).await.unwrap().is_none());
        assert!(
            fake.exec_detached("one", &ExecSpec::default())
                .await
                .is_err()
        );
        assert!(fake.calls().contains(&"create one".to_owned()));
    }
}
