//! Checks of a row's numbers against each other. Of the 435 rows by which they were chosen none breaks one, but for the
//! number of GPUs.

use std::ops::RangeInclusive;

use super::PublishedRow;
use retrial_mlperf::check::RuleCheck;

/// Of sums and quotients that should be equal: rows have seven digits.
const MAX_DIFFERENCE: f64 = 0.005;
/// Tokens in flight by Little's law, of those asked for: mean lengths are 0.9 to 1 of what is asked, and at the end of a load
/// fewer requests are left.
const IN_FLIGHT: RangeInclusive<f64> = 0.75..=1.02;

const LATENCIES: [&str; 4] = ["ttft", "tpot", "itl", "e2el"];
/// In the order that they have in any sample.
const PERCENTILES: [&str; 4] = ["median", "p90", "p99", "p99.9"];

impl PublishedRow {
    /// Checks it by the rules for which it states enough.
    pub fn check(&self) -> Vec<RuleCheck> {
        let unreadable = self.unreadable.iter();
        let unreadable =
            unreadable.map(|name| RuleCheck::violation(name.as_str(), "no number", "a number"));
        let negative = self.metrics().filter(|(_, value)| *value <= 0.0);
        let negative = negative
            .map(|(name, value)| RuleCheck::violation(name, value.to_string(), "more than 0"));
        let single = [
            self.check_sum(),
            self.check_mean_latencies(),
            self.check_in_flight(),
            self.check_gpus(),
            self.check_chunks(),
        ];
        let several = self.check_speeds().chain(self.check_order()).chain(self.check_energy());
        unreadable.chain(negative).chain(single.into_iter().flatten()).chain(several).collect()
    }

    /// Where prompts and answers have GPUs of their own, each rate is by those.
    fn check_sum(&self) -> Option<RuleCheck> {
        let [total, input, output] =
            ["", "input_", "output_"].map(|kind| self.metric(&format!("{kind}tput_per_gpu")));
        let (total, input, output) = (total?, input?, output?);
        let agrees = is_equal(total, input + output) || self.is_distributed;
        let measured = format!("{total} in all, {input} of prompts and {output} of answers");
        Some(RuleCheck::new("tokens/s per GPU", measured, "the sum of both", agrees))
    }

    /// Interactivity is the speed of one user. `std_intvty` is 1 / `std_tpot`, which is no deviation, and is not read.
    fn check_speeds(&self) -> impl Iterator<Item = RuleCheck> + '_ {
        let statistics = ["mean"].into_iter().chain(PERCENTILES);
        statistics.filter_map(|statistic| {
            let speed = self.metric(&format!("{statistic}_intvty"))?;
            let time = self.metric(&format!("{statistic}_tpot"))?;
            let agrees = is_equal(speed * time, 1.0);
            let measured = format!("{speed} tokens/s at {time} s per token");
            Some(RuleCheck::new(format!("{statistic}_intvty"), measured, "1 / tpot", agrees))
        })
    }

    fn check_order(&self) -> impl Iterator<Item = RuleCheck> + '_ {
        LATENCIES.into_iter().filter_map(|latency| {
            let stated = PERCENTILES.iter().filter_map(|percentile| {
                Some((*percentile, self.metric(&format!("{percentile}_{latency}"))?))
            });
            let stated: Vec<(&str, f64)> = stated.collect();
            let is_ordered = stated.is_sorted_by(|left, right| left.1 <= right.1);
            let measured: Vec<String> =
                stated.iter().map(|(name, value)| format!("{name} {value} s")).collect();
            let required = "in the order of the percentiles";
            (stated.len() > 1)
                .then(|| RuleCheck::new(latency, measured.join(", "), required, is_ordered))
        })
    }

    fn check_mean_latencies(&self) -> Option<RuleCheck> {
        let (first, whole) = (self.metric("mean_ttft")?, self.metric("mean_e2el")?);
        let measured = format!("first token after {first} s, answer after {whole} s");
        let required = "an answer after its first token";
        Some(RuleCheck::new("mean_e2el", measured, required, whole > first))
    }

    fn check_in_flight(&self) -> Option<RuleCheck> {
        let (rate, gpus) = (self.metric("output_tput_per_gpu")?, self.gpus()?);
        let asked = self.concurrency * self.number("osl")?;
        let share = rate * gpus * self.metric("mean_e2el")? / asked;
        let measured = format!("{:.1} requests in flight on average", share * self.concurrency);
        let required =
            format!("{}, less what the end of the load and short answers take", self.concurrency);
        // Rates by the GPUs of one half do not add up to those of the load.
        (!self.is_distributed).then(|| {
            RuleCheck::new("requests in flight", measured, required, IN_FLIGHT.contains(&share))
        })
    }

    fn check_energy(&self) -> impl Iterator<Item = RuleCheck> + '_ {
        let kinds = [
            ("joules_per_output_token", "output_tput_per_gpu"),
            ("joules_per_total_token", "tput_per_gpu"),
        ];
        let stated = kinds.into_iter().filter(|_| !self.is_distributed);
        stated.filter_map(|(energy, rate)| {
            let (power, joules, rate) =
                (self.metric("avg_power_w")?, self.metric(energy)?, self.metric(rate)?);
            let measured = format!("{joules} J at {power} W and {rate} tokens/s");
            let agrees = is_equal(joules * rate, power);
            Some(RuleCheck::new(energy, measured, "power by rate", agrees))
        })
    }

    fn check_gpus(&self) -> Option<RuleCheck> {
        let (stated, gpus) = (self.stated_gpus?, self.gpus()?);
        let measured = format!("{stated} stated, tp {gpus}");
        let differs = !self.is_distributed && !is_equal(stated, gpus);
        differs.then(|| RuleCheck::warning("GPUs", measured, "tp × pp, which the rates are by"))
    }

    fn check_chunks(&self) -> Option<RuleCheck> {
        let tokens = self.metric("mean_itl")? / self.metric("mean_tpot")?;
        let measured = format!("{tokens:.1} tokens in a chunk");
        (tokens > 1.5)
            .then(|| RuleCheck::warning("itl", measured, "one, for a time between tokens"))
    }
}

fn is_equal(left: f64, right: f64) -> bool {
    (left - right).abs() <= MAX_DIFFERENCE * left.abs().max(right.abs())
}
