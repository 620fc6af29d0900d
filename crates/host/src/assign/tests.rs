//! Tests from requests and selections to flags.

use retrial_document::ErrorText;
use rstest::rstest;

use super::*;
use crate::gpu_support::{CdiDevice, DriverFile, GpuSupport};
use crate::model::GpuPartition;

fn amd(model: &str, number: u32) -> Gpu {
    // Not in the order of the indices, as on an MI300X board.
    let bus = [0x75, 0x05, 0x65, 0x15, 0xf5, 0x85, 0xe5, 0x95][number as usize % 8];
    let serial = 0xaa00_0000_0000_0000_u64 + u64::from(number);
    Gpu {
        nodes: vec![format!("/dev/dri/renderD{}", 128 + 8 * number)],
        gfx: Some("gfx950".to_owned()),
        uuid: Some(format!("GPU-{serial:016x}")),
        groups: vec![109],
        ..Gpu::with_model(model, &format!("0000:{bus:02x}:00.0"))
    }
}

fn nvidia(number: u32) -> Gpu {
    Gpu {
        vendor: GpuVendor::Nvidia,
        model: "H200".to_owned(),
        nodes: vec![format!("/dev/nvidia{number}")],
        pci: format!("0000:{number:02x}:00.0"),
        groups: Vec::new(),
        ..amd("", number)
    }
}

fn host(gpus: impl IntoIterator<Item = Gpu>) -> HostView {
    HostView { gpus: gpus.into_iter().collect(), ..HostView::default() }
}

fn request(vendor: GpuVendor, count: u32) -> GpuRequest {
    GpuRequest { vendor, models: Vec::new(), count, partition: None }
}

fn guide() -> Container {
    Container {
        devices: ["/dev/kfd", "/dev/dri", "/dev/mem"].map(str::to_owned).to_vec(),
        ..Container::default()
    }
}

fn assign_gpus(
    container: &Container,
    request: &GpuRequest,
    chosen: &[&str],
    host: &HostView,
) -> Result<(GpuFlags, AssignedGpus), AssignError> {
    let chosen: Vec<String> = chosen.iter().map(ToString::to_string).collect();
    assign_host_gpus(&AssignRequest { container, gpus: request, gpu_selectors: &chosen, host })
}

fn eight() -> HostView {
    host((0..8).map(|number| amd("MI355X", number)))
}

fn indices(assigned: &AssignedGpus) -> Vec<u32> {
    assigned.gpus.iter().map(|gpu| gpu.index).collect()
}

#[test]
fn devices_from_a_guide_are_unchanged() {
    let (flags, assigned) =
        assign_gpus(&guide(), &request(GpuVendor::Amd, 8), &[], &eight()).unwrap();
    assert_eq!(flags.devices, guide().devices);
    assert_eq!((assigned.method, assigned.gpus.len()), (InjectionMethod::AsWritten, 8));
    assert!(assigned.isolated && flags.groups.is_empty() && flags.env.is_empty());
}

#[rstest]
#[case::none_is_claimed(&[], &[0, 1])]
#[case::those_of_others(&["0000:75:00.0,0000:65:00.0"], &[1, 3])]
#[case::a_partition_is_its_card(&["0000:75:00.0/3"], &[1, 2])]
#[case::too_few_are_free(&["all"], &[0, 1])]
fn unclaimed_gpus_are_chosen_first(#[case] claims: &[&str], #[case] expected: &[u32]) {
    let container = Container { gpu_access: GpuAccess::Devices, ..Container::default() };
    let host =
        HostView { claimed_gpus: claims.iter().map(ToString::to_string).collect(), ..eight() };
    let (_, assigned) = assign_gpus(&container, &request(GpuVendor::Amd, 2), &[], &host).unwrap();
    assert_eq!(indices(&assigned), expected);
}

#[test]
fn selected_gpus_replace_all_gpus() {
    let (flags, assigned) =
        assign_gpus(&guide(), &request(GpuVendor::Amd, 8), &["0", "2-3"], &eight()).unwrap();
    let expected = [
        "/dev/kfd",
        "/dev/dri/renderD128",
        "/dev/dri/renderD144",
        "/dev/dri/renderD152",
        "/dev/mem",
    ];
    assert_eq!(flags.devices, expected);
    assert_eq!((flags.groups, indices(&assigned)), (vec!["109".to_owned()], vec![0, 2, 3]));
    assert_eq!(assigned.claim_keys(), ["0000:75:00.0", "0000:65:00.0", "0000:15:00.0"]);
    assert!(assigned.isolated && flags.env.is_empty());
    let privileged = Container { privileged: true, ..guide() };
    let (flags, assigned) =
        assign_gpus(&privileged, &request(GpuVendor::Amd, 8), &["2"], &eight()).unwrap();
    assert_eq!(flags.env, [("ROCR_VISIBLE_DEVICES".to_owned(), "2".to_owned())]);
    assert!(!assigned.isolated);
}

