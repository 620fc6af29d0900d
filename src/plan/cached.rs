//! Directories that are populated once and cached for later runs.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::step::{Action, ExecStep, Plan};
use retrial_container::Mount;
use retrial_recipe::model::{CachedFile, Place};

/// Where a directory that is being populated is mounted while the image's content is copied into it.
pub const STAGE: &str = "/.retrial-stage";

/// Copies what the image has at `$1`. As root, with owners and rights; then any user may write. A
/// command on the host is no user of the image: for one, all of it is given to `$2`.
pub const SEED: &str = r#"if [ -d "$1" ]; then cp -a "$1/." /.retrial-stage/ || exit; fi; [ -z "$2" ] || chown -hR "$2" /.retrial-stage || exit; chmod a+rwx /.retrial-stage"#;

/// A cached directory, as far as it is known before the image is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CachedDirectory {
    /// The recipe's name for it.
    pub key: String,
    /// In the container.
    pub path: String,
    /// Files that must be in it, as the recipe lists them.
    pub files: Vec<(String, CachedFile)>,
    /// Steps after the one that populated it may write to it, too.
    pub writable: bool,
    /// Tells apart what other commands cache under the same key.
    pub identity: String,
    /// It is one image's own: the recipe does not say by its files what is right.
    pub of_image: bool,
}

/// A step that populates a cached directory, in a container of its own or on the host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PopulateStep {
    /// What it populates.
    pub directory: CachedDirectory,
    /// Where its command runs.
    pub place: Place,
    /// Its command.
    pub command: ExecStep,
}

impl CachedDirectory {
    /// A directory that the command populates, from what is mounted next to it (`inputs`). The command
    /// is a part of its identity: a recipe that nobody looked at cannot put something else in the
    /// place of another one's cache.
    #[must_use]
    pub fn new(
        key: String,
        path: String,
        files: Vec<(String, CachedFile)>,
        writable: bool,
        command: &ExecStep,
        inputs: &[String],
    ) -> Self {
        let of_image = files.is_empty() || files.iter().any(|(_, file)| file.sha256.is_none());
        let what = (&path, &files, writable, &command.run, &command.env);
        let how = (&command.shell, &command.workdir, &command.user);
        let inputs = if of_image { inputs } else { &[] };
        let identity = identity(&(what, how, inputs));
        Self {
            key,
            path,
            files,
            writable,
            identity,
            of_image,
        }
    }

    /// The name of its directory below the key's, given the image's id.
    #[must_use]
    pub fn name(&self, image: &str) -> String {
        if !self.of_image {
            return self.identity.clone();
        }
        of_image(&self.identity, image)
    }

    /// Its mount, once it lies on this machine.
    #[must_use]
    pub fn mount(&self, source: String) -> Mount {
        Mount {
            source,
            target: self.path.clone(),
            read_only: !self.writable,
        }
    }
}

/// Tells apart what has the same key.
fn identity(what: &impl Serialize) -> String {
    let text = serde_json::to_string(what).unwrap_or_default();
    let digest = Sha256::digest(text);
    let digits = digest.iter().take(4).map(|byte| format!("{byte:02x}"));
    digits.collect()
}

/// The name of what belongs to an image, by its id.
fn of_image(identity: &str, image: &str) -> String {
    let id = image.rsplit(':').next().unwrap_or(image);
    format!("{identity}-{}", id.get(..12).unwrap_or(id))
}

impl Plan {
    /// The name of the directory of a cache mount, without the number that tells apart those of runs at the
    /// same time. What was compiled for one GPU, on one machine, by one recipe is nothing for another; and a
    /// recipe that nobody looked at cannot leave programs for one that is trusted.
    #[must_use]
    pub fn cache_mount(&self, path: &str, image: &str, machine: &str) -> String {
        let assigned = self.assigned_gpus.iter().flat_map(|given| &given.gpus);
        let gpus = assigned.map(|given| given.gpu.gfx.as_ref().unwrap_or(&given.gpu.model));
        let gpus: BTreeSet<&String> = gpus.collect();
        let identity = identity(&(&self.recipe_hash, path, machine, gpus));
        of_image(&identity, image)
    }

    /// Cached directories in the order in which they are populated; without skipped ones, where the image's own is seen.
    pub fn cached_directories(&self) -> impl Iterator<Item = (u32, &CachedDirectory)> {
        self.steps.iter().filter_map(|step| match &step.action {
            Action::Populate(fill) if !step.is_skipped() => Some((step.number, &fill.directory)),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cached(files: Vec<(String, CachedFile)>, run: &str) -> CachedDirectory {
        let command = ExecStep {
            run: run.to_owned(),
            ..ExecStep::default()
        };
        CachedDirectory::new("data".into(), "/data".into(), files, false, &command, &[])
    }

    #[test]
    fn only_what_is_listed_whole_is_shared_over_images() {
        let file = |sha256: Option<&str>| {
            let sha256 = sha256.map(str::to_owned);
            vec![(
                "a".to_owned(),
                CachedFile {
                    size: Some(1),
                    sha256,
                },
            )]
        };
        let (one, other) = ("sha256:0123456789abcdef", "sha256:fedcba9876543210");
        let listed = cached(file(Some("00")), "get");
        assert_eq!(listed.name(one), listed.name(other));
        for cached in [cached(file(None), "get"), cached(Vec::new(), "get")] {
            assert_ne!(cached.name(one), cached.name(other));
            assert!(cached.name(one).ends_with("-0123456789ab"));
        }
        assert_ne!(listed.identity, cached(file(Some("00")), "put").identity);
        assert_ne!(listed.identity, cached(file(Some("01")), "get").identity);
    }
}
