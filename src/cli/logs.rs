//! `retrial logs`: the output of a run's steps, as it is or as it comes.

use std::fs::File;
use std::io::{IsTerminal, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::app::failure::Failure;
use crate::app::options::GlobalOptions;
use crate::app::terminal;
use crate::plan::Plan;
use crate::results::verdict::ExitCode;
use crate::store::RunDirectory;
use crate::store::lock::FileLock;
use retrial_readings::lines::LineSplitter;
use retrial_readings::sanitize;

/// Prints the output of one step, or of all.
pub fn logs(
    global: &GlobalOptions,
    run: &str,
    step: Option<&str>,
    follow: bool,
) -> Result<ExitCode, Failure> {
    let directory = global.home.find(run)?;
    let plan: Plan = directory.read_json("plan.json")?;
    let chosen: Vec<(String, PathBuf)> = plan
        .steps
        .iter()
        .filter(|known| {
            step.is_none_or(|step| {
                known.name == step || known.number.to_string() == step.trim_start_matches('0')
            })
        })
        .map(|known| {
            (
                known.name.clone(),
                directory.steps().join(known.directory()).join("output.log"),
            )
        })
        .collect();
    if chosen.is_empty() {
        let names: Vec<&str> = plan.steps.iter().map(|step| step.name.as_str()).collect();
        return Err(Failure::usage(format!(
            "{}: no step {}; it has {}",
            directory.id(),
            step.unwrap_or_default(),
            names.join(", ")
        )));
    }
    let mut printed = 0;
    let headers = step.is_none();
    let mut tails: Vec<Tail> = Vec::new();
    loop {
        // Looked at before reading: what is written until then is read in this turn.
        let goes_on = follow && is_followed(&directory);
        for (name, path) in &chosen {
            let position = tails.iter().position(|tail| tail.path == *path);
            let index = match position {
                Some(index) => index,
                None if path.exists() => {
                    tails.push(Tail::open(name, path, headers));
                    tails.len() - 1
                }
                None => continue,
            };
            match tails[index].print_on() {
                Ok(lines) => printed += lines,
                // The reader is gone (`| head`): nothing more to do.
                Err(_) => return Ok(ExitCode::Success),
            }
        }
        if !goes_on {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    for tail in &mut tails {
        let _ = tail.finish();
    }
    if printed == 0 && !global.quiet {
        terminal::note(&format!(
            "{}: no output{}",
            directory.id(),
            step.map(|step| format!(" of {step}")).unwrap_or_default()
        ));
    }
    Ok(ExitCode::Success)
}

/// Whether somebody follows the run, so that more may come.
fn is_followed(directory: &RunDirectory) -> bool {
    FileLock::holder(&directory.lock()).is_some()
}

/// The end of one step's output.
struct Tail {
    name: String,
    path: PathBuf,
    file: Option<File>,
    splitter: LineSplitter,
    headers: bool,
    headed: bool,
    raw: bool,
}

impl Tail {
    fn open(name: &str, path: &Path, headers: bool) -> Self {
        // To a file or a pipe go the bytes as they are; a terminal gets no control characters.
        let raw = !std::io::stdout().is_terminal();
        let (name, path) = (name.to_owned(), path.to_owned());
        let mut tail = Self {
            name,
            path,
            file: None,
            splitter: LineSplitter::new(),
            headers,
            headed: false,
            raw,
        };
        tail.reopen();
        tail
    }

    fn reopen(&mut self) {
        let directory = self.path.parent().unwrap_or(&self.path);
        let name = Path::new(self.path.file_name().unwrap_or_default());
        self.file = crate::store::open::open_beneath(directory, name).ok();
        self.headed = false;
    }

    /// Prints what came since the last time; gives how much it was.
    fn print_on(&mut self) -> std::io::Result<usize> {
        let mut printed = self.print_file()?;
        if self.replaced() {
            // The step was begun anew: its earlier output lies beside.
            self.finish()?;
            self.reopen();
            printed += self.print_file()?;
        }
        Ok(printed)
    }

    fn print_file(&mut self) -> std::io::Result<usize> {
        let Some(file) = &mut self.file else {
            return Ok(0);
        };
        let mut out = std::io::stdout().lock();
        let mut block = vec![0; 64 << 10];
        let mut printed = 0;
        loop {
            let count = file.read(&mut block)?;
            if count == 0 {
                out.flush()?;
                return Ok(printed);
            }
            if self.headers && !std::mem::replace(&mut self.headed, true) {
                writeln!(out, "==> {} <==", self.name)?;
            }
            printed += count;
            if self.raw {
                out.write_all(&block[..count])?;
                continue;
            }
            let mut result = Ok(());
            self.splitter.push(&block[..count], |line| {
                if result.is_ok() {
                    result = writeln!(out, "{}", sanitize(&line.text));
                }
            });
            result?;
        }
    }

    fn replaced(&self) -> bool {
        let opened = self.file.as_ref().and_then(|file| file.metadata().ok());
        let there = std::fs::symlink_metadata(&self.path).ok();
        opened
            .zip(there)
            .is_some_and(|(opened, there)| opened.ino() != there.ino())
    }

    /// Prints a last line that has no line break.
    fn finish(&mut self) -> std::io::Result<()> {
        let mut out = std::io::stdout().lock();
        let mut result = Ok(());
        self.splitter.finish(|line| {
            if result.is_ok() {
                result = writeln!(out, "{}", sanitize(&line.text));
            }
        });
        result
    }
}
