//! This process: its asynchronous runtime, for commands that talk to an engine, and its program's file.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::failure::Failure;
use super::options::GlobalOptions;
use retrial_engine::docker::Docker;

/// An engine that does not answer must not hold up a plan.
const PATIENCE: Duration = Duration::from_secs(3);

/// Starts a runtime on this thread.
///
/// # Errors
/// If the operating system refuses its resources.
pub fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::host(format!("cannot start: {error}")))
}

/// The engine's answer to a question, if it comes soon.
pub fn ask_engine<T>(
    global: &GlobalOptions,
    question: impl AsyncFnOnce(&Docker) -> Option<T>,
) -> Option<T> {
    let answer = async {
        let engine = Docker::connect(global.engine.as_deref()).await.ok()?;
        question(&engine).await
    };
    let answered = async { tokio::time::timeout(PATIENCE, answer).await.ok() };
    runtime().ok()?.block_on(answered).flatten()
}

/// The file of this program, for processes of it elsewhere.
///
/// # Errors
/// If the operating system does not know it.
pub fn program() -> Result<PathBuf, Failure> {
    std::env::current_exe()
        .map_err(|error| Failure::host(format!("cannot find this program's executable: {error}")))
}

/// A command line of this program, at the same path on this machine or another one, with the same options.
pub fn command(program: &Path, global: &GlobalOptions, words: &[&str]) -> Vec<String> {
    let program = program.display().to_string();
    std::iter::once(program)
        .chain(arguments(global, words))
        .collect()
}

/// Arguments of this program, with the options of this process.
pub fn arguments(global: &GlobalOptions, words: &[&str]) -> Vec<String> {
    let path = |path: &Path| path.display().to_string();
    let engine = global.engine.as_ref();
    let options = [
        ("--home", Some(path(global.home.root()))),
        ("--cache", Some(path(&global.cache))),
        ("--root", Some(path(&global.root))),
        ("--engine", engine.cloned()),
    ];
    let options = options
        .into_iter()
        .filter_map(|(name, value)| Some([name.to_owned(), value?]));
    let words = words.iter().map(|word| (*word).to_owned());
    words.chain(options.flatten()).collect()
}
