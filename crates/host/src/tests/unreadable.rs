//! Hosts that cannot be read, or only in part.

use super::*;

#[test]
fn an_empty_host_has_nothing() {
    let host = Host::new();
    assert_eq!(host.probe(), HostView::default());
    assert_eq!(probe_host(Path::new("/not/there")), HostView::default());
}

#[test]
fn this_host_can_be_read() {
    let view = probe_host(Path::new("/"));
    assert!(view.cpus > 0 && view.memory > 0 && !view.kernel.is_empty(), "{view:?}");
}

#[test]
fn unreadable_values_are_absent_and_others_are_present() {
    let good = [
        ("simd_count", 1216),
        ("gfx_target_version", 90402),
        ("device_id", 0x74a1),
        ("location_id", 0x500),
        ("drm_render_minor", 128),
    ];
    let host = Host::new()
        .kfd(1, &good, Some(192 * GIB))
        .file("sys/class/kfd/kfd/topology/nodes/2/properties", "")
        .file("sys/class/kfd/kfd/topology/nodes/3/properties", "simd_count 1216\ngfx_target_ver")
        .file(
            "sys/class/kfd/kfd/topology/nodes/4/properties",
            "simd_count 1216\nlocation_id 1536\ndevice_id 298\u{0}57\ngfx_target_version -1\n",
        )
        .file("sys/class/kfd/kfd/topology/nodes/5/properties", &"x".repeat(1 << 20))
        .file("sys/class/kfd/kfd/topology/nodes/6/properties/odd", "a folder in place of the file")
        .file(
            "sys/class/kfd/kfd/topology/nodes/7/properties",
            "simd_count 1216\nlocation_id 1792\n",
        )
        .file("sys/class/kfd/kfd/topology/nodes/odd/properties", "simd_count 1\nlocation_id 0\n")
        .file("proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: \t\t NVID")
        .file("proc/meminfo", "MemTotal:  many kB\n")
        .file("sys/devices/system/cpu/online", "zero\n");
    fs::write(host.0.path().join("proc/cmdline"), b"\xff\xfe").unwrap();
    let pipe = host.0.path().join("sys/module/amdgpu/version");
    fs::create_dir_all(pipe.parent().unwrap()).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
    let secret = host.0.path().join("sys/class/kfd/kfd/topology/nodes/7/properties");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o000)).unwrap();
    let readable = fs::read(&secret).is_ok(); // By root, who may.

    let view = host.probe();
    let models: Vec<&str> = view.gpus.iter().map(|gpu| gpu.model.as_str()).collect();
    let mut expected = vec!["MI300X", "1002:????", "NVID"];
    if readable {
        expected.insert(2, "1002:????");
    }
    assert_eq!(models, expected);
    assert_eq!(view.gpus[0].vram, Some(192 * GIB));
    assert!(view.gpus[1].nodes.is_empty() && view.gpus[1].gfx.is_none());
    assert_eq!((view.amdgpu, view.memory, view.cpus), (None, 0, 0));
}
