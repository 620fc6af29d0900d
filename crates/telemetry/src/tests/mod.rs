use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;

use super::rate::{SAMPLES_BEFORE_SLOWER, SamplingInterval};
use super::*;

mod pace;

fn time(seconds: f64) -> Timestamp {
    let started: Timestamp = "2025-06-15T10:00:00Z".parse().unwrap();
    started.checked_add(SignedDuration::from_secs_f64((seconds * 1e3).round() / 1e3)).unwrap()
}

fn measured() -> MeasuredTrial {
    MeasuredTrial { step: 5, scenario: "Offline".into(), mode: "performance".into(), trial: 1 }
}

fn row(seconds: f64, source: RowSource) -> TelemetryRow {
    TelemetryRow {
        seconds,
        time: time(seconds),
        pause_s: 1.0,
        measured: measured(),
        origin: source,
    }
}

fn gpu(seconds: f64, index: u32, reading: GpuReading) -> TelemetryRow {
    let pci = format!("0000:{index:02x}:00.0");
    row(seconds, RowSource::Gpu { index, pci, reading })
}

fn busy(utilization: f64, power_w: f64) -> GpuReading {
    GpuReading { utilization: Some(utilization), power_w: Some(power_w), ..GpuReading::default() }
}

fn summary(rows: &[TelemetryRow], required: usize) -> TelemetrySummary {
    TelemetrySummary::from_rows(rows, (time(0.0), time(1e6)), time(0.0), required).unwrap()
}

fn close(actual: Option<f64>, expected: f64) {
    let actual = actual.unwrap();
    assert!(
        (actual - expected).abs() < 1e-9 * expected.abs().max(1.0),
        "{actual} is not {expected}"
    );
}

#[test]
fn power_is_a_time_weighted_mean_over_all_gpus() {
    let mut rows = Vec::new();
    // Samples are not evenly spaced: 100 W for one second, 300 W for three.
    for (seconds, watts) in [(0.0, 100.0), (1.0, 100.0), (1.001, 300.0), (4.001, 300.0)] {
        rows.push(gpu(seconds, 0, busy(90.0, watts)));
        rows.push(gpu(seconds, 1, busy(50.0, 40.0)));
    }
    let mut summary = summary(&rows, 2);
    assert_eq!((summary.samples, summary.gpus), (4, 2));
    close(summary.mean_power_w, (100.0 + 0.2 + 900.0) / 4.001 + 40.0);
    close(summary.energy_j, 1000.2 + 40.0 * 4.001);
    close(summary.peak_power_w, 340.0);
    close(summary.mean_utilization, 70.0);
    assert_eq!(summary.idle, None);
    assert_eq!(summary.per_joule("t", 700.0, "TFLOPS"), None);
    summary.within_measurement = true;
    let per_joule = summary.per_joule("tokens_per_second", 2900.0, "tokens/s").unwrap();
    assert_eq!(per_joule.unit, "tokens/J");
    close(Some(per_joule.value), 2900.0 / summary.mean_power_w.unwrap());
    assert_eq!(summary.per_joule("t", 700.0, "TFLOPS").unwrap().unit, "TFLOP/J");
    assert_eq!(summary.per_joule("latency", 3.0, "ms"), None);
    assert_eq!(summary.per_joule("bare", 3.0, "/s"), None);
}

#[test]
fn energy_uses_counters_if_every_gpu_has_one() {
    let counted = |seconds: f64, index: u32, joules: Option<f64>| {
        let energy_j = joules;
        gpu(seconds, index, GpuReading { energy_j, ..busy(99.0, 1.0) })
    };
    let rows = [
        counted(0.0, 0, Some(1e9)),
        counted(0.0, 1, Some(5.0)),
        counted(10.0, 0, Some(1e9 + 7000.0)),
        counted(10.0, 1, Some(3005.0)),
    ];
    let both = summary(&rows, 2);
    close(both.energy_j, 10_000.0);
    close(both.mean_power_w, 1000.0);
    let without = [rows[0].clone(), counted(0.0, 1, None), rows[2].clone(), counted(10.0, 1, None)];
    close(summary(&without, 2).mean_power_w, 2.0);
    // A reloaded driver counts from zero.
    let reset = [rows[2].clone(), counted(20.0, 0, Some(3.0))];
    close(summary(&reset, 1).mean_power_w, 1.0);
}

