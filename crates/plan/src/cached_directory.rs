//! Directories that are populated once and cached for later runs.
//!
//! A cached directory has an identity of 256 bits: a hash of everything that decides its content. A run takes a
//! directory of an earlier run only if their identities are equal.

use std::fmt::Debug;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::exec::ExecStep;
use retrial_container::{ContainerSpec, Mount};
use retrial_recipe::model::{CachedFile, StepLocation};

/// The number of digits of an identity in a directory's name.
const SHORT_IDENTITY_LENGTH: usize = 16;

/// The mount point of a directory while the image's content is copied into it.
pub const STAGE_MOUNT_PATH: &str = "/.retrial-stage";

/// Copies the image's content at `$1`. As root, with owners and modes; then any user may write. For a command
/// on the host, which is no user of the image, `$2` becomes the owner.
pub const SEED_SCRIPT: &str = r#"if [ -d "$1" ]; then cp -a "$1/." /.retrial-stage/ || exit; fi; [ -z "$2" ] || chown -hR "$2" /.retrial-stage || exit; chmod a+rwx /.retrial-stage"#;

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
    /// The part of its identity that the plan knows: SHA-256, hexadecimal.
    pub identity: String,
    /// It belongs to one image and to the files that populate it: the recipe does not define its content by hashes.
    pub of_image: bool,
    /// It belongs to the files that populate it, and to no image: the recipe says so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub any_image: bool,
    /// Read-only files next to the recipe that its command can read: their content is a part of its identity.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub companions: Vec<Mount>,
}

/// Everything besides a step's own command and the image that decides the content of its cached directory.
#[derive(Debug, Clone, Serialize)]
pub struct PopulateInputs {
    /// The recipe is built in: no other one may populate its directories.
    pub built_in: bool,
    /// SHA-256 of the resolved recipe.
    pub recipe_hash: String,
    /// The container, without the GPUs of this host and without the companions.
    pub container: ContainerSpec,
    /// The recipe's models as text: `owner/name@revision`, a path, or a command.
    pub models: Vec<String>,
    /// Read-only files next to the recipe that the container mounts.
    pub companions: Vec<Mount>,
}

/// A step that populates a cached directory, in a container of its own or on the host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PopulateStep {
    pub directory: CachedDirectory,
    pub location: StepLocation,
    pub command: ExecStep,
}

impl CachedDirectory {
    /// A directory at `path` that a command populates.
    pub fn new(
        (key, path): (String, String),
        files: Vec<(String, CachedFile)>,
        writable: bool,
        (location, command): (StepLocation, &ExecStep),
        inputs: &PopulateInputs,
    ) -> Self {
        let is_listed = lists_all_hashes(&files);
        let what = (&key, &path, &files, writable);
        let how = (&command.run, &command.env, &command.secrets);
        let how = (location, how, (&command.shell, &command.workdir, &command.user));
        // If the hashes of all files define the content, it is the same for every command and image.
        let of_image = writable || !is_listed;
        let built_in = inputs.built_in;
        let inputs = of_image.then_some(inputs);
        // Later steps write to it, so that only the same recipe may reuse it. A built-in one is reviewed as a whole:
        // other values of `--set` do not matter here.
        let others = inputs.filter(|_| !built_in);
        let recipe = others.filter(|_| writable).map(|one| &one.recipe_hash);
        let container = others.map(|one| &one.container);
        let mounts = inputs.map(|inputs| &inputs.container.mounts);
        let models = inputs.map(|inputs| &inputs.models);
        let identity = hash_identity(&(built_in, what, how, (recipe, container, mounts, models)));
        Self {
            key,
            path,
            files,
            writable,
            identity,
            of_image,
            any_image: false,
            companions: inputs.map_or_else(Vec::new, |inputs| inputs.companions.clone()),
        }
    }

    /// Returns the full identity: SHA-256, hexadecimal. `image` is the image's id, `companions` a digest of the
    /// companions' content, and `earlier` has the identities of the cached directories that its command sees.
    pub fn full_identity(&self, image: &str, companions: &str, earlier: &[&str]) -> String {
        if !self.of_image {
            return self.identity.clone();
        }
        let image = if self.any_image { "" } else { image };
        hash_identity(&(&self.identity, image, companions, earlier))
    }

    /// Whether the recipe lists all files with their hashes: nothing else may be in it.
    pub fn has_complete_list(&self) -> bool {
        lists_all_hashes(&self.files)
    }

