//! Labels of our containers. A container without them is never touched.

use std::collections::BTreeMap;

use super::session::Session;

/// The label with the run's id, on every container of ours.
pub const RUN_LABEL: &str = "io.retrial.run";
/// The label with the run's directory.
pub const PATH_LABEL: &str = "io.retrial.path";
/// The label with the GPUs that the container claims: PCI addresses, or `all`.
pub const GPU_LABEL: &str = "io.retrial.gpus";
/// The label with the name of whoever runs it, for others who wait.
pub const USER_LABEL: &str = "io.retrial.user";
/// The label with the cached directories that the container mounts.
pub const CACHE_LABEL: &str = "io.retrial.cache";

/// The labels of this run's containers: one without them is never touched.
pub fn own_labels(session: &Session) -> BTreeMap<String, String> {
    let path = session.run.path().display().to_string();
    BTreeMap::from([
        (RUN_LABEL.to_owned(), session.run.id().to_owned()),
        (PATH_LABEL.to_owned(), path),
        (USER_LABEL.to_owned(), user()),
    ])
}

/// Our user, by name or number.
fn user() -> String {
    let name = ["SUDO_USER", "USER", "LOGNAME"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|name| !name.is_empty()));
    name.unwrap_or_else(|| {
        let id = rustix::process::getuid().as_raw().to_string();
        // A cron job or a container has no such variable.
        let known = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        named(&known, &id).unwrap_or(id)
    })
}

/// The name of a user by its id, in a file like `/etc/passwd`.
fn named(known: &str, id: &str) -> Option<String> {
    known.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next().filter(|name| !name.is_empty())?;
        (fields.nth(1) == Some(id)).then(|| name.to_owned())
    })
}
