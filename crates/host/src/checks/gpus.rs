//! Checks that the required GPUs exist, are idle and healthy, and can be injected.

use itertools::{Itertools as _, join};

use super::{HostCheck, HostCheckKind, HostCheckState, HostFacts};
use crate::amd_models::published_memory;
use crate::assign::{count_cards, unsupported_method};
use crate::model::{Gpu, GpuCondition};
use retrial_document::measures::format::format_bytes;
use retrial_recipe::model::GpuVendor;

/// Memory in use on a GPU without any program: the driver's own.
const MAX_IDLE_VRAM_BYTES: u64 = 1 << 30;
/// The minimum twentieths of the published memory that a driver shows: it reserves some.
const MIN_MEMORY_TWENTIETHS: u64 = 19;
/// Models with two GPUs on a card.
const DUAL_DIE_MODELS: [&str; 2] = ["MI250", "MI250X"];

pub(super) struct CheckedGpu<'a> {
    /// Its index among those of its vendor.
    index: u32,
    pub(super) gpu: &'a Gpu,
    pub(super) condition: Option<&'a GpuCondition>,
}

pub fn check_gpus(facts: &HostFacts<'_>) -> Vec<HostCheck> {
    let gpus = find_checked_gpus(facts);
    let mut checks = vec![check_presence(facts, &gpus)];
    checks.extend(check_readability(facts));
    if gpus.is_empty() {
        checks.extend(check_injection(facts).filter(HostCheck::is_unmet));
        return checks;
    }
    checks.extend(check_partition_mode(facts, &gpus));
    checks.extend(check_undivided(&gpus));
    checks.extend(check_memory(&gpus));
    checks.push(check_idleness(facts, &gpus));
    checks.extend(check_claims(facts));
    checks.extend(check_health(&gpus));
    checks.extend(check_device_nodes(&gpus));
    checks.extend(check_injection(facts));
    checks
}

/// The GPUs that the run would get; without a recipe, all.
pub(super) fn find_checked_gpus<'a>(facts: &HostFacts<'a>) -> Vec<CheckedGpu<'a>> {
    let is_assigned = |index: u32| {
        let assigned_gpus = facts.assigned.map(|assigned| assigned.gpus.as_slice());
        let assigned = assigned_gpus.filter(|gpus| !gpus.is_empty());
        assigned.is_none_or(|gpus| gpus.iter().any(|gpu| gpu.index == index))
    };
    let gpus = facts.host.indexed_gpus();
    gpus.zip(0..)
        .filter(|((index, gpu), _)| {
            let request = facts.gpu_request();
            request.is_none_or(|request| request.vendor == gpu.vendor && is_assigned(*index))
        })
        .map(|((index, gpu), at)| CheckedGpu { index, gpu, condition: facts.conditions.get(at) })
        .collect()
}

/// The GPUs that the checks are about.
pub fn checked_gpus<'a>(facts: &HostFacts<'a>) -> impl Iterator<Item = &'a Gpu> {
    find_checked_gpus(facts).into_iter().map(|checked| checked.gpu)
}

/// The number that the recipe requires, all of its models.
fn check_presence(facts: &HostFacts<'_>, gpus: &[CheckedGpu<'_>]) -> HostCheck {
    let unmasked = gpus.iter().map(|checked| checked.gpu).filter(|gpu| !gpu.masked);
    let usable: Vec<&Gpu> = unmasked.collect();
    let all: Vec<&Gpu> = facts.host.gpus.iter().collect();
    let Some(request) = facts.gpu_request() else {
        let state = if all.is_empty() { HostCheckState::Unknown } else { HostCheckState::Ok };
        return HostCheckKind::Gpus.new_check(state, summarize_models(&all));
    };
    let models = if request.models.is_empty() {
        format!("{} GPUs", request.vendor.name())
    } else {
        request.models.join(" or ")
    };
    let none = !all.iter().any(|gpu| gpu.vendor == request.vendor);
    let (state, fix) = if count_cards(usable.iter().copied()) < request.count as usize {
        let fix = match request.vendor {
            GpuVendor::Amd if none => {
                "is the driver loaded? `lsmod | grep amdgpu`, `ls /sys/class/kfd`"
            }
            GpuVendor::Nvidia if none => {
                "is the driver loaded? `lsmod | grep nvidia`, `ls /proc/driver/nvidia`"
            }
            _ if facts.has_chosen_gpus => "choose more of them with --gpus",
            _ => "run on a host that has them",
        };
        (HostCheckState::Error, fix)
    } else if usable.iter().all(|gpu| request.accepts_model(&gpu.model)) {
        (HostCheckState::Ok, "")
    } else {
        let fix = "use that GPU model, or --force: the verdict is then marked 'other hardware'";
        (HostCheckState::Warning, fix)
    };
    let chosen = facts.has_chosen_gpus.then_some(" chosen by --gpus");
    // An error shows the usable GPUs; if there are none, all that the host has.
    let actual = match state {
        HostCheckState::Error if usable.is_empty() => all,
        HostCheckState::Error => usable,
        _ => gpus.iter().map(|checked| checked.gpu).collect(),
    };
    HostCheckKind::Gpus
        .new_check(state, summarize_models(&actual) + chosen.unwrap_or_default())
        .with_requirement(format!("{} x {models}", request.count))
        .with_fix(fix)
}

