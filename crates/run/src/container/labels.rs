//! Labels of our containers. A container without them is never touched.

use std::collections::BTreeMap;

use crate::access::RunSession;
use retrial_engine::api::ContainerState;

/// The label with the run's id, on every container of ours.
pub const RUN_LABEL: &str = "io.retrial.run";
/// The label with the run's directory.
pub const PATH_LABEL: &str = "io.retrial.path";
/// The label with the GPUs that the container claims: PCI addresses, or `all`.
pub const GPU_LABEL: &str = "io.retrial.gpus";
/// The label with the name of its user, for others who wait.
const USER_LABEL: &str = "io.retrial.user";
/// The label with the id of that user, by which cleanup identifies the owner.
pub const UID_LABEL: &str = "io.retrial.uid";
/// The label with the cached directories that the container mounts.
pub const CACHE_LABEL: &str = "io.retrial.cache";
/// The label with the id of the Slurm job that made the container: a site's epilog uses it to remove leftovers
/// of a job.
pub const JOB_LABEL: &str = "io.retrial.job";

/// Returns the labels of this run's containers: one without them is never touched.
pub fn run_container_labels(session: &RunSession) -> BTreeMap<String, String> {
    let path = session.run.path().display().to_string();
    let path = (PATH_LABEL.to_owned(), path);
    let own = container_labels(session.run.id()).into_iter();
    own.chain([path]).collect()
}

/// Returns the labels of a container of ours, of a run or of another name.
pub fn container_labels(run: &str) -> BTreeMap<String, String> {
    let own = BTreeMap::from([
        (RUN_LABEL.to_owned(), run.to_owned()),
        (USER_LABEL.to_owned(), current_user()),
        (UID_LABEL.to_owned(), current_uid()),
    ]);
    let job_id = std::env::var("SLURM_JOB_ID").ok();
    let job = job_id.map(|id| (JOB_LABEL.to_owned(), id));
    // A label that is not set would be the image's own.
    let all = [PATH_LABEL, GPU_LABEL, CACHE_LABEL, JOB_LABEL];
    let unset = all.map(|name| (name.to_owned(), String::new())).into_iter();
    unset.chain(own).chain(job).collect()
}

/// Returns the owner of a container of ours by its labels, if that is another user.
pub fn find_other_user(labels: &BTreeMap<String, String>) -> Option<String> {
    other_owner(labels, &current_uid(), &current_user())
}

/// Returns a container's label; empty if it has none.
pub fn label_value<'a>(container: &'a ContainerState, name: &str) -> &'a str {
    container.labels.get(name).map_or("", String::as_str)
}

/// Returns the run of a container, and its user: `run ID of USER`.
pub fn describe_run(container: &ContainerState) -> String {
    let run = label_value(container, RUN_LABEL);
    match label_value(container, USER_LABEL) {
        "" => format!("run {run}"),
        user => format!("run {run} of {user}"),
    }
}

/// Returns whether a container mounts the cached directory with this path.
pub fn mounts_cached_directory(container: &ContainerState, location: &str) -> bool {
    let mut mounted = label_value(container, CACHE_LABEL).lines();
    mounted.any(|line| line == location)
}

fn other_owner(labels: &BTreeMap<String, String>, uid: &str, user: &str) -> Option<String> {
    let owner = labels.get(USER_LABEL);
    let is_namesake = owner.is_some_and(|owner| owner == user);
    let is_own = match labels.get(UID_LABEL) {
        // Several people may be root, by sudo.
        Some(id) => id == uid && (uid != "0" || is_namesake),
        None => is_namesake,
    };
    let unknown = || "an unknown user".to_owned();
    (!is_own).then(|| owner.cloned().unwrap_or_else(unknown))
}

fn current_uid() -> String {
    rustix::process::getuid().as_raw().to_string()
}

/// Our user, by name or number.
fn current_user() -> String {
    let name = ["SUDO_USER", "USER", "LOGNAME"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|name| !name.is_empty()));
    name.unwrap_or_else(|| {
        let id = current_uid();
        // A cron job or a container has no such variable.
        let passwd = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        find_user_name(&passwd, &id).unwrap_or(id)
    })
}

/// The name of a user by its id, in a file like `/etc/passwd`.
fn find_user_name(passwd: &str, id: &str) -> Option<String> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next().filter(|name| !name.is_empty())?;
        (fields.nth(1) == Some(id)).then(|| name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::own("user=ann uid=7", "7", "ann", None)]
    #[case::own_without_a_name_in_the_environment("user=ann uid=7", "7", "7", None)]
    #[case::a_namesake("user=ann uid=8", "7", "ann", Some("ann"))]
    #[case::another_by_sudo("user=bob uid=0", "0", "ann", Some("bob"))]
    #[case::of_an_older_version("user=ann", "7", "ann", None)]
    #[case::of_another("user=bob", "0", "root", Some("bob"))]
    #[case::of_nobody("", "0", "root", Some("an unknown user"))]
    fn containers_are_matched_by_owner_labels(
        #[case] labels: &str,
        #[case] uid: &str,
        #[case] user: &str,
        #[case] other: Option<&str>,
    ) {
        let labels = labels.split_whitespace().filter_map(|label| {
            let (name, value) = label.split_once('=')?;
            Some((format!("io.retrial.{name}"), value.to_owned()))
        });
        assert_eq!(other_owner(&labels.collect(), uid, user).as_deref(), other);
    }
}
