//! The control directory, shared by the tool and the container's side of a step.
//!
//! Files are created before the step, writable for any user of the image. Nothing in it is trusted: the
//! container's root may replace files and directories by links, so everything is opened through the
//! store's [`DirHandle`].

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use super::step::StepControl;
use crate::mutex::lock;
use retrial_container::first_process::DEFAULT_SHELL;
use retrial_plan::shell::accepts_command_text;
use retrial_plan::step::{ExecStep, Step};
use retrial_results::packages;
use retrial_store::dir_handle::DirHandle;
use retrial_store::{RunDirectory, StoreError, open};

const SCRIPTS: [(&str, &str); 7] = [
    ("init", include_str!("init")),
    ("step", include_str!("step")),
    ("terminate", include_str!("terminate")),
    ("probe", include_str!("probe")),
    ("children", include_str!("children")),
    ("processes", include_str!("processes")),
    ("packages", PACKAGES_SCRIPT),
];

/// The script that lists the installed packages by reading files only.
pub const PACKAGES_SCRIPT: &str = include_str!("packages");

/// The pipe that requests the installed packages from the first process, and its response.
const PACKAGES_PIPE: &str = "ask";
const PACKAGES_LIST: &str = "listed";
/// The maximum size of a response, bytes.
const MAX_PACKAGES_LIST_BYTES: u64 = 8 << 20;

/// The container's own time, in seconds, after the longest step: for collecting and judging.
pub const DEADLINE_GRACE_S: u64 = 15 * 60;

/// The interval between extensions of the deadline of a container that waits.
pub const DEADLINE_RENEWAL_INTERVAL: Duration = Duration::from_secs(DEADLINE_GRACE_S / 3);

/// The variable that identifies a step's processes.
pub fn step_mark(run: &RunDirectory, step: &Step) -> (String, String) {
    let value = format!("{}/{}", run.id(), step.directory_name());
    ("RETRIAL_STEP".to_owned(), value)
}

/// The program and its arguments that run a step's command under a control directory, given its path
/// as the program sees it.
pub fn step_command(control: &str, step: &Step, command: &ExecStep) -> Vec<String> {
    let script = format!("{control}/step");
    let mut words = vec!["/bin/sh".to_owned(), script, step.directory_name()];
    // The path of the command's file is appended as the last argument.
    match &command.shell {
        None => words.extend(DEFAULT_SHELL.map(str::to_owned)),
        Some(shell) => words.extend_from_slice(shell),
    }
    if command.shell.as_deref().is_some_and(accepts_command_text) {
        // It becomes $0 and is read by the shell itself.
        words.push(". \"$0\"".to_owned());
    }
    words
}

/// The control directory of one run, or of a service in it.
#[derive(Debug, Clone)]
pub struct ControlDirectory {
    path: PathBuf,
    /// The scripts as this process last wrote or read them.
    scripts: Arc<Mutex<Option<Scripts>>>,
}

/// The scripts with inodes, times of their last change, and contents; none for anything that is not a file.
type Scripts = [Option<(u64, SystemTime, String)>; SCRIPTS.len()];

impl ControlDirectory {
    /// Returns the control directory of a run's own container.
    pub fn for_run(run: &RunDirectory) -> Self {
        Self::at_path(run.control_directory())
    }

    /// Returns the control directory of a run's steps on the host, which no container mounts.
    pub fn for_host(run: &RunDirectory) -> Self {
        Self::at_path(run.join("host/control"))
    }

    /// Returns the control directory of the container of a service.
    pub fn for_service(run: &RunDirectory, service: &str) -> Self {
        Self::at_path(run.join("services").join(service))
    }

    pub(super) fn at_path(path: PathBuf) -> Self {
        Self { path, scripts: Arc::default() }
    }

    /// Returns its path on this machine.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Lays out the scripts and the nonce for a new container.
    ///
    /// # Errors
    /// If the disk is full or cannot be written.
    pub fn lay_out(&self, nonce: &str, private_pids: bool) -> Result<(), StoreError> {
        let directory = self.write_scripts(0o755, 0o644)?;
        directory.open_directory("steps")?.set_mode(0o755)?;
        directory.write_file("nonce", format!("{nonce}\n").as_bytes(), 0o644)?;
        directory.write_file("seen", b"", 0o666)?;
        directory.write_file("ended", b"", 0o666)?;
        directory.write_file(PACKAGES_LIST, b"", 0o666)?;
        directory.create_pipe(PACKAGES_PIPE, 0o644)?;
        if private_pids {
            directory.write_file("private-pids", b"", 0o644)?;
        } else {
            directory.remove("private-pids")?;
        }
        self.set_deadline(Some(DEADLINE_GRACE_S))
    }

