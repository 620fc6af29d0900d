//! Keys that are pressed while a run is shown on a terminal.

use std::io::{IsTerminal as _, Read as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcsetattr,
};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::app::options::{GlobalOptions, OutputFormat};
use crate::app::terminal;

/// What somebody asks for by a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyRequest {
    /// `d`: leave the run to a background process.
    Detach,
    /// `s`: stop the run, as an answer to the question.
    Stop,
}

impl KeyRequest {
    fn from_byte(byte: u8) -> Option<Self> {
        match byte.to_ascii_lowercase() {
            b'd' => Some(Self::Detach),
            b's' => Some(Self::Stop),
            _ => None,
        }
    }
}

/// Reads keys until it is dropped. Signals of the terminal, such as Ctrl-C, are what they were.
pub struct KeyReader {
    /// The requests, as they come.
    pub requests: UnboundedReceiver<KeyRequest>,
    /// The modes of the terminal before.
    original_modes: Termios,
    is_over: Arc<AtomicBool>,
}

impl KeyReader {
    /// Starts to read keys, if a run is shown on a terminal and this process is in its foreground: another would be
    /// stopped when it reads.
    pub fn start(global: &GlobalOptions) -> Option<Self> {
        let stdin = std::io::stdin();
        let is_shown = !global.quiet && global.output == OutputFormat::Text;
        let has_terminal = stdin.is_terminal() && std::io::stderr().is_terminal();
        if !is_shown || !has_terminal || !terminal::can_draw() {
            return None;
        }
        if tcgetpgrp(&stdin).ok()? != rustix::process::getpgrp() {
            return None;
        }
        let original_modes = tcgetattr(&stdin).ok()?;
        let mut modes = original_modes.clone();
        modes.local_modes &= !(LocalModes::ICANON | LocalModes::ECHO);
        // A read returns after a tenth of a second, so that the thread can end.
        modes.special_codes[SpecialCodeIndex::VMIN] = 0;
        modes.special_codes[SpecialCodeIndex::VTIME] = 1;
        tcsetattr(&stdin, OptionalActions::Now, &modes).ok()?;
        let (sender, requests) = unbounded_channel();
        let is_over = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&is_over);
        let thread = std::thread::Builder::new().name("keys".to_owned());
        let read = move || {
            let mut byte = [0];
            while !until.load(Ordering::SeqCst) {
                match stdin.lock().read(&mut byte) {
                    Ok(1) => {
                        let request = KeyRequest::from_byte(byte[0]);
                        // Nobody may wait for it any more.
                        let _ = request.map(|request| sender.send(request));
                    }
                    Ok(_) => {}
                    Err(_) => break,
                }
            }
        };
        let reader = Self { requests, original_modes, is_over };
        // Without a thread, dropping it restores the terminal.
        thread.spawn(read).ok()?;
        Some(reader)
    }
}

impl Drop for KeyReader {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // A terminal that is gone has no modes.
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.original_modes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_keys_are_requests() {
        let requests = *b"dDs";
        let expected = [KeyRequest::Detach, KeyRequest::Detach, KeyRequest::Stop];
        assert_eq!(requests.map(KeyRequest::from_byte), expected.map(Some));
        assert!((0..=u8::MAX).filter_map(KeyRequest::from_byte).count() == 4);
    }
}
