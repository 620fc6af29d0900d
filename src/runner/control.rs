//! The control directory: what the tool and the container's side of a step share.
//!
//! Files are made before the step with rights that any image user can write. Nothing in
//! here is trusted: it is read back through the store's one safe opener.

use std::fs;
use std::path::{Path, PathBuf};

use crate::store::run_directory::{replace_file, set_mode};
use crate::store::{RunDirectory, StoreError, open};

const SCRIPTS: [(&str, &str); 4] = [
    ("init", include_str!("control/init")),
    ("step", include_str!("control/step")),
    ("end", include_str!("control/end")),
    ("processes", include_str!("control/processes")),
];

/// The container's own time, in seconds, after the longest step: for collecting and judging.
pub const GRACE_S: u64 = 15 * 60;

/// One run's control directory.
#[derive(Debug, Clone)]
pub struct Control {
    path: PathBuf,
}

impl Control {
    /// Of a run.
    #[must_use]
    pub fn of(run: &RunDirectory) -> Self {
        Self {
            path: run.control(),
        }
    }

    /// On this machine.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Lays out the scripts and the nonce for a new container.
    ///
    /// # Errors
    /// Where the disk takes no more.
    pub fn lay_out(&self, nonce: &str, private_pids: bool) -> Result<(), StoreError> {
        for (name, text) in SCRIPTS {
            self.put(name, text, 0o644)?;
        }
        self.put("nonce", &format!("{nonce}\n"), 0o644)?;
        self.put("seen", "", 0o666)?;
        self.put("ended", "", 0o666)?;
        self.set_deadline(Some(GRACE_S))?;
        let marker = self.path.join("private-pids");
        if private_pids {
            self.put("private-pids", "", 0o644)?;
        } else if marker.exists() {
            fs::remove_file(&marker).map_err(StoreError::io("remove", &marker))?;
        }
        set_mode(&self.path, 0o755)?;
        set_mode(&self.path.join("steps"), 0o755)
    }

    fn put(&self, name: &str, text: &str, mode: u32) -> Result<(), StoreError> {
        let path = self.path.join(name);
        fs::write(&path, text).map_err(StoreError::io("write", &path))?;
        set_mode(&path, mode)
    }

    /// Whether the container's first process has seen the nonce.
    #[must_use]
    pub fn seen(&self, nonce: &str) -> bool {
        self.read("seen").is_some_and(|text| text.trim() == nonce)
    }

    /// Why the first process ended, if it wrote it: `deadline` or `stopped`.
    #[must_use]
    pub fn ended(&self) -> Option<String> {
        self.read("ended")
            .map(|text| text.trim().to_owned())
            .filter(|text| !text.is_empty())
    }

    /// When the container ends by itself: so many seconds from now, or never.
    ///
    /// # Errors
    /// Where the disk takes no more.
    pub fn set_deadline(&self, after_s: Option<u64>) -> Result<(), StoreError> {
        let text = after_s.map_or_else(
            || "never\n".to_owned(),
            |seconds| {
                let now = u64::try_from(jiff::Timestamp::now().as_second()).unwrap_or(0);
                format!("{}\n", now.saturating_add(seconds))
            },
        );
        let path = self.path.join("deadline");
        // The container that it ends does not outlive the machine either.
        replace_file(&path, text.as_bytes())?;
        set_mode(&path, 0o644)
    }

    /// A step's side of the control directory.
    #[must_use]
    pub fn step(&self, directory: &str) -> StepControl {
        StepControl {
            path: self.path.join("steps").join(directory),
            name: directory.to_owned(),
        }
    }

    fn read(&self, name: &str) -> Option<String> {
        open::read_text_beneath(&self.path, Path::new(name), 64 << 10).ok()
    }
}

/// One step's files in the control directory.
#[derive(Debug, Clone)]
pub struct StepControl {
    path: PathBuf,
    name: String,
}

/// How the container's side of a step says that it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepExit {
    /// Exit code.
    pub code: i64,
    /// Processes killed for memory during the step; none where the kernel does not say.
    pub oom_kills: Option<u64>,
    /// `pid name` of what it left running.
    pub left: Vec<String>,
}

impl StepControl {
    /// Whether the directory is there: the step was prepared before.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.path.exists()
    }

    /// Whether the container's side has begun.
    #[must_use]
    pub fn started(&self) -> bool {
        self.path.join("started").exists()
    }

    /// The directory as the container sees it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The step's output.
    #[must_use]
    pub fn output(&self) -> PathBuf {
        self.path.join("output.log")
    }

    /// Makes the files of a step. What an earlier try left is removed.
    ///
    /// # Errors
    /// Where the disk takes no more.
    pub fn prepare(&self, command: &str, results: &[String]) -> Result<(), StoreError> {
        if self.path.exists() {
            fs::remove_dir_all(&self.path).map_err(StoreError::io("remove", &self.path))?;
        }
        fs::create_dir(&self.path).map_err(StoreError::io("create", &self.path))?;
        set_mode(&self.path, 0o777)?;
        let mut command = command.to_owned();
        if !command.ends_with('\n') {
            command.push('\n');
        }
        let results: String = results.iter().map(|path| format!("{path}\n")).collect();
        let readable = [("command", command.as_str()), ("results", results.as_str())];
        for (name, text) in readable {
            let path = self.path.join(name);
            fs::write(&path, text).map_err(StoreError::io("write", &path))?;
            set_mode(&path, 0o644)?;
        }
        for name in [
            "output.log",
            "pid.tmp",
            "exit.tmp",
            "oom",
            "left",
            "code",
            "found",
            "stale",
        ] {
            let path = self.path.join(name);
            fs::write(&path, "").map_err(StoreError::io("create", &path))?;
            set_mode(&path, 0o666)?;
        }
        Ok(())
    }

    fn read(&self, name: &str) -> Option<String> {
        open::read_text_beneath(&self.path, Path::new(name), 1 << 20).ok()
    }

    /// How the step ended, once it has.
    #[must_use]
    pub fn exit(&self) -> Option<StepExit> {
        let code = self.read("exit")?.trim().parse().ok()?;
        let oom = self.read("oom").unwrap_or_default();
        let mut counts = oom.split_whitespace().map(|word| word.parse::<u64>().ok());
        let oom_kills = match (counts.next().flatten(), counts.next().flatten()) {
            (Some(before), Some(after)) => Some(after.saturating_sub(before)),
            _ => None,
        };
        let left = self
            .read("left")
            .unwrap_or_default()
            .lines()
            .map(str::to_owned)
            .collect();
        Some(StepExit {
            code,
            oom_kills,
            left,
        })
    }

    /// Result directories that the step made: pattern and path of each.
    #[must_use]
    pub fn found(&self) -> Vec<(String, String)> {
        let text = self.read("found").unwrap_or_default();
        text.lines()
            .filter_map(|line| line.split_once('\t'))
            .map(|(pattern, path)| (pattern.to_owned(), path.to_owned()))
            .collect()
    }
}
