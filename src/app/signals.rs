//! SIGINT and SIGTERM stop a run or a batch cleanly, a second one leaves at once; SIGHUP detaches
//! it from its terminal. Where somebody watches, the first SIGINT asks, and a key leaves the run to a
//! background process.

use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Once, Weak};
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::app::failure::Failure;
use crate::app::keys::{KeyReader, KeyRequest};
use crate::app::launch::background::{spawn_background_process, wait_for_own_session};
use crate::app::options::GlobalOptions;
use crate::app::terminal;
use retrial_cluster::job::record::is_submitted;
use retrial_document::ErrorText;
use retrial_results::verdict::ExitCode;
use retrial_run::RunSession;
use retrial_store::journal::{EventKind, LiveEvent};
use retrial_store::lock::FileLock;
use retrial_store::{RecordDirectory, StoreError};

/// The notice of a run or a batch that is stopped.
pub const STOPPING_NOTICE: &str =
    "stopping the benchmark and keeping its evidence; a second signal exits immediately";

/// The question after the first Ctrl-C.
pub const STOP_QUESTION: &str =
    "stop or detach? Ctrl-C or s stops the benchmark, d leaves it running in the background";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignalRequest {
    /// End the benchmark, or ask whether to: INT.
    Interrupt,
    /// End the benchmark and keep its evidence: TERM.
    Stop,
    /// Continue without the terminal, which was closed: HUP.
    Detach,
}

/// The signals that are requests. Once this is dropped, they end the process at once, whatever it still waits
/// for.
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    /// Listens from now on.
    pub fn new() -> std::io::Result<Self> {
        let signals = Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        };
        LISTENERS.fetch_add(1, Ordering::SeqCst);
        Ok(signals)
    }

    /// Waits for the next one. If the wait is abandoned, none is lost.
    pub async fn next(&mut self) -> SignalRequest {
        tokio::select! {
            _ = self.interrupt.recv() => SignalRequest::Interrupt,
            _ = self.terminate.recv() => SignalRequest::Stop,
            _ = self.hangup.recv() => SignalRequest::Detach,
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        LISTENERS.fetch_sub(1, Ordering::SeqCst);
        EXIT_AT_SIGNALS.call_once(|| {
            if let Err(error) = exit_at_signals() {
                terminal::print_note(&format!("signals no longer end this process: {error}"));
            }
        });
    }
}

/// The listeners that react to signals now.
static LISTENERS: AtomicUsize = AtomicUsize::new(0);
/// The thread that reacts if nobody else does: a caught signal has no other effect any more.
static EXIT_AT_SIGNALS: Once = Once::new();

/// From now on, INT and TERM end the process while nobody listens; runs on its own thread.
fn exit_at_signals() -> std::io::Result<()> {
    let runtime = build_signal_runtime()?;
    let (mut interrupt, mut terminate) = {
        let _context = runtime.enter();
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?)
    };
    let wait = async move {
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            if LISTENERS.load(Ordering::SeqCst) == 0 {
                std::process::exit(ExitCode::Interrupted.code().into());
            }
        }
    };
    let thread = std::thread::Builder::new().name("exit".to_owned());
    thread.spawn(move || runtime.block_on(wait)).map(drop)
}

fn build_signal_runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

/// A run or a batch that reacts to signals.
pub struct SignalTarget<F> {
    /// Records that it stops, or that it lost its terminal.
    pub record: F,
    /// The first signal cancels it: the run or batch ends its benchmark.
    pub stop: CancellationToken,
    /// The command that removes the container if the process exits immediately.
    pub cleanup: String,
    /// Whether a second signal exits immediately: in a job, a scheduler may send each process a signal.
    pub is_at_a_terminal: bool,
    /// How the run is left to a background process, if somebody watches it.
    pub hand_over: Option<HandOver>,
}

/// Leaves a run or a batch to a background process, at the press of a key.
pub struct HandOver {
    keys: KeyReader,
    global: GlobalOptions,
    record: RecordDirectory,
    lock: Weak<FileLock>,
}

impl HandOver {
    /// Listens for keys, if the run is shown on a terminal.
    pub fn start(
        global: &GlobalOptions,
        record: &RecordDirectory,
        lock: Weak<FileLock>,
    ) -> Option<Self> {
        Some(Self {
            keys: KeyReader::start(global)?,
            global: global.clone(),
            record: record.clone(),
            lock,
        })
    }

    /// Starts the background process and ends this one, as a kill would; the new one continues the run.
    fn detach(self) -> Failure {
        match self.spawn_successor() {
            Ok(child) => wait_for_own_session(&child),
            Err(failure) => return failure,
        }
        // The terminal is as it was before.
        drop(self.keys);
        let (program, id) = (self.global.home.command_prefix(), self.record.id());
        terminal::note_error(
            &ErrorText::new(format!("detached: {id} continues in the background"))
                .with_help(format!("show it: {program} attach {id}"))
                .with_help(format!("stop it: {program} stop {id}")),
        );
        std::process::exit(ExitCode::Success.code().into());
    }

    /// Starts the background process with the lock, so that `stop` and `attach` always find a holder.
    fn spawn_successor(&self) -> Result<Child, Failure> {
        let path = self.record.lock_path();
        let lock = self.lock.upgrade().map(|lock| lock.share_file());
        let input = match lock.transpose().map_err(StoreError::io("share", &path))? {
            Some(file) => file.into(),
            None => Stdio::null(),
        };
        spawn_background_process(&self.global, &self.record, input)
    }
}

