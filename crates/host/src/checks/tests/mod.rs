//! Checks of well and badly configured hosts.

use super::*;
use crate::model::{
    Gpu, GpuCondition, GpuPartition, GpuProgram, HardwareErrors, HostSettings, HostView,
    OperatingSystem,
};
use retrial_document::ErrorText;
use retrial_recipe::model::{GpuRequest, GpuVendor, HostRequirements};
use retrial_rocm::{RecipeUse, RocmEvidence, RocmInstallation, VersionFile};

mod scenario_memory;
mod services;
mod stack;

fn check_host(facts: &HostFacts<'_>) -> Vec<HostCheck> {
    super::check_host(facts, ReleaseTable::built_in())
}

fn host_rocm(release: &str) -> Option<RocmInstallation> {
    let [path, folder] = ["/opt/rocm/.info/version", "/opt/rocm"].map(str::to_owned);
    let file = VersionFile { path, folder, text: release.to_owned() };
    RocmEvidence { files: vec![file], ..RocmEvidence::default() }.find_installation()
}

fn image_release(release: &str) -> ImageRelease {
    let release = release.parse().unwrap();
    ImageRelease { release, source: ImageReleaseSource::Container }
}

fn gpu(model: &str, gfx: &str, number: u32) -> Gpu {
    Gpu {
        nodes: vec!["/dev/dri/renderD128".to_owned()],
        gfx: Some(gfx.to_owned()),
        vram: Some(288 << 30),
        compute_units: Some(256),
        partition: Some(GpuPartition {
            compute: "SPX".to_owned(),
            memory: Some("NPS1".to_owned()),
            index: 0,
        }),
        numa_node: Some(0),
        ..Gpu::with_model(model, &format!("0000:{number:02x}:00.0"))
    }
}

fn eight() -> HostView {
    HostView {
        gpus: (0..8).map(|number| gpu("MI355X", "gfx950", number)).collect(),
        amdgpu: Some("6.16.6".to_owned()),
        rocm: host_rocm("7.1.1-38"),
        kernel: "6.8.0-79-generic".to_owned(),
        system: Some(OperatingSystem {
            id: "ubuntu".to_owned(),
            version: "24.04".to_owned(),
            name: "Ubuntu 24.04.3 LTS".to_owned(),
        }),
        memory: 3 << 40,
        ..HostView::default()
    }
}

fn requirements(models: &[&str], count: u32) -> HostRequirements {
    HostRequirements {
        gpus: Some(GpuRequest {
            vendor: GpuVendor::Amd,
            models: models.iter().map(|model| (*model).to_owned()).collect(),
            count,
            partition: None,
        }),
        rocm: Some(">=7.1.0".to_owned()),
        disk: Some(500 << 30),
        memory: None,
        ports: Vec::new(),
    }
}

fn tuned() -> HostSettings {
    let word = |word: &str| Some(word.to_owned());
    HostSettings {
        governor: word("performance"),
        deep_idle_disabled: Some(true),
        nmi_watchdog: word("0"),
        numa_balancing: word("0"),
        randomize_va_space: word("0"),
        huge_pages: word("always"),
        huge_pages_defrag: word("always"),
        smt: word("off"),
        command_line: word("root=/dev/sda pci=realloc=off iommu=pt"),
    }
}

fn facts<'a>(
    host: &'a HostView,
    conditions: &'a [GpuCondition],
    settings: &'a HostSettings,
    requires: &'a HostRequirements,
) -> HostFacts<'a> {
    HostFacts {
        host,
        conditions,
        settings: Some(settings),
        engine: EngineStatus::Answers {
            product: "Docker Engine 28.2.2".to_owned(),
            api: "1.50".to_owned(),
            endpoint: "unix:///var/run/docker.sock (default socket)".to_owned(),
            rootless: false,
        },
        disks: vec![DiskSpace {
            purpose: "runs".to_owned(),
            path: "/data".to_owned(),
            free: Some(1 << 40),
            network: None,
            writable: true,
            device: None,
            needed: None,
        }],
        is_fetch_pending: None,
        requires: Some(requires),
        scenario_memory: Vec::new(),
        image: ImageContent { rocm: Some(image_release("7.1.1")), ..ImageContent::default() },
        target_override: None,
        recipe_use: RecipeUse::default(),
        assigned: None,
        has_chosen_gpus: false,
        claims: Vec::new(),
        models: Vec::new(),
        hosts: HostStatuses::default(),
        listening: Vec::new(),
        unset_secrets: Vec::new(),
    }
}

