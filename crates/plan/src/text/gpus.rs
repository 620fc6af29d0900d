//! The GPUs assigned to a container, as text.

use itertools::{Itertools as _, join};

use retrial_host::assign::{AssignedGpu, AssignedGpus, count_cards};

/// More GPUs are summarized by their number.
const MAX_LISTED_GPUS: usize = 8;

pub(super) fn gpu_lines(assigned: &AssignedGpus) -> Vec<String> {
    let gpus = if assigned.gpus.len() > MAX_LISTED_GPUS {
        vec![summarize_gpus(&assigned.gpus)]
    } else {
        assigned.gpus.iter().map(describe_gpu).collect()
    };
    let by = format!("{}: {}", assigned.method.name(), assigned.reason);
    let reaches_all = !assigned.isolated && !assigned.gpus.is_empty();
    let reach = "the container can open every GPU of the host: variables such as ROCR_VISIBLE_DEVICES only select, they do not restrict";
    let gpu_rows = gpus.into_iter().map(|gpu| ("assigned", gpu));
    let assigned_rows = gpu_rows.chain([("by", by)]);
    let rows = assigned_rows.chain(reaches_all.then(|| ("reach", reach.to_owned())));
    rows.map(|(key, text)| format!("{key:<13} {text}")).collect()
}

fn describe_gpu(assigned: &AssignedGpu) -> String {
    let gpu = &assigned.gpu;
    let mut words = vec![format!("{} {}", assigned.index, gpu.model)];
    words.extend(gpu.gfx.clone());
    if let Some(partition) = gpu.partition.as_ref().filter(|partition| partition.compute != "SPX") {
        words.push(format!("{} {}", partition.compute, partition.index));
    }
    words.push(gpu.pci.clone());
    words.extend(gpu.nodes.iter().cloned());
    words.join(", ")
}

/// `64 partitions of 8 x MI300X (CPX): 0-63`
fn summarize_gpus(gpus: &[AssignedGpu]) -> String {
    let gpus_only = gpus.iter().map(|assigned| &assigned.gpu);
    let models = gpus_only.clone().map(|gpu| &gpu.model).dedup();
    let count = count_cards(gpus_only.clone());
    let cards_text = format!("{count} x {}", join(models, ", "));
    let indices = format_index_ranges(gpus);
    if count < gpus.len() {
        let compute_modes = gpus_only.filter_map(|gpu| Some(&gpu.partition.as_ref()?.compute));
        let partitions = compute_modes.dedup().join(", ");
        let parts = gpus.len();
        return format!("{parts} partitions of {cards_text} ({partitions}): {indices}");
    }
    format!("{cards_text}: {indices}")
}

fn format_index_ranges(gpus: &[AssignedGpu]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for index in gpus.iter().map(|gpu| gpu.index) {
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
