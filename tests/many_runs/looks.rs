//! What a planted run's GPUs did while it measured.

use jiff::{SignedDuration, Timestamp};
use retrial_telemetry::reading::{ContainerReading, GpuReading};
use retrial_telemetry::table::{MeasuredTrial, RowSource, TelemetryRow, csv_header, format_rows};

const GPUS: u32 = 8;
const LOOKS: i32 = 7;
const PAUSE: SignedDuration = SignedDuration::from_secs(60);

/// A look a minute, of eight GPUs and the container.
pub fn telemetry(started: Timestamp, measured: Timestamp, rate: f64) -> String {
    let mut text = format!("{}\n", csv_header());
    for look in 0..LOOKS {
        let time = measured + PAUSE * look;
        let row = |source| TelemetryRow {
            seconds: time.duration_since(started).as_secs_f64(),
            time,
            pause_s: PAUSE.as_secs_f64(),
            measured: MeasuredTrial {
                step: 3,
                scenario: "Offline".to_owned(),
                mode: "performance".to_owned(),
                trial: 1,
            },
            origin: source,
        };
        for index in 0..GPUS {
            let warm = f64::from(look.min(3)) * 6.0 + f64::from(index);
            let reading = GpuReading {
                utilization: Some(if look == 0 { 12.0 } else { 98.0 }),
                power_w: Some(900.0 + warm * 10.0 + rate / 1000.0),
                core_mhz: Some(2400.0 - warm),
                temperature_c: Some(48.0 + warm),
                vram: Some(270_000_000_000),
                ..GpuReading::default()
            };
            let pci = format!("0000:{index:02x}5:00.0");
            text += &format_rows([row(RowSource::Gpu { index, pci, reading })]);
        }
        let container =
            ContainerReading { cpu_s: Some(f64::from(look) * 900.0), memory: Some(80_000_000_000) };
        text += &format_rows([row(RowSource::Container(container))]);
    }
    text
}
