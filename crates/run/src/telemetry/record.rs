//! The thread that samples and writes.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use tokio::sync::oneshot;

use crate::access::RunSession;
use retrial_host::model::Gpu;
use retrial_host::sensors::{ContainerSensor, Sensors};
use retrial_results::evidence::telemetry::TELEMETRY_FILE;
use retrial_store::clock::Moment;
use retrial_store::journal::LiveEvent;
use retrial_telemetry::live::CpuMeter;
use retrial_telemetry::rate::MAX_FILE_BYTES;
use retrial_telemetry::table::{csv_header, format_rows};
use retrial_telemetry::{LiveSample, MeasuredTrial, RowSource, SamplingPace, TelemetryRow};

pub struct SamplingTask<T> {
    pub measured: MeasuredTrial,
    pub container: Option<ContainerSensor>,
    pub pace: SamplingPace,
    pub emit: T,
}

/// Sensors and file, kept from one step to the next.
pub struct SensorRecorder {
    path: PathBuf,
    root: PathBuf,
    gpus: Vec<(u32, Gpu)>,
    run_start: Moment,
    sensors: Option<Sensors>,
    file: Option<File>,
    bytes_written: u64,
    warnings: Vec<String>,
    cpu_meter: CpuMeter,
    /// Another machine reads the file, over a file system that they share.
    is_shared: bool,
}

impl SensorRecorder {
    /// Returns a recorder of a run; nothing is opened yet.
    pub fn new(session: &RunSession) -> Self {
        let assigned = session.plan.assigned_gpus.iter().flat_map(|assigned| &assigned.gpus);
        Self {
            path: session.run.join(TELEMETRY_FILE),
            root: session.options.root.clone(),
            gpus: assigned.map(|gpu| (gpu.index, gpu.gpu.clone())).collect(),
            run_start: session.state().since.clone().unwrap_or_else(Moment::now),
            sensors: None,
            file: None,
            bytes_written: 0,
            warnings: Vec::new(),
            cpu_meter: CpuMeter::default(),
            is_shared: session.options.machine.is_some(),
        }
    }

    /// Warnings that were not returned yet.
    pub fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    /// Samples until the sender of `stop` is dropped, and then once more.
    pub fn sample_until_stopped<T: Fn(LiveEvent)>(
        mut self: Box<Self>,
        mut task: SamplingTask<T>,
        sampled: oneshot::Sender<()>,
        stop: &Receiver<()>,
    ) -> Box<Self> {
        self.open_sensors_and_file();
        self.cpu_meter = CpuMeter::default();
        let mut sampled = Some(sampled);
        loop {
            let (started, cpu_time) = (Instant::now(), thread_cpu_time());
            let live = self.take_sample(&mut task);
            (task.emit)(LiveEvent::Telemetry { live });
            if let Some(sampled) = sampled.take() {
                // The step may have started without waiting for it.
                let _ = sampled.send(());
            }
            task.pace.add_sample(thread_cpu_time().saturating_sub(cpu_time));
            let pause = task.pace.next_pause().saturating_sub(started.elapsed());
            if stop.recv_timeout(pause) != Err(RecvTimeoutError::Timeout) {
                self.take_sample(&mut task);
                self.sync_file();
                return self;
            }
        }
    }

    fn open_sensors_and_file(&mut self) {
        if self.sensors.is_none() {
            let sensors = Sensors::open(&self.root, &self.gpus);
            self.warnings.extend_from_slice(&sensors.remarks);
            self.sensors = Some(sensors);
            match open_for_append(&self.path) {
                Ok((file, written)) => {
                    self.file = Some(file);
                    self.bytes_written = written;
                }
                Err(error) => self.add_warning(&format!("cannot be written: {error}")),
            }
        }
    }

    fn add_warning(&mut self, reason: &str) {
        let text = format!("telemetry: {} {reason}", self.path.display());
        self.warnings.push(text);
    }

    /// Takes one sample and writes it.
    fn take_sample<T>(&mut self, task: &mut SamplingTask<T>) -> LiveSample {
        let now = Moment::now();
        let time = now.time;
        let gpus = self.sensors.as_mut().map(Sensors::read_samples).unwrap_or_default();
        let container = task.container.as_mut().map(ContainerSensor::read_sample);
        let readings: Vec<_> = gpus.iter().map(|(_, reading)| reading).collect();
        let mut live = LiveSample::from_readings(&readings);
        let seconds = self.run_start.duration_until(&now).as_secs_f64();
        if let Some(reading) = container {
            live.add_container(reading, seconds, &mut self.cpu_meter);
        }
        let row = |source: RowSource| TelemetryRow {
            seconds,
            time,
            pause_s: task.pace.next_pause().as_secs_f64(),
            measured: task.measured.clone(),
            origin: source,
        };
        let gpu_sources = gpus.into_iter().map(|(watched, reading)| RowSource::Gpu {
            index: watched.index,
            pci: watched.pci,
            reading,
        });
        let all = gpu_sources.chain(container.map(RowSource::Container));
        self.append_rows(&format_rows(all.map(row)));
        live
    }

    /// Makes the rows visible to other machines that share the file's directory.
    fn sync_file(&mut self) {
        let file = self.file.as_ref().filter(|_| self.is_shared);
        if let Some(Err(error)) = file.map(File::sync_data) {
            self.file = None;
            self.add_warning(&format!("can no longer be written: {error}"));
        }
    }

    fn append_rows(&mut self, text: &str) {
        let Some(file) = &mut self.file else { return };
        self.bytes_written += text.len() as u64;
        if self.bytes_written > MAX_FILE_BYTES {
            self.file = None;
            self.add_warning("has grown to its limit of 64 MiB: recording ends here");
        } else if let Err(error) = file.write_all(text.as_bytes()) {
            self.file = None;
            self.add_warning(&format!("can no longer be written: {error}"));
        }
    }
}

fn thread_cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// Opens the file for appending: writes the header, and removes a last line truncated by a kill.
fn open_for_append(path: &Path) -> std::io::Result<(File, u64)> {
    let mut options = OpenOptions::new();
    let mut file = options.read(true).append(true).create(true).open(path)?;
    let mut end = file.metadata()?.len();
    let mut byte = [0];
    while end > 0 {
        file.seek(SeekFrom::Start(end - 1))?;
        file.read_exact(&mut byte)?;
        if byte == *b"\n" {
            break;
        }
        end -= 1;
    }
    file.set_len(end)?;
    if end == 0 {
        let header = format!("{}\n", csv_header());
        file.write_all(header.as_bytes())?;
        end = header.len() as u64;
    }
    Ok((file, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_truncated_by_a_kill_is_removed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(TELEMETRY_FILE);
        drop(open_for_append(&path).unwrap());
        let mut text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, format!("{}\n", csv_header()));
        text += "1.000,2025-06-15T10:00:01.000Z,1,5,Offline,performance,1,container,,";
        std::fs::write(&path, &text).unwrap();
        let (mut file, end) = open_for_append(&path).unwrap();
        assert_eq!(end, csv_header().len() as u64 + 1);
        file.write_all(b"whole\n").unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, format!("{}\nwhole\n", csv_header()));
        std::fs::write(&path, "no header, no end").unwrap();
        drop(open_for_append(&path).unwrap());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{}\n", csv_header()));
    }
}
