//! The GPUs that a line asks for. A recipe that uses GPUs requires them, so that they are claimed for its run: the number
//! is that of the line, else the reader is asked for it. It is never guessed.

use std::ops::ControlFlow;

use super::gpu_choices::{VISIBLE_DEVICES, count_of_choices, listed_ids, with_variables};
use super::gpu_options::{MAX_GPUS, count_of_commands};
use super::line::ContainerLine;
use super::parts::{MissingPlace, RecipeParts};
use super::value_error::FlagValueError;
use crate::model::GpuVendor;
use crate::writer::{map_node, plain_node, text_node};

/// Device nodes of GPUs and accelerators that are not required.
const OTHER_DEVICES: [&str; 5] =
    ["/dev/dri", "/dev/accel", "/dev/hl", "/dev/davinci", "/dev/neuron"];

#[derive(Debug, Clone, PartialEq, Eq)]
enum GpuCount {
    Known(u32),
    Param(String),
    /// All of a machine that nobody named, or a number that is nowhere.
    Unknown,
}

/// Sets `requires.gpus` as a line and the commands in its container ask for GPUs.
pub(super) fn add_gpus(
    parts: &mut RecipeParts<'_>,
    line: &ContainerLine,
    commands: &[Vec<String>],
) {
    let Some(vendor) = find_vendor(parts, line) else {
        return;
    };
    let steps = [
        count_of_flag as fn(&mut RecipeParts<'_>, &ContainerLine) -> ControlFlow<GpuCount>,
        count_of_devices,
        count_of_variables,
    ];
    let of_line = match parts.server_gpus.clone() {
        Some(ids) => ControlFlow::Break(choose_ids(parts, "the servers", &ids)),
        None => steps.iter().try_for_each(|count| count(parts, line)),
    };
    let commands = &with_variables(parts, commands);
    let of_variables = count_of_choices(parts, commands);
    let of_variables = of_variables.map(|count| (count, "the variables of its commands"));
    let of_options = || Some((count_of_commands(commands)?, "the options of its program"));
    let of_job = || Some((parts.shell.job.gpus()?, "the job's options"));
    let count = match (of_line, of_variables.or_else(of_options).or_else(of_job)) {
        (ControlFlow::Break(count), _) => count,
        (ControlFlow::Continue(()), Some((count, source))) => {
            note_known_count(parts, count, source)
        }
        (ControlFlow::Continue(()), None) => GpuCount::Unknown,
    };
    let count_node = match count {
        GpuCount::Known(count) => plain_node(count.to_string()),
        GpuCount::Param(text) => text_node(text),
        GpuCount::Unknown => ask_for_count(parts, vendor, line),
    };
    let vendor_name: &str = vendor.into();
    let gpus = map_node([("vendor", text_node(vendor_name)), ("count", count_node)]);
    parts.requires = Some(map_node([("gpus", gpus)]));
}

/// Returns a number of GPUs that variables, options or the job state, and notes the source.
fn note_known_count(parts: &mut RecipeParts<'_>, count: u32, source: &str) -> GpuCount {
    parts.note(format!("requires.gpus: {count}, by {source}"));
    GpuCount::Known(count)
}

/// Returns the param of a number that the line does not have.
fn ask_for_count(
    parts: &mut RecipeParts<'_>,
    vendor: GpuVendor,
    line: &ContainerLine,
) -> retrial_document::Node {
    let flags = ["gpus", "device", "runtime"].iter().find_map(|flag| {
        let written = line.all_values(flag).map(|word| parts.written(word));
        let values: Vec<String> = written.collect();
        let value = values.iter().find(|value| is_of_gpu(value)).or(values.last())?;
        Some(format!("--{flag} {value}"))
    });
    let user = if parts.services.is_empty() { "benchmark" } else { "server" };
    let others = match line.flag("privileged") {
        Some(_) => "--privileged",
        None => "the variables",
    };
    let flags = flags.unwrap_or_else(|| others.to_owned());
    let written = format!("GPUs of the {user}: {flags}");
    let text = parts.shell.values.declare("gpus", &written, None, None);
    parts.shell.values.set_kind(&text, "int");
    let word = line.image.with_text(&text);
    let taken = parts.take("--gpus", &word).unwrap_or_default();
    let name = taken.trim_start_matches("${{ params.").trim_end_matches(" }}").to_owned();
    parts.ask(MissingPlace::Param(name), format!(
        "the number of {} GPUs of the host, for example `default: 8`; the command line does not state it",
        vendor.name()
    ));
    text_node(taken)
}

/// Whether the value of a flag is a device of GPUs; others have theirs next to them.
fn is_of_gpu(device: &str) -> bool {
    let starts = ["/dev/kfd", "/dev/dri", "/dev/nvidia", "nvidia.com/", "amd.com/"];
    starts.iter().any(|start| device.starts_with(start))
}

fn find_vendor(parts: &mut RecipeParts<'_>, line: &ContainerLine) -> Option<GpuVendor> {
    // `-v /dev/kfd:/dev/kfd` gives a privileged container the device, too.
    let mounted = parts.flag_literals(line, "volume").into_iter();
    let mounted = mounted.filter(|mount| mount.starts_with("/dev/"));
    let devices = parts.flag_literals(line, "device").into_iter();
    let devices: Vec<String> = devices.chain(mounted).collect();
    let runtime = line.flag("runtime").map(|word| parts.literal(word));
    let sets = |name: &str| {
        let value = variable_value(parts, name)?;
        (!matches!(&*value, "" | "void" | "none")).then_some(())
    };
    let names = |start: &str| devices.iter().any(|device| device.starts_with(start));
    let image = parts.shell.values.literal(&parts.image).to_lowercase();
    let is_rocm = image.contains("rocm") || image.contains("/amd-") || image.starts_with("amd");
    let is_amd = names("/dev/kfd")
        || names("amd.com/")
        || runtime.as_deref() == Some("amd")
        || sets("AMD_VISIBLE_DEVICES").is_some()
        || is_rocm
            && (names("/dev/dri")
                || ["gpus", "privileged"].iter().any(|flag| line.flag(flag).is_some()));
    let is_nvidia = line.flag("gpus").is_some()
        || names("nvidia.com/")
        || names("/dev/nvidia")
        || runtime.as_deref() == Some("nvidia")
        || sets("NVIDIA_VISIBLE_DEVICES").is_some();
    let is_habana = runtime.as_deref() == Some("habana");
    let other = OTHER_DEVICES.iter().find(|device| names(device));
    if let Some(device) = other.filter(|_| !is_amd && !is_nvidia) {
        parts.note(format!("--device {device}: devices of neither AMD's nor NVIDIA's compute GPUs, which Retrial cannot claim; the recipe requires none"));
    } else if is_habana {
        parts.note(
            "--runtime habana: Retrial cannot claim these accelerators; the recipe requires none",
        );
    }
    if is_amd { Some(GpuVendor::Amd) } else { is_nvidia.then_some(GpuVendor::Nvidia) }
}

/// `--gpus 2`, `--gpus '"device=0,1"'`, `--gpus all,capabilities=utility`
fn count_of_flag(parts: &mut RecipeParts<'_>, line: &ContainerLine) -> ControlFlow<GpuCount> {
    let Some(word) = line.flag("gpus") else {
        return ControlFlow::Continue(());
    };
    let literal = parts.literal(word).replace(['"', '\''], "");
    if let Some(ids) = listed_ids(&literal) {
        return ControlFlow::Break(choose_ids(parts, &format!("--gpus {literal}"), &ids));
    }
    let fields: Vec<&str> = literal.split(',').map(str::trim).collect();
    let number = fields.iter().find_map(|field| {
        let is_other = field.contains('=') && !field.starts_with("count=");
        (!is_other).then(|| field.trim_start_matches("count="))
    });
    match number.unwrap_or("all") {
        "all" | "-1" => ControlFlow::Continue(()),
        number => {
            let is_param = word.text.starts_with("${{ params.") && word.text.ends_with(" }}");
            match number.parse() {
                Ok(count) if (1..=MAX_GPUS).contains(&count) => {
                    parts.note(format!("--gpus {literal}: the container gets that many; choose which with `retrial run --gpus 0,1`"));
                    ControlFlow::Break(GpuCount::Known(count))
                }
                Err(_) if is_param && number.contains("${{") => {
                    parts.shell.values.set_kind(&word.text, "int");
                    let taken = parts.take("--gpus", word);
                    ControlFlow::Break(GpuCount::Param(taken.unwrap_or_default()))
                }
                _ => {
                    parts.refuse_value("gpus", word, &FlagValueError::Gpus);
                    ControlFlow::Break(GpuCount::Unknown)
                }
            }
        }
    }
}

/// Returns the number of GPUs that are listed, and notes which.
fn choose_ids(parts: &mut RecipeParts<'_>, written: &str, ids: &str) -> GpuCount {
    let Some(count) = count_ids(ids) else {
        return GpuCount::Unknown;
    };
    parts.note(format!("{written}: `retrial run --gpus {ids}` chooses these"));
    GpuCount::Known(count)
}

/// Counts `0,1,4-7`.
fn count_ids(ids: &str) -> Option<u32> {
    let mut count = 0;
    for id in ids.split(',').map(str::trim).filter(|id| !id.is_empty()) {
        if matches!(id, "all" | "void" | "none") || id.contains("${{") {
            return None;
        }
        let range = id.split_once('-').and_then(|(first, last)| {
            Some((first.parse::<u32>().ok()?, last.parse::<u32>().ok()?))
        });
        count += match range {
            Some((first, last)) => last.checked_sub(first)? + 1,
            None => 1,
        };
    }
    (1..=MAX_GPUS).contains(&count).then_some(count)
}

/// `/dev/dri/renderD128`, `nvidia.com/gpu=0`, `/dev/nvidia0`: devices of one GPU each.
fn count_of_devices(parts: &mut RecipeParts<'_>, line: &ContainerLine) -> ControlFlow<GpuCount> {
    let devices = parts.flag_literals(line, "device");
    let is_single = |device: &&String| {
        let path = device.split(':').next().unwrap_or_default();
        let ends_in_digit = path.ends_with(|letter: char| letter.is_ascii_digit());
        let starts = ["/dev/dri/renderD", "/dev/nvidia", "nvidia.com/gpu=", "amd.com/gpu="];
        ends_in_digit && starts.iter().any(|start| path.starts_with(start))
    };
    // `/dev/dri` next to them is all GPUs.
    let is_all = devices.iter().any(|device| device == "/dev/dri" || device.ends_with("gpu=all"));
    match u32::try_from(devices.iter().filter(is_single).count()) {
        Ok(count) if count > 0 && !is_all => {
            ControlFlow::Break(note_known_count(parts, count, "the devices"))
        }
        _ => ControlFlow::Continue(()),
    }
}

/// `HIP_VISIBLE_DEVICES=0,1`: the programs use that many.
fn count_of_variables(parts: &mut RecipeParts<'_>, line: &ContainerLine) -> ControlFlow<GpuCount> {
    for (name, vendor) in VISIBLE_DEVICES {
        let Some(ids) = variable_value(parts, name) else {
            continue;
        };
        let Some(count) = count_ids(&ids) else {
            continue;
        };
        let own: Vec<String> = (0..count).map(|id| id.to_string()).collect();
        if vendor == GpuVendor::Nvidia && line.flag("gpus").is_some() && ids != own.join(",") {
            // The container has as many as are required, with numbers from 0.
            parts.remove_variable(name);
            parts.note(format!(
                "--env {name}={ids}: dropped, `retrial run --gpus {ids}` chooses these"
            ));
        }
        return ControlFlow::Break(note_known_count(parts, count, &format!("{name}={ids}")));
    }
    ControlFlow::Continue(())
}

/// Returns the value of a variable of the container, params with their defaults.
fn variable_value(parts: &RecipeParts<'_>, name: &str) -> Option<String> {
    let text = parts.flag_node("env")?.get(name)?.text()?;
    Some(parts.shell.values.literal(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_gpus_are_counted() {
        assert_eq!(count_ids("0,1"), Some(2));
        assert_eq!(count_ids("0-3,7"), Some(5));
        assert_eq!(count_ids("GPU-3faa8-219"), Some(1));
        assert_eq!(count_ids("all"), None);
        assert_eq!(count_ids(""), None);
    }
}
