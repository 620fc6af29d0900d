//! The GPUs that lines and commands choose by number.

use std::collections::BTreeSet;

use itertools::Itertools as _;

use super::line::ContainerLine;
use super::parts::RecipeParts;
use crate::model::GpuVendor;

/// Variables that choose GPUs, with the GPUs' vendor.
pub(super) const VISIBLE_DEVICES: [(&str, GpuVendor); 5] = [
    ("NVIDIA_VISIBLE_DEVICES", GpuVendor::Nvidia),
    ("CUDA_VISIBLE_DEVICES", GpuVendor::Nvidia),
    ("ROCR_VISIBLE_DEVICES", GpuVendor::Amd),
    ("HIP_VISIBLE_DEVICES", GpuVendor::Amd),
    ("AMD_VISIBLE_DEVICES", GpuVendor::Amd),
];

/// Returns the GPUs that a line chooses by number, and the variable by which a program chooses them.
pub(super) fn chosen_gpus(
    parts: &RecipeParts<'_>,
    line: &ContainerLine,
) -> Option<(&'static str, Vec<u32>)> {
    let numbers = |ids: &str| {
        let ids = ids.split(',').map(|id| id.trim().parse().ok());
        ids.collect::<Option<Vec<u32>>>()
    };
    let of_variable = VISIBLE_DEVICES.iter().find_map(|(name, _)| {
        let variables = parts.flag_literals(line, "env");
        let ids =
            variables.iter().find_map(|variable| variable.strip_prefix(name)?.strip_prefix('='));
        Some((*name, numbers(ids?)?))
    });
    let of_flag = || {
        let literal = parts.literal(line.flag("gpus")?).replace(['"', '\''], "");
        Some(("CUDA_VISIBLE_DEVICES", numbers(&listed_ids(&literal)?)?))
    };
    of_variable.or_else(of_flag)
}

/// Returns the GPUs that the value of `--gpus` lists: `device=0,1`.
pub(super) fn listed_ids(literal: &str) -> Option<String> {
    let (_, listed) = literal.split_once("device=")?;
    let ids = listed.split(',').map(str::trim);
    Some(ids.take_while(|id| !id.contains('=')).join(","))
}

/// Returns the number of the GPUs that commands choose by variables of their own, if they are the first ones.
pub(super) fn count_of_choices(parts: &RecipeParts<'_>, commands: &[Vec<String>]) -> Option<u32> {
    let keys = parts.commands.iter().map(|command| &command.keys);
    let keys = keys.chain(parts.services.iter().map(|server| &server.keys));
    let of_keys = keys.flatten().filter(|(key, _)| *key == "env");
    let of_keys = of_keys
        .flat_map(|(_, env)| env.entries())
        .filter_map(|entry| Some(format!("{}={}", entry.key, entry.value.text()?)));
    let of_words = commands.iter().flatten().flat_map(|word| word.split_whitespace());
    let all = of_keys.chain(of_words.map(str::to_owned));
    let mut ids = BTreeSet::new();
    for assignment in all {
        let Some((name, listed)) = assignment.split_once('=') else {
            continue;
        };
        if VISIBLE_DEVICES.iter().any(|(variable, _)| *variable == name) {
            for id in listed.split(',') {
                ids.insert(id.trim().parse::<u32>().ok()?);
            }
        }
    }
    let count = u32::try_from(ids.len()).ok().filter(|count| *count > 0)?;
    ids.into_iter().eq(0..count).then_some(count)
}

/// Returns commands with the values of the container's variables, which a shell in it expands: `-tp $TP`.
pub(super) fn with_variables(
    parts: &RecipeParts<'_>,
    commands: &[Vec<String>],
) -> Vec<Vec<String>> {
    let env = parts.flag_node("env").map_or(&[][..], |env| env.entries());
    let values = env.iter().filter_map(|entry| {
        let value = parts.shell.values.literal(entry.value.text()?);
        Some((&entry.key, value))
    });
    let values: Vec<(&String, String)> = values.collect();
    let expand = |word: &String| {
        // A longer name may begin with a shorter one.
        let mut parts = word.split('$');
        let start = parts.next().unwrap_or_default().to_owned();
        parts.fold(start, |text, part| {
            let expanded = values.iter().find_map(|(name, value)| {
                let braced = part.strip_prefix(&format!("{{{name}}}"));
                let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
                let bare = part.strip_prefix(&***name).filter(|after| !after.starts_with(is_name));
                braced.or(bare).map(|after| format!("{value}{after}"))
            });
            text + &expanded.unwrap_or_else(|| format!("${part}"))
        })
    };
    let words = |words: &Vec<String>| words.iter().map(expand).collect();
    commands.iter().map(words).collect()
}
