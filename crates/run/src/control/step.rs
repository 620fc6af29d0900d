//! One step's files in the control directory.

use std::path::{Path, PathBuf};

use retrial_document::words;
use retrial_store::dir_handle::DirHandle;
use retrial_store::{StoreError, open};

/// Content that the exit code overwrites, so that it fits on a full disk.
const EXIT_PLACEHOLDER: &[u8] = b"               \n";

/// Files that the container's side writes, created before so that any user of the image can.
const PREPARED_FILES: [&str; 10] =
    ["pid.tmp", "oom", "others", "left", "code", "room", "found", "lengths", "refused", "stale"];

/// The files of one step in the control directory.
#[derive(Debug, Clone)]
pub struct StepControl {
    control: PathBuf,
    name: String,
}

/// The exit of a step, as the container's side wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepExit {
    /// The exit code of the step's command.
    pub code: i64,
    /// Processes killed for memory during the step; none where the kernel does not report it.
    pub oom_kills: Option<u64>,
    /// `pid name` of each process that it left running.
    pub leftovers: Vec<String>,
    /// The disk was full: its output or records may be incomplete.
    pub is_disk_full: bool,
    /// The container was stopped first: the step did not end by itself.
    pub terminated_by_us: bool,
}

/// A result directory that a step created, as the container's side recorded it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultDirectory {
    /// Its path in the container.
    pub path: String,
    /// The lengths of its files, bytes; 0 if they are not known.
    pub length: u64,
}

words! {
    /// Why a path where results are expected has none.
    pub enum RefusedResult {
        /// A file, where a directory is expected.
        File = "file",
        /// A directory without files.
        Empty = "empty",
        /// A directory with files from before the step only.
        Unchanged = "unchanged",
    }
}

impl StepControl {
    pub(super) fn new(control: PathBuf, name: String) -> Self {
        Self { control, name }
    }

    fn open_steps(&self) -> Result<DirHandle, StoreError> {
        DirHandle::open(&self.control)?.open_directory("steps")
    }

    fn open_directory(&self) -> Result<DirHandle, StoreError> {
        self.open_steps()?.open_directory(&self.name)
    }

    /// Returns the directory on this machine.
    pub fn path(&self) -> PathBuf {
        self.control.join("steps").join(&self.name)
    }

    /// Returns whether the step was prepared before.
    pub fn is_prepared(&self) -> bool {
        self.open_directory().is_ok()
    }

    /// Returns whether the container's side has begun.
    pub fn has_started(&self) -> bool {
        self.open_directory().is_ok_and(|directory| directory.has_entry("started"))
    }

    /// Returns the directory's name, also as the container sees it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Creates the files of a step atomically; `output` is a file of ours that becomes its output. Files of an
    /// earlier attempt are moved aside.
    ///
    /// # Errors
    /// If the disk is full or cannot be written.
    pub fn prepare(
        &self,
        command: &str,
        results: &[String],
        output: &Path,
    ) -> Result<(), StoreError> {
        let steps = self.open_steps()?;
        let part = format!("{}.part", self.name);
        move_aside(&steps, &part)?;
        let directory = steps.create_directory(&part, 0o700)?;
        let mut command_text = command.to_owned();
        if !command_text.ends_with('\n') {
            command_text.push('\n');
        }
        let results_text: String = results.iter().flat_map(|path| [path, "\n"]).collect();
        directory.write_file("command", command_text.as_bytes(), 0o644)?;
        directory.write_file("results", results_text.as_bytes(), 0o644)?;
        for name in PREPARED_FILES {
            directory.write_file(name, b"", 0o666)?;
        }
        directory.write_file("exit.tmp", EXIT_PLACEHOLDER, 0o666)?;
        directory.link_file(output, "output.log")?;
        directory.set_mode(0o777)?;
        move_aside(&steps, &self.name)?;
        steps.rename(&part, &self.name)
    }

