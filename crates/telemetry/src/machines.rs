//! Combines the telemetry of several machines.

use std::collections::BTreeMap;

use super::idle::IdleGpus;
use super::reading::ThrottleCause;
use super::series::highest;
use super::summary::TelemetrySummary;

/// The telemetry of one machine.
#[derive(Debug, Clone, PartialEq)]
pub struct MachineSummary {
    /// The machine's name in the run: `n2`.
    pub name: String,
    /// Whether it has GPUs that the run may use.
    pub has_gpus: bool,
    /// Its own telemetry; none if it recorded no sample.
    pub summary: Option<TelemetrySummary>,
}

impl TelemetrySummary {
    /// Combines all machines of a measurement. Power and energy are sums, absent if a machine with GPUs was not
    /// monitored; none if no machine was.
    pub fn combine_machines(all: Vec<MachineSummary>) -> Option<Self> {
        let mut unwatched = Vec::new();
        let mut summaries = Vec::new();
        for machine in all {
            match machine.summary {
                Some(summary) if summary.gpus > 0 || !machine.has_gpus => {
                    summaries.push((machine.name, summary));
                }
                _ if machine.has_gpus => unwatched.push(machine.name),
                _ => {}
            }
        }
        let (_, first) = summaries.first()?;
        let with_gpus: Vec<&Self> = summaries
            .iter()
            .map(|(_, summary)| summary)
            .filter(|summary| summary.gpus > 0)
            .collect();
        let sum = |value: fn(&Self) -> Option<f64>| -> Option<f64> {
            let values: Option<Vec<f64>> = with_gpus.iter().map(|summary| value(summary)).collect();
            let values = values.filter(|values| !values.is_empty() && unwatched.is_empty());
            values.map(|values| values.iter().sum())
        };
        #[expect(clippy::cast_precision_loss, reason = "GPUs of a run")]
        let mean = |value: fn(&Self) -> Option<f64>| -> Option<f64> {
            let machines = with_gpus.iter();
            let weighted: Vec<_> = machines
                .filter_map(|summary| Some((value(summary)?, summary.gpus as f64)))
                .collect();
            let gpus: f64 = weighted.iter().map(|(_, gpus)| gpus).sum();
            let sum: f64 = weighted.iter().map(|(value, gpus)| value * gpus).sum();
            (gpus > 0.0).then(|| sum / gpus)
        };
        let all = || summaries.iter().map(|(_, summary)| summary);
        let longest = |value: fn(&Self) -> f64| all().map(value).fold(0.0, f64::max);
        let idle = summaries.iter().filter_map(|(name, summary)| {
            let mut idle = summary.idle.clone()?;
            idle.machine = Some(name.clone());
            Some(idle)
        });
        let all_idle = combine_idle(&with_gpus).filter(|_| unwatched.is_empty());
        Some(Self {
            samples: first.samples,
            seconds: longest(|summary| summary.seconds),
            unobserved_s: longest(|summary| summary.unobserved_s),
            gpus: with_gpus.iter().map(|summary| summary.gpus).sum(),
            machines: Some(summaries.len()),
            mean_power_w: sum(|summary| summary.mean_power_w),
            peak_power_w: sum(|summary| summary.peak_power_w),
            energy_j: sum(|summary| summary.energy_j),
            within_measurement: all().all(|summary| summary.within_measurement),
            per_joule: None,
            mean_utilization: mean(|summary| summary.mean_utilization),
            mean_core_mhz: mean(|summary| summary.mean_core_mhz),
            peak_temperature_c: highest(all().map(|summary| summary.peak_temperature_c)),
            peak_vram: all().filter_map(|summary| summary.peak_vram).max(),
            throttled_s: longest_throttled_s(&with_gpus),
            mean_cpus: all().map(|summary| summary.mean_cpus).sum(),
            peak_memory: all().filter_map(|summary| summary.peak_memory).max(),
            idle: all_idle.or_else(|| idle.max_by_key(|idle| idle.gpus.len())),
            unwatched_machines: unwatched,
        })
    }
}