    /// Lays out the scripts for steps on the host. A running step has already read them.
    ///
    /// # Errors
    /// If the disk is full or cannot be written.
    pub fn lay_out_for_host(&self) -> Result<(), StoreError> {
        self.write_scripts(0o700, 0o600).map(drop)
    }

    /// Creates the directory, with the scripts in it.
    fn write_scripts(&self, directory_mode: u32, mode: u32) -> Result<DirHandle, StoreError> {
        let steps = self.path.join("steps");
        std::fs::create_dir_all(&steps).map_err(StoreError::io("create", &steps))?;
        let directory = DirHandle::open(&self.path)?;
        directory.set_mode(directory_mode)?;
        for (name, text) in SCRIPTS {
            directory.write_file(name, text.as_bytes(), mode)?;
        }
        *lock(&self.scripts) = Some(self.read_scripts());
        Ok(directory)
    }

    /// The first script that was changed since this process wrote it, or since the first call.
    pub fn changed_script(&self) -> Option<&'static str> {
        let now = self.read_scripts();
        let mut recorded = lock(&self.scripts);
        let original = recorded.get_or_insert_with(|| now.clone());
        let mut names = SCRIPTS.iter().zip(original.iter().zip(&now));
        let changed = names.find(|(_, (original, now))| original != now);
        changed.map(|((name, _), _)| *name)
    }

    fn read_scripts(&self) -> Scripts {
        SCRIPTS.map(|(name, _)| {
            let file = open::open_beneath(&self.path, Path::new(name)).ok()?;
            let status = file.metadata().ok()?;
            Some((status.ino(), status.modified().ok()?, self.read_text(name)?))
        })
    }

    /// Returns whether the container's first process has copied the nonce.
    pub fn is_nonce_copied(&self, nonce: &str) -> bool {
        self.read_text("seen").is_some_and(|text| text.trim() == nonce)
    }

    /// Returns why the first process ended, if it wrote it: `deadline` or `stopped`.
    pub fn end_reason(&self) -> Option<String> {
        let text = self.read_text("ended")?;
        let reason = text.lines().next()?.trim();
        (!reason.is_empty()).then(|| reason.to_owned())
    }

    /// Requests the list of installed packages from the container's first process. Returns whether it listens:
    /// it does so once, and as root.
    pub fn request_packages(&self) -> bool {
        let directory = DirHandle::open(&self.path);
        directory
            .is_ok_and(|directory| directory.write_to_pipe(PACKAGES_PIPE, b"packages\n").is_ok())
    }

    /// The response to [`Self::request_packages`], once it is complete; empty if it is too long, or not a file.
    pub fn listed_packages(&self) -> Option<String> {
        match open::read_text_beneath(&self.path, Path::new(PACKAGES_LIST), MAX_PACKAGES_LIST_BYTES)
        {
            Ok(text) => packages::is_complete(&text).then_some(text),
            Err(_) => Some(String::new()),
        }
    }

    /// Sets the time after which the container ends by itself: seconds from now, or never. The container's side
    /// counts them from when the file's content changes, so that no clock needs to be set alike.
    ///
    /// # Errors
    /// If the disk is full or cannot be written.
    pub fn set_deadline(&self, after_s: Option<u64>) -> Result<(), StoreError> {
        let text = after_s.map_or_else(
            || "never\n".to_owned(),
            |seconds| {
                let mark = jiff::Timestamp::now().as_nanosecond();
                format!("{seconds} {mark}\n")
            },
        );
        DirHandle::open(&self.path)?.write_file("deadline", text.as_bytes(), 0o644)
    }

    /// A step's side of the control directory.
    pub fn step_control(&self, step: &Step) -> StepControl {
        StepControl::new(self.path.clone(), step.directory_name())
    }

    fn read_text(&self, name: &str) -> Option<String> {
        open::read_text_beneath(&self.path, Path::new(name), 64 << 10).ok()
    }
}