#[rstest]
#[case(&["1"], &[1])]
#[case(&["0000:65:00.0"], &[2])]
#[case(&["65:00.0", "05:00"], &[2, 1])]
#[case(&["GPU-aa00000000000003"], &[3])]
#[case(&["gpu-AA00000000000003"], &[3])]
#[case(&["6-7", "0"], &[6, 7, 0])]
fn gpus_are_selected_by_index_address_or_id(#[case] names: &[&str], #[case] expected: &[u32]) {
    let (_, assigned) =
        assign_gpus(&guide(), &request(GpuVendor::Amd, 1), names, &eight()).unwrap();
    assert_eq!(indices(&assigned), expected);
}

#[rstest]
#[case(&["8"], "this host has 8 such GPUs")]
#[case(&["3-9999999999"], "this host has 8 such GPUs")]
#[case(&["5-3"], "`5-3` is neither a number")]
#[case(&["card1"], "`card1` is neither a number")]
#[case(&["GPU-"], "no AMD GPU `GPU-`")]
#[case(&["GPU-aa"], "matches several GPUs' ids")]
#[case(&["GPU-bb"], "no AMD GPU `GPU-bb`; it has 0 0000:75:00.0, 1")]
#[case(&["07:00.0"], "no AMD GPU `07:00.0`")]
#[case(&["1", "0000:05:00.0"], "1 is a duplicate")]
#[case(&[""], "`` is neither a number")]
fn unknown_gpus_are_refused(#[case] names: &[&str], #[case] reason: &str) {
    let error = assign_gpus(&guide(), &request(GpuVendor::Amd, 1), names, &eight()).unwrap_err();
    assert!(error.to_string().contains(reason), "{error}");
}

#[test]
fn a_recipe_without_devices_gets_the_requested_number() {
    let bare = Container::default();
    let mut mixed = host([amd("W7900", 0), amd("RX 7900 XTX", 1), amd("W7900", 2)]);
    let gpus = GpuRequest { models: vec!["RX 7900 XTX".to_owned()], ..request(GpuVendor::Amd, 1) };
    let (flags, assigned) = assign_gpus(&bare, &gpus, &[], &mixed).unwrap();
    assert_eq!(flags.devices, ["/dev/kfd", "/dev/dri/renderD136"]);
    assert_eq!((assigned.method, indices(&assigned)), (InjectionMethod::Devices, vec![1]));
    // The matching one is masked: another one is selected.
    mixed.gpus[1].masked = true;
    let (_, assigned) = assign_gpus(&bare, &gpus, &[], &mixed).unwrap();
    assert_eq!(indices(&assigned), [0]);
    let error = assign_gpus(&bare, &gpus, &["1"], &mixed).unwrap_err();
    assert!(error.to_string().contains("/dev/dri/renderD136 does not exist"), "{error}");
}

/// As the kernel shows an MI300X in CPX: eight nodes at one address, and minors 128 to 135.
fn cpx() -> HostView {
    host((0..16).map(|number| Gpu {
        nodes: vec![format!("/dev/dri/renderD{}", 128 + number)],
        pci: format!("0000:{:02x}:00.0", 5 + number / 8),
        uuid: Some(format!("GPU-{:016x}", number / 8 + 1)),
        partition: Some(GpuPartition {
            compute: "CPX".to_owned(),
            memory: None,
            index: number % 8,
        }),
        ..amd("MI300X", 0)
    }))
}

#[test]
fn partitions_are_assigned_singly_or_by_card() {
    let bare = Container::default();
    let (flags, assigned) = assign_gpus(&bare, &request(GpuVendor::Amd, 1), &[], &cpx()).unwrap();
    assert_eq!(flags.devices.len(), 1 + 8, "a card is all its partitions");
    assert_eq!(flags.devices[8], "/dev/dri/renderD135");
    assert_eq!(
        (
            assigned.claim_keys()[7].as_str(),
            count_cards(assigned.gpus.iter().map(|assigned| &assigned.gpu))
        ),
        ("0000:05:00.0/7", 1)
    );
    let (flags, _) = assign_gpus(&guide(), &request(GpuVendor::Amd, 1), &["9"], &cpx()).unwrap();
    assert_eq!(flags.devices, ["/dev/kfd", "/dev/dri/renderD137", "/dev/mem"]);
    let (_, assigned) =
        assign_gpus(&guide(), &request(GpuVendor::Amd, 1), &["06:00.0"], &cpx()).unwrap();
    assert_eq!(indices(&assigned), (8..16).collect::<Vec<_>>());
}

fn forced(access: GpuAccess) -> Container {
    Container { gpu_access: access, ..guide() }
}

#[test]
fn the_amd_toolkit_numbers_gpus_by_address() {
    let (flags, assigned) = assign_gpus(
        &forced(GpuAccess::Toolkit),
        &request(GpuVendor::Amd, 8),
        &["0", "1"],
        &eight(),
    )
    .unwrap();
    assert_eq!(flags.devices, ["/dev/mem"]);
    assert_eq!(flags.runtime.as_deref(), Some("amd"));
    // Index 0 has address 75, the fourth; index 1 has 05, the first.
    assert_eq!(flags.env, [("AMD_VISIBLE_DEVICES".to_owned(), "0,3".to_owned())]);
    assert_eq!(assigned.method, InjectionMethod::Toolkit);
    let (flags, _) =
        assign_gpus(&forced(GpuAccess::Toolkit), &request(GpuVendor::Amd, 8), &[], &eight())
            .unwrap();
    assert_eq!(flags.env[0].1, "all");
}

