//! The GPUs that a container gets, as a person reads them.

use itertools::{Itertools as _, join};

use crate::host::assign::{AssignedGpu, AssignedGpus, cards};

/// More than these are told by their number.
const ONE_BY_ONE: usize = 8;

pub(super) fn lines(assigned: &AssignedGpus) -> Vec<String> {
    let line = |key: &str, text: String| format!("{key:<13} {text}");
    let mut lines = Vec::new();
    if assigned.gpus.len() > ONE_BY_ONE {
        lines.push(line("assigned", together(&assigned.gpus)));
    } else {
        lines.extend(assigned.gpus.iter().map(|one| line("assigned", alone(one))));
    }
    lines.push(line(
        "by",
        format!("{}: {}", assigned.method.name(), assigned.reason),
    ));
    if !assigned.isolated && !assigned.gpus.is_empty() {
        lines.push(line(
            "reach",
            "the container can open every GPU of the host: variables such as ROCR_VISIBLE_DEVICES only select, they do not restrict".to_owned(),
        ));
    }
    lines
}

fn alone(given: &AssignedGpu) -> String {
    let gpu = &given.gpu;
    let mut words = vec![format!("{} {}", given.index, gpu.model)];
    words.extend(gpu.gfx.clone());
    if let Some(partition) = gpu.partition.as_ref().filter(|one| one.compute != "SPX") {
        words.push(format!("{} {}", partition.compute, partition.index));
    }
    words.push(gpu.pci.clone());
    words.extend(gpu.nodes.iter().cloned());
    words.join(", ")
}

/// `64 partitions of 8 x MI300X (CPX): 0-63`
fn together(gpus: &[AssignedGpu]) -> String {
    let gpus_only = gpus.iter().map(|one| &one.gpu);
    let models = gpus_only.clone().map(|gpu| &gpu.model).dedup();
    let count = cards(gpus_only.clone());
    let what = format!("{count} x {}", join(models, ", "));
    let indices = ranges(gpus);
    if count < gpus.len() {
        let partitions = gpus_only.filter_map(|gpu| Some(&gpu.partition.as_ref()?.compute));
        let partitions = partitions.dedup().join(", ");
        let parts = gpus.len();
        return format!("{parts} partitions of {what} ({partitions}): {indices}");
    }
    format!("{what}: {indices}")
}

fn ranges(gpus: &[AssignedGpu]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for index in gpus.iter().map(|one| one.index) {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == index => *last = index,
            _ => ranges.push((index, index)),
        }
    }
    let texts = ranges.iter().map(|(first, last)| match last - first {
        0 => first.to_string(),
        _ => format!("{first}-{last}"),
    });
    join(texts, ", ")
}
