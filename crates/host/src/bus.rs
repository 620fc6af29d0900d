//! Reports GPUs on the PCI bus that no driver lists.

use super::amd_models;
use super::root::HostRoot;
use crate::model::Gpu;

const PCI_DEVICES: &str = "sys/bus/pci/devices";
const AMD_VENDOR_ID: u32 = 0x1002;
const NVIDIA_VENDOR_ID: u32 = 0x10de;

/// Notes each GPU of the bus that is not among those found.
pub fn report_unlisted_gpus(root: &HostRoot, found: &[Gpu]) {
    for address in root.list_names(PCI_DEVICES) {
        if found.iter().any(|gpu| gpu.pci == address) {
            continue;
        }
        let id = |name: &str| root.read_hexadecimal(&format!("{PCI_DEVICES}/{address}/{name}"));
        let (Some(vendor), Some(device)) = (id("vendor"), id("device")) else {
            continue;
        };
        let revision = id("revision");
        let model_and_driver = match vendor {
            // Ids that are not in the table are usually integrated graphics.
            AMD_VENDOR_ID => {
                amd_models::model_name(device, revision).map(|model| (model.to_owned(), "KFD"))
            }
            // Display controllers, with and without a display.
            NVIDIA_VENDOR_ID
                if matches!(id("class").map(|class| class >> 8), Some(0x0300 | 0x0302)) =>
            {
                Some((format!("an NVIDIA GPU (10de:{device:04x})"), "NVIDIA's driver"))
            }
            _ => None,
        };
        // AMD's virtual functions and partitions are reported by their parents.
        if let Some((model, driver)) = model_and_driver {
            root.record_read_error(format!(
                "{model} at {address} is on the PCI bus, but {driver} does not list it"
            ));
        }
    }
}