#[test]
fn a_gap_is_reported_and_excluded() {
    let rows = [
        gpu(0.0, 0, busy(90.0, 100.0)),
        gpu(1.0, 0, busy(90.0, 100.0)),
        gpu(101.0, 0, busy(90.0, 900.0)),
        gpu(102.0, 0, busy(90.0, 900.0)),
    ];
    let summary = summary(&rows, 1);
    close(Some(summary.unobserved_s), 100.0);
    close(summary.mean_power_w, 500.0);
    close(Some(summary.seconds), 102.0);
}

#[test]
fn throttling_causes_are_counted_in_seconds() {
    let held = |seconds: f64, index: u32, causes: &[ThrottleCause]| {
        let throttled = Some(causes.to_vec());
        gpu(seconds, index, GpuReading { throttled, ..busy(99.0, 1.0) })
    };
    let rows = [
        held(0.0, 0, &[]),
        held(0.0, 1, &[]),
        held(1.0, 0, &[ThrottleCause::Power]),
        held(1.0, 1, &[ThrottleCause::Power]),
        held(2.0, 0, &[ThrottleCause::Power, ThrottleCause::Heat]),
        held(2.0, 1, &[]),
    ];
    let throttled = summary(&rows, 2).throttled_s.unwrap();
    assert_eq!(throttled.get(&ThrottleCause::Power), Some(&2.0));
    assert_eq!(throttled.get(&ThrottleCause::Heat), Some(&1.0));
    assert_eq!(throttled.get(&ThrottleCause::Board), None);
    let unknown = [gpu(0.0, 0, busy(9.0, 1.0)), gpu(1.0, 0, busy(9.0, 1.0))];
    assert_eq!(summary(&unknown, 1).throttled_s, None);
}

#[test]
fn container_usage_comes_from_its_counters() {
    let container = |seconds: f64, cpu: f64, memory: u64| {
        row(
            seconds,
            RowSource::Container(ContainerReading { cpu_s: Some(cpu), memory: Some(memory) }),
        )
    };
    let rows = [container(0.0, 10.0, 5), container(2.0, 11.0, 9), container(4.0, 26.0, 7)];
    let summary = summary(&rows, 0);
    close(summary.mean_cpus, 4.0);
    assert_eq!((summary.peak_memory, summary.gpus, summary.samples), (Some(9), 0, 3));
    assert_eq!(summary.mean_power_w, None);
}

/// Samples of one GPU, a second apart.
fn looks(readings: impl IntoIterator<Item = (Option<f64>, Option<u64>)>) -> Vec<TelemetryRow> {
    let rows = (0_u32..).zip(readings);
    rows.map(|(second, (utilization, vram))| {
        let reading = GpuReading { utilization, vram, ..GpuReading::default() };
        gpu(f64::from(second), 0, reading)
    })
    .collect()
}

#[test]
fn a_gpu_is_idle_only_if_its_sensors_report_it() {
    const MIB: u64 = 1 << 20;
    let idle = |rows: &[TelemetryRow]| summary(rows, 1).idle.is_some();
    // A provider that fell back to the CPU.
    assert!(idle(&looks([(Some(0.0), Some(300 * MIB)); 6])));
    // Its context alone is not activity.
    let context = [(Some(0.0), Some(300 * MIB))].into_iter();
    let context = context.chain([(Some(1.0), Some(800 * MIB)); 6]);
    assert!(idle(&looks(context)));
    // One busy sample is activity.
    let once = [(Some(0.0), None), (Some(0.0), None), (Some(41.0), None)].into_iter();
    assert!(!idle(&looks(once.chain([(Some(0.0), None); 5]))));
    // Activity before the step does not count.
    let before = [(Some(99.0), None)].into_iter();
    assert!(idle(&looks(before.chain([(Some(0.0), None); 5]))));
    // A loaded model contradicts a sensor that reports 0.
    let loaded = [(Some(0.0), Some(300 * MIB))].into_iter();
    assert!(!idle(&looks(loaded.chain([(Some(0.0), Some(60_000 * MIB)); 6]))));
    // No data, too few samples, too short.
    assert!(!idle(&looks([(None, None); 9])));
    assert!(!idle(&looks([(Some(0.0), None); 4])));
    // Memory alone: unchanged, or increased.
    assert!(idle(&looks([(None, Some(300 * MIB)); 6])));
    let some = [(None, Some(300 * MIB))].into_iter();
    assert!(!idle(&looks(some.chain([(None, Some(700 * MIB)); 6]))));
    // A sensor that stopped had reported enough.
    let silent = [(Some(0.0), Some(300 * MIB)), (Some(98.0), Some(300 * MIB))].into_iter();
    assert!(!idle(&looks(silent.chain([(None, Some(300 * MIB)); 8]))));
    // A sample that is not at the start does not show the state before.
    let late: Vec<TelemetryRow> = looks([(None, Some(300 * MIB)); 9]).split_off(3);
    assert!(!idle(&late));
    // A recipe without GPUs has none that could be idle.
    assert_eq!(summary(&looks([(Some(0.0), None); 9]), 0).idle, None);
}

