//! The lab's Slurm cluster (`tests/lab/cluster`): the one that tests share, and one of a test's own.

use std::path::PathBuf;
use std::process::{Command, Output};

use super::needs;

/// A cluster of the lab; one of a test's own is removed at the end.
pub struct Cluster {
    pub directory: PathBuf,
    own: bool,
}

impl Cluster {
    /// The cluster that tests share, with three nodes.
    pub fn shared() -> Self {
        Self::up("cluster", false, &[])
    }

    /// One of this test's own, with `up`'s options.
    pub fn own(name: &str, options: &[&str]) -> Self {
        let name = format!("cluster-{name}-{}", std::process::id());
        Self::up(&name, true, options)
    }

    fn up(name: &str, own: bool, options: &[&str]) -> Self {
        let directory = needs::lab_directory().join(name);
        let cluster = Self { directory, own };
        cluster.lab(&[&["up"], options].concat());
        cluster
    }

    /// Runs the script, which may fail.
    pub fn script(&self, arguments: &[&str]) -> Output {
        Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lab/cluster"))
            .args(arguments)
            .env("RETRIAL_CLUSTER", &self.directory)
            .output()
            .unwrap()
    }

    /// What a command of the script prints; it must succeed.
    pub fn lab(&self, arguments: &[&str]) -> String {
        let output = self.script(arguments);
        let problem = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {problem}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// The lines that a shell command prints as one task of a job on each of three nodes.
    pub fn job(&self, command: &str) -> Vec<String> {
        let printed = self.lab(&["in", "srun", "-N3", "--label", "sh", "-c", command]);
        let mut lines: Vec<String> = printed.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if self.own {
            self.script(&["down", "--wipe"]);
        }
    }
}
