//! The GPUs that a line asks for. A recipe that uses GPUs requires them, so that they are claimed for its run: the number
//! is that of the line or of the options of its command, and follows their parameters; else it is asked for.

use retrial_document::Node;
use retrial_recipe::model::GpuVendor;
use retrial_recipe::writer::{map_node, plain_node, text_node};

use super::builder::Builder;
use super::gpu_options::{Factor, MAX_GPUS, Token, gpus_of_command};
use super::keys::ContainerKeys;
use super::missing::MissingPlace;
use super::session::{Entry, Session};
use super::value_error::FlagValueError;
use crate::programs::ContainerLine;
use crate::shell::{ParamKind, Word};

/// Device nodes of GPUs and accelerators that are not required.
const OTHER_DEVICES: [&str; 5] =
    ["/dev/dri", "/dev/accel", "/dev/hl", "/dev/davinci", "/dev/neuron"];
/// Variables that choose GPUs, with the GPUs' vendor.
const VISIBLE_DEVICES: [(&str, GpuVendor); 5] = [
    ("NVIDIA_VISIBLE_DEVICES", GpuVendor::Nvidia),
    ("CUDA_VISIBLE_DEVICES", GpuVendor::Nvidia),
    ("ROCR_VISIBLE_DEVICES", GpuVendor::Amd),
    ("HIP_VISIBLE_DEVICES", GpuVendor::Amd),
    ("AMD_VISIBLE_DEVICES", GpuVendor::Amd),
];

/// The number of GPUs, as far as a line states it.
enum Count {
    Factors(Vec<Factor>),
    /// All of a machine that nobody named, or a number that is nowhere.
    Unknown,
}

/// Sets `requires.gpus` as a line and the commands in its container ask for GPUs.
pub fn add_gpus(
    builder: &mut Builder<'_>,
    line: &ContainerLine,
    keys: &mut ContainerKeys,
    commands: &[Vec<Token>],
) {
    let Some(vendor) = find_vendor(builder, line, keys) else { return };
    let of_line = count_of_flag(builder, line)
        .or_else(|| count_of_devices(builder, line))
        .or_else(|| count_of_variables(builder, line, keys));
    let count = match of_line {
        Some(count) => count,
        None => count_of_commands(builder, commands),
    };
    let count = match count {
        Count::Factors(factors) => count_node(builder, &factors, vendor),
        Count::Unknown => ask_for_count(builder, vendor),
    };
    let vendor_name = vendor.word();
    let gpus = map_node([("vendor", text_node(vendor_name)), ("count", count)]);
    builder.requires = Some(map_node([("gpus", gpus)]));
}

/// Returns the words of a container's commands, with the values of its variables.
pub fn gpu_tokens(session: &Session, keys: &ContainerKeys) -> Vec<Vec<Token>> {
    session.entries.iter().map(|entry| expand_tokens(session, keys, entry)).collect()
}

/// Returns the words of a command, with the values of the variables of its container and of those that its lines set.
pub fn expand_tokens(session: &Session, keys: &ContainerKeys, entry: &Entry) -> Vec<Token> {
    let env = keys.get("env").map_or(&[][..], |env| env.entries());
    let known: Vec<(String, String)> = env
        .iter()
        .filter_map(|entry| Some((entry.key.clone(), entry.value.text()?.to_owned())))
        .collect();
    let assigned = session.entries.iter().flat_map(|entry| &entry.tokens).filter_map(|token| {
        let (name, value) = token.text.split_once('=')?;
        let is_name = name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        is_name.then(|| (name.to_owned(), value.to_owned()))
    });
    let all: Vec<(String, String)> = known.into_iter().chain(assigned).collect();
    let expand = |token: &Token| {
        let mut pieces = token.text.split('$');
        let mut text = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let braced = piece.strip_prefix('{').and_then(|inner| inner.split_once('}'));
            let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
            let end = piece.find(|letter| !is_name(letter)).unwrap_or(piece.len());
            let (name, rest) = braced.unwrap_or((&piece[..end], &piece[end..]));
            match all.iter().rev().find(|(known, _)| known == name) {
                Some((_, value)) => text.extend([value, rest]),
                None => text.extend(["$", piece]),
            }
        }
        Token { text, param: token.param }
    };
    entry.tokens.iter().map(expand).collect()
}