#[test]
fn cdi_names_are_found_by_device_node() {
    let mut host = eight();
    let device = |name: &str, node: &str| CdiDevice {
        name: format!("amd.com/gpu={name}"),
        nodes: vec!["/dev/kfd".to_owned(), node.to_owned()],
    };
    host.gpu_support = GpuSupport {
        cdi: Some(true),
        cdi_devices: vec![
            device("one", "/dev/dri/renderD128"),
            device("two", "/dev/dri/renderD136"),
            device("all", "/dev/dri/renderD128"),
        ],
        ..GpuSupport::default()
    };
    let (flags, _) =
        assign_gpus(&forced(GpuAccess::Cdi), &request(GpuVendor::Amd, 8), &["1", "0", "2"], &host)
            .unwrap();
    // The third is in no specification: named by its number.
    assert_eq!(flags.devices, ["amd.com/gpu=two", "amd.com/gpu=one", "amd.com/gpu=2", "/dev/mem"]);
    let (flags, _) =
        assign_gpus(&forced(GpuAccess::Cdi), &request(GpuVendor::Amd, 8), &[], &host).unwrap();
    assert_eq!(flags.devices, ["amd.com/gpu=all", "/dev/mem"]);
}

#[test]
fn nvidia_injection_depends_on_the_host() {
    let bare = Container::default();
    let one_gpu = request(GpuVendor::Nvidia, 1);
    let mut two = host([nvidia(0), nvidia(1)]);
    let control = ["/dev/nvidiactl", "/dev/nvidia-uvm"].map(str::to_owned).to_vec();
    two.gpu_support.nvidia_control.clone_from(&control);
    two.gpu_support.nvidia_files = vec![DriverFile {
        source: "/usr/lib/libcuda.so.1".to_owned(),
        target: "/usr/lib64/libcuda.so.1".to_owned(),
    }];
    let (flags, assigned) = assign_gpus(&bare, &one_gpu, &[], &two).unwrap();
    assert_eq!(flags.devices, ["/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-uvm"]);
    assert_eq!(
        (assigned.method, flags.mounts.len(), flags.gpus),
        (InjectionMethod::Devices, 1, None)
    );
    assert!(flags.mounts[0].read_only && assigned.isolated);

    two.gpu_support.cdi = Some(true);
    two.gpu_support.cdi_devices =
        vec![CdiDevice { name: "nvidia.com/gpu=all".to_owned(), nodes: Vec::new() }];
    let (flags, assigned) = assign_gpus(&bare, &one_gpu, &["1"], &two).unwrap();
    assert_eq!(
        (assigned.method, flags.devices),
        (InjectionMethod::Cdi, vec!["nvidia.com/gpu=1".to_owned()])
    );

    two.gpu_support.nvidia_toolkit = true;
    let (flags, _) = assign_gpus(&bare, &one_gpu, &[], &two).unwrap();
    assert_eq!(flags.gpus, Some(GpuDevices::Ids(vec!["0".to_owned()])));
    let (flags, _) = assign_gpus(&bare, &request(GpuVendor::Nvidia, 2), &[], &two).unwrap();
    assert_eq!(flags.gpus, Some(GpuDevices::All));
    // Unknown GPUs: as in the guides.
    let (flags, assigned) = assign_gpus(&bare, &one_gpu, &[], &HostView::default()).unwrap();
    assert_eq!(
        (flags.gpus, assigned.claim_keys()),
        (Some(GpuDevices::All), vec!["all".to_owned()])
    );
}

#[test]
fn numbered_devices_of_a_recipe_are_reduced_to_the_selected() {
    let listed = Container {
        devices: ["/dev/nvidiactl", "/dev/nvidia0", "/dev/nvidia1"].map(str::to_owned).to_vec(),
        ..Container::default()
    };
    let two = host([nvidia(0), nvidia(1)]);
    let (flags, _) = assign_gpus(&listed, &request(GpuVendor::Nvidia, 1), &["1"], &two).unwrap();
    assert_eq!(flags.devices, ["/dev/nvidiactl", "/dev/nvidia1"]);
    let (flags, assigned) =
        assign_gpus(&listed, &request(GpuVendor::Nvidia, 1), &[], &two).unwrap();
    assert_eq!(
        (flags.devices, assigned.method),
        (listed.devices.clone(), InjectionMethod::AsWritten)
    );
    let result =
        assign_gpus(&forced(GpuAccess::AsWritten), &request(GpuVendor::Amd, 1), &["1"], &eight());
    let error = result.unwrap_err();
    assert_eq!(error, AssignError::PassedAsWritten);
    assert_eq!(ErrorText::of(&error).help, ["choose in the recipe"]);
}