/// Describes how to reattach to a detached run or batch.
pub fn describe_return(id: &str) -> String {
    format!("retrial attach {id}, or after a reboot: retrial resume {id}")
}

/// A run that this process executes.
pub fn session_target(
    global: &GlobalOptions,
    session: Arc<RunSession>,
) -> SignalTarget<impl Fn(SignalRequest) + use<>> {
    let is_at_a_terminal = !is_submitted(&session.run);
    let hand_over = is_at_a_terminal
        .then(|| HandOver::start(global, session.run.record(), session.share_lock()));
    SignalTarget {
        stop: session.stop.clone(),
        cleanup: format!("retrial clean --all {}", session.run.id()),
        is_at_a_terminal,
        hand_over: hand_over.flatten(),
        record: move |request| {
            let id = session.run.id();
            // A journal that cannot be written must not keep the run from stopping.
            let _ = session.record(match request {
                SignalRequest::Interrupt => LiveEvent::Notice { text: STOP_QUESTION.into() }.into(),
                SignalRequest::Stop => LiveEvent::Notice { text: STOPPING_NOTICE.into() }.into(),
                SignalRequest::Detach => EventKind::Detached { resume: describe_return(id) },
            });
        },
    }
}

/// How long the end of a run waits for a signal that is being recorded.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(2);

/// Handles the signals of a run or a batch, on a thread of its own: one that is stuck can still be ended.
pub struct SignalHandler {
    cancellation: CancellationToken,
    release_receiver: Receiver<()>,
}

impl SignalHandler {
    /// Releases the run. From now on a signal ends the process immediately.
    pub fn finish(self) {
        self.cancellation.cancel();
        // A record that hangs must not keep the process.
        let _ = self.release_receiver.recv_timeout(RELEASE_TIMEOUT);
    }
}

/// Handles signals until the handler is finished. They are caught when this returns: otherwise one in between
/// would end the process.
///
/// # Errors
/// If the operating system refuses a thread.
pub fn handle_signals(
    mut target: SignalTarget<impl Fn(SignalRequest) + Send + 'static>,
) -> Result<SignalHandler, Failure> {
    let failed = |error: std::io::Error| Failure::host(format!("cannot handle signals: {error}"));
    let runtime = build_signal_runtime().map_err(failed)?;
    let mut signals = {
        let _context = runtime.enter();
        Signals::new().map_err(failed)?
    };
    let over = CancellationToken::new();
    let (release, released) = channel();
    let until = over.clone();
    let thread = std::thread::Builder::new().name("signals".to_owned());
    let spawned = thread.spawn(move || {
        runtime.block_on(until.run_until_cancelled(react_to_signals(&mut signals, &mut target)));
        drop(target);
        drop(signals);
        // The run may have ended without waiting for it.
        let _ = release.send(());
    });
    spawned.map_err(failed)?;
    Ok(SignalHandler { cancellation: over, release_receiver: released })
}

/// A signal or a key.
enum StopRequest {
    Signal(SignalRequest),
    Key(KeyRequest),
}

/// Waits for a signal, or for a key if there is a terminal.
async fn next_request(signals: &mut Signals, hand_over: Option<&mut HandOver>) -> StopRequest {
    let Some(hand_over) = hand_over else {
        return StopRequest::Signal(signals.next().await);
    };
    tokio::select! {
        request = signals.next() => StopRequest::Signal(request),
        Some(key) = hand_over.keys.requests.recv() => StopRequest::Key(key),
    }
}

/// Reacts to signals: the first one stops, or asks if there is somebody to ask; one after it is stopped exits.
async fn react_to_signals(
    signals: &mut Signals,
    target: &mut SignalTarget<impl Fn(SignalRequest)>,
) {
    let (mut has_asked, mut is_stopping) = (false, false);
    loop {
        match next_request(signals, target.hand_over.as_mut()).await {
            StopRequest::Signal(SignalRequest::Detach) => {
                (target.record)(SignalRequest::Detach);
                continue;
            }
            StopRequest::Key(KeyRequest::Detach) => {
                if let Some(hand_over) = target.hand_over.take_if(|_| !is_stopping) {
                    (target.record)(SignalRequest::Detach);
                    hand_over.detach().report();
                }
                continue;
            }
            StopRequest::Key(KeyRequest::Stop) if !has_asked || is_stopping => continue,
            StopRequest::Signal(SignalRequest::Interrupt)
                if target.hand_over.is_some() && !has_asked && !is_stopping =>
            {
                has_asked = true;
                (target.record)(SignalRequest::Interrupt);
                continue;
            }
            StopRequest::Signal(_) | StopRequest::Key(_) => {}
        }
        if is_stopping && !target.is_at_a_terminal {
            continue;
        }
        if is_stopping {
            // The terminal is as it was before.
            target.hand_over = None;
            terminal::print_note(&format!(
                "exiting at once: the container ends at its deadline; remove it now with `{}`",
                target.cleanup
            ));
            std::process::exit(ExitCode::Interrupted.code().into());
        }
        is_stopping = true;
        (target.record)(SignalRequest::Stop);
        target.stop.cancel();
    }
}