/// The GPUs of several machines, if all of them were idle.
fn combine_idle(with_gpus: &[&TelemetrySummary]) -> Option<IdleGpus> {
    let idle_of_each = with_gpus.iter().map(|summary| summary.idle.as_ref());
    let idle: Vec<&IdleGpus> =
        idle_of_each.map(|idle| idle.filter(|idle| idle.is_all())).collect::<Option<_>>()?;
    (idle.len() > 1).then(|| IdleGpus {
        machine: None,
        gpus: idle.iter().flat_map(|idle| &idle.gpus).copied().collect(),
        of: idle.iter().map(|idle| idle.of).sum(),
        required: idle.iter().map(|idle| idle.required).sum(),
    })
}

/// By cause, the time of the machine that was throttled longest; none if no machine reported it.
fn longest_throttled_s(all: &[&TelemetrySummary]) -> Option<BTreeMap<ThrottleCause, f64>> {
    let reported = all.iter().filter_map(|summary| summary.throttled_s.as_ref());
    reported.cloned().reduce(|mut most, causes| {
        for (cause, seconds) in causes {
            let held = most.entry(cause).or_default();
            *held = seconds.max(*held);
        }
        most
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(name: &str, summary: Option<TelemetrySummary>) -> MachineSummary {
        MachineSummary { name: name.to_owned(), has_gpus: true, summary }
    }

    fn eight(watts: f64) -> TelemetrySummary {
        TelemetrySummary {
            samples: 4,
            seconds: watts / 100.0,
            gpus: 8,
            within_measurement: true,
            mean_power_w: Some(watts),
            peak_power_w: Some(watts + 50.0),
            energy_j: Some(watts * 10.0),
            mean_utilization: Some(watts / 10.0),
            throttled_s: Some([(ThrottleCause::Heat, watts / 1000.0)].into()),
            ..TelemetrySummary::default()
        }
    }

    #[test]
    fn power_and_energy_are_sums() {
        let of_client =
            MachineSummary { has_gpus: false, ..machine("n1", Some(TelemetrySummary::default())) };
        let seven = TelemetrySummary { gpus: 7, ..eight(300.0) };
        let idle = IdleGpus { machine: None, gpus: vec![1], of: 8, required: 8 };
        let one_idle = TelemetrySummary { idle: Some(idle), ..eight(500.0) };
        let all = vec![machine("n2", Some(seven)), machine("n3", Some(one_idle)), of_client];
        let sum = TelemetrySummary::combine_machines(all).unwrap();
        assert_eq!((sum.machines, sum.gpus, sum.seconds), (Some(3), 15, 5.0));
        assert_eq!(sum.mean_power_w, Some(800.0));
        assert_eq!(sum.peak_power_w, Some(900.0));
        assert_eq!(sum.energy_j, Some(8000.0));
        assert_eq!(sum.mean_utilization, Some((30.0 * 7.0 + 50.0 * 8.0) / 15.0));
        assert_eq!(sum.throttled_s, Some([(ThrottleCause::Heat, 0.5)].into()));
        let reason = sum.idle.unwrap().describe();
        assert!(reason.starts_with("1 of 8 GPUs of n3 were idle"), "{reason}");
    }

    #[test]
    fn a_node_without_samples_prevents_the_sum() {
        let all = vec![machine("n1", Some(eight(300.0))), machine("n2", None)];
        let some = TelemetrySummary::combine_machines(all).unwrap();
        assert_eq!(some.unwatched_machines, ["n2"]);
        assert_eq!((some.machines, some.gpus), (Some(1), 8));
        assert_eq!((some.mean_power_w, some.energy_j), (None, None));
        assert_eq!(some.per_joule("t", 700.0, "TFLOPS"), None);
        assert_eq!(TelemetrySummary::combine_machines(vec![machine("n1", None)]), None);
    }

    #[test]
    fn gpus_are_idle_everywhere_only_if_those_of_each_machine_are() {
        let idle = |gpus: u32| {
            let all = IdleGpus { machine: None, gpus: (0..gpus).collect(), of: 8, required: 8 };
            Some(TelemetrySummary { idle: Some(all), ..eight(100.0) })
        };
        let together = |second: Option<TelemetrySummary>| {
            let all = vec![machine("n1", idle(8)), machine("n2", second)];
            TelemetrySummary::combine_machines(all).unwrap()
        };
        let all = together(idle(8));
        assert_eq!(all.idle.as_ref().unwrap().gpus.len(), all.gpus);
        for other in [idle(7), Some(eight(600.0)), None] {
            let some = together(other);
            let named = some.idle.unwrap().machine;
            assert_eq!(named.as_deref(), Some("n1"));
        }
    }
}
