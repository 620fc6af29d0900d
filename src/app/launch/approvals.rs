//! The answers at the terminal that are remembered, `approvals.json` in the home: privileges by the digest of what was
//! approved. Only a file that nobody else can write counts, and one that cannot be read is never replaced.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use crate::app::failure::Failure;
use crate::app::file_owners;
use crate::app::opened_file::read_trusted_file;
use retrial_store::files::{to_json_text, write_atomically};
use retrial_store::{Home, StoreError};

/// The file of the approvals, in a home.
pub(super) const FILE: &str = "approvals.json";
const LOCK_FILE: &str = "approvals.lock";
/// Why others must not write it.
const REASON: &str = "it approves privileges for you";

type Approvals = BTreeMap<String, Vec<String>>;

/// Returns the names of the privileges that an earlier answer approved.
///
/// # Errors
/// If the file cannot be read, or others can write it.
pub fn approved_privileges(home: &Home, key: &str) -> Result<Vec<String>, Failure> {
    Ok(read_approvals(home.root())?.remove(key).unwrap_or_default())
}

/// Remembers that privileges are approved.
///
/// # Errors
/// If the file cannot be read or written, or others can write it.
pub fn remember_approval(home: &Home, key: &str, privileges: &[String]) -> Result<(), Failure> {
    home.create()?;
    file_owners::require_trusted_owners(home.root(), &[], REASON)?;
    let lock_path = home.root().join(LOCK_FILE);
    let lock = File::create(&lock_path).map_err(StoreError::io("create", &lock_path))?;
    // Until the file is closed.
    lock.lock().map_err(StoreError::io("lock", &lock_path))?;
    let mut approvals = read_approvals(home.root())?;
    let entry = approvals.entry(key.to_owned()).or_default();
    for privilege in privileges {
        if !entry.contains(privilege) {
            entry.push(privilege.clone());
        }
    }
    let path = home.root().join(FILE);
    Ok(write_atomically(&path, to_json_text(&path, &approvals)?.as_bytes())?)
}

fn read_approvals(root: &Path) -> Result<Approvals, Failure> {
    let path = root.join(FILE);
    let Some(bytes) = read_trusted_file(&path, REASON)? else {
        return Ok(Approvals::new());
    };
    serde_json::from_slice(&bytes).map_err(|error| unreadable(&path, &error))
}

fn unreadable(path: &Path, error: &serde_json::Error) -> Failure {
    let path = path.display();
    Failure::usage(format!("{path} has no remembered approvals: {error}"))
        .with_help("restore it, or remove it: then you are asked again")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn home() -> (tempfile::TempDir, Home) {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::from_root(directory.path().to_owned());
        (directory, home)
    }

    #[test]
    fn approvals_of_several_processes_are_all_remembered() {
        let (_directory, home) = home();
        std::thread::scope(|scope| {
            for key in 0..20 {
                let home = &home;
                scope.spawn(move || {
                    remember_approval(home, &key.to_string(), &["host".to_owned()]).unwrap();
                });
            }
        });
        for key in 0..20 {
            assert_eq!(approved_privileges(&home, &key.to_string()).unwrap(), ["host"]);
        }
    }

    #[test]
    fn no_lock_is_made_in_a_home_that_others_can_write() {
        let (directory, home) = home();
        let victim = directory.path().join("victim");
        fs::write(&victim, "content").unwrap();
        std::os::unix::fs::symlink(&victim, directory.path().join(LOCK_FILE)).unwrap();
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o777)).unwrap();
        assert!(remember_approval(&home, "a", &["host".to_owned()]).is_err());
        assert_eq!(fs::read_to_string(victim).unwrap(), "content");
    }

    #[test]
    fn a_file_that_cannot_be_read_is_not_replaced() {
        let (directory, home) = home();
        let path = directory.path().join(FILE);
        fs::write(&path, "{ \"a\": [\"host\"] }").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        assert!(approved_privileges(&home, "a").is_err(), "others can write it");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(approved_privileges(&home, "a").unwrap(), ["host"]);
        fs::write(&path, "{ \"a\": [").unwrap();
        assert!(approved_privileges(&home, "a").is_err());
        assert!(remember_approval(&home, "b", &["host".to_owned()]).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "{ \"a\": [");
    }
}
