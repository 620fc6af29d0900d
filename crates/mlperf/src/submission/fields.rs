//! The fields of a submission's JSON files, as the official checker requires them since v4.1.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldRequirement {
    /// It must not be empty.
    BeFilled,
    /// It may be empty.
    Exist,
}

/// Fields of `systems/SYSTEM.json`.
pub const SYSTEM_FIELDS: [(&str, FieldRequirement); 35] = [
    ("division", FieldRequirement::BeFilled),
    ("submitter", FieldRequirement::BeFilled),
    ("status", FieldRequirement::BeFilled),
    ("system_name", FieldRequirement::BeFilled),
    ("system_type", FieldRequirement::BeFilled),
    ("system_type_detail", FieldRequirement::Exist),
    ("number_of_nodes", FieldRequirement::BeFilled),
    ("host_processor_model_name", FieldRequirement::BeFilled),
    ("host_processors_per_node", FieldRequirement::BeFilled),
    ("host_processor_core_count", FieldRequirement::BeFilled),
    ("host_processor_frequency", FieldRequirement::Exist),
    ("host_processor_caches", FieldRequirement::Exist),
    ("host_processor_interconnect", FieldRequirement::Exist),
    ("host_memory_capacity", FieldRequirement::BeFilled),
    ("host_memory_configuration", FieldRequirement::BeFilled),
    ("host_storage_capacity", FieldRequirement::BeFilled),
    ("host_storage_type", FieldRequirement::BeFilled),
    ("host_networking", FieldRequirement::BeFilled),
    ("host_network_card_count", FieldRequirement::BeFilled),
    ("host_networking_topology", FieldRequirement::BeFilled),
    ("accelerators_per_node", FieldRequirement::BeFilled),
    ("accelerator_model_name", FieldRequirement::BeFilled),
    ("accelerator_memory_capacity", FieldRequirement::BeFilled),
    ("accelerator_memory_configuration", FieldRequirement::BeFilled),
    ("accelerator_host_interconnect", FieldRequirement::BeFilled),
    ("accelerator_interconnect", FieldRequirement::BeFilled),
    ("accelerator_interconnect_topology", FieldRequirement::Exist),
    ("accelerator_frequency", FieldRequirement::Exist),
    ("accelerator_on-chip_memories", FieldRequirement::Exist),
    ("cooling", FieldRequirement::BeFilled),
    ("framework", FieldRequirement::BeFilled),
    ("operating_system", FieldRequirement::BeFilled),
    ("other_software_stack", FieldRequirement::BeFilled),
    ("hw_notes", FieldRequirement::Exist),
    ("sw_notes", FieldRequirement::Exist),
];

/// Fields of [`SYSTEM_FIELDS`] that `MLPerf` Training does not ask for.
const NOT_IN_TRAINING: [&str; 3] = ["system_type", "system_type_detail", "host_network_card_count"];

/// Fields of `systems/SYSTEM.json` in `MLPerf` Training; each may be empty.
pub fn training_fields() -> impl Iterator<Item = &'static str> {
    let names = SYSTEM_FIELDS.into_iter().map(|(name, _)| name);
    let names = names.filter(|name| !NOT_IN_TRAINING.contains(name));
    names.chain(["host_processor_vcpu_count"])
}

/// The allowed values of `status` in `MLPerf` Training.
pub const TRAINING_STATUS_VALUES: [&str; 4] = [
    "Available on-premise",
    "Available cloud",
    "Research, Development, or Internal (RDI)",
    "Preview",
];

/// Additional fields of submissions with power.
pub const POWER_FIELDS: [&str; 15] = [
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
pub const NETWORK_FIELDS: [&str; 13] = [
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
pub const MEASUREMENT_FIELDS: [&str; 5] = [
    "input_data_types",
    "retraining",
    "starting_weights_filename",
    "weight_data_types",
    "weight_transformations",
];

/// The allowed values of `status`.
pub const STATUS_VALUES: [&str; 3] = ["available", "preview", "rdi"];
