//! What was seen on several machines at once, as one.

use std::collections::BTreeMap;

use super::reading::Cause;
use super::series::highest;
use super::summary::Summary;

/// What is known of one machine.
#[derive(Debug, Clone, PartialEq)]
pub struct MachineSummary {
    /// Its name.
    pub name: String,
    /// It has GPUs that the run may use.
    pub has_gpus: bool,
    /// What was seen there.
    pub summary: Option<Summary>,
}

impl Summary {
    /// All machines of a measurement together. Power and energy are sums, and there is none if a machine
    /// with GPUs was not watched; none at all if none was.
    pub fn of_machines(all: Vec<MachineSummary>) -> Option<Self> {
        let mut unwatched = Vec::new();
        let mut seen = Vec::new();
        for one in all {
            match one.summary {
                Some(summary) if summary.gpus > 0 || !one.has_gpus => {
                    seen.push((one.name, summary));
                }
                _ if one.has_gpus => unwatched.push(one.name),
                _ => {}
            }
        }
        let (_, first) = seen.first()?;
        let with_gpus: Vec<&Self> = seen
            .iter()
            .map(|(_, one)| one)
            .filter(|one| one.gpus > 0)
            .collect();
        let sum = |value: fn(&Self) -> Option<f64>| -> Option<f64> {
            let values: Option<Vec<f64>> = with_gpus.iter().map(|one| value(one)).collect();
            let values = values.filter(|values| !values.is_empty() && unwatched.is_empty());
            values.map(|values| values.iter().sum())
        };
        #[expect(clippy::cast_precision_loss, reason = "GPUs of a run")]
        let mean = |value: fn(&Self) -> Option<f64>| -> Option<f64> {
            let known = with_gpus.iter();
            let known: Vec<_> = known
                .filter_map(|one| Some((value(one)?, one.gpus as f64)))
                .collect();
            let gpus: f64 = known.iter().map(|(_, gpus)| gpus).sum();
            let sum: f64 = known.iter().map(|(value, gpus)| value * gpus).sum();
            (gpus > 0.0).then(|| sum / gpus)
        };
        let all = || seen.iter().map(|(_, one)| one);
        let longest = |value: fn(&Self) -> f64| all().map(value).fold(0.0, f64::max);
        let idle = seen.iter().filter_map(|(name, one)| {
            let mut idle = one.idle.clone()?;
            idle.machine = Some(name.clone());
            Some(idle)
        });
        Some(Self {
            samples: first.samples,
            seconds: longest(|one| one.seconds),
            unobserved_s: longest(|one| one.unobserved_s),
            gpus: with_gpus.iter().map(|one| one.gpus).sum(),
            machines: Some(seen.len()),
            mean_power_w: sum(|one| one.mean_power_w),
            peak_power_w: sum(|one| one.peak_power_w),
            energy_j: sum(|one| one.energy_j),
            within_measurement: all().all(|one| one.within_measurement),
            per_joule: None,
            mean_utilization: mean(|one| one.mean_utilization),
            mean_core_mhz: mean(|one| one.mean_core_mhz),
            peak_temperature_c: highest(all().map(|one| one.peak_temperature_c)),
            peak_vram: all().filter_map(|one| one.peak_vram).max(),
            throttled_s: throttled(&with_gpus),
            mean_cpus: all().map(|one| one.mean_cpus).sum(),
            peak_memory: all().filter_map(|one| one.peak_memory).max(),
            idle: idle.max_by_key(|idle| idle.gpus.len()),
            unwatched_machines: unwatched,
        })
    }
}

/// By cause, the time of the machine that was held down longest; none where no machine knows.
fn throttled(all: &[&Summary]) -> Option<BTreeMap<Cause, f64>> {
    let known = all.iter().filter_map(|one| one.throttled_s.as_ref());
    known.cloned().reduce(|mut most, one| {
        for (cause, seconds) in one {
            let held = most.entry(cause).or_default();
            *held = seconds.max(*held);
        }
        most
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::Idle;

    fn machine(name: &str, summary: Option<Summary>) -> MachineSummary {
        MachineSummary {
            name: name.to_owned(),
            has_gpus: true,
            summary,
        }
    }

    fn eight(watts: f64) -> Summary {
        Summary {
            samples: 4,
            seconds: watts / 100.0,
            gpus: 8,
            within_measurement: true,
            mean_power_w: Some(watts),
            peak_power_w: Some(watts + 50.0),
            energy_j: Some(watts * 10.0),
            mean_utilization: Some(watts / 10.0),
            throttled_s: Some([(Cause::Heat, watts / 1000.0)].into()),
            ..Summary::default()
        }
    }

    #[test]
    fn power_and_energy_are_sums() {
        let of_client = MachineSummary {
            has_gpus: false,
            ..machine("n1", Some(Summary::default()))
        };
        let seven = Summary {
            gpus: 7,
            ..eight(300.0)
        };
        let idle = Idle {
            machine: None,
            gpus: vec![1],
            of: 8,
            required: 8,
        };
        let one_idle = Summary {
            idle: Some(idle),
            ..eight(500.0)
        };
        let all = vec![
            machine("n2", Some(seven)),
            machine("n3", Some(one_idle)),
            of_client,
        ];
        let sum = Summary::of_machines(all).unwrap();
        assert_eq!((sum.machines, sum.gpus, sum.seconds), (Some(3), 15, 5.0));
        assert_eq!(sum.mean_power_w, Some(800.0));
        assert_eq!(sum.peak_power_w, Some(900.0));
        assert_eq!(sum.energy_j, Some(8000.0));
        assert_eq!(sum.mean_utilization, Some((30.0 * 7.0 + 50.0 * 8.0) / 15.0));
        assert_eq!(sum.throttled_s, Some([(Cause::Heat, 0.5)].into()));
        let reason = sum.idle.unwrap().reason();
        assert!(
            reason.starts_with("1 of 8 GPUs of n3 were idle"),
            "{reason}"
        );
    }

    #[test]
    fn a_node_without_samples_prevents_the_sum() {
        let all = vec![machine("n1", Some(eight(300.0))), machine("n2", None)];
        let some = Summary::of_machines(all).unwrap();
        assert_eq!(some.unwatched_machines, ["n2"]);
        assert_eq!((some.machines, some.gpus), (Some(1), 8));
        assert_eq!((some.mean_power_w, some.energy_j), (None, None));
        assert_eq!(some.per_joule("t", 700.0, "TFLOPS"), None);
        assert_eq!(Summary::of_machines(vec![machine("n1", None)]), None);
    }
}
