//! Axes: their range, and the numbers on them.

use std::iter;

use retrial_results::verdict::number;

/// Maps values to positions on an axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scale {
    /// The least value on it.
    pub min: f64,
    /// The greatest value on it.
    pub max: f64,
    /// The numbers on it.
    pub ticks: Vec<f64>,
}

impl Scale {
    /// An axis for these values; `from_zero`: zero is on it.
    pub fn from_values(
        values: impl Iterator<Item = f64>,
        from_zero: bool,
        most_ticks: u32,
    ) -> Self {
        let (mut least, mut most) = value_range(values.filter(|value| value.is_finite()));
        if least > most {
            (least, most) = (0.0, 1.0);
        }
        if from_zero {
            least = least.min(0.0);
            most = most.max(0.0);
        }
        if most - least <= 1e-9 * most.abs().max(least.abs()) {
            // Room around a single value.
            let room = if most == 0.0 { 1.0 } else { most.abs() * 0.05 };
            most += room;
            if !(from_zero && least == 0.0) {
                least -= room;
            }
        }
        let step = nice_step((most - least) / f64::from(most_ticks.max(2)));
        let first = (least / step).floor();
        let end = (most / step - 1e-9).ceil().max(first + 1.0);
        let steps = iter::successors(Some(first), |at| Some(at + 1.0));
        // At most two more than requested; the limit is for values at the end of f64's precision.
        let steps = steps.take_while(|at| *at <= end).take(24);
        Self { min: first * step, max: end * step, ticks: steps.map(|at| at * step).collect() }
    }

    /// The position of a value, from 0 to 1.
    pub fn position(&self, value: f64) -> f64 {
        ((value - self.min) / (self.max - self.min)).clamp(0.0, 1.0)
    }

    /// `axis starts at 0.95`, of a scale without zero.
    pub fn start_remark(&self) -> Option<String> {
        let has_zero = (self.min..=self.max).contains(&0.0);
        (!has_zero).then(|| format!("axis starts at {}", self.tick_label(self.min)))
    }

    pub fn tick_labels(&self) -> Vec<String> {
        self.ticks.iter().map(|tick| self.tick_label(*tick)).collect()
    }

    /// A number on the axis, with as many digits as tell neighbours apart.
    pub fn tick_label(&self, tick: f64) -> String {
        let step =
            self.ticks.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
        if tick.abs() < step / 1e3 {
            return "0".to_owned();
        }
        // As many decimals as a step has: 0, 2.5, 5.
        let decimals = (0_u8..9).find(|decimals| {
            let scaled = step * 10_f64.powi(i32::from(*decimals));
            (scaled - scaled.round()).abs() < 1e-6 * scaled
        });
        match tick.abs() {
            _ if step.is_finite() && decimals != Some(0) => {
                format!("{tick:.0$}", usize::from(decimals.unwrap_or(9)))
            }
            size if size >= 1e6 && step >= 1e4 => {
                format!("{} M", number::format_grouped(tick / 1e6))
            }
            size if size >= 1e4 && step >= 100.0 => {
                format!("{} k", number::format_grouped(tick / 1e3))
            }
            _ => number::format_grouped(tick.round()),
        }
    }
}

/// The lowest and the highest of values; infinite without any.
pub(crate) fn value_range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    })
}

#[expect(clippy::cast_precision_loss, reason = "counts of things on a chart")]
pub(crate) fn to_f64(count: usize) -> f64 {
    count as f64
}

pub(crate) fn median(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| retrial_stats::median(values))
}

/// The next of 1, 2, 2.5, 5 times a power of ten.
fn nice_step(rough: f64) -> f64 {
    if !rough.is_finite() || rough <= 0.0 {
        return 1.0;
    }
    let power = 10_f64.powf(rough.log10().floor());
    let nice =
        [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().find(|nice| nice * power >= rough * (1.0 - 1e-9));
    nice.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(&[96.0, 103.0], true, &["0", "25", "50", "75", "100", "125"])]
    #[case(&[103_480.0], true, &["0", "25 k", "50 k", "75 k", "100 k", "125 k"])]
    #[case(&[0.93, 1.02], false, &["0.92", "0.94", "0.96", "0.98", "1.00", "1.02"])]
    #[case(&[12.4], true, &["0.0", "2.5", "5.0", "7.5", "10.0", "12.5"])]
    #[case(&[0.12], true, &["0.0", "0.025", "0.050", "0.075", "0.100", "0.125"])]
    #[case(&[], true, &["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"])]
    fn axes_have_round_ticks(
        #[case] values: &[f64],
        #[case] from_zero: bool,
        #[case] ticks: &[&str],
    ) {
        let scale = Scale::from_values(values.iter().copied(), from_zero, 5);
        let labels: Vec<String> = scale.ticks.iter().map(|tick| scale.tick_label(*tick)).collect();
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        let zero: Vec<&str> =
            ticks.iter().map(|tick| if *tick == "0.0" { "0" } else { tick }).collect();
        assert_eq!(labels, zero);
    }

    proptest! {
        #[test]
        fn every_value_is_within_the_scale(values in prop::collection::vec(-1e12..1e12_f64, 1..9), zero: bool) {
            let scale = Scale::from_values(values.iter().copied(), zero, 5);
            let room = (scale.max - scale.min) * 1e-6;
            for value in &values {
                prop_assert!(scale.min - room <= *value && *value <= scale.max + room);
            }
            prop_assert!(scale.ticks.len() >= 2 && scale.ticks.len() <= 9);
            if zero {
                prop_assert!(scale.min <= 0.0 && scale.max >= 0.0);
            }
            let labels: Vec<String> = scale.ticks.iter().map(|tick| scale.tick_label(*tick)).collect();
            let mut apart = labels.clone();
            apart.dedup();
            prop_assert_eq!(apart, labels);
        }
    }
}