/// Returns the product of numbers, as an expression if it follows a parameter.
fn count_node(builder: &mut Builder<'_>, factors: &[Factor], vendor: GpuVendor) -> Node {
    let params: Vec<_> = factors
        .iter()
        .filter_map(|factor| match factor {
            Factor::Param(id) => Some(*id),
            Factor::Number(_) => None,
        })
        .collect();
    let numbers = factors.iter().map(|factor| factor.number(&builder.values).or(Some(1)));
    let product = numbers.reduce(|product, number| product?.checked_mul(number?)).flatten();
    if params.is_empty() {
        return match product.filter(|count| (1..=MAX_GPUS).contains(count)) {
            Some(count) => plain_node(count.to_string()),
            None => ask_for_count(builder, vendor),
        };
    }
    for id in params {
        builder.values.param_mut(id).kind = ParamKind::Int;
        builder.values.expression(id);
    }
    let terms = factors.iter().map(|factor| match factor {
        Factor::Number(number) => number.to_string(),
        Factor::Param(id) => format!("params.{}", builder.values.param(*id).name),
    });
    text_node(format!("${{{{ {} }}}}", terms.collect::<Vec<_>>().join(" * ")))
}

/// Returns the param of a number that the line does not have.
fn ask_for_count(builder: &mut Builder<'_>, vendor: GpuVendor) -> Node {
    let id = builder.values.add_param("gpus", "GPUs", None, Some("the number of GPUs".to_owned()));
    builder.values.param_mut(id).kind = ParamKind::Int;
    let name = builder.values.param(id).name.clone();
    let expression = builder.values.expression(id);
    builder.ask(
        MissingPlace::Param(name),
        format!(
            "the number of {} GPUs, which the guide does not state: `default: 8`",
            vendor.name()
        ),
    );
    text_node(expression)
}

fn sketches(builder: &Builder<'_>, line: &ContainerLine, flag: &str) -> Vec<String> {
    line.all_values(flag).map(|word| word.sketch(&builder.values)).collect()
}

fn find_vendor(
    builder: &mut Builder<'_>,
    line: &ContainerLine,
    keys: &ContainerKeys,
) -> Option<GpuVendor> {
    // `-v /dev/kfd:/dev/kfd` gives a privileged container the device, too.
    let mounted = sketches(builder, line, "volume").into_iter();
    let mounted = mounted.filter(|mount| mount.starts_with("/dev/"));
    let devices: Vec<String> =
        sketches(builder, line, "device").into_iter().chain(mounted).collect();
    let runtime = line.flag("runtime").map(|word| word.sketch(&builder.values));
    let sets = |name: &str| {
        let value = variable_value(keys, name)?;
        (!matches!(&*value, "" | "void" | "none")).then_some(())
    };
    let names = |start: &str| devices.iter().any(|device| device.starts_with(start));
    let image = line.image.sketch(&builder.values).to_lowercase();
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
    let other = OTHER_DEVICES.iter().find(|device| names(device));
    if let Some(device) = other.filter(|_| !is_amd && !is_nvidia) {
        builder.note(format!("--device {device}: devices of neither AMD's nor NVIDIA's compute GPUs, which Retrial cannot claim; the recipe requires none"));
    } else if runtime.as_deref() == Some("habana") {
        builder.note(
            "--runtime habana: Retrial cannot claim these accelerators; the recipe requires none",
        );
    }
    if is_amd { Some(GpuVendor::Amd) } else { is_nvidia.then_some(GpuVendor::Nvidia) }
}

/// `--gpus 2`, `--gpus '"device=0,1"'`, `--gpus all,capabilities=utility`
fn count_of_flag(builder: &mut Builder<'_>, line: &ContainerLine) -> Option<Count> {
    let word = line.flag("gpus")?;
    if let Some(id) = word.only_param()
        && builder.values.param(id).default.as_ref().is_none_or(|text| text.parse::<u32>().is_ok())
    {
        return Some(Count::Factors(vec![Factor::Param(id)]));
    }
    let literal = word.sketch(&builder.values).replace(['"', '\''], "");
    if let Some(ids) = listed_ids(&literal) {
        return Some(choose_ids(builder, &format!("--gpus {literal}"), &ids));
    }
    let fields: Vec<&str> = literal.split(',').map(str::trim).collect();
    let number = fields.iter().find_map(|field| {
        let is_other = field.contains('=') && !field.starts_with("count=");
        (!is_other).then(|| field.trim_start_matches("count="))
    });
    match number.unwrap_or("all") {
        "all" | "-1" => None,
        number => match number.parse() {
            Ok(count) if (1..=MAX_GPUS).contains(&count) => {
                Some(Count::Factors(vec![Factor::Number(count)]))
            }
            _ => {
                refuse_gpus(builder, word);
                Some(Count::Unknown)
            }
        },
    }
}

fn refuse_gpus(builder: &mut Builder<'_>, word: &Word) {
    builder.refuse_value("gpus", word, &FlagValueError::Gpus);
}

/// Returns the number of GPUs that are listed, and notes which.
fn choose_ids(builder: &mut Builder<'_>, written: &str, ids: &str) -> Count {
    let Some(count) = count_ids(ids) else { return Count::Unknown };
    builder.note(format!("{written}: `retrial run --gpus {ids}` chooses these"));
    Count::Factors(vec![Factor::Number(count)])
}

