//! The samples that a run's process appends to `telemetry.csv`.

use super::incoming_file::IncomingFile;
use retrial_results::evidence::telemetry::TELEMETRY_FILE;
use retrial_store::RunDirectory;
use retrial_telemetry::live::CpuMeter;
use retrial_telemetry::table::parse_rows;
use retrial_telemetry::{LiveSample, RowSource, TelemetryRow};

/// Reads the rows that were appended since the last poll.
pub struct SampleReader {
    table: IncomingFile,
    cpu_meter: CpuMeter,
}

impl SampleReader {
    /// Reads the samples from now on.
    pub fn open(run: &RunDirectory) -> Self {
        let path = run.join(TELEMETRY_FILE);
        let length = path.metadata().map_or(0, |status| status.len());
        Self { table: IncomingFile::open_at(path, length), cpu_meter: CpuMeter::default() }
    }

    /// Returns the latest sample since the last call.
    pub fn poll(&mut self) -> Option<LiveSample> {
        let lines = self.table.poll_lines();
        let rows = parse_rows(&String::from_utf8_lossy(&lines));
        let samples = rows.chunk_by(|one, next| one.time == next.time);
        samples.map(|sample| self.summarize(sample)).last()
    }

    /// Makes one sample of the rows with the same time.
    fn summarize(&mut self, rows: &[TelemetryRow]) -> LiveSample {
        let gpus = rows.iter().filter_map(|row| match &row.origin {
            RowSource::Gpu { reading, .. } => Some(reading),
            RowSource::Container(_) => None,
        });
        let mut live = LiveSample::from_readings(&gpus.collect::<Vec<_>>());
        for row in rows {
            if let RowSource::Container(reading) = row.origin {
                live.add_container(reading, row.seconds, &mut self.cpu_meter);
            }
        }
        live
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use jiff::Timestamp;
    use retrial_store::Home;
    use retrial_telemetry::table::{csv_header, format_rows};
    use retrial_telemetry::{ContainerReading, GpuReading, MeasuredTrial};

    /// The rows of two GPUs and the container, so many seconds after the run began.
    fn rows(seconds: i32, power_w: f64, cpu_s: f64) -> String {
        let gpu = |index: u32| RowSource::Gpu {
            index,
            pci: format!("0000:0{index}:00.0"),
            reading: GpuReading { power_w: Some(power_w), ..GpuReading::default() },
        };
        let container =
            RowSource::Container(ContainerReading { cpu_s: Some(cpu_s), memory: Some(1 << 30) });
        let row = |origin: RowSource| TelemetryRow {
            seconds: f64::from(seconds),
            time: Timestamp::from_second(i64::from(seconds)).unwrap(),
            pause_s: 1.0,
            measured: MeasuredTrial::default(),
            origin,
        };
        format_rows([gpu(0), gpu(1), container].map(row))
    }

    #[test]
    fn the_latest_sample_is_the_sum_of_its_gpus() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::from_root(directory.path().to_owned());
        let run = home.create_run_directory("planted").unwrap();
        let mut table = std::fs::File::create(run.join(TELEMETRY_FILE)).unwrap();
        write!(table, "{}\n{}", csv_header(), rows(1, 100.0, 0.0)).unwrap();
        let mut samples = SampleReader::open(&run);
        assert_eq!(samples.poll(), None, "those before it was opened are over");
        write!(table, "{}{}", rows(2, 200.0, 1.0), rows(4, 300.5, 4.0)).unwrap();
        let latest = samples.poll().unwrap();
        assert_eq!((latest.gpus, latest.power_w), (2, Some(601.0)));
        assert_eq!((latest.cpus, latest.memory), (Some(1.5), Some(1 << 30)));
        assert_eq!(samples.poll(), None);
    }
}