    /// Its mount, once it exists on this machine.
    pub fn to_mount(&self, source: String) -> Mount {
        Mount { source, target: self.path.clone(), read_only: !self.writable }
    }
}

/// Returns whether a list has the hashes of all files: it defines the content of a directory.
pub fn lists_all_hashes(files: &[(String, CachedFile)]) -> bool {
    !files.is_empty() && files.iter().all(|(_, file)| file.sha256.is_some())
}

/// Returns the part of an identity by which its directory is named. Names may be equal; identities decide.
pub fn short_identity(identity: &str) -> &str {
    identity.get(..SHORT_IDENTITY_LENGTH).unwrap_or(identity)
}

/// Returns a SHA-256 of a value, hexadecimal.
pub(super) fn hash_identity(content: &(impl Serialize + Debug)) -> String {
    // The text of a value that JSON cannot express must still be one of its own.
    let text = serde_json::to_string(content).unwrap_or_else(|_| format!("{content:?}"));
    hex::encode(Sha256::digest(text))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn cached_directory(
        files: Vec<(String, CachedFile)>,
        inputs: &PopulateInputs,
    ) -> CachedDirectory {
        let command = ExecStep { run: "get".to_owned(), ..ExecStep::default() };
        let place = ("data".to_owned(), "/data".to_owned());
        let how = (StepLocation::Container, &command);
        CachedDirectory::new(place, files, false, how, inputs)
    }

    fn populate_inputs() -> PopulateInputs {
        PopulateInputs {
            built_in: false,
            recipe_hash: "00".to_owned(),
            container: ContainerSpec::default(),
            models: Vec::new(),
            companions: Vec::new(),
        }
    }

    fn listed_file(sha256: Option<&str>) -> Vec<(String, CachedFile)> {
        let file = CachedFile { size: Some(1), sha256: sha256.map(str::to_owned) };
        vec![("a".to_owned(), file)]
    }

    #[test]
    fn only_fully_listed_directories_are_shared_between_images() {
        let on = |cached: &CachedDirectory, image: &str| cached.full_identity(image, "", &[]);
        let listed = cached_directory(listed_file(Some("00")), &populate_inputs());
        assert_eq!(on(&listed, "one"), on(&listed, "two"));
        assert_eq!(on(&listed, "one").len(), 64, "256 bits");
        for cached in [
            cached_directory(listed_file(None), &populate_inputs()),
            cached_directory(Vec::new(), &populate_inputs()),
        ] {
            assert_ne!(on(&cached, "one"), on(&cached, "two"));
            assert_ne!(on(&cached, "one"), cached.full_identity("one", "x", &[]));
            assert_ne!(on(&cached, "one"), cached.full_identity("one", "", &["x"]));
            assert_eq!(on(&cached, "one").len(), 64, "256 bits");
        }
        let of_any =
            CachedDirectory { any_image: true, ..cached_directory(Vec::new(), &populate_inputs()) };
        assert_eq!(on(&of_any, "one"), on(&of_any, "two"));
        assert_ne!(on(&of_any, "one"), of_any.full_identity("one", "x", &[]));
        assert_ne!(
            listed.identity,
            cached_directory(listed_file(Some("01")), &populate_inputs()).identity
        );
    }

    #[rstest]
    #[case::an_environment(|inputs: &mut PopulateInputs| inputs.container.env = vec![("PATH".into(), "/evil".into())])]
    #[case::a_network(|inputs: &mut PopulateInputs| inputs.container.network = Some("evil".into()))]
    #[case::a_model(|inputs: &mut PopulateInputs| inputs.models = vec!["evil/model@main".into()])]
    #[case::trust(|inputs: &mut PopulateInputs| inputs.built_in = true)]
    fn whatever_can_populate_a_directory_is_part_of_its_identity(
        #[case] change: fn(&mut PopulateInputs),
    ) {
        let mut other = populate_inputs();
        change(&mut other);
        let (one, other) = (
            cached_directory(Vec::new(), &populate_inputs()),
            cached_directory(Vec::new(), &other),
        );
        assert_ne!(one.identity, other.identity);
    }

    #[test]
    fn a_recipe_that_is_not_built_in_never_shares_with_a_built_in_one() {
        let built_in = PopulateInputs { built_in: true, ..populate_inputs() };
        for files in [listed_file(Some("00")), listed_file(None), Vec::new()] {
            let (one, other) = (
                cached_directory(files.clone(), &populate_inputs()),
                cached_directory(files, &built_in),
            );
            assert_ne!(one.identity, other.identity);
        }
    }
}
