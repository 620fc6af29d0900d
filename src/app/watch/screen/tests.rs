//! The live view on an emulated terminal.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;

use super::super::Reporter;
use super::super::live::{Live, Shared};
use super::{Stderr, Terminal};
use crate::report::progress::fit;
use crate::report::progress::tests::script;
use crate::store::journal::{Event, What};

/// An emulated terminal that many may hold.
#[derive(Clone)]
struct Emulated {
    parser: Arc<Mutex<vt100::Parser>>,
    written: Arc<Mutex<Vec<String>>>,
}

impl Emulated {
    fn new(columns: u16, rows: u16) -> Self {
        Self {
            parser: Arc::new(Mutex::new(vt100::Parser::new(rows, columns, 200))),
            written: Arc::default(),
        }
    }

    /// What is to be seen, without the blanks at the lines' ends.
    fn screen(&self) -> String {
        let parser = self.parser.lock().unwrap();
        let (_, columns) = parser.screen().size();
        let rows: Vec<String> = parser
            .screen()
            .rows(0, columns)
            .map(|row| row.trim_end().to_owned())
            .collect();
        rows.join("\n").trim_end().to_owned()
    }
}

impl Terminal for Emulated {
    fn size(&self) -> (usize, usize) {
        let (rows, columns) = self.parser.lock().unwrap().screen().size();
        (columns.into(), rows.into())
    }

    fn write(&mut self, text: &str) -> std::io::Result<()> {
        self.parser.lock().unwrap().process(text.as_bytes());
        self.written.lock().unwrap().push(text.to_owned());
        Ok(())
    }

    fn reflows(&self) -> bool {
        true
    }
}

/// The screen after all events up to a moment, drawn ten times a second.
fn screen_at(events: &[Event], milliseconds: i64, terminal: &Emulated) -> String {
    let mut live = Shared::new(terminal.clone(), false, false);
    let until = script::at(
        milliseconds,
        None,
        What::Warning {
            text: String::new(),
        },
    )
    .time;
    let mut drawn = events[0].time;
    for event in events.iter().take_while(|event| event.time <= until) {
        while drawn < event.time {
            live.draw(drawn);
            drawn += Duration::from_millis(100);
        }
        live.take(event);
    }
    live.draw(until);
    terminal.screen()
}

#[test]
fn a_pull_at_three_widths() {
    for columns in [60, 80, 120] {
        let terminal = Emulated::new(columns, 24);
        insta::assert_snapshot!(
            format!("pull_{columns}"),
            screen_at(&script::run(), 12_000, &terminal)
        );
    }
}

#[test]
fn a_fetch_at_three_widths() {
    for columns in [60, 80, 120] {
        let terminal = Emulated::new(columns, 24);
        let events = script::fetch((2, "fetch-llama"), 0);
        insta::assert_snapshot!(
            format!("fetch_{columns}"),
            screen_at(&events, 12_000, &terminal)
        );
    }
}

#[test]
fn an_extraction() {
    insta::assert_snapshot!(screen_at(&script::run(), 21_900, &Emulated::new(80, 24)));
}

#[test]
fn a_build_at_three_widths() {
    for columns in [60, 80, 120] {
        let terminal = Emulated::new(columns, 24);
        insta::assert_snapshot!(
            format!("build_{columns}"),
            screen_at(&script::run(), 39_000, &terminal)
        );
    }
}

#[test]
fn a_scenario_at_three_widths() {
    for columns in [60, 80, 120] {
        let terminal = Emulated::new(columns, 24);
        insta::assert_snapshot!(
            format!("scenario_{columns}"),
            screen_at(&script::run(), 560_000, &terminal)
        );
    }
}

#[test]
fn a_run_that_is_over_leaves_its_steps() {
    let terminal = Emulated::new(80, 40);
    let mut live = Live::begin(terminal.clone(), false, false);
    for event in &script::run() {
        live.event(event);
    }
    live.finish();
    insta::assert_snapshot!(terminal.screen());
}

#[test]
fn a_resumed_run_says_what_was_done_before() {
    insta::assert_snapshot!(screen_at(
        &script::resumed(),
        71_000,
        &Emulated::new(80, 24)
    ));
}