fn find_check<'a>(checks: &'a [HostCheck], name: &str) -> &'a HostCheck {
    checks
        .iter()
        .find(|check| check.name == name)
        .unwrap_or_else(|| panic!("no check {name}: {checks:#?}"))
}

#[test]
fn a_tuned_host_with_the_right_gpus_is_ready() {
    let (host, settings, requires) = (eight(), tuned(), requirements(&["MI355X"], 8));
    let idle = vec![
        GpuCondition {
            vram_used: Some(300 << 20),
            errors: Some(HardwareErrors::default()),
            ..GpuCondition::default()
        };
        8
    ];
    let checks = check_host(&facts(&host, &idle, &settings, &requires));
    assert!(
        checks.iter().all(|check| check.state == HostCheckState::Ok && check.fix.is_empty()),
        "{checks:#?}"
    );
}

#[test]
fn too_few_gpus_are_an_error_and_other_models_a_warning() {
    let (host, settings) = (eight(), tuned());
    let sixteen = requirements(&["MI355X"], 16);
    let other = requirements(&["MI300X"], 8);
    let checks = check_host(&facts(&host, &[], &settings, &sixteen));
    assert_eq!(find_check(&checks, "gpus").state, HostCheckState::Error);
    assert_eq!(find_check(&checks, "gpus").required, "16 x MI355X");
    let checks = check_host(&facts(&host, &[], &settings, &other));
    assert_eq!(find_check(&checks, "gpus").state, HostCheckState::Warning);
    assert!(find_check(&checks, "gpus").fix.contains("--force"));
}

#[test]
fn programs_on_a_gpu_are_reported_with_a_fix() {
    let (host, settings, requires) = (eight(), tuned(), requirements(&["MI355X"], 8));
    let mut conditions = vec![GpuCondition { vram_used: Some(0), ..GpuCondition::default() }; 8];
    conditions[3] = GpuCondition {
        vram_used: Some(200 << 30),
        processes: vec![GpuProgram { pid: 4711, name: Some("vllm".to_owned()), vram: None }],
        errors: Some(HardwareErrors { corrected: 2, uncorrected: 1 }),
        ..GpuCondition::default()
    };
    let checks = check_host(&facts(&host, &conditions, &settings, &requires));
    let idle = find_check(&checks, "gpus idle");
    assert_eq!(idle.state, HostCheckState::Warning);
    assert_eq!(idle.actual, "GPU 3: 200 GiB in use by vllm (4711)");
    assert!(idle.fix.starts_with("ps -fp 4711"));
    assert_eq!(find_check(&checks, "gpus healthy").state, HostCheckState::Warning);
}

#[test]
fn unrequested_partitions_are_an_error() {
    let (mut host, settings, requires) = (eight(), tuned(), requirements(&["MI355X"], 8));
    for gpu in &mut host.gpus {
        gpu.partition = Some(GpuPartition { compute: "CPX".to_owned(), memory: None, index: 0 });
    }
    let checks = check_host(&facts(&host, &[], &settings, &requires));
    assert_eq!(find_check(&checks, "partition").state, HostCheckState::Error);
    assert!(find_check(&checks, "partition").fix.contains("amd-smi set --compute-partition SPX"));
}

#[test]
fn settings_and_disks_are_reported_with_a_fix() {
    let (host, requires) = (eight(), requirements(&["MI355X"], 8));
    let settings = HostSettings {
        governor: Some("powersave".to_owned()),
        command_line: Some("quiet".to_owned()),
        ..tuned()
    };
    let mut found = facts(&host, &[], &settings, &requires);
    found.disks[0].free = Some(20 << 30);
    found.engine = EngineStatus::Fails(
        ErrorText::new("no container engine answers at unix:///x").with_help("is it running?"),
    );
    let checks = check_host(&found);
    assert_eq!(
        find_check(&checks, "clock governor").fix,
        "sudo cpupower frequency-set -g performance"
    );
    assert_eq!(
        find_check(&checks, "kernel command line").actual,
        "without pci=realloc=off iommu=pt"
    );
    let disk = find_check(&checks, "disk for runs");
    assert_eq!(
        (disk.state, disk.actual.as_str()),
        (HostCheckState::Warning, "20 GiB free at /data")
    );
    let engine = find_check(&checks, "engine");
    assert_eq!((engine.state, engine.fix.as_str()), (HostCheckState::Error, "is it running?"));
}

