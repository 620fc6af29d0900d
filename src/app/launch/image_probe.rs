//! Examines the recipe's image by a short-lived container, if the engine has the image: its packages, and the
//! hosts that it reaches in the recipe's network, since a container's network is not this machine's.
//!
//! The container has no privileges, devices or mounts, and is removed; a recipe that is not approved yet can
//! be examined.

use std::time::Duration;

use tokio::time::timeout;

use retrial_container::{ContainerSpec, ExtraFlags};
use retrial_engine::api::Engine;
use retrial_engine::error::EngineError;
use retrial_host::checks::HostStatus;
use retrial_plan::Plan;
use retrial_plan::privilege::NAMESPACES_PRIVILEGE;
use retrial_readings::sanitize;
use retrial_recipe::model::GpuVendor;
use retrial_results::packages::{self, PackageManager};
use retrial_rocm::RocmInstallation;
use retrial_run::{PACKAGES_SCRIPT, container_labels};

/// The time limit of the probe. Hosts are tried concurrently, each for 5 s.
const IMAGE_PROBE_TIMEOUT: Duration = Duration::from_secs(20);
/// The largest number of lines of its output that are read.
const MAX_OUTPUT_LINES: usize = 50_000;
/// The line between the packages and the hosts.
const PACKAGES_END: &str = "@end\n";

/// The content of the image; empty if it was not examined, or did not answer.
#[derive(Default)]
pub struct ProbedImage {
    pub rocm: Option<RocmInstallation>,
    /// Name and version of each Python package.
    pub packages: Vec<(String, String)>,
    /// Whether each host was reached; none if the image has no program that can try.
    pub hosts: Option<Vec<HostStatus>>,
}

/// Whether the network of the recipe's container is asked for.
fn needs_approval(plan: &Plan) -> bool {
    plan.privileges.iter().any(|privilege| privilege.name == NAMESPACES_PRIVILEGE)
}

/// Starts the container, if something is to be found: hosts, or frameworks for AMD's GPUs.
pub async fn probe_image(
    engine: &dyn Engine,
    plan: &Plan,
    image: &str,
    hosts: &[String],
) -> ProbedImage {
    let gpus = plan.requires.gpus.as_ref();
    if hosts.is_empty() && gpus.is_none_or(|gpus| gpus.vendor != GpuVendor::Amd) {
        return ProbedImage::default();
    }
    let name = format!("doctor-{}", std::process::id());
    let script = format!("{PACKAGES_SCRIPT}{}", include_str!("image_probe.sh"));
    let mut command = vec!["-c".to_owned(), script, "sh".to_owned()];
    command.extend(hosts.iter().cloned());
    let none = || Some("none".to_owned()).filter(|_| hosts.is_empty());
    // Nobody approves it: another container's network is none of it.
    let usual = plan.container.network.clone().filter(|_| !needs_approval(plan));
    // The container resolves names as the recipe's container does.
    let ExtraFlags { dns, add_host, .. } = &plan.container.extra;
    let extra =
        ExtraFlags { dns: dns.clone(), add_host: add_host.clone(), ..ExtraFlags::default() };
    let spec = ContainerSpec {
        name: format!("retrial-{name}"),
        image: image.to_owned(),
        entrypoint: Some(vec!["/bin/sh".to_owned()]),
        command,
        network: none().or(usual),
        extra,
        labels: container_labels(&name),
        ..ContainerSpec::default()
    };
    let Ok(id) = engine.create_container(&spec).await else {
        return ProbedImage::default();
    };
    let printed = timeout(IMAGE_PROBE_TIMEOUT, run_and_read_log(engine, &id)).await;
    // `clean` finds one that is left by its label.
    let _ = engine.remove_container(&id).await;
    match printed {
        Ok(Ok(text)) => parse_probe_output(&text, hosts),
        _ => ProbedImage::default(),
    }
}

async fn run_and_read_log(engine: &dyn Engine, id: &str) -> Result<String, EngineError> {
    engine.start_container(id).await?;
    engine.wait_for_exit(id).await?;
    engine.read_container_log(id, MAX_OUTPUT_LINES).await
}

fn parse_probe_output(text: &str, hosts: &[String]) -> ProbedImage {
    let (listed, answers) = text.split_once(PACKAGES_END).unwrap_or((text, ""));
    let installed = packages::parse_listing(listed);
    let databases = installed.databases.into_iter();
    let python = databases.filter(|database| database.manager == PackageManager::Python);
    let result_of = |name: &String| {
        let prefix = format!("host {name} ");
        let answer = answers.lines().find_map(|line| line.strip_prefix(&prefix))?;
        let error = match answer {
            "ok" => None,
            "unknown" => return None,
            _ => Some(sanitize(answer.strip_prefix("no ")?).into_owned()),
        };
        Some(HostStatus { name: name.clone(), unknown: None, error })
    };
    let host_statuses: Option<Vec<HostStatus>> = hosts.iter().map(result_of).collect();
    ProbedImage {
        rocm: installed.rocm,
        packages: python.flat_map(|database| database.packages).collect(),
        hosts: host_statuses.filter(|hosts| !hosts.is_empty()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_results_follow_the_package_list() {
        let text = "@rocm /opt/rocm/.info/version\n7.1.1-38\n/opt/rocm-7.1.1\n@python /usr/lib/python3/dist-packages\ntorch-2.9.0.dist-info\n@end\nhost a.org ok\nhost b.org no Connection refused\n";
        let hosts = ["a.org".to_owned(), "b.org".to_owned()];
        let probed = parse_probe_output(text, &hosts);
        assert_eq!(probed.rocm.unwrap().to_string(), "7.1.1");
        assert_eq!(probed.packages, [("torch".to_owned(), "2.9.0".to_owned())]);
        let errors = probed.hosts.unwrap().into_iter().map(|host| host.error);
        let errors: Vec<Option<String>> = errors.collect();
        assert_eq!(errors, [None, Some("Connection refused".to_owned())]);
    }

    #[test]
    fn an_image_without_a_client_program_has_no_result() {
        let text = "@end\nhost a.org ok\nhost b.org unknown\n";
        let hosts = ["a.org".to_owned(), "b.org".to_owned()];
        assert_eq!(parse_probe_output(text, &hosts).hosts, None);
    }
}