/// Returns the GPUs that the value of `--gpus` lists: `device=0,1`.
fn listed_ids(literal: &str) -> Option<String> {
    let (_, listed) = literal.split_once("device=")?;
    let ids: Vec<&str> =
        listed.split(',').map(str::trim).take_while(|id| !id.contains('=')).collect();
    Some(ids.join(","))
}

/// Counts `0,1,4-7`.
fn count_ids(ids: &str) -> Option<u32> {
    let mut count: u32 = 0;
    for id in ids.split(',').map(str::trim).filter(|id| !id.is_empty()) {
        if matches!(id, "all" | "void" | "none") || id.contains('$') {
            return None;
        }
        let range = id.split_once('-').and_then(|(first, last)| {
            Some((first.parse::<u32>().ok()?, last.parse::<u32>().ok()?))
        });
        count = count.checked_add(match range {
            Some((first, last)) => last.checked_sub(first)?.checked_add(1)?,
            None => 1,
        })?;
    }
    (1..=MAX_GPUS).contains(&count).then_some(count)
}

/// `/dev/dri/renderD128`, `nvidia.com/gpu=0`, `/dev/nvidia0`: devices of one GPU each.
fn count_of_devices(builder: &mut Builder<'_>, line: &ContainerLine) -> Option<Count> {
    let devices = sketches(builder, line, "device");
    let is_single = |device: &&String| {
        let path = device.split(':').next().unwrap_or_default();
        let ends_in_digit = path.ends_with(|letter: char| letter.is_ascii_digit());
        let starts = ["/dev/dri/renderD", "/dev/nvidia", "nvidia.com/gpu=", "amd.com/gpu="];
        ends_in_digit && starts.iter().any(|start| path.starts_with(start))
    };
    // `/dev/dri` next to them is all GPUs.
    let is_all = devices.iter().any(|device| device == "/dev/dri" || device.ends_with("gpu=all"));
    let count = u32::try_from(devices.iter().filter(is_single).count()).ok()?;
    (count > 0 && !is_all).then(|| Count::Factors(vec![Factor::Number(count)]))
}

/// `HIP_VISIBLE_DEVICES=0,1`: the programs use that many.
fn count_of_variables(
    builder: &mut Builder<'_>,
    line: &ContainerLine,
    keys: &mut ContainerKeys,
) -> Option<Count> {
    for (name, vendor) in VISIBLE_DEVICES {
        let Some(ids) = variable_value(keys, name) else { continue };
        let Some(count) = count_ids(&ids) else { continue };
        let own: Vec<String> = (0..count).map(|id| id.to_string()).collect();
        if vendor == GpuVendor::Nvidia && line.flag("gpus").is_some() && ids != own.join(",") {
            // The container has as many as are required, with numbers from 0.
            keys.remove_variable(name);
            builder.note(format!(
                "--env {name}={ids}: dropped, `retrial run --gpus {ids}` chooses these"
            ));
        }
        return Some(Count::Factors(vec![Factor::Number(count)]));
    }
    None
}

/// Returns the most GPUs that one of the commands uses, else those of the job.
fn count_of_commands(builder: &Builder<'_>, commands: &[Vec<Token>]) -> Count {
    let counts = commands.iter().filter_map(|tokens| gpus_of_command(tokens));
    let product = |factors: &Vec<Factor>| {
        let numbers = factors.iter().map(|factor| factor.number(&builder.values));
        numbers
            .reduce(|product, number| product?.checked_mul(number?))
            .flatten()
            .unwrap_or(u32::MAX)
    };
    if let Some(factors) = counts.max_by_key(product) {
        return Count::Factors(factors);
    }
    let of_job = builder.job.flags.iter().rev().find_map(|option| {
        let text = option.value.plain()?;
        let is_gpus = option.flag.name.starts_with("gpus") && option.flag.name != "gpus-per-task"
            || option.flag.name == "gres" && text.contains("gpu");
        is_gpus.then(|| text.rsplit(':').next()?.parse().ok()).flatten()
    });
    of_job.map_or(Count::Unknown, |count| Count::Factors(vec![Factor::Number(count)]))
}

/// Returns the value of a variable of the container, if it is known.
fn variable_value(keys: &ContainerKeys, name: &str) -> Option<String> {
    let text = keys.get("env")?.get(name)?.text()?;
    (!text.contains("${{")).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_gpus_are_counted() {
        assert_eq!(count_ids("0,1"), Some(2));
        assert_eq!(count_ids("0-3,5"), Some(5));
        assert_eq!(count_ids("GPU-3faa8-219"), Some(1));
        assert_eq!(count_ids("all"), None);
        assert_eq!(count_ids(""), None);
    }
}
