//! Questions to the user at a terminal: asked on standard error, answered on standard input, a line each.
//!
//! The terminal's own line editing is used. Ctrl-C ends the process.

use std::cell::OnceCell;
use std::io::{IsTerminal as _, Stderr, Stdin, Write as _};
use std::time::Duration;

use retrial_readings::sanitize_message;
use retrial_results::verdict::ExitCode;

use crate::app::failure::Failure;
use crate::app::terminal;

/// The time without input after which a pasted text is complete.
const PASTE_TIMEOUT: Duration = Duration::from_millis(100);

/// A terminal at which a user answers questions.
#[derive(Debug)]
pub struct Dialog {
    input: Stdin,
    output: Stderr,
    /// Set by the first question.
    is_introduced: OnceCell<()>,
}

impl Dialog {
    /// Returns the dialog; none where standard input or standard error is no terminal.
    pub fn open() -> Option<Self> {
        let dialog = Self {
            input: std::io::stdin(),
            output: std::io::stderr(),
            is_introduced: OnceCell::new(),
        };
        let has_terminal = dialog.input.is_terminal() && dialog.output.is_terminal();
        has_terminal.then_some(dialog)
    }

    /// Asks for one line, and returns it without blanks around it; it may be empty.
    ///
    /// # Errors
    /// The input ends (Ctrl-D), or cannot be read.
    pub fn ask(&self, question: &str) -> Result<String, Failure> {
        self.introduce();
        let mut err = self.output.lock();
        let question = terminal::wrap_for_stderr(&format!("{}:", sanitize_message(question)));
        // If the question cannot be written, there is no answer either.
        let _ = write!(err, "{question} ").and_then(|()| err.flush());
        Ok(self.read_line()?.trim().to_owned())
    }

    /// Prints what the next question is about.
    pub fn explain(&self, text: &str) {
        self.introduce();
        terminal::print_note(text);
    }

    /// Asks for one line; an empty one is the default.
    ///
    /// # Errors
    /// As [`Dialog::ask`].
    pub fn ask_with_default(&self, question: &str, default: &str) -> Result<String, Failure> {
        let answer = self.ask(&format!("{question} [{default}]"))?;
        Ok(if answer.is_empty() { default.to_owned() } else { answer })
    }

    /// Asks for a word, or for command lines: these may continue behind a backslash, and be pasted.
    ///
    /// # Errors
    /// As [`Dialog::ask`].
    pub fn ask_for_command(&self, question: &str) -> Result<String, Failure> {
        let first = self.ask(question)?;
        let is_command = first.contains(char::is_whitespace);
        let mut lines = vec![first];
        let continues = |lines: &[String]| lines.last().is_some_and(|line| line.ends_with('\\'));
        while is_command && (continues(&lines) || self.is_pasting()) {
            lines.push(self.read_line()?);
        }
        Ok(lines.join("\n"))
    }

    /// Asks for lines up to an empty one, behind which nothing more is pasted.
    ///
    /// # Errors
    /// As [`Dialog::ask`].
    pub fn ask_for_text(&self, question: &str) -> Result<String, Failure> {
        self.explain(&format!("{question}:"));
        let mut lines: Vec<String> = Vec::new();
        loop {
            let line = self.read_line()?;
            let is_first = lines.is_empty();
            if line.trim().is_empty() && (is_first || !self.is_pasting()) {
                return Ok(lines.join("\n"));
            }
            lines.push(line);
        }
    }

    /// Prints before the first question how to answer.
    fn introduce(&self) {
        self.is_introduced.get_or_init(|| {
            terminal::print_note(
                "An empty answer leaves a question for later; Ctrl-C exits without writing a file.",
            );
        });
    }

    /// Reads a line without its end.
    fn read_line(&self) -> Result<String, Failure> {
        let mut line = String::new();
        match self.input.read_line(&mut line) {
            Ok(0) => {
                // The cursor is behind the question.
                terminal::print_note("");
                let failure = Failure::new(ExitCode::Interrupted, "no answer");
                Err(failure.with_help("to write a recipe without questions: --no-input"))
            }
            Ok(_) => Ok(line.trim_end_matches(['\n', '\r']).to_owned()),
            Err(error) => Err(Failure::host(format!("failed to read the answer: {error}"))),
        }
    }

    /// Returns whether further lines are waiting, as of a pasted text. A terminal returns one line at a time, so the
    /// buffer of standard input has none of them.
    fn is_pasting(&self) -> bool {
        let is_waiting = || rustix::io::ioctl_fionread(&self.input).is_ok_and(|count| count > 0);
        is_waiting() || {
            std::thread::sleep(PASTE_TIMEOUT);
            is_waiting()
        }
    }
}
