//! Reads runtimes and the Container Device Interface from `docker info`.

use std::path::PathBuf;

use bollard::models::SystemInfo;

use crate::connect::parse_api_version;
use retrial_container::{EngineCapabilities, EngineInfo};

/// The first API version whose engine knows the interface (Docker 25.0, as an experiment).
const MIN_CDI_API_VERSION: (u64, u64) = (1, 44);

/// Reads the engine's capabilities. An engine that supports CDI names the folders in which it searches for
/// specifications; Podman always supports it, and does not report it.
pub fn parse_capabilities(info: SystemInfo, engine: &EngineInfo) -> EngineCapabilities {
    let mut runtimes: Vec<String> = info.runtimes.unwrap_or_default().into_keys().collect();
    runtimes.sort();
    let discovered = info.discovered_devices.unwrap_or_default();
    let is_known = parse_api_version(&engine.api) >= MIN_CDI_API_VERSION;
    let has_folders = info.cdi_spec_dirs.is_some_and(|folders| !folders.is_empty());
    let cdi = (!engine.is_podman()).then_some(is_known && has_folders);
    EngineCapabilities {
        root_directory: info.docker_root_dir.map(PathBuf::from),
        runtimes,
        cdi,
        cdi_devices: discovered
            .into_iter()
            .filter(|device| device.source.as_deref() == Some("cdi"))
            .filter_map(|device| device.id)
            .collect(),
        rootless: info
            .security_options
            .unwrap_or_default()
            .iter()
            .any(|option| option == "name=rootless"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn engine(product: &str, api: &str) -> EngineInfo {
        let text = str::to_owned;
        EngineInfo {
            endpoint: text("unix:///x"),
            chosen_by: text("test"),
            product: text(product),
            version: text("28.3.3"),
            api: text(api),
            platform: String::new(),
        }
    }

    /// As Docker 28.3 answers with AMD's toolkit and NVIDIA's specification.
    const INFO: &str = r#"{"DockerRootDir":"/var/lib/docker","Runtimes":{"runc":{"path":"runc"},"amd":{"path":"amd-container-runtime"}},
        "CDISpecDirs":["/etc/cdi","/var/run/cdi"],"DiscoveredDevices":[{"Source":"cdi","ID":"nvidia.com/gpu=0"},{"Source":"cdi","ID":"nvidia.com/gpu=all"}],
        "SecurityOptions":["name=seccomp,profile=builtin","name=rootless"]}"#;

    #[test]
    fn an_engine_that_lists_cdi_directories_supports_cdi() {
        let info: SystemInfo = serde_json::from_str(INFO).unwrap();
        let abilities = parse_capabilities(info.clone(), &engine("Docker Engine", "1.51"));
        assert_eq!(abilities.runtimes, ["amd", "runc"]);
        assert_eq!(abilities.cdi, Some(true));
        assert_eq!(abilities.cdi_devices, ["nvidia.com/gpu=0", "nvidia.com/gpu=all"]);
        assert!(abilities.rootless);
        assert_eq!(parse_capabilities(info.clone(), &engine("Podman Engine", "1.41")).cdi, None);
        assert_eq!(
            parse_capabilities(info.clone(), &engine("Docker Engine", "1.41")).cdi,
            Some(false)
        );
        let off = SystemInfo { cdi_spec_dirs: Some(Vec::new()), ..info };
        assert_eq!(parse_capabilities(off, &engine("Docker Engine", "1.51")).cdi, Some(false));
    }
}
