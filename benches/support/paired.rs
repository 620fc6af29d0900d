//! Two things timed in turn on the same machine, so that what else the machine does falls on both.
//!
//! Each pair runs A and B right after each other, and the order changes from pair to pair. What is
//! compared is the ratio within a pair; its median's interval comes from order statistics (the
//! sign test), which asks nothing of the distribution and shrugs at a pair that was disturbed.

use std::fs;
use std::time::{Duration, Instant};

/// Seconds that a piece of work took.
pub fn timed(work: impl FnOnce()) -> f64 {
    let begun = Instant::now();
    work();
    begun.elapsed().as_secs_f64()
}

/// Timings in pairs, seconds.
#[derive(Debug, Default, Clone)]
pub struct Pairs {
    a: Vec<f64>,
    b: Vec<f64>,
}

impl Pairs {
    /// Runs `count` pairs, after one of each that is not counted.
    pub fn run(count: usize, mut a: impl FnMut() -> f64, mut b: impl FnMut() -> f64) -> Self {
        let _ = (a(), b());
        let mut pairs = Self::default();
        for index in 0..count {
            wait_for_quiet(Duration::from_secs(3));
            if index % 2 == 0 {
                pairs.a.push(a());
                pairs.b.push(b());
            } else {
                pairs.b.push(b());
                pairs.a.push(a());
            }
        }
        pairs
    }

    /// The other side of a pair.
    pub fn b_at(&self, index: usize) -> f64 {
        self.b[index]
    }

    /// Adds a pair that was timed by other means.
    pub fn push(&mut self, a: f64, b: f64) {
        self.a.push(a);
        self.b.push(b);
    }

    /// Prints both sides and their ratio, and whether A is within `limit` times B.
    pub fn report(&self, a: &str, b: &str, limit: Option<f64>) {
        print_times(a, &self.a);
        print_times(b, &self.b);
        let mut ratios: Vec<f64> = self.a.iter().zip(&self.b).map(|(a, b)| a / b).collect();
        ratios.sort_by(f64::total_cmp);
        let (low, high, level) = median_interval(&ratios);
        let judged = limit.map_or_else(String::new, |limit| {
            format!("; limit {limit:.2}: {}", word(median(&ratios), low, high, limit))
        });
        println!(
            "  ratio    {:.3}  [{low:.3}, {high:.3}] at {:.0} %, {} pairs{judged}",
            median(&ratios),
            100.0 * level,
            ratios.len(),
        );
    }

    /// Prints whether A's median is within `limit` seconds.
    pub fn report_limit(&self, limit: f64) {
        let mut sorted = self.a.clone();
        sorted.sort_by(f64::total_cmp);
        let (low, high, level) = median_interval(&sorted);
        println!(
            "  median   {:.2} ms  [{:.2}, {:.2}] at {:.0} %; limit {:.0} ms: {}",
            1e3 * median(&sorted),
            1e3 * low,
            1e3 * high,
            100.0 * level,
            1e3 * limit,
            word(median(&sorted), low, high, limit)
        );
    }

    /// Prints the rate of A's median for so many bytes, and whether it is at least `limit` a second.
    pub fn report_rate(&self, label: &str, bytes: f64, limit: f64) {
        let mut rates: Vec<f64> = self.a.iter().map(|seconds| bytes / seconds).collect();
        rates.sort_by(f64::total_cmp);
        let (low, high, level) = median_interval(&rates);
        println!(
            "  rate     {:.0} MB/s of {label}  [{:.0}, {:.0}] at {:.0} %; required {:.0} MB/s: {}",
            median(&rates) / 1e6,
            low / 1e6,
            high / 1e6,
            100.0 * level,
            limit / 1e6,
            word(-median(&rates), -high, -low, -limit)
        );
    }
}

fn word(median: f64, low: f64, high: f64, limit: f64) -> &'static str {
    if high <= limit {
        "holds"
    } else if low > limit {
        "MISSED"
    } else if median <= limit {
        "holds in the median, the interval reaches beyond"
    } else {
        "missed in the median, the interval reaches below"
    }
}

/// One line: least, quartiles, most.
pub fn print_times(label: &str, times: &[f64]) {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let ms = |part: f64| 1e3 * quantile(&sorted, part);
    println!(
        "  {label:<44} median {:>8.2} ms   quartiles {:.2} … {:.2}   least {:.2}   most {:.2}",
        ms(0.5),
        ms(0.25),
        ms(0.75),
        ms(0.0),
        ms(1.0)
    );
}

/// The middle of sorted values.
pub fn median(sorted: &[f64]) -> f64 {
    quantile(sorted, 0.5)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let at = part * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    below + (above - below) * at.fract()
}

/// The narrowest pair of order statistics that holds the median with at least 95 %, and with how
/// much; of fewer than six values all of them.
fn median_interval(sorted: &[f64]) -> (f64, f64, f64) {
    let count = sorted.len();
    let (mut cut, mut level) = (0, 1.0 - 2.0 * at_most(0, count));
    while cut + 1 < count / 2 && 1.0 - 2.0 * at_most(cut + 1, count) >= 0.95 {
        cut += 1;
        level = 1.0 - 2.0 * at_most(cut, count);
    }
    (sorted[cut], sorted[count - 1 - cut], level)
}

/// How likely at most `successes` of `count` fair coins are heads.
fn at_most(successes: usize, count: usize) -> f64 {
    let mut term = 0.5_f64.powf(count as f64);
    let mut sum = term;
    for index in 0..successes {
        term *= (count - index) as f64 / (index + 1) as f64;
        sum += term;
    }
    sum
}

/// The machine's other load.
pub fn machine() -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: Vec<&str> = load.split(' ').take(3).collect();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    format!("{cores} cores, load {}", load.join(" "))
}

/// Waits, so long at most, until most of the machine is idle.
pub fn wait_for_quiet(most: Duration) {
    let until = Instant::now() + most;
    while busy() > 0.25 && Instant::now() < until {}
}

/// The share of the machine that works, over a fifth of a second.
fn busy() -> f64 {
    let read = || -> (f64, f64) {
        let text = fs::read_to_string("/proc/stat").unwrap_or_default();
        let numbers: Vec<f64> = text
            .lines()
            .next()
            .into_iter()
            .flat_map(str::split_whitespace)
            .filter_map(|word| word.parse().ok())
            .collect();
        let idle = numbers.get(3).unwrap_or(&0.0) + numbers.get(4).unwrap_or(&0.0);
        (numbers.iter().take(8).sum(), idle)
    };
    let (total, idle) = read();
    std::thread::sleep(Duration::from_millis(200));
    let (later, later_idle) = read();
    1.0 - (later_idle - idle) / (later - total).max(1.0)
}