#[test]
fn fewer_busy_gpus_than_requested_are_reported() {
    let mut rows = Vec::new();
    for second in 0..8 {
        for index in 0..8 {
            let utilization = if index < 3 { 97.0 } else { 0.0 };
            rows.push(gpu(f64::from(second), index, busy(utilization, 100.0)));
        }
    }
    let idle = summary(&rows, 8).idle.unwrap();
    assert_eq!((idle.gpus.as_slice(), idle.is_all()), (&[3, 4, 5, 6, 7][..], false));
    assert!(idle.describe().starts_with("5 of 8 GPUs were idle"), "{}", idle.describe());
    // The container sees all, and the recipe requires three.
    assert_eq!(summary(&rows, 3).idle, None);
}

#[test]
fn trials_together_are_weighted_by_their_time() {
    let trial = |seconds: f64, watts: f64| TelemetrySummary {
        samples: 3,
        seconds,
        gpus: 8,
        mean_power_w: Some(watts),
        energy_j: Some(watts * seconds),
        peak_power_w: Some(watts + 1.0),
        throttled_s: Some([(ThrottleCause::Power, seconds / 2.0)].into()),
        ..TelemetrySummary::default()
    };
    let (short, long) = (trial(10.0, 100.0), trial(30.0, 500.0));
    let both = TelemetrySummary::combine_trials(&[&short, &long]).unwrap();
    close(both.mean_power_w, 400.0);
    close(both.energy_j, 16_000.0);
    close(both.peak_power_w, 501.0);
    close(both.throttled_s.unwrap().get(&ThrottleCause::Power).copied(), 20.0);
    assert_eq!(TelemetrySummary::combine_trials(&[]), None);
}

#[test]
fn rows_round_trip_and_truncated_rows_are_skipped() {
    let reading = GpuReading {
        utilization: Some(97.5),
        memory_utilization: Some(40.0),
        power_w: Some(1234.5),
        energy_j: Some(123_456.789),
        core_mhz: Some(2100.0),
        memory_mhz: Some(1900.0),
        temperature_c: Some(71.0),
        vram: Some(250 << 30),
        throttled: Some(vec![ThrottleCause::Power, ThrottleCause::Heat]),
    };
    let mut full = gpu(1.5, 3, reading);
    full.measured.scenario = "a \"case\", quoted".into();
    let rows = vec![
        full,
        gpu(2.5, 3, GpuReading { throttled: Some(Vec::new()), ..GpuReading::default() }),
        gpu(3.5, 3, GpuReading::default()),
        row(3.5, RowSource::Container(ContainerReading { cpu_s: Some(7.125), memory: Some(9) })),
    ];
    let text = table::format_rows(rows.clone());
    let whole = format!("{}\n{text}", table::csv_header());
    assert_eq!(table::parse_rows(&whole), rows);
    for cut in 0..text.len() {
        let begun = table::parse_rows(&text[..cut]);
        assert_eq!(begun, rows[..begun.len()], "cut at {cut}");
    }
}

/// Files of earlier runs have these columns.
#[test]
fn columns_keep_their_names_and_order() {
    let expected = "seconds,time,pause_s,step,scenario,mode,trial,device,pci,utilization_percent,\
         memory_utilization_percent,power_w,energy_j,core_mhz,memory_mhz,temperature_c,vram_bytes,\
         throttled,cpu_s,memory_bytes";
    assert_eq!(table::csv_header(), expected);
}

proptest! {
    #[test]
    fn any_text_is_read(text in "(\\PC|[,\"\n0-9.]){0,300}") {
        let _ = table::parse_rows(&text);
    }

    #[test]
    fn numbers_round_trip_within_written_precision(power in 0.0..2000.0_f64, joules in 0.0..1e12_f64) {
        let reading = GpuReading { power_w: Some(power), energy_j: Some(joules), ..GpuReading::default() };
        let rows = table::parse_rows(&table::format_rows([gpu(1.0, 0, reading)]));
        let RowSource::Gpu { reading, .. } = &rows[0].origin else { unreachable!() };
        prop_assert!((reading.power_w.unwrap() - power).abs() <= 0.0501);
        prop_assert!((reading.energy_j.unwrap() - joules).abs() <= 0.0006 + joules * 1e-12);
    }
}
