//! What steps may leave: good results, and every kind that is none.

use fastrand::Rng;

use crate::export::logs::{Run, V6_0};
use crate::export::planted::BEGAN;

/// What the steps of a trial leave.
#[derive(Debug, Default, Clone)]
pub struct Contents {
    /// What the command prints.
    pub output: Vec<u8>,
    /// What the check prints.
    pub check: Vec<u8>,
    /// The files of its results.
    pub files: Vec<(&'static str, Vec<u8>)>,
}

/// Most are good: of several trials, one that is not decides.
fn one_of<'a>(random: &mut Rng, good: &'a str, others: &[&'a str]) -> &'a str {
    if others.is_empty() || random.u8(..3) > 0 {
        good
    } else {
        others[random.usize(..others.len())]
    }
}

/// The contents of a trial of a scenario.
pub fn of(scenario: &str, mode: &str, random: &mut Rng) -> Contents {
    let mut contents = match scenario {
        "printed" => Contents { output: printed(random), ..Contents::default() },
        "document" => document(random),
        "table" => table(random),
        "trained" => Contents { output: trained(random), ..Contents::default() },
        _ => loadgen(random, mode == "accuracy"),
    };
    // An archive has no empty folders, and the reason would say so.
    contents.files.push(("notes.txt", b"done\n".to_vec()));
    if random.u8(..12) == 0 {
        contents.files.push(("INVALID", b"another model".to_vec()));
    }
    if random.u8(..12) == 0 {
        contents.output.extend(b"\nchecksum of the model differs\n");
    }
    contents
}

fn printed(random: &mut Rng) -> Vec<u8> {
    let speed = random.u32(990..1010);
    let good = format!("loading\nspeed: {speed} items/s\nlatency: 3 ms\n");
    let bad = [
        "",
        "loading\n",
        "speed: nan items/s\nlatency: 3 ms\n",
        "speed: unknown\n",
        "speed: 1,000 items/s\nlatency: 3 ms\n",
        "speed: 1000 items/s\n",
        "speed: 700 items/s\nlatency: 3 ms\n",
        "speed: 1000 items/s\nlatency: 90 ms\n",
        "\u{1}\u{fffd}\u{0}",
    ];
    one_of(random, &good, &bad).into()
}

fn document(random: &mut Rng) -> Contents {
    let rate = random.u32(990..1010);
    let good = format!("{{\"speeds\": {{\"rate\": {rate}}}}}");
    let bad = [
        "",
        "{\"speeds\": {\"rate\": 10",
        "{\"speeds\": {\"rate\": NaN}}",
        "{\"speeds\": {\"rate\": \"fast\"}}",
        "{\"speeds\": {}}",
        "missing",
    ];
    let text = one_of(random, &good, &bad);
    let files = (text != "missing").then(|| ("stats.json", text.into()));
    Contents {
        files: files.into_iter().collect(),
        check: one_of(random, "score: 0.9\n", &["score: 0.2\n", "", "score: none\n"]).into(),
        ..Contents::default()
    }
}

fn table(random: &mut Rng) -> Contents {
    let rate = random.u32(990..1010);
    let good = format!("shape,rate\nsmall,{rate}\nlarge,20\n");
    let bad = ["", "shape,rate\n", "shape,rate\nsmall,nan\n", "missing"];
    let text = one_of(random, &good, &bad);
    let files = (text != "missing").then(|| ("table.csv", text.into()));
    Contents { files: files.into_iter().collect(), ..Contents::default() }
}

fn trained(random: &mut Rng) -> Vec<u8> {
    let minutes = random.u64(98..102);
    // Within the second in which the planted step began.
    let start = 1_795_262_400_000 + random.u64(..1000);
    let stop = start + minutes * 60_000;
    let event = |time: u64, key: &str, value: &str, metadata: &str| {
        format!(
            ":::MLLOG {{\"namespace\": \"\", \"time_ms\": {time}, \"event_type\": \"POINT_IN_TIME\", \
             \"key\": \"{key}\", \"value\": {value}, \"metadata\": {metadata}}}\n"
        )
    };
    let seed = event(start - 1000, "seed", &random.u32(..).to_string(), "{}");
    let start = event(start, "run_start", "null", "{}");
    let evaluated =
        |accuracy: &str| event(stop - 1, "eval_accuracy", accuracy, "{\"samples_count\": 1000}");
    let end = event(stop, "run_stop", "null", "{\"status\": \"success\"}");
    let good = format!("{seed}{start}{}{end}", evaluated("0.9"));
    let lost = format!("{seed}{start}{}{end}", evaluated("0.1"));
    let cut = format!("{seed}{start}{}", evaluated("0.9"));
    let no_number = format!("{seed}{start}{}{end}", evaluated("NaN"));
    one_of(random, &good, &["", "loading\n", &lost, &cut, &no_number]).into()
}

fn loadgen(random: &mut Rng, accuracy: bool) -> Contents {
    let run = |valid: bool, scenario: &'static str, accuracy: bool, rate: f64| Run {
        scenario,
        accuracy,
        tokens_per_second: rate,
        valid,
        seeds: V6_0,
    };
    let rate = f64::from(random.u32(990..1010));
    let log = match random.u8(..12) {
        0 => run(false, "Offline", accuracy, rate),
        1 => run(true, "Server", accuracy, rate),
        2 => run(true, "Offline", !accuracy, rate),
        3 => run(true, "Offline", accuracy, 600.0),
        _ => run(true, "Offline", accuracy, rate),
    };
    let mut files = vec![
        ("mlperf_log_summary.txt", log.summary().into_bytes()),
        ("mlperf_log_detail.txt", log.detail(BEGAN).into_bytes()),
    ];
    match random.u8(..16) {
        0 => files[0].1.clear(),
        1 => {
            let half = files[0].1.len() / 2;
            files[0].1.truncate(half);
        }
        2 => files[0].1 = vec![0x1f, 0x8b, 0, 0xff, 0xfe],
        3 => files[0].1 = b"Segmentation fault (core dumped)\n".to_vec(),
        4 => drop(files.remove(0)),
        5 => drop(files.remove(1)),
        6 => files[1].1.truncate(900),
        7 => files.clear(),
        _ => {}
    }
    let good = Run::accuracy_text();
    let bad = ["", "{'rouge1': nan}\n", "{'rouge1': 12.5}\n", "Traceback\n"];
    Contents {
        check: if accuracy { one_of(random, good, &bad).into() } else { Vec::new() },
        files,
        ..Contents::default()
    }
}
