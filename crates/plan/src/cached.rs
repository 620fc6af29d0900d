//! Directories that are populated once and cached for later runs.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::exec::ExecStep;
use retrial_container::Mount;
use retrial_recipe::model::{CachedFile, StepLocation};

/// The mount point of a directory while the image's content is copied into it.
pub const STAGE: &str = "/.retrial-stage";

/// Copies the image's content at `$1`. As root, with owners and modes; then any user may write. For a command
/// on the host, which is no user of the image, `$2` becomes the owner.
pub const SEED: &str = r#"if [ -d "$1" ]; then cp -a "$1/." /.retrial-stage/ || exit; fi; [ -z "$2" ] || chown -hR "$2" /.retrial-stage || exit; chmod a+rwx /.retrial-stage"#;

/// A cached directory, as far as it is known before the image is pulled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CachedDirectory {
    /// The recipe's name for it.
    pub key: String,
    /// Its path in the container.
    pub path: String,
    /// Files that must be in it, as the recipe lists them.
    pub files: Vec<(String, CachedFile)>,
    /// Later steps may write to it, too.
    pub writable: bool,
    /// Distinguishes directories that other commands cache under the same key.
    pub identity: String,
    /// It is specific to one image: the recipe does not define its content by file hashes.
    pub of_image: bool,
}

/// A step that populates a cached directory, in a container of its own or on the host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PopulateStep {
    /// The directory that it populates.
    pub directory: CachedDirectory,
    /// Where its command runs.
    pub location: StepLocation,
    /// Its command.
    pub command: ExecStep,
}

impl CachedDirectory {
    /// A directory that the command populates from the other mounts (`inputs`). The command is a part of its
    /// identity: an unreviewed recipe cannot replace the cache of another one.
    pub fn new(
        key: String,
        path: String,
        files: Vec<(String, CachedFile)>,
        writable: bool,
        command: &ExecStep,
        inputs: &[String],
    ) -> Self {
        let of_image = files.is_empty() || files.iter().any(|(_, file)| file.sha256.is_none());
        let content = (&path, &files, writable, &command.run, &command.env);
        let how = (&command.shell, &command.workdir, &command.user);
        let inputs = if of_image { inputs } else { &[] };
        let identity = identity(&(content, how, inputs));
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
    pub fn name(&self, image: &str) -> String {
        if !self.of_image {
            return self.identity.clone();
        }
        of_image(&self.identity, image)
    }

    /// Its mount, once it exists on this machine.
    pub fn mount(&self, source: String) -> Mount {
        Mount {
            source,
            target: self.path.clone(),
            read_only: !self.writable,
        }
    }
}

/// Returns a hash that distinguishes directories with the same key.
pub(super) fn identity(content: &impl Serialize) -> String {
    let text = serde_json::to_string(content).unwrap_or_default();
    let digest = Sha256::digest(text);
    let digits = digest.iter().take(4).map(|byte| format!("{byte:02x}"));
    digits.collect()
}

/// The name of an image-specific directory, by the image's id.
pub(super) fn of_image(identity: &str, image: &str) -> String {
    let id = image.rsplit(':').next().unwrap_or(image);
    format!("{identity}-{}", id.get(..12).unwrap_or(id))
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
    fn only_fully_listed_directories_are_shared_between_images() {
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
        let (first, second) = ("sha256:0123456789abcdef", "sha256:fedcba9876543210");
        let listed = cached(file(Some("00")), "get");
        assert_eq!(listed.name(first), listed.name(second));
        for cached in [cached(file(None), "get"), cached(Vec::new(), "get")] {
            assert_ne!(cached.name(first), cached.name(second));
            assert!(cached.name(first).ends_with("-0123456789ab"));
        }
        assert_ne!(listed.identity, cached(file(Some("00")), "put").identity);
        assert_ne!(listed.identity, cached(file(Some("01")), "get").identity);
    }
}