    /// Links an archive of results, which the step unpacks before its command.
    ///
    /// # Errors
    /// If the file system refuses.
    pub fn link_results_archive(&self, archive: &Path) -> Result<(), StoreError> {
        let directory = self.open_directory()?;
        directory.remove("results.tar")?;
        directory.link_file(archive, "results.tar")
    }

    /// Removes the container's name of the output, so that only ours remains.
    ///
    /// # Errors
    /// If the file system refuses.
    pub fn remove_output_link(&self) -> Result<(), StoreError> {
        self.open_directory()?.remove("output.log")
    }

    fn read_text(&self, name: &str) -> Option<String> {
        let relative = Path::new("steps").join(&self.name).join(name);
        open::read_text_beneath(&self.control, &relative, 1 << 20).ok()
    }

    /// Reads how the step ended, once it has.
    pub fn read_exit(&self) -> Option<StepExit> {
        let text = self.read_text("exit")?;
        let mut words = text.split_whitespace();
        let code = words.next()?.parse().ok()?;
        let (before, after) = self.read_oom_counts();
        let oom_kills = before.zip(after).map(|(before, after)| after.saturating_sub(before));
        let leftovers =
            self.read_text("left").unwrap_or_default().lines().map(str::to_owned).collect();
        let terminated_by_us = self.is_exit_after_container_end();
        Some(StepExit {
            code,
            oom_kills,
            leftovers,
            is_disk_full: words.next().is_some(),
            terminated_by_us,
        })
    }

    /// Returns whether the exit code was written after the first process had begun to end everything: it lists the
    /// steps that had written theirs.
    fn is_exit_after_container_end(&self) -> bool {
        let ended_file = open::read_text_beneath(&self.control, Path::new("ended"), 1 << 20);
        let ended = ended_file.unwrap_or_default();
        let mut lines = ended.lines();
        lines.next().is_some() && !lines.any(|line| line == self.name)
    }

    /// Reads the number of processes killed for memory before and after the step, if known.
    pub fn read_oom_counts(&self) -> (Option<u64>, Option<u64>) {
        let text = self.read_text("oom").unwrap_or_default();
        let mut counts = text.split_whitespace().map(|word| word.parse::<u64>().ok());
        (counts.next().flatten(), counts.next().flatten())
    }

    /// Returns a path that matches the pattern and has no results, and why.
    pub fn find_refused_result(&self, pattern: &str) -> Option<(RefusedResult, String)> {
        let text = self.read_text("refused")?;
        text.lines().find_map(|line| {
            let (reason, place) = line.split_once('\t')?;
            let (matched, path) = place.split_once('\t')?;
            let reason = reason.parse().ok()?;
            (matched == pattern).then(|| (reason, path.to_owned()))
        })
    }

    /// Returns the result directories that the step created and that match the pattern.
    pub fn find_result_directories(&self, pattern: &str) -> Vec<ResultDirectory> {
        let (text, lengths) = (self.read_text("found"), self.read_text("lengths"));
        let (text, lengths) = (text.unwrap_or_default(), lengths.unwrap_or_default());
        // Without `find` and `stat` there are none.
        let parsed_lengths = lengths.lines().map(|line| line.parse().unwrap_or(0));
        let pairs = text.lines().zip(parsed_lengths.chain(std::iter::repeat(0)));
        let found = pairs.filter_map(|(line, length)| {
            let (matched, path) = line.split_once('\t')?;
            let owned_path = path.to_owned();
            (matched == pattern).then_some(ResultDirectory { path: owned_path, length })
        });
        found.collect()
    }
}

/// Frees a name by renaming: we may lack the permission to remove a container's files.
fn move_aside(steps: &DirHandle, name: &str) -> Result<(), StoreError> {
    if !steps.has_entry(name) {
        return Ok(());
    }
    let free = (1..10_000)
        .map(|attempt| format!("{name}.{attempt}"))
        .find(|aside| !steps.has_entry(aside));
    steps.rename(name, &free.unwrap_or_else(|| format!("{name}.aside")))
}
