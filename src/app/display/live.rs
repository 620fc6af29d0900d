//! The live view: takes events in, and draws ten times a second.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::Reporter;
use super::bars::ProgressBars;
use super::screen::{Screen, ScreenTerminal};
use super::steady_clock::SteadyClock;
use retrial_report::progress::view::LiveView;
use retrial_store::journal::Event;

/// The time between two drawings.
const DRAW_INTERVAL: Duration = Duration::from_millis(100);
/// So long without a drawing means that the process was stopped (Ctrl-Z): the shell has written
/// below the view since.
const SUSPENSION_THRESHOLD: Duration = Duration::from_secs(2);
/// Lines that may wait for the next drawing.
const MAX_WAITING_LINES: usize = 1000;

/// Shows a run on a terminal.
pub struct LiveReporter<T> {
    shared: Arc<Mutex<LiveState<T>>>,
    clock: SteadyClock,
    /// Dropped to end the thread that draws.
    drawer: Option<(Sender<()>, JoinHandle<()>)>,
}

/// The state of the thread that takes events in and the one that draws.
pub struct LiveState<T> {
    view: LiveView,
    waiting_lines: Vec<String>,
    screen: Screen<T>,
    bars: ProgressBars,
}

impl<T: ScreenTerminal> LiveReporter<T> {
    /// Starts to draw a view on a terminal.
    pub fn start(terminal: T, view: LiveView) -> Self {
        let shared = Arc::new(Mutex::new(LiveState::new(terminal, view)));
        let (sender, receiver) = channel();
        let drawn = Arc::clone(&shared);
        let clock = SteadyClock::start();
        let shown = clock.clone();
        let draw = move || {
            let mut last = Instant::now();
            while receiver.recv_timeout(DRAW_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                let mut shared = lock_shared(&drawn);
                if last.elapsed() > SUSPENSION_THRESHOLD {
                    shared.screen.abandon_frame();
                }
                last = Instant::now();
                shared.draw(shown.now());
            }
        };
        let thread = std::thread::Builder::new().name("live view".to_owned());
        // Without a thread of its own, the view is redrawn with every event.
        let drawer = thread.spawn(draw).ok().map(|thread| (sender, thread));
        Self { shared, clock, drawer }
    }
}

impl<T: ScreenTerminal> Reporter for LiveReporter<T> {
    fn report_event(&mut self, event: &Event) {
        let mut shared = lock_shared(&self.shared);
        shared.apply_event(&self.clock.retime_event(event));
        if self.drawer.is_none() || shared.waiting_lines.len() > MAX_WAITING_LINES {
            shared.draw(self.clock.now());
        }
    }

    fn finish(&mut self) {
        if let Some((sender, thread)) = self.drawer.take() {
            drop(sender);
            // A drawing that panicked does not end the run.
            let _ = thread.join();
        }
        let mut shared = lock_shared(&self.shared);
        shared.view.step = None;
        shared.draw(self.clock.now());
    }
}

impl<T: ScreenTerminal> LiveState<T> {
    /// Starts with no event.
    pub fn new(terminal: T, view: LiveView) -> Self {
        let screen = Screen::new(terminal);
        Self { view, waiting_lines: Vec::new(), bars: ProgressBars::new(screen.clone()), screen }
    }

    /// Applies an event to the view; nothing is drawn yet.
    pub fn apply_event(&mut self, event: &Event) {
        let (columns, _) = self.screen.drawable_size();
        self.waiting_lines.extend(self.view.report_event(event, columns));
    }

    /// Prints the waiting lines and draws the view below them.
    pub fn draw(&mut self, now: Timestamp) {
        let (columns, rows) = self.screen.drawable_size();
        self.bars.draw(&self.view, now, columns, rows);
        self.screen.write_frame(&std::mem::take(&mut self.waiting_lines));
    }
}

fn lock_shared<T>(shared: &Mutex<LiveState<T>>) -> MutexGuard<'_, LiveState<T>> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
