//! The files of an AMD GPU below `/sys`.

use super::root::HostRoot;
use crate::model::Gpu;

/// The folders of a GPU: its PCI device's, and its render node's. A partition's node belongs to a platform
/// device with other files.
pub struct AmdDevice(pub Vec<String>);

impl AmdDevice {
    /// Returns the files of a GPU by its PCI address and the minor number of the render node.
    pub fn new(pci: &str, minor: Option<u64>) -> Self {
        let mut folders = vec![format!("sys/bus/pci/devices/{pci}")];
        folders.extend(minor.map(|minor| format!("sys/class/drm/renderD{minor}/device")));
        Self(folders)
    }

    /// Returns the files of a detected GPU.
    pub fn from_gpu(gpu: &Gpu) -> Self {
        Self::new(&gpu.pci, render_minor(gpu))
    }

    /// Reads from the first folder that has the file.
    pub fn find_in_folders<T>(&self, read: impl Fn(&str) -> Option<T>) -> Option<T> {
        self.0.iter().find_map(|folder| read(folder))
    }

    /// Reads a file's text, trimmed; none if no folder has it.
    pub fn read_text(&self, root: &HostRoot, name: &str) -> Option<String> {
        self.find_in_folders(|folder| root.read_text(&format!("{folder}/{name}")))
    }

    /// Reads a file's only number, decimal.
    pub fn read_number(&self, root: &HostRoot, name: &str) -> Option<u64> {
        self.find_in_folders(|folder| root.read_number(&format!("{folder}/{name}")))
    }

    /// Reads a file's only number, hexadecimal.
    pub fn read_hexadecimal(&self, root: &HostRoot, name: &str) -> Option<u32> {
        self.find_in_folders(|folder| root.read_hexadecimal(&format!("{folder}/{name}")))
    }
}

/// The minor number of a GPU's render node.
pub fn render_minor(gpu: &Gpu) -> Option<u64> {
    let mut nodes = gpu.nodes.iter();
    nodes.find_map(|node| node.rsplit_once("renderD")?.1.parse().ok())
}
