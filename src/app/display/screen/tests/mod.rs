//! The live view as an emulated terminal shows it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use jiff::Timestamp;

use super::super::Reporter;
use super::super::live::{LiveReporter, LiveState};
use super::{Screen, ScreenTerminal, Stderr};
use emulated::{Emulated, PassThrough};
use retrial_report::progress::batch::BatchProgress;
use retrial_report::progress::remaining_time::RemainingTime;
use retrial_report::progress::tests::script;
use retrial_report::progress::view::LiveView;
use retrial_store::journal::{Event, EventKind};

mod emulated;

/// The screen after all events up to a moment, drawn ten times a second.
fn screen_at(events: &[Event], milliseconds: i64, terminal: &Emulated) -> String {
    let mut live =
        LiveState::new(terminal.clone(), LiveView::new(false, None, RemainingTime::default()));
    let until = script::at(milliseconds, None, EventKind::Warning { text: String::new() }).time;
    let mut drawn = events[0].time;
    for event in events.iter().take_while(|event| event.time <= until) {
        while drawn < event.time {
            live.draw(drawn);
            drawn += Duration::from_millis(100);
        }
        live.apply_event(event);
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
        insta::assert_snapshot!(format!("fetch_{columns}"), screen_at(&events, 12_000, &terminal));
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

/// One run of a batch: the batch's progress is below it.
#[test]
fn a_run_of_a_batch_at_80() {
    let overall = BatchProgress {
        ended_runs: 5,
        all_runs: 12,
        text: "[6/12] rocm=7.1.1 trial 2/3; 7 remaining, about 12m 10s".to_owned(),
    };
    let terminal = Emulated::new(80, 24);
    let (remaining, _) = script::rest_of_trials(8);
    let mut live = LiveState::new(terminal.clone(), LiveView::new(false, Some(overall), remaining));
    for event in script::run() {
        live.apply_event(&event);
        let is_second = event.step == Some(7);
        if is_second && matches!(event.what, EventKind::StepStarted { .. }) {
            live.draw(event.time);
            break;
        }
    }
    insta::assert_snapshot!(terminal.screen());
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
fn a_finished_run_leaves_its_steps_on_the_screen() {
    let terminal = Emulated::new(80, 40);
    let mut live =
        LiveReporter::start(terminal.clone(), LiveView::new(false, None, RemainingTime::default()));
    for event in &script::run() {
        live.report_event(event);
    }
    live.finish();
    insta::assert_snapshot!(terminal.screen());
}

#[test]
fn a_narrow_terminal_does_not_erase_lines_above() {
    for columns in [10, 20, 30, 40, 50] {
        let terminal = Emulated::new(columns, 200);
        let mut live =
            LiveState::new(terminal.clone(), LiveView::new(false, None, RemainingTime::default()));
        for event in script::run() {
            live.apply_event(&event);
            live.draw(event.time);
            let screen = terminal.screen();
            assert!(screen.starts_with("run 20"), "{columns}: {screen}");
            assert!(screen.matches("⠋").count() <= 1, "{columns}: {screen}");
        }
    }
}

#[test]
fn a_resumed_run_shows_completed_steps() {
    insta::assert_snapshot!(screen_at(&script::resumed(), 71_000, &Emulated::new(80, 24)));
}

#[test]
fn a_short_terminal_shows_the_last_lines() {
    insta::assert_snapshot!(screen_at(&script::run(), 560_000, &Emulated::new(80, 5)), @r"
    ⠙ 05 offline-performance  8m 36s, timeout 1h         step 5 of 9, 9m 20s in all
      python /lab-mlperf-inference/code/main.py --config-path /lab-mlperf-inferenc…
      │ query 0171 of 2000
      │ query 0172 of 2000
    ");
}

#[test]
fn frame_lines_fit_and_foreign_escapes_are_removed() {
    let escapes = regex::Regex::new("\u{1b}\\[(\\?2026[hl]|\\?7[hl]|[KJ]|[0-9]+A)|\r\n?").unwrap();
    for (events, verbose) in
        [(script::run(), false), (script::hostile(), false), (script::hostile(), true)]
    {
        for columns in [1, 20, 60] {
            let terminal = Emulated::new(columns, 24);
            let mut live = LiveState::new(
                terminal.clone(),
                LiveView::new(verbose, None, RemainingTime::default()),
            );
            for event in &events {
                live.apply_event(event);
                live.draw(event.time);
            }
            for text in terminal.written.lock().unwrap().iter() {
                let frame = text.split("\u{1b}[?7l").nth(1).unwrap();
                for line in frame.lines() {
                    assert!(
                        console::measure_text_width(&escapes.replace_all(line, ""))
                            <= usize::from(columns),
                        "{line:?}"
                    );
                }
                let plain = escapes.replace_all(text, "");
                assert!(!plain.contains(char::is_control), "{plain:?}");
            }
        }
    }
}

#[test]
fn a_narrowed_terminal_has_one_frame() {
    let long = script::at(1000, Some((5, "offline-performance")), script::output(&"x".repeat(200)));
    let events: Vec<Event> = script::run()
        .into_iter()
        .take(1)
        .chain([
            script::at(
                900,
                Some((5, "offline-performance")),
                script::started("python main.py", None),
            ),
            long,
        ])
        .collect();
    let terminal = Emulated::new(100, 24);
    let mut live =
        LiveState::new(terminal.clone(), LiveView::new(false, None, RemainingTime::default()));
    for event in &events {
        live.apply_event(event);
    }
    live.draw(events[2].time);
    terminal.narrow(60);
    live.draw(events[2].time + Duration::from_millis(500));
    let screen = terminal.screen();
    assert_eq!(screen.matches("offline-performance").count(), 1, "{screen}");
    assert!(screen.lines().count() == 4 && screen.starts_with("run "), "{screen}");
}

/// How often a line of two bars is on the terminal after it was made narrower and drawn on again.
fn copies(terminal: &Emulated, target: ProgressDrawTarget, show: impl Fn()) -> usize {
    let multi = MultiProgress::with_draw_target(target);
    let bars = ["first", "second"].map(|name| {
        let style = ProgressStyle::with_template("{msg}").unwrap();
        let bar = multi.add(ProgressBar::hidden().with_style(style));
        bar.set_message(format!("{name} {}", "x".repeat(40)));
        bar
    });
    show();
    terminal.narrow(30);
    for bar in &bars {
        bar.set_message("short");
        bar.set_message("first");
    }
    bars[1].set_message("second");
    show();
    terminal.screen().matches("first").count()
}

#[test]
fn indicatif_alone_duplicates_frames_on_a_narrowed_terminal() {
    let terminal = Emulated::new(60, 24);
    let pass_through = ProgressDrawTarget::term_like(Box::new(PassThrough(terminal.clone())));
    assert!(copies(&terminal, pass_through, || ()) > 1, "this screen may be needless now");
    let terminal = Emulated::new(60, 24);
    let screen = Screen::new(terminal.clone());
    let target = ProgressDrawTarget::term_like(Box::new(screen.clone()));
    assert_eq!(copies(&terminal, target, || screen.write_frame(&[])), 1);
}

#[test]
fn terminal_echo_does_not_corrupt_the_screen() {
    let terminal = Emulated::new(80, 24);
    let mut live =
        LiveState::new(terminal.clone(), LiveView::new(false, None, RemainingTime::default()));
    let events = script::pull((1, "pull"), 0);
    for event in &events[..100] {
        live.apply_event(event);
    }
    live.draw(events[100].time);
    terminal.parser.lock().unwrap().process(b"^C");
    live.draw(events[100].time + Duration::from_millis(100));
    let screen = terminal.screen();
    assert!(screen.contains("01 pull") && !screen.contains("^C"), "{screen}");
    assert_eq!(screen.lines().count(), 4, "{screen}");
}

#[test]
fn many_bars_are_drawn_in_one_write() {
    let terminal = Emulated::new(80, 24);
    let mut live =
        LiveState::new(terminal.clone(), LiveView::new(false, None, RemainingTime::default()));
    let events = script::pull((1, "pull"), 0);
    for event in &events[..100] {
        live.apply_event(event);
    }
    for tenth in 1..=10 {
        live.draw(events[100].time + Duration::from_millis(100 * tenth));
    }
    assert_eq!(terminal.written.lock().unwrap().len(), 10);
}

/// A terminal whose window was closed.
#[derive(Debug)]
struct ClosedTerminal(Arc<Mutex<usize>>);

impl ScreenTerminal for ClosedTerminal {
    fn size(&self) -> (usize, usize) {
        (80, 24)
    }

    fn write(&mut self, _: &str) -> std::io::Result<()> {
        *self.0.lock().unwrap() += 1;
        Err(std::io::Error::from_raw_os_error(rustix::io::Errno::IO.raw_os_error()))
    }

    fn reflows(&self) -> bool {
        true
    }
}

#[test]
fn a_closed_terminal_is_not_written_to() {
    let writes = Arc::new(Mutex::new(0));
    let mut live = LiveReporter::start(
        ClosedTerminal(Arc::clone(&writes)),
        LiveView::new(true, None, RemainingTime::default()),
    );
    for event in script::run() {
        live.report_event(&event);
    }
    live.finish();
    assert_eq!(*writes.lock().unwrap(), 1);
}

#[test]
fn colors_are_used_only_if_enabled() {
    let colour = regex::Regex::new("\u{1b}\\[[0-9;]*m").unwrap();
    for enabled in [true, false] {
        let terminal = Emulated::new(80, 24);
        console::set_colors_enabled(enabled);
        let mut live =
            LiveState::new(terminal.clone(), LiveView::new(false, None, RemainingTime::default()));
        for event in script::run() {
            live.apply_event(&event);
            live.draw(event.time);
        }
        let written = terminal.written.lock().unwrap().concat();
        assert_eq!(colour.is_match(&written), enabled);
    }
}

/// Plays a run on the terminal, for visual inspection:
/// `cargo test --lib play_on_the_terminal -- --ignored --nocapture`, `SPEED=10` for ten times as fast.
#[test]
#[ignore = "for a person at a terminal"]
fn play_on_the_terminal() {
    let speed: f64 = std::env::var("SPEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1.0);
    console::set_colors_enabled(std::env::var_os("NO_COLOR").is_none());
    let verbose = std::env::var_os("VERBOSE").is_some();
    let mut live =
        LiveReporter::start(Stderr, LiveView::new(verbose, None, RemainingTime::default()));
    let events = script::run();
    let (first, started) = (events[0].time, Timestamp::now());
    for mut event in events {
        let after = event.time.duration_since(first).as_secs_f64() / speed;
        let due = Timestamp::now().duration_since(started).as_secs_f64();
        std::thread::sleep(Duration::from_secs_f64((after - due).max(0.0)));
        event.time = Timestamp::now();
        live.report_event(&event);
    }
    live.finish();
}
