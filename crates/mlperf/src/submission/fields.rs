//! The fields of a submission's JSON files, as the official checker requires them since v4.1.

/// The requirement on a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Must {
    /// It must not be empty.
    BeFilled,
    /// It may be empty.
    Exist,
}

/// Fields of `systems/SYSTEM.json`.
pub const SYSTEM: [(&str, Must); 35] = [
    ("division", Must::BeFilled),
    ("submitter", Must::BeFilled),
    ("status", Must::BeFilled),
    ("system_name", Must::BeFilled),
    ("system_type", Must::BeFilled),
    ("system_type_detail", Must::Exist),
    ("number_of_nodes", Must::BeFilled),
    ("host_processor_model_name", Must::BeFilled),
    ("host_processors_per_node", Must::BeFilled),
    ("host_processor_core_count", Must::BeFilled),
    ("host_processor_frequency", Must::Exist),
    ("host_processor_caches", Must::Exist),
    ("host_processor_interconnect", Must::Exist),
    ("host_memory_capacity", Must::BeFilled),
    ("host_memory_configuration", Must::BeFilled),
    ("host_storage_capacity", Must::BeFilled),
    ("host_storage_type", Must::BeFilled),
    ("host_networking", Must::BeFilled),
    ("host_network_card_count", Must::BeFilled),
    ("host_networking_topology", Must::BeFilled),
    ("accelerators_per_node", Must::BeFilled),
    ("accelerator_model_name", Must::BeFilled),
    ("accelerator_memory_capacity", Must::BeFilled),
    ("accelerator_memory_configuration", Must::BeFilled),
    ("accelerator_host_interconnect", Must::BeFilled),
    ("accelerator_interconnect", Must::BeFilled),
    ("accelerator_interconnect_topology", Must::Exist),
    ("accelerator_frequency", Must::Exist),
    ("accelerator_on-chip_memories", Must::Exist),
    ("cooling", Must::BeFilled),
    ("framework", Must::BeFilled),
    ("operating_system", Must::BeFilled),
    ("other_software_stack", Must::BeFilled),
    ("hw_notes", Must::Exist),
    ("sw_notes", Must::Exist),
];

/// Fields of [`SYSTEM`] that `MLPerf` Training does not ask for.
const NOT_IN_TRAINING: [&str; 3] = [
    "system_type",
    "system_type_detail",
    "host_network_card_count",
];

/// Fields of `systems/SYSTEM.json` in `MLPerf` Training; each may be empty.
pub fn training() -> impl Iterator<Item = &'static str> {
    let names = SYSTEM.into_iter().map(|(name, _)| name);
    let names = names.filter(|name| !NOT_IN_TRAINING.contains(name));
    names.chain(["host_processor_vcpu_count"])
}

/// The allowed values of `status` in `MLPerf` Training.
pub const TRAINING_STATUS: [&str; 4] = [
    "Available on-premise",
    "Available cloud",
    "Research, Development, or Internal (RDI)",
    "Preview",
];

/// Additional fields of submissions with power.
pub const POWER: [&str; 15] = [
    "power_management",
    "filesystem",
    "boot_firmware_version",
    "management_firmware_version",
    "other_hardware",
    "number_of_type_nics_installed",
    "nics_enabled_firmware",
    "nics_enabled_os",
    "nics_enabled_connected",
    "network_speed_mbit",
    "power_supply_quantity_and_rating_watts",
    "power_supply_details",
    "disk_drives",
    "disk_controllers",
    "system_power_only",
];

/// Additional fields of systems over a network.
pub const NETWORK: [&str; 13] = [
    "is_network",
    "network_type",
    "network_media",
    "network_rate",
    "nic_loadgen",
    "number_nic_loadgen",
    "net_software_stack_loadgen",
    "network_protocol",
    "number_connections",
    "nic_sut",
    "number_nic_sut",
    "net_software_stack_sut",
    "network_topology",
];

/// Fields of `measurements.json` (up to v5.1: `SYSTEM.json`); none may be empty.
pub const MEASUREMENTS: [&str; 5] = [
    "input_data_types",
    "retraining",
    "starting_weights_filename",
    "weight_data_types",
    "weight_transformations",
];

/// The allowed values of `status`.
pub const STATUS: [&str; 3] = ["available", "preview", "rdi"];
