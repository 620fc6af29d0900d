//! The fake's side of the trait: what each call answers and changes.

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::mpsc::{Sender, UnboundedSender};

use super::{Fake, end, image};
use retrial_container::{ContainerSpec, EngineCapabilities, EngineInfo};
use retrial_engine::EngineError;
use retrial_engine::api::{
    BindMount, BuildSpec, ContainerState, Engine, ExecOutput, ExecSpec, ExecStatus, ImageInfo,
    ImageProgress, RegistryAuth,
};

#[async_trait]
impl Engine for Fake {
    fn info(&self) -> &EngineInfo {
        &self.info
    }

    async fn find_image(&self, reference: &str) -> Result<Option<ImageInfo>, EngineError> {
        let state = self.call("image", reference)?;
        Ok(state.images.contains(reference).then(|| image(reference)))
    }

    async fn query_capabilities(&self) -> Result<EngineCapabilities, EngineError> {
        Ok(EngineCapabilities::default())
    }

    async fn fetch_registry_digest(
        &self,
        reference: &str,
        _auth: Option<RegistryAuth>,
    ) -> Result<String, EngineError> {
        drop(self.call("registry_digest", reference)?);
        Ok(image(reference).id)
    }

    async fn pull_image(
        &self,
        reference: &str,
        _auth: Option<RegistryAuth>,
        progress: UnboundedSender<ImageProgress>,
    ) -> Result<ImageInfo, EngineError> {
        tokio::time::sleep(self.pull_time).await;
        let mut state = self.call("pull", reference)?;
        state.images.insert(reference.to_owned());
        let _ = progress.send(ImageProgress::Line(format!("Pulling {reference}")));
        Ok(image(reference))
    }

    async fn remove_image(&self, reference: &str) -> Result<bool, EngineError> {
        let mut state = self.call("remove_image", reference)?;
        Ok(state.images.remove(reference))
    }

    async fn build_image(
        &self,
        spec: &BuildSpec,
        progress: UnboundedSender<ImageProgress>,
    ) -> Result<ImageInfo, EngineError> {
        let mut state = self.call("build", &spec.tag)?;
        state.images.insert(spec.tag.clone());
        let _ = progress.send(ImageProgress::Line("Step 1/1 : FROM scratch".into()));
        Ok(image(&spec.tag))
    }

    async fn create_container(&self, spec: &ContainerSpec) -> Result<String, EngineError> {
        let mut state = self.call("create", &spec.name)?;
        let id = format!("{:0>64}", state.counts["create"]);
        let made = ContainerState {
            id: id.clone(),
            name: spec.name.clone(),
            running: false,
            exit_code: None,
            oom_killed: false,
            image: image(&spec.image).id,
            pid: None,
            labels: spec
                .labels
                .clone()
                .into_iter()
                .filter(|(_, value)| !value.is_empty())
                .collect(),
            env: Vec::new(),
        };
        state.containers.insert(id.clone(), (spec.clone(), made));
        Ok(id)
    }

    async fn start_container(&self, container: &str) -> Result<(), EngineError> {
        let mut state = self.call("start", container)?;
        let (_, found) = state.find(container, "start")?;
        found.running = true;
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

    async fn query_exec_status(&self, exec: &str) -> Result<ExecStatus, EngineError> {
        let state = self.call("exec_status", exec)?;
        Ok(*state.execs.get(exec).unwrap_or(&ExecStatus::Unknown))
    }

    async fn exec_attached(
        &self,
        container: &str,
        spec: &ExecSpec,
    ) -> Result<ExecOutput, EngineError> {
        let about = format!("{container} {}", spec.command.join(" "));
        let control = self.call("exec", &about)?.control(container)?;
        Ok((self.on_run)(spec, &control))
    }

    async fn inspect_container(
        &self,
        container: &str,
    ) -> Result<Option<ContainerState>, EngineError> {
        let mut state = self.call("container", container)?;
        let found = state.find(container, "inspect").ok();
        Ok(found.map(|(_, found)| found.clone()))
    }

    async fn list_bind_mounts(&self, container: &str) -> Result<Vec<BindMount>, EngineError> {
        let mut state = self.lock();
        let (spec, _) = state.find(container, "inspect")?;
        let mounts = spec.mounts.iter();
        let binds = mounts.map(|mount| BindMount {
            source: (&mount.source).into(),
            target: (&mount.target).into(),
        });
        Ok(binds.collect())
    }

    async fn list_containers(&self, label: &str) -> Result<Vec<ContainerState>, EngineError> {
        let state = self.call("containers", label)?;
        let (key, value) = label.split_once('=').map_or((label, None), |(k, v)| (k, Some(v)));
        let fits = |found: &&ContainerState| {
            let has = found.labels.get(key);
            has.is_some_and(|has| value.is_none_or(|value| has == value))
        };
        let all = state.containers.values().map(|(_, found)| found);
        Ok(all.filter(fits).cloned().collect())
    }

    async fn wait_for_exit(&self, container: &str) -> Result<(), EngineError> {
        drop(self.call("ended", container)?);
        loop {
            let ends = self.ends.notified();
            let runs =
                self.lock().find(container, "wait for").is_ok_and(|(_, state)| state.running);
            if !runs {
                return Ok(());
            }
            ends.await;
        }
    }

    async fn read_container_log(
        &self,
        container: &str,
        _lines: usize,
    ) -> Result<String, EngineError> {
        drop(self.call("container_log", container)?);
        Ok(String::new())
    }

    async fn stop_container(&self, container: &str, _grace_s: u32) -> Result<(), EngineError> {
        let mut state = self.call("stop", container)?;
        if let Ok((_, found)) = state.find(container, "stop") {
            end(found, 143);
        }
        Ok(())
    }

    async fn remove_container(&self, container: &str) -> Result<(), EngineError> {
        let mut state = self.call("remove", container)?;
        state.containers.retain(|id, (spec, _)| id != container && spec.name != container);
        Ok(())
    }

    async fn copy_from_container(
        &self,
        container: &str,
        path: &str,
        to: Sender<Bytes>,
    ) -> Result<bool, EngineError> {
        let archive = {
            let state = self.call("copy_out", &format!("{container} {path}"))?;
            state.archives.get(path).cloned()
        };
        let Some(archive) = archive else {
            return Ok(false);
        };
        if archive.is_empty() {
            to.closed().await;
        }
        let _ = to.send(archive.into()).await;
        Ok(true)
    }
}
