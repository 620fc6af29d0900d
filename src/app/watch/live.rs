//! The live view's hands: takes events in, and draws ten times a second.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::Reporter;
use super::screen::{Screen, Terminal};
use crate::report::progress::style::Style;
use crate::report::progress::view::View;
use crate::store::journal::Event;

/// Between two drawings.
const BEAT: Duration = Duration::from_millis(100);
/// So long without a drawing means that the process was stopped (Ctrl-Z): the shell has written
/// below the frame since.
const STOPPED: Duration = Duration::from_secs(2);
/// Lines that may wait for the next drawing.
const WAITING: usize = 1000;

/// Shows a run on a terminal.
pub struct Live<T: Terminal> {
    shared: Arc<Mutex<Shared<T>>>,
    over: Arc<AtomicBool>,
    drawer: Option<JoinHandle<()>>,
}

/// What the events' thread and the drawing one share.
pub struct Shared<T> {
    view: View,
    waiting: Vec<String>,
    screen: Screen<T>,
}

impl<T: Terminal> Live<T> {
    /// Begins to draw on `terminal`.
    pub fn begin(terminal: T, color: bool, verbose: bool) -> Self {
        Self::of(Shared::new(terminal, color, verbose))
    }

    /// The same for one run of many: of what has finished, only failures stay.
    pub fn begin_brief(terminal: T, color: bool) -> Self {
        let mut shared = Shared::new(terminal, color, false);
        shared.view = shared.view.brief();
        Self::of(shared)
    }

    fn of(shared: Shared<T>) -> Self {
        let shared = Arc::new(Mutex::new(shared));
        let over = Arc::new(AtomicBool::new(false));
        let (drawn, ended) = (Arc::clone(&shared), Arc::clone(&over));
        // Without its own thread the view still moves, with every event.
        let drawer = std::thread::Builder::new()
            .name("live view".to_owned())
            .spawn(move || {
                let mut last = Instant::now();
                while !ended.load(Ordering::Acquire) {
                    let mut shared = drawn.lock().unwrap_or_else(PoisonError::into_inner);
                    if last.elapsed() > STOPPED {
                        shared.screen.forget();
                    }
                    last = Instant::now();
                    shared.draw(Timestamp::now());
                    drop(shared);
                    std::thread::park_timeout(BEAT);
                }
            })
            .ok();
        Self {
            shared,
            over,
            drawer,
        }
    }
}

impl<T: Terminal> Reporter for Live<T> {
    fn event(&mut self, event: &Event) {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.take(event);
        if self.drawer.is_none() || shared.waiting.len() > WAITING {
            shared.draw(Timestamp::now());
        }
    }

    fn finish(&mut self) {
        self.over.store(true, Ordering::Release);
        if let Some(drawer) = self.drawer.take() {
            drawer.thread().unpark();
            let _ = drawer.join();
        }
        self.shared
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }
}

impl<T: Terminal> Shared<T> {
    /// Nothing has happened yet.
    pub fn new(terminal: T, color: bool, verbose: bool) -> Self {
        Self {
            view: View::new(Style::new(color), verbose),
            waiting: Vec::new(),
            screen: Screen::new(terminal),
        }
    }

    /// Takes an event in; nothing is drawn yet.
    pub fn take(&mut self, event: &Event) {
        let (width, _) = self.screen.room();
        self.waiting.extend(self.view.take(event, width));
    }

    /// Draws what has changed.
    pub fn draw(&mut self, now: Timestamp) {
        let (width, height) = self.screen.room();
        let frame = self.view.frame(now, width, height);
        self.screen.draw(&std::mem::take(&mut self.waiting), frame);
    }

    /// Writes what still waits, and takes the frame away.
    fn clear(&mut self) {
        self.screen
            .draw(&std::mem::take(&mut self.waiting), Vec::new());
    }
}