/// `8 x MI355X, 1 x W7900`, in the order of the host; with partitions and dies.
fn summarize_models(gpus: &[&Gpu]) -> String {
    if gpus.is_empty() {
        return "none".to_owned();
    }
    let models = gpus.iter().map(|gpu| gpu.model.as_str()).unique();
    let words = models.map(|model| {
        let matching = || gpus.iter().copied().filter(|gpu| gpu.model == model);
        let (count, parts) = (count_cards(matching()), matching().count());
        let mode = matching().find_map(|gpu| Some(gpu.partition.as_ref()?.compute.as_str()));
        match mode.filter(|_| parts > count) {
            Some(mode) => format!("{count} x {model} ({parts} partitions, {mode})"),
            None if DUAL_DIE_MODELS.contains(&model) => {
                format!("{count} x {model} (dies, two per card)")
            }
            None => format!("{count} x {model}"),
        }
    });
    join(words, ", ")
}

/// Read errors of them.
fn check_readability(facts: &HostFacts<'_>) -> Option<HostCheck> {
    let check = HostCheckKind::GpusReadable.warn_about(&facts.host.unread)?;
    Some(check.with_requirement("every GPU of the host").with_fix(
        "a container or a batch system may hide GPUs; otherwise check the driver: `dmesg | grep -e amdgpu -e NVRM`",
    ))
}

fn check_partition_mode(facts: &HostFacts<'_>, gpus: &[CheckedGpu<'_>]) -> Option<HostCheck> {
    let partitions = gpus.iter().filter_map(|checked| checked.gpu.partition.as_ref());
    let stated_modes = partitions.map(|partition| partition.compute.as_str());
    let mut modes = stated_modes.sorted().dedup();
    let stated = facts.gpu_request()?.partition.as_deref();
    // Without a partition in the recipe, the result was published on whole GPUs.
    let required = stated.unwrap_or("SPX");
    let actual = join(modes.clone(), ", ");
    let check = if actual.is_empty() {
        stated?;
        HostCheckKind::Partition.undetermined("the driver does not report it")
    } else if modes.all(|mode| mode.eq_ignore_ascii_case(required)) {
        HostCheckKind::Partition.pass(actual)
    } else {
        HostCheckKind::Partition.fail(actual)
    };
    Some(check.with_requirement(required).with_fix(format!(
        "with nothing running on them: sudo amd-smi set --compute-partition {required}"
    )))
}

