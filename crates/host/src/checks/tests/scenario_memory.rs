//! The memory that scenarios need of each GPU.

use super::*;
use crate::checks::ScenarioMemory;
use crate::model::Gpu;
use retrial_recipe::model::GpuVendor;

fn needs() -> Vec<ScenarioMemory> {
    let need = |scenario: &str, gigabytes: u64| ScenarioMemory {
        scenario: scenario.to_owned(),
        bytes: gigabytes * 1_000_000_000,
    };
    vec![need("small", 10), need("7b", 108), need("13b", 157)]
}

fn nvidia(model: &str) -> HostView {
    let mut host = eight();
    for gpu in &mut host.gpus {
        *gpu = Gpu { vendor: GpuVendor::Nvidia, ..Gpu::with_model(model, &gpu.pci) };
    }
    host
}

fn memory_checks(host: &HostView, vendor: GpuVendor, model: &str) -> Vec<HostCheck> {
    let (settings, mut requires) = (tuned(), requirements(&[model], 8));
    requires.gpus.as_mut().unwrap().vendor = vendor;
    let mut found = facts(host, &[], &settings, &requires);
    found.scenario_memory = needs();
    let checks = check_host(&found).into_iter();
    checks.filter(|check| check.kind == HostCheckKind::ScenarioMemory).collect()
}

#[test]
fn each_scenario_that_does_not_fit_is_an_error_and_the_fix_names_the_others() {
    let host = nvidia("H200");
    let checks = memory_checks(&host, GpuVendor::Nvidia, "H200");
    let [check] = checks.as_slice() else { panic!("{checks:#?}") };
    assert_eq!(
        check.to_string(),
        "gpu memory for 13b: 141 GiB (H200); required: 146.22 GiB on each GPU"
    );
    assert!(check.fix.ends_with("--scenario small,7b"), "{}", check.fix);
    assert!(check.prevents_start() && !check.is_other_hardware());
    let host = nvidia("H100 80GB HBM3");
    let checks = memory_checks(&host, GpuVendor::Nvidia, "H100 80GB HBM3");
    let names: Vec<&str> = checks.iter().map(|check| check.name.as_str()).collect();
    assert_eq!(names, ["gpu memory for 7b", "gpu memory for 13b"]);
}

#[test]
fn the_driver_is_believed_before_the_model() {
    let mut host = eight();
    let checks = memory_checks(&host, GpuVendor::Amd, "MI355X");
    assert_eq!(checks[0].state, HostCheckState::Ok, "{checks:#?}");
    assert_eq!(checks[0].name, "gpu memory for 13b", "of all, the largest");
    host.gpus[5].vram = Some(36 << 30); // a partition
    let checks = memory_checks(&host, GpuVendor::Amd, "MI355X");
    assert_eq!(checks.len(), 2, "{checks:#?}");
    assert_eq!(checks[0].actual, "36 GiB (MI355X)");
}

#[test]
fn without_a_gpu_the_model_that_the_recipe_names_is_compared() {
    let mut host = eight();
    host.gpus.clear();
    let checks = memory_checks(&host, GpuVendor::Nvidia, "H100 80GB HBM3");
    assert_eq!(checks.len(), 2, "{checks:#?}");
    assert_eq!(checks[0].actual, "80 GiB (H100 80GB HBM3)");
    let checks = memory_checks(&host, GpuVendor::Nvidia, "H400");
    assert_eq!(checks[0].state, HostCheckState::Unknown, "{checks:#?}");
}
