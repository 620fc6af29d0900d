//! This process: its asynchronous runtime, for commands that talk to an engine, and its program's file.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::Signal;
use tokio::signal::unix::{SignalKind, signal};

use super::failure::Failure;
use super::options::GlobalOptions;
use super::terminal;
use retrial_engine::docker::DockerEngine;
use retrial_run::MAX_SILENCE;

/// How long a plan waits for the engine's answer.
const ENGINE_ANSWER_TIMEOUT: Duration = Duration::from_secs(3);

/// How long the end of a runtime waits for work on its threads: a file system or a program that hangs must not
/// keep the process alive.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// A runtime whose end does not wait for blocked threads.
pub struct Runtime(Option<tokio::runtime::Runtime>);

impl Runtime {
    /// Runs a future to its end.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        match &self.0 {
            Some(runtime) => runtime.block_on(future),
            None => unreachable!("it is taken when this ends"),
        }
    }

    /// Ends it without waiting: a read of the keyboard is pending until a key is pressed.
    pub fn shutdown_background(mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_timeout(SHUTDOWN_TIMEOUT);
        }
    }
}

/// Starts a runtime on this thread.
///
/// # Errors
/// If the operating system refuses its resources.
pub fn start_runtime() -> Result<Runtime, Failure> {
    let build_result = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let failed = |error| Failure::host(format!("cannot start: {error}"));
    let built = build_result.map_err(failed)?;
    // Writes beyond `ulimit -f` fail, with a message, and do not kill: a signal that is listened to once stays so.
    let file_size = SignalKind::from_raw(Signal::XFSZ.as_raw());
    drop(built.block_on(async { signal(file_size) }).map_err(failed)?);
    Ok(Runtime(Some(built)))
}

/// Waits for answers, and says whose if they take a while.
pub async fn wait_with_notice<T>(whose: &str, answers: impl Future<Output = T>) -> T {
    let mut answers = std::pin::pin!(answers);
    if let Ok(answer) = tokio::time::timeout(MAX_SILENCE, &mut answers).await {
        return answer;
    }
    terminal::print_note(&format!("waiting for {whose}"));
    answers.await
}

/// The engine's answer to a question, if it comes soon.
pub fn query_engine<T>(
    global: &GlobalOptions,
    question: impl AsyncFnOnce(&DockerEngine) -> Option<T>,
) -> Option<T> {
    let answer = async {
        let engine = DockerEngine::connect(global.engine.as_deref()).await.ok()?;
        question(&engine).await
    };
    let answered = async { tokio::time::timeout(ENGINE_ANSWER_TIMEOUT, answer).await.ok() };
    start_runtime().ok()?.block_on(answered).flatten()
}

/// Returns the path of this program's executable, to start it elsewhere.
///
/// # Errors
/// If the operating system does not know it.
pub fn program_path() -> Result<PathBuf, Failure> {
    std::env::current_exe()
        .map_err(|error| Failure::host(format!("cannot find this program's executable: {error}")))
}

/// A command line of this program, at the same path on this machine or another one, with the same options.
pub fn command_line(program: &Path, global: &GlobalOptions, words: &[&str]) -> Vec<String> {
    let program_text = program.display().to_string();
    std::iter::once(program_text).chain(forwarded_arguments(global, words)).collect()
}

/// Arguments of this program, with the options of this process.
pub fn forwarded_arguments(global: &GlobalOptions, words: &[&str]) -> Vec<String> {
    let path = |path: &Path| path.display().to_string();
    let engine = global.engine.as_ref();
    let option_values = [
        ("--home", Some(path(global.home.root()))),
        ("--cache", Some(path(&global.cache))),
        ("--root", Some(path(&global.root))),
        ("--engine", engine.cloned()),
        ("--log", global.log.as_ref().map(ToString::to_string)),
    ];
    let options =
        option_values.into_iter().filter_map(|(name, value)| Some([name.to_owned(), value?]));
    let owned_words = words.iter().map(|word| (*word).to_owned());
    owned_words.chain(options.flatten()).collect()
}