/// NVIDIA's partitions: a program sees one slice of such a GPU at most.
fn check_undivided(gpus: &[CheckedGpu<'_>]) -> Option<HostCheck> {
    let divided: Vec<String> = gpus
        .iter()
        .filter(|checked| checked.condition.and_then(|condition| condition.divided) == Some(true))
        .map(|checked| format!("GPU {} is divided (MIG)", checked.index))
        .collect();
    let check = HostCheckKind::GpusWhole.warn_about(&divided)?;
    Some(check.with_requirement("undivided GPUs, as for published figures").with_fix(
        "with nothing running on it: sudo nvidia-smi -i INDEX -mig 0; or choose others with --gpus",
    ))
}

/// A GPU whose driver shows less memory than its model has is divided, or shared.
fn check_memory(gpus: &[CheckedGpu<'_>]) -> Option<HostCheck> {
    let whole = |gpu: &Gpu| {
        let partition = gpu.partition.as_ref();
        partition.is_none_or(|partition| partition.compute.eq_ignore_ascii_case("SPX"))
    };
    let whole_gpus = gpus.iter().map(|checked| checked.gpu).filter(|gpu| whole(gpu));
    let known_sizes =
        whole_gpus.filter_map(|gpu| Some((gpu, gpu.vram?, published_memory(&gpu.model)?)));
    let sizes: Vec<(&Gpu, u64, u64)> = known_sizes.collect();
    let short = sizes
        .iter()
        .find(|(_, actual, published)| *actual < published / 20 * MIN_MEMORY_TWENTIETHS);
    let (_, actual, published) = short.or(sizes.first())?;
    let check = match short {
        Some((gpu, ..)) => {
            HostCheckKind::GpuMemory.warn(format!("{} on a {}", format_bytes(*actual), gpu.model))
        }
        None => HostCheckKind::GpuMemory.pass(format!("{} each", format_bytes(*actual))),
    };
    Some(check.with_requirement(format_bytes(*published)).with_fix(
        "is it divided, or a virtual function? The published figure used all of it: amd-smi static --vram",
    ))
}

fn check_idleness(facts: &HostFacts<'_>, gpus: &[CheckedGpu<'_>]) -> HostCheck {
    let checked_gpus = gpus.iter();
    let conditions = checked_gpus.filter_map(|checked| Some((checked.index, checked.condition?)));
    let busy: Vec<String> = conditions.clone().filter_map(describe_usage).collect();
    let running = conditions.clone().flat_map(|(_, condition)| &condition.processes);
    let pids = running.map(|process| process.pid.to_string());
    let processes = pids.sorted().dedup().join(",");
    let kind = HostCheckKind::GpusIdle;
    let check = kind.warn_about(&busy).unwrap_or_else(|| {
        let is_known = |(_, condition): (u32, &GpuCondition)| condition.vram_used.is_some();
        if conditions.clone().any(is_known) {
            kind.pass("nothing runs on them")
        } else if facts.host.nvidia.is_some() {
            kind.undetermined("NVIDIA's driver reports it through its library only")
        } else {
            kind.undetermined("the driver's files do not report it")
        }
    });
    check
        .with_requirement("no other program on them")
        .with_fix(if processes.is_empty() {
            "find the program that holds the memory (`amd-smi process`, `nvidia-smi`), or choose other GPUs with --gpus".to_owned()
        } else {
            format!("ps -fp {processes}; end them, or choose other GPUs with --gpus")
        })
}

/// `GPU 3: 12 GiB in use by python (71)`; none if it is idle.
fn describe_usage((index, condition): (u32, &GpuCondition)) -> Option<String> {
    let used = condition.vram_used.unwrap_or(0);
    if used <= MAX_IDLE_VRAM_BYTES && condition.processes.is_empty() {
        return None;
    }
    let listed = condition.processes.iter();
    let descriptions = listed.map(|process| match &process.name {
        Some(name) => format!("{name} ({})", process.pid),
        None => process.pid.to_string(),
    });
    let programs = join(descriptions, ", ");
    let by = if programs.is_empty() { "" } else { " by " };
    Some(format!("GPU {index}: {} in use{by}{programs}", format_bytes(used)))
}

/// Runs of ours, of any user, that have GPUs of this engine.
fn check_claims(facts: &HostFacts<'_>) -> Option<HostCheck> {
    let check = HostCheckKind::GpusClaimed.warn_about(&facts.claims)?;
    Some(
        check
            .with_requirement("no other run on them")
            .with_fix("a run waits until they are free; choose others with --gpus, or fail instead with --no-wait"),
    )
}

fn check_health(gpus: &[CheckedGpu<'_>]) -> Option<HostCheck> {
    let counted =
        gpus.iter().filter_map(|checked| Some((checked.index, checked.condition?.errors?)));
    let errors: Vec<_> = counted.collect();
    if errors.is_empty() {
        return None;
    }
    let bad: Vec<String> = errors
        .iter()
        .filter(|(_, errors)| errors.uncorrected > 0)
        .map(|(index, errors)| format!("GPU {index}: {} uncorrected errors", errors.uncorrected))
        .collect();
    let corrected: u64 = errors.iter().map(|(_, errors)| errors.corrected).sum();
    let kind = HostCheckKind::GpusHealthy;
    let check = kind
        .warn_about(&bad)
        .unwrap_or_else(|| kind.pass(format!("no uncorrected errors, {corrected} corrected")));
    Some(check.with_requirement("no uncorrected memory errors").with_fix(
        "results may be wrong: exclude the GPU with --gpus, reset it, and see `amd-smi metric --ecc`, `nvidia-smi -q -d ECC`",
    ))
}

/// GPUs whose device nodes are missing for us.
fn check_device_nodes(gpus: &[CheckedGpu<'_>]) -> Option<HostCheck> {
    let masked: Vec<String> = gpus
        .iter()
        .filter(|checked| checked.gpu.masked)
        .map(|checked| format!("GPU {}: no {}", checked.index, checked.gpu.nodes.join(", ")))
        .collect();
    let check = HostCheckKind::GpuDevices.warn_about(&masked)?;
    Some(check.with_requirement("a device node of each GPU").with_fix(
        "this container or batch job got only some of them: choose among those with --gpus",
    ))
}

/// The method by which a container would get them.
fn check_injection(facts: &HostFacts<'_>) -> Option<HostCheck> {
    let (assigned, request) = (facts.assigned?, facts.gpu_request()?);
    let method = assigned.method.name();
    let unsupported = unsupported_method(request, facts.host, assigned.method);
    let check = match &unsupported {
        Some((reason, _)) => HostCheckKind::GpuAccess.fail(reason),
        None => HostCheckKind::GpuAccess.pass(format!("{method}: {}", assigned.reason)),
    };
    let fix = unsupported.map(|(_, fix)| fix).unwrap_or_default();
    Some(check.with_requirement(method).with_fix(fix))
}
