//! The models and memory of AMD GPUs by PCI device id, from pci.ids and libdrm's amdgpu.ids.

/// Device id, revision where several models share the id, model, and the memory of one device as AMD publishes
/// it, GiB; of a card with two dies, of each.
const AMD_MODELS: [(u32, Option<u32>, &str, Option<u64>); 33] = [
    (0x738c, None, "MI100", Some(32)),
    (0x740f, None, "MI210", Some(64)),
    (0x7408, None, "MI250X", Some(64)),
    (0x740c, None, "MI250", Some(64)),
    (0x74a0, None, "MI300A", Some(128)),
    (0x74a1, None, "MI300X", Some(192)),
    // Virtual functions, which a hypervisor assigns to a guest.
    (0x74b5, None, "MI300X", Some(192)),
    (0x74b9, None, "MI325X", Some(256)),
    (0x74a2, None, "MI308X", None),
    (0x74a5, None, "MI325X", Some(256)),
    (0x75a0, None, "MI350X", Some(288)),
    (0x75a3, None, "MI355X", Some(288)),
    (0x75b0, None, "MI350X", Some(288)),
    (0x75b3, None, "MI355X", Some(288)),
    (0x75a8, None, "MI350P", Some(144)),
    (0x73df, Some(0xc1), "RX 6700 XT", Some(12)),
    (0x73df, Some(0xc5), "RX 6700 XT", Some(12)),
    (0x744c, Some(0xc8), "RX 7900 XTX", Some(24)),
    (0x744c, Some(0xcc), "RX 7900 XT", Some(20)),
    (0x744c, Some(0xce), "RX 7900 GRE", Some(16)),
    (0x7448, None, "W7900", Some(48)),
    (0x745e, None, "W7800", Some(32)),
    (0x7449, None, "W7800-48", Some(48)),
    (0x7470, None, "W7700", Some(16)),
    (0x747e, Some(0xc8), "RX 7800 XT", Some(16)),
    (0x7550, Some(0xc0), "RX 9070 XT", Some(16)),
    (0x7550, Some(0xc2), "RX 9070 GRE", None),
    (0x7550, Some(0xc3), "RX 9070", None),
    (0x7551, Some(0xc0), "R9700", Some(32)),
    (0x7551, Some(0xc8), "R9600D", Some(32)),
    (0x7590, Some(0xc0), "RX 9060 XT", Some(16)),
    (0x7590, Some(0xc1), "RX 9060 XT LP", None),
    (0x7590, Some(0xc7), "RX 9060", None),
];

/// The published memory of a model's device, bytes.
pub fn published_memory(model: &str) -> Option<u64> {
    let entry = AMD_MODELS.iter().find(|(_, _, name, _)| *name == model);
    entry.and_then(|(_, _, _, gib)| Some((*gib)? << 30))
}

/// The model's name as in recipes; none if the id or its revision is unknown.
pub fn model_name(device: u32, revision: Option<u32>) -> Option<&'static str> {
    let mut models = AMD_MODELS.iter();
    let entry = models
        .find(|(id, required, ..)| *id == device && (required.is_none() || *required == revision));
    entry.map(|(_, _, name, _)| *name)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::{AMD_MODELS, model_name, published_memory};

    #[rstest]
    #[case(0x75a3, None, Some("MI355X"))]
    #[case(0x74b5, Some(0), Some("MI300X"))]
    #[case(0x744c, Some(0xcc), Some("RX 7900 XT"))]
    #[case(0x744c, None, None)]
    #[case(0x73df, Some(0xc1), Some("RX 6700 XT"))]
    #[case(0x73df, Some(0xcf), None)]
    #[case(0x7551, Some(0xc8), Some("R9600D"))]
    #[case(0x7550, Some(0xc3), Some("RX 9070"))]
    #[case(0x7550, None, None)]
    #[case(0x1638, Some(0xc9), None)]
    fn a_shared_device_id_needs_the_revision(
        #[case] device: u32,
        #[case] revision: Option<u32>,
        #[case] model: Option<&str>,
    ) {
        assert_eq!(model_name(device, revision), model);
    }

    #[test]
    fn memory_of_published_models_is_known() {
        assert_eq!(published_memory("MI355X"), Some(288 << 30));
        let unknown = AMD_MODELS.iter().filter(|(_, _, name, _)| published_memory(name).is_none());
        let unknown: Vec<&str> = unknown.map(|(_, _, name, _)| *name).collect();
        let expected = ["MI308X", "RX 9070 GRE", "RX 9070", "RX 9060 XT LP", "RX 9060"];
        assert_eq!(unknown, expected, "no document at hand states it");
    }
}
