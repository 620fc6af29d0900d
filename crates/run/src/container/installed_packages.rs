//! Records packages, environment and labels of the container that measured.
//!
//! After the last measurement, so that nothing is disturbed, and from the container itself, since setup steps
//! may have installed something. The container's first process waits for the request. The list is evidence for
//! comparisons, not a measurement: read errors are noted in the file and fail nothing.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::access::RunSession;
use retrial_container::first_process::CONTROL_MOUNT;
use retrial_engine::api::ExecSpec;
use retrial_host::record::ContainerRecord;
use retrial_results::packages::{self, InstalledPackages};
use retrial_store::{RunDirectory, packages as package_store};

/// The longest time that a container may take to list its packages: 3,000 take 0.1 s.
const LISTING_TIMEOUT: Duration = Duration::from_secs(20);
/// The interval between checks of the list.
const LIST_CHECK_INTERVAL: Duration = Duration::from_millis(3);
/// The prefix of our own labels.
const OWN_LABEL_PREFIX: &str = "io.retrial.";
/// The maximum length of a recorded variable or label.
const MAX_VALUE_CHARS: usize = 4096;
/// The maximum number of recorded variables, and of labels.
const MAX_VARIABLES: usize = 1000;

/// The packages, environment and labels of the container that measured.
pub struct ContainerContent {
    packages: InstalledPackages,
    /// None where the engine did not describe the container.
    record: Option<ContainerRecord>,
}

/// Asks the container that measured; none where there is no container.
pub async fn find_content(session: &RunSession) -> Option<ContainerContent> {
    let container = session.state().container.clone()?;
    let inspection = session.with_engine(|engine| engine.inspect_container(&container));
    let (packages, inspected) = tokio::join!(list_installed(session, &container), inspection);
    let record = inspected.ok().flatten().map(|found| {
        let labels = found
            .labels
            .into_iter()
            .filter(|(name, _)| !name.starts_with(OWN_LABEL_PREFIX))
            .map(|(name, value)| (name, truncate_value(&value)))
            .take(MAX_VARIABLES);
        let secrets: Vec<&str> = session.secrets.values().map(String::as_str).collect();
        ContainerRecord {
            labels: labels.collect(),
            variables: redact_variables(&found.env, &secrets),
        }
    });
    Some(ContainerContent { packages, record })
}

impl ContainerContent {
    /// Writes `packages.json`, and the container's environment and labels into `host.json`.
    pub fn store(self, run: &RunDirectory) {
        // The verdict, which is written next, reports a full disk.
        if let Err(error) = package_store::store_packages(run, &self.packages) {
            tracing::debug!(%error, "the packages were not stored");
        }
        let (Some(record), Ok(mut host)) = (self.record, run.read_host_record()) else {
            return;
        };
        host.container = Some(record);
        if let Err(error) = run.write_host_record(&host) {
            tracing::debug!(%error, "the container was not added to host.json");
        }
    }
}

/// The container's first process lists them if it can, without the engine; else an exec does.
async fn list_installed(session: &RunSession, container: &str) -> InstalledPackages {
    let list = async {
        if session.control.request_packages() {
            loop {
                if let Some(text) = session.control.listed_packages() {
                    return Ok(text);
                }
                tokio::time::sleep(LIST_CHECK_INTERVAL).await;
            }
        }
        let spec = ExecSpec::as_root(["/bin/sh", &format!("{CONTROL_MOUNT}/packages")]);
        let output = session.with_engine(|engine| engine.exec_attached(container, &spec)).await;
        output.map(|output| output.stdout)
    };
    let remark = match tokio::time::timeout(LISTING_TIMEOUT, list).await {
        Ok(Ok(text)) => return packages::parse_listing(&text),
        Ok(Err(error)) => error.to_string(),
        Err(_) => format!("the container did not list them within {LISTING_TIMEOUT:?}"),
    };
    InstalledPackages {
        remarks: vec![format!("the installed packages are unknown: {remark}")],
        ..packages::parse_listing("@end")
    }
}

/// Returns variables by name, without the values of possible secrets.
fn redact_variables(env: &[String], secrets: &[&str]) -> BTreeMap<String, Option<String>> {
    let pairs = env.iter().filter_map(|variable| variable.split_once('='));
    pairs
        .map(|(name, value)| {
            let is_sensitive = is_secret_name(name)
                || contains_password(value)
                || secrets.iter().any(|secret| !secret.is_empty() && value.contains(secret));
            (name.to_owned(), (!is_sensitive).then(|| truncate_value(value)))
        })
        .take(MAX_VARIABLES)
        .collect()
}

/// Returns whether a variable of this name may hold a secret: an image may have one baked in.
fn is_secret_name(name: &str) -> bool {
    let mut words = name.split('_').map(str::to_ascii_uppercase);
    let is_sensitive = |word: String| {
        [
            "TOKEN",
            "SECRET",
            "SECRETS",
            "PASSWORD",
            "PASSWD",
            "PASS",
            "KEY",
            "APIKEY",
            "CREDENTIAL",
            "CREDENTIALS",
            "AUTH",
        ]
        .contains(&word.as_str())
    };
    words.any(is_sensitive)
}

/// Returns whether a value is an address with somebody's password: `http://me:word@proxy`.
fn contains_password(value: &str) -> bool {
    let mut addresses = value.split("://").skip(1);
    addresses.any(|rest| {
        let authority = rest.split(['/', '?', '#', ' ']).next().unwrap_or_default();
        authority.contains('@')
    })
}

fn truncate_value(value: &str) -> String {
    value.chars().take(MAX_VALUE_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_recorded_by_name_only() {
        let env = [
            "PATH=/usr/bin",
            "HF_TOKEN=hf_abc",
            "aws_secret_access_key=x",
            "PROXY=hunter2",
            "MIRROR=https://me:word@mirror/simple",
            "DOCS=https://example.com/@latest",
            "KEYBOARD=us",
            "EMPTY=",
            "broken",
        ]
        .map(str::to_owned);
        let found = redact_variables(&env, &["hunter2", ""]);
        let shown: Vec<(&str, Option<&str>)> =
            found.iter().map(|(name, value)| (name.as_str(), value.as_deref())).collect();
        assert_eq!(
            shown,
            [
                ("DOCS", Some("https://example.com/@latest")),
                ("EMPTY", Some("")),
                ("HF_TOKEN", None),
                ("KEYBOARD", Some("us")),
                ("MIRROR", None),
                ("PATH", Some("/usr/bin")),
                ("PROXY", None),
                ("aws_secret_access_key", None),
            ]
        );
    }
}
