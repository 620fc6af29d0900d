//! Shared by the tests against a real engine: the lab, names that clean up, the command line.

use std::collections::BTreeMap;
use std::env;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use retrial_container::ContainerSpec;
use retrial_engine::DockerEngine;

use super::needs;

/// The lab's engine and registries, where `make test` brought them up.
pub struct Lab {
    pub engine: DockerEngine,
    pub registry: String,
    pub private: String,
    pub user: String,
    pub password: String,
}

impl Lab {
    /// The lab.
    pub async fn here() -> Self {
        needs::lab_directory();
        let name = |name| env::var(name).unwrap();
        let lab = Self {
            engine: DockerEngine::connect(None).await.expect("the lab's engine"),
            registry: name("RETRIAL_LAB_REGISTRY"),
            private: name("RETRIAL_LAB_PRIVATE_REGISTRY"),
            user: name("RETRIAL_LAB_USER"),
            password: name("RETRIAL_LAB_PASSWORD"),
        };
        docker(&["pull", "--quiet", &lab.busybox()]);
        lab
    }

    /// A small image with a shell, but no bash; the engine has it.
    pub fn busybox(&self) -> String {
        format!("{}/retrial-lab/busybox:1", self.registry)
    }

    /// A container that only waits; `/tmp/waits` is there once it heeds TERM.
    pub fn waiting(&self, name: &Named) -> ContainerSpec {
        ContainerSpec {
            name: name.0.clone(),
            image: self.busybox(),
            entrypoint: Some(vec!["/bin/sh".into()]),
            command: vec![
                "-c".into(),
                "trap 'exit 0' TERM; : >/tmp/waits; sleep 600 & wait".into(),
            ],
            labels: BTreeMap::from([(LABEL.into(), name.0.clone())]),
            ..ContainerSpec::default()
        }
    }
}

/// The label of everything that these tests make.
pub const LABEL: &str = "org.retrial.test";

/// A container's name that is removed when the test ends, however it ends.
pub struct Named(pub String);

impl Named {
    pub fn new(label: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        Self(format!("retrial-test-{}-{count}-{label}", std::process::id()))
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        let _ = Command::new("docker").args(["rm", "-f", "-v", &self.0]).output();
    }
}

/// Runs Docker's command line and returns its standard output.
pub fn docker(arguments: &[&str]) -> String {
    let output = Command::new("docker").args(arguments).output().unwrap();
    assert!(
        output.status.success(),
        "docker {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// `docker inspect` of a container.
pub fn inspect(container: &str) -> serde_json::Value {
    let text = docker(&["inspect", container]);
    let list: serde_json::Value = serde_json::from_str(&text).unwrap();
    list[0].clone()
}
