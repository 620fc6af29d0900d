//! The GPUs assigned to a container, as text.

use itertools::{Itertools as _, join};

use retrial_host::assign::{AssignedGpu, AssignedGpus, cards};

/// More GPUs are summarized by their number.
const MAX_LISTED: usize = 8;

pub(super) fn lines(assigned: &AssignedGpus) -> Vec<String> {
    let gpus = if assigned.gpus.len() > MAX_LISTED {
        vec![summary(&assigned.gpus)]
    } else {
        assigned.gpus.iter().map(one_gpu).collect()
    };
    let by = format!("{}: {}", assigned.method.name(), assigned.reason);
    let reaches_all = !assigned.isolated && !assigned.gpus.is_empty();
    let reach = "the container can open every GPU of the host: variables such as ROCR_VISIBLE_DEVICES only select, they do not restrict";
    let rows = gpus.into_iter().map(|gpu| ("assigned", gpu));
    let rows = rows.chain([("by", by)]);
    let rows = rows.chain(reaches_all.then(|| ("reach", reach.to_owned())));
    rows.map(|(key, text)| format!("{key:<13} {text}"))
        .collect()
}

fn one_gpu(assigned: &AssignedGpu) -> String {
    let gpu = &assigned.gpu;
    let mut words = vec![format!("{} {}", assigned.index, gpu.model)];
    words.extend(gpu.gfx.clone());
    if let Some(partition) = gpu
        .partition
        .as_ref()
        .filter(|partition| partition.compute != "SPX")
    {
        words.push(format!("{} {}", partition.compute, partition.index));
    }
    words.push(gpu.pci.clone());
    words.extend(gpu.nodes.iter().cloned());
    words.join(", ")
}

/// `64 partitions of 8 x MI300X (CPX): 0-63`
fn summary(gpus: &[AssignedGpu]) -> String {
    let gpus_only = gpus.iter().map(|assigned| &assigned.gpu);
    let models = gpus_only.clone().map(|gpu| &gpu.model).dedup();
    let count = cards(gpus_only.clone());
    let cards_text = format!("{count} x {}", join(models, ", "));
    let indices = ranges(gpus);
    if count < gpus.len() {
        let partitions = gpus_only.filter_map(|gpu| Some(&gpu.partition.as_ref()?.compute));
        let partitions = partitions.dedup().join(", ");
        let parts = gpus.len();
        return format!("{parts} partitions of {cards_text} ({partitions}): {indices}");
    }
    format!("{cards_text}: {indices}")
}

fn ranges(gpus: &[AssignedGpu]) -> String {
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
