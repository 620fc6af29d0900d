//! The requirements of a recipe on the host.

use retrial_document::{ByteUnits, FieldType as T, Word, declare_word, object, words};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::formats;

object! {
    /// The requirements of a recipe on the host.
    #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct HostRequirements: "the requirements";
    keys {
        /// The GPUs that the container needs.
        gpus: Option<GpuRequest>,
        /// `ROCm` releases, for example ">=7.1.0".
        rocm: Option<String> = T::Text(formats::VERSION_RANGE),
        /// Free disk, bytes: 500 GiB.
        disk: Option<u64> = T::Size(ByteUnits::Precise),
        /// Memory, bytes: 1 TiB.
        memory: Option<u64> = T::Size(ByteUnits::Precise),
        /// Ports of the host that the container listens on, with `network: host`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ports: Vec<u16> = T::List(&T::Integer(1, 65_535), 0),
    }
}

object! {
    /// GPUs that a recipe requires.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub struct GpuRequest: "a request for GPUs";
    keys {
        /// The manufacturer.
        vendor: GpuVendor [required],
        /// Models that the figure was published on, for example `[MI355X]`.
        models: Vec<String> = T::List(&T::Text(formats::LINE), 0),
        /// The number of GPUs.
        count: u32 [required] = T::Integer(1, 4096),
        /// AMD's compute partition mode, for example `CPX`.
        partition: Option<String> = T::Words(PARTITION_MODES),
    }
}

impl GpuRequest {
    /// Returns whether the figure was published on this model of GPU.
    pub fn accepts_model(&self, model: &str) -> bool {
        let same = |name: &String| name.eq_ignore_ascii_case(model);
        self.models.is_empty() || self.models.iter().any(same)
    }
}

const PARTITION_MODES: &[Word] = &[
    declare_word("SPX", "The whole GPU is one device."),
    declare_word("DPX", "Two devices a GPU."),
    declare_word("TPX", "Three devices a GPU."),
    declare_word("QPX", "Four devices a GPU."),
    declare_word("CPX", "One device a compute die."),
];

words! {
    /// Who made a GPU.
    #[derive(JsonSchema)]
    pub enum GpuVendor {
        /// AMD Instinct and Radeon.
        Amd = "amd",
        /// NVIDIA.
        Nvidia = "nvidia",
    }
}

impl GpuVendor {
    /// Returns the name as the vendor writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Amd => "AMD",
            Self::Nvidia => "NVIDIA",
        }
    }

    /// Returns the vendor of a GPU, if the model's name shows it: `MI300X`, `NVIDIA H200`.
    pub fn of_model(name: &str) -> Option<Self> {
        let upper = name.to_ascii_uppercase();
        let brands = ["AMD ", "INSTINCT ", "NVIDIA ", "TESLA "];
        let bare = brands.iter().fold(&*upper, |name, brand| name.trim_start_matches(brand));
        let digits_after = |prefix: &str| {
            bare.strip_prefix(prefix)
                .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
        };
        if digits_after("MI") {
            return Some(Self::Amd);
        }
        let nvidia = ["A", "B", "H", "L", "V", "T", "GB", "GH", "RTX ", "RTX"];
        nvidia.iter().any(|prefix| digits_after(prefix)).then_some(Self::Nvidia)
    }
}