#[test]
fn directories_of_one_disk_are_one_check() {
    let (host, settings, requires) = (eight(), tuned(), requirements(&["MI355X"], 8));
    let disk = |what: &str, device: u64, needed: Option<u64>| DiskSpace {
        purpose: what.to_owned(),
        path: format!("/{what}"),
        free: Some(600 << 30),
        needed,
        network: None,
        writable: true,
        device: Some(device),
    };
    let mut found = facts(&host, &[], &settings, &requires);
    found.disks = vec![
        disk("runs", 1, None),
        disk("images", 1, None),
        disk("models", 2, Some(700 << 30)),
        disk("data", 1, Some(1 << 40)),
    ];
    let checks = check_host(&found);
    let shared = find_check(&checks, "disk for runs, images, data");
    assert_eq!(shared.actual, "600 GiB free at /runs, /images, /data");
    assert_eq!((shared.state, shared.required.as_str()), (HostCheckState::Warning, "1 TiB"));
    let models = find_check(&checks, "disk for models");
    assert_eq!((models.state, models.required.as_str()), (HostCheckState::Warning, "700 GiB"));
}

#[test]
fn too_little_space_is_an_error_while_there_is_something_to_fetch() {
    let (host, settings, requires) = (eight(), tuned(), requirements(&["MI355X"], 8));
    let state = |is_fetch_pending: Option<bool>, free: &[u64]| {
        let mut found = facts(&host, &[], &settings, &requires);
        found.is_fetch_pending = is_fetch_pending;
        let first = found.disks[0].clone();
        let disks = free.iter().zip(0..).map(|(free, device)| DiskSpace {
            free: Some(free << 30),
            device: Some(device),
            ..first.clone()
        });
        found.disks = disks.collect();
        find_check(&check_host(&found), "disk for runs").state
    };
    assert_eq!(state(Some(true), &[62]), HostCheckState::Error);
    assert_eq!(state(Some(true), &[62, 300]), HostCheckState::Error);
    // The parts may be on different disks.
    assert_eq!(state(Some(true), &[250, 300]), HostCheckState::Warning);
    assert_eq!(state(Some(false), &[62]), HostCheckState::Warning);
    assert_eq!(state(None, &[62]), HostCheckState::Warning);
}

#[test]
fn an_unsupported_injection_method_is_an_error() {
    use crate::assign::{AssignedGpus, InjectionMethod};
    let (mut host, settings, requires) = (eight(), tuned(), requirements(&["MI355X"], 8));
    let assigned = AssignedGpus {
        method: InjectionMethod::Cdi,
        reason: "the recipe asks for it".to_owned(),
        gpus: Vec::new(),
        isolated: false,
    };
    let with = |host: &HostView| {
        let mut found = facts(host, &[], &settings, &requires);
        found.assigned = Some(&assigned);
        let checks = check_host(&found);
        find_check(&checks, "gpu injection").clone()
    };
    // No engine was queried: it may support it.
    assert_eq!(with(&host).state, HostCheckState::Ok);
    host.gpu_support.api = Some("1.41".to_owned());
    host.gpu_support.cdi = Some(false);
    assert_eq!(with(&host).state, HostCheckState::Error);
    assert!(with(&host).fix.contains("Docker 28.2"), "{:?}", with(&host));
    host.gpu_support.cdi = Some(true);
    assert!(with(&host).fix.contains("amd-ctk cdi generate"), "{:?}", with(&host));
}

#[test]
fn partitions_dies_and_slices_are_reported() {
    let (mut host, settings, requires) = (eight(), tuned(), requirements(&[], 4));
    for (number, gpu) in host.gpus.iter_mut().enumerate() {
        gpu.model = "MI250X".to_owned();
        gpu.masked = number == 7;
    }
    host.unread = vec!["/sys/x: permission denied".to_owned()];
    let sliced = vec![GpuCondition { divided: Some(true), ..GpuCondition::default() }; 8];
    let checks = check_host(&facts(&host, &sliced, &settings, &requires));
    assert_eq!(find_check(&checks, "gpus").actual, "8 x MI250X (dies, two per card)");
    assert_eq!(find_check(&checks, "gpu devices").actual, "GPU 7: no /dev/dri/renderD128");
    assert_eq!(find_check(&checks, "gpus readable").actual, "/sys/x: permission denied");
    assert!(find_check(&checks, "gpus undivided").actual.contains("GPU 3 is divided"));
    let warnings: Vec<String> = checks.iter().filter_map(HostCheck::verdict_warning).collect();
    assert!(
        warnings.contains(
            &"gpus readable: /sys/x: permission denied; required: every GPU of the host".to_owned()
        ),
        "{warnings:?}"
    );
}
