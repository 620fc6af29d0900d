//! Which AMD GPU a PCI device id means, after pci.ids and libdrm's amdgpu.ids.

/// Device id, revision where several models share the id, model.
const MODELS: [(u32, Option<u32>, &str); 31] = [
    (0x738c, None, "MI100"),
    (0x740f, None, "MI210"),
    (0x7408, None, "MI250X"),
    (0x740c, None, "MI250"),
    (0x74a0, None, "MI300A"),
    (0x74a1, None, "MI300X"),
    // Virtual functions, as a hypervisor hands them to a guest.
    (0x74b5, None, "MI300X"),
    (0x74b9, None, "MI325X"),
    (0x74a2, None, "MI308X"),
    (0x74a5, None, "MI325X"),
    (0x75a0, None, "MI350X"),
    (0x75a3, None, "MI355X"),
    (0x75b0, None, "MI350X"),
    (0x75b3, None, "MI355X"),
    (0x75a8, None, "MI350P"),
    (0x744c, Some(0xc8), "RX 7900 XTX"),
    (0x744c, Some(0xcc), "RX 7900 XT"),
    (0x744c, Some(0xce), "RX 7900 GRE"),
    (0x7448, None, "W7900"),
    (0x745e, None, "W7800"),
    (0x7449, None, "W7800-48"),
    (0x7470, None, "W7700"),
    (0x747e, Some(0xc8), "RX 7800 XT"),
    (0x7550, Some(0xc0), "RX 9070 XT"),
    (0x7550, Some(0xc2), "RX 9070 GRE"),
    (0x7550, Some(0xc3), "RX 9070"),
    (0x7551, Some(0xc0), "R9700"),
    (0x7551, Some(0xc8), "R9600D"),
    (0x7590, Some(0xc0), "RX 9060 XT"),
    (0x7590, Some(0xc1), "RX 9060 XT LP"),
    (0x7590, Some(0xc7), "RX 9060"),
];

/// Memory of one device of a model as AMD publishes it, GiB; of a card with two dies, of each.
const MEMORY: [(&str, u64); 22] = [
    ("MI100", 32),
    ("MI210", 64),
    ("MI250X", 64),
    ("MI250", 64),
    ("MI300A", 128),
    ("MI300X", 192),
    ("MI325X", 256),
    ("MI350X", 288),
    ("MI355X", 288),
    ("MI350P", 144),
    ("RX 7900 XTX", 24),
    ("RX 7900 XT", 20),
    ("RX 7900 GRE", 16),
    ("W7900", 48),
    ("W7800", 32),
    ("W7800-48", 48),
    ("W7700", 16),
    ("RX 7800 XT", 16),
    ("RX 9070 XT", 16),
    ("R9700", 32),
    ("R9600D", 32),
    ("RX 9060 XT", 16),
];

/// The published memory of a model's device, bytes.
pub fn memory(model: &str) -> Option<u64> {
    let known = MEMORY.iter().find(|(name, _)| *name == model);
    known.map(|(_, gib)| gib << 30)
}

/// The model's name as recipes write it; none where the id, or its revision, is not known.
pub fn name(device: u32, revision: Option<u32>) -> Option<&'static str> {
    let fits = |(id, wanted, _): &&(u32, Option<u32>, &str)| {
        *id == device && (wanted.is_none() || *wanted == revision)
    };
    MODELS.iter().find(fits).map(|(_, _, name)| *name)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::{MODELS, memory, name};

    #[rstest]
    #[case(0x75a3, None, Some("MI355X"))]
    #[case(0x74b5, Some(0), Some("MI300X"))]
    #[case(0x744c, Some(0xcc), Some("RX 7900 XT"))]
    #[case(0x744c, None, None)]
    #[case(0x7551, Some(0xc8), Some("R9600D"))]
    #[case(0x7550, Some(0xc3), Some("RX 9070"))]
    #[case(0x7550, None, None)]
    #[case(0x1638, Some(0xc9), None)]
    fn an_id_that_models_share_needs_its_revision(
        #[case] device: u32,
        #[case] revision: Option<u32>,
        #[case] model: Option<&str>,
    ) {
        assert_eq!(name(device, revision), model);
    }

    #[test]
    fn memory_is_known_of_the_models_that_are_published() {
        assert_eq!(memory("MI355X"), Some(288 << 30));
        let unknown = MODELS.iter().filter(|(_, _, name)| memory(name).is_none());
        let unknown: Vec<&str> = unknown.map(|(_, _, name)| *name).collect();
        let expected = [
            "MI308X",
            "RX 9070 GRE",
            "RX 9070",
            "RX 9060 XT LP",
            "RX 9060",
        ];
        assert_eq!(unknown, expected, "no document at hand states it");
    }
}