#[test]
fn a_low_terminal_shows_the_end() {
    insta::assert_snapshot!(screen_at(&script::run(), 560_000, &Emulated::new(80, 5)), @r"
    ⠋ 05 offline-performance  8m 36s, timeout 1h         step 5 of 9, 9m 20s in all
      python /lab-mlperf-inference/code/main.py --config-path /lab-mlperf-inferenc…
      │ query 0171 of 2000
      │ query 0172 of 2000
    ");
}

#[test]
fn every_line_of_a_frame_fits_and_no_escape_of_others_gets_through() {
    let ours = regex::Regex::new("\u{1b}\\[(\\?2026[hl]|\\?7[hl]|[KJ]|[0-9]+A)|\r\n?").unwrap();
    for (events, verbose) in [
        (script::run(), false),
        (script::hostile(), false),
        (script::hostile(), true),
    ] {
        for columns in [1, 20, 60] {
            let terminal = Emulated::new(columns, 24);
            let mut live = Shared::new(terminal.clone(), false, verbose);
            for event in &events {
                live.take(event);
                live.draw(event.time);
            }
            for text in terminal.written.lock().unwrap().iter() {
                let frame = text.split("\u{1b}[?7l").nth(1).unwrap();
                for line in frame.lines() {
                    assert!(
                        fit::width(&ours.replace_all(line, "")) <= usize::from(columns),
                        "{line:?}"
                    );
                }
                let plain = ours.replace_all(text, "");
                assert!(!plain.contains(char::is_control), "{plain:?}");
            }
        }
    }
}

#[test]
fn a_terminal_made_narrower_keeps_one_frame() {
    let long = script::at(
        1000,
        Some((5, "offline-performance")),
        script::output(&"x".repeat(200)),
    );
    let events: Vec<Event> = script::run()
        .into_iter()
        .take(1)
        .chain([
            script::at(
                900,
                Some((5, "offline-performance")),
                script::began("python main.py", None),
            ),
            long,
        ])
        .collect();
    let terminal = Emulated::new(100, 24);
    let mut live = Shared::new(terminal.clone(), false, false);
    for event in &events {
        live.take(event);
    }
    live.draw(events[2].time);
    // The emulator cuts lines where others break them: broken here by hand, as they do.
    let broken: Vec<String> = terminal
        .screen()
        .lines()
        .flat_map(|line| {
            let characters: Vec<char> = line.chars().collect();
            characters
                .chunks(60)
                .map(|part| part.iter().collect::<String>())
                .collect::<Vec<_>>()
        })
        .collect();
    *terminal.parser.lock().unwrap() = vt100::Parser::new(24, 60, 0);
    terminal
        .parser
        .lock()
        .unwrap()
        .process((broken.join("\r\n") + "\r\n").as_bytes());
    live.draw(events[2].time + Duration::from_millis(500));
    let screen = terminal.screen();
    assert_eq!(screen.matches("offline-performance").count(), 1, "{screen}");
    assert!(
        screen.lines().count() == 4 && screen.starts_with("run "),
        "{screen}"
    );
}

/// A terminal whose window was closed.
struct Gone(Arc<Mutex<usize>>);

impl Terminal for Gone {
    fn size(&self) -> (usize, usize) {
        (80, 24)
    }

    fn write(&mut self, _: &str) -> std::io::Result<()> {
        *self.0.lock().unwrap() += 1;
        Err(std::io::Error::from_raw_os_error(
            rustix::io::Errno::IO.raw_os_error(),
        ))
    }

    fn reflows(&self) -> bool {
        true
    }
}

#[test]
fn a_terminal_that_is_gone_is_left_alone() {
    let writes = Arc::new(Mutex::new(0));
    let mut live = Live::begin(Gone(Arc::clone(&writes)), true, true);
    for event in script::run() {
        live.event(&event);
    }
    live.finish();
    assert_eq!(*writes.lock().unwrap(), 1);
}

#[test]
fn colours_only_where_they_are_wanted() {
    let colour = regex::Regex::new("\u{1b}\\[[0-9;]*m").unwrap();
    for wanted in [true, false] {
        let terminal = Emulated::new(80, 24);
        let mut live = Shared::new(terminal.clone(), wanted, false);
        for event in script::run() {
            live.take(&event);
            live.draw(event.time);
        }
        let written = terminal.written.lock().unwrap().concat();
        assert_eq!(colour.is_match(&written), wanted);
    }
}

/// Plays a run on the terminal, so that a person can look at it:
/// `cargo test --lib play_on_the_terminal -- --ignored --nocapture`, `SPEED=10` for ten times as fast.
#[test]
#[ignore = "for a person at a terminal"]
fn play_on_the_terminal() {
    let speed: f64 = std::env::var("SPEED")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(1.0);
    let mut live = Live::begin(
        Stderr::default(),
        std::env::var_os("NO_COLOR").is_none(),
        std::env::var_os("VERBOSE").is_some(),
    );
    let events = script::run();
    let (first, began) = (events[0].time, Timestamp::now());
    for mut event in events {
        let after = event.time.duration_since(first).as_secs_f64() / speed;
        let due = Timestamp::now().duration_since(began).as_secs_f64();
        std::thread::sleep(Duration::from_secs_f64((after - due).max(0.0)));
        event.time = Timestamp::now();
        live.event(&event);
    }
    live.finish();
}
