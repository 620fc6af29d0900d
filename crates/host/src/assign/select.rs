//! Selects GPUs of the host by `requires.gpus` and `--gpus`.

use std::collections::BTreeSet;

use itertools::Itertools as _;

use super::{AssignError, AssignRequest, AssignedGpu, InjectionMethod, claims_overlap, host_path};
use crate::model::Gpu;

pub(super) struct GpuSelection {
    /// The GPUs, by index unless chosen.
    pub gpus: Vec<AssignedGpu>,
    /// Whether they are all of the host's GPUs of the vendor.
    pub includes_all: bool,
}

/// Selects those of `--gpus`; else all, if the recipe's own keys inject all; else the required number.
pub(super) fn select_gpus(
    request: &AssignRequest<'_>,
    method: InjectionMethod,
) -> Result<GpuSelection, AssignError> {
    let available = vendor_gpus(request);
    let gpus = if !request.gpu_selectors.is_empty() {
        requested_gpus(request, &available)?
    } else if method == InjectionMethod::AsWritten || request.container.privileged {
        gpus_in_recipe_devices(request, &available)
    } else {
        pick_required_count(request, &available)
    };
    if method != InjectionMethod::AsWritten
        && let Some(masked) = gpus.iter().find(|assigned| assigned.gpu.masked)
    {
        return Err(AssignError::NoDeviceNode(Box::new(masked.clone())));
    }
    Ok(GpuSelection { includes_all: gpus.len() == available.len(), gpus })
}

/// Returns the host's GPUs of the vendor that is requested.
fn vendor_gpus(request: &AssignRequest<'_>) -> Vec<AssignedGpu> {
    let gpus = request.host.indexed_gpus();
    gpus.filter(|(_, gpu)| gpu.vendor == request.gpus.vendor)
        .map(|(index, gpu)| AssignedGpu { index, gpu: gpu.clone() })
        .collect()
}

/// Counts cards: partitions of one card count once, each die of an MI250 counts, as in `ROCm`.
pub fn count_cards<'a>(gpus: impl IntoIterator<Item = &'a Gpu>) -> usize {
    let addresses: BTreeSet<&str> = gpus.into_iter().map(|gpu| gpu.pci.as_str()).collect();
    addresses.len()
}

/// Returns the GPUs that the recipe's own devices expose.
fn gpus_in_recipe_devices(
    request: &AssignRequest<'_>,
    available: &[AssignedGpu],
) -> Vec<AssignedGpu> {
    let container = request.container;
    let host_paths = container.devices.iter().map(|device| host_path(device));
    let paths = host_paths.collect_vec();
    let is_listed = |node: &String| paths.contains(&node.as_str());
    let named: Vec<AssignedGpu> = available
        .iter()
        .filter(|assigned| assigned.gpu.nodes.iter().any(is_listed))
        .cloned()
        .collect();
    if named.is_empty() || container.privileged { available.to_vec() } else { named }
}

/// Returns cards up to the count, in the order of their indices: first those that fit, and among them first those that no
/// other run has.
fn pick_required_count(request: &AssignRequest<'_>, available: &[AssignedGpu]) -> Vec<AssignedGpu> {
    let fits = |gpu: &Gpu| request.gpus.accepts_model(&gpu.model);
    let usable: Vec<&AssignedGpu> =
        available.iter().filter(|assigned| !assigned.gpu.masked).collect();
    let usable_gpus = usable.iter().copied();
    let is_claimed = |pci: &str| {
        let mut claims = request.host.claimed_gpus.iter();
        claims.any(|claim| claims_overlap(claim, pci))
    };
    let ranked = usable_gpus.map(|assigned| {
        let pci = assigned.gpu.pci.as_str();
        ((!fits(&assigned.gpu), is_claimed(pci)), pci)
    });
    // Stable: those of a rank by index.
    let matching_first = ranked.unique().sorted_by_key(|(rank, _)| *rank);
    let addresses = matching_first.take(request.gpus.count as usize).collect_vec();
    let is_selected =
        |assigned: &&AssignedGpu| addresses.iter().any(|(_, pci)| *pci == assigned.gpu.pci);
    usable.into_iter().filter(is_selected).cloned().collect()
}

/// Returns the GPUs that `--gpus` names: indices, ranges of them, `GPU-…` and PCI addresses.
fn requested_gpus(
    request: &AssignRequest<'_>,
    available: &[AssignedGpu],
) -> Result<Vec<AssignedGpu>, AssignError> {
    let mut gpus: Vec<AssignedGpu> = Vec::new();
    for word in request.gpu_selectors {
        let named = find_by_name(request, available, word)?;
        if let Some(twice) = named.iter().find(|gpu| gpus.contains(gpu)) {
            return Err(AssignError::Duplicate { index: twice.index });
        }
        gpus.extend(named);
    }
    Ok(gpus)
}

fn find_by_name(
    request: &AssignRequest<'_>,
    available: &[AssignedGpu],
    word: &str,
) -> Result<Vec<AssignedGpu>, AssignError> {
    let selector = word.to_owned();
    if let Some((first, last)) = parse_index_range(word) {
        // A range may be longer than any host has GPUs.
        let count = available.len();
        let all = (first..=last).take(count + 1);
        let gpus = all.map(|index| {
            let gpu = available.get(index).cloned();
            gpu.ok_or(AssignError::NoSuchIndex { count })
        });
        return gpus.collect();
    }
    let by_uuid = word.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("GPU-"));
    if !by_uuid && !word.contains(':') {
        return Err(AssignError::InvalidSelector { selector });
    }
    let matches = |assigned: &&AssignedGpu| {
        let uuid = assigned.gpu.uuid.as_deref().unwrap_or_default();
        if by_uuid {
            // As in nvidia-smi and Docker: any unique prefix.
            word.len() > 4 && uuid.to_ascii_lowercase().starts_with(&word.to_ascii_lowercase())
        } else {
            is_same_pci_address(&assigned.gpu.pci, word)
        }
    };
    let found: Vec<AssignedGpu> = available.iter().filter(matches).cloned().collect();
    let several = by_uuid && count_cards(found.iter().map(|assigned| &assigned.gpu)) > 1;
    match (found.is_empty(), several) {
        (false, false) => Ok(found),
        (false, true) => Err(AssignError::Ambiguous { selector }),
        (true, _) => Err(AssignError::NoSuchGpu {
            vendor: request.gpus.vendor,
            selector,
            available: available.to_vec(),
        }),
    }
}

/// Returns the first and the last index in `3` or `0-3`.
pub fn parse_index_range(word: &str) -> Option<(usize, usize)> {
    let (first, last) = word.split_once('-').unwrap_or((word, word));
    let number = |text: &str| text.parse::<usize>().ok();
    Some((number(first)?, number(last)?)).filter(|(first, last)| first <= last)
}

/// `05:00.0` is `0000:05:00.0`; letters in any case; without a function, any.
fn is_same_pci_address(address: &str, written: &str) -> bool {
    let word = written.to_ascii_lowercase();
    let full = match word.matches(':').count() {
        1 => format!("0000:{word}"),
        _ => word,
    };
    let without_function = |text: &str| text.split('.').next().unwrap_or_default().to_owned();
    if full.contains('.') { full == address } else { full == without_function(address) }
}
