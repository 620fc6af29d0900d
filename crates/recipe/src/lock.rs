//! A recipe's lock: the digests and commits that its names resolve to.
//!
//! It is next to the recipe (`mine.lock.yaml`) and is read as strictly as the recipe is. Following
//! it changes a resolved recipe: an image gets its digest, a model its commit and its files' hashes.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use retrial_document::formats::{ANY, is_lower_hexadecimal, mismatch_unless, mismatch_with_help};
use retrial_document::{
    Diagnostics, Field as _, FieldType as T, FormatMismatch, Key, Source, StringFormat,
    declare_key, json_to_yaml, object, read_document,
};

use super::model::{Image, ModelSource, Recipe, is_commit};

/// The version of the lock format that this retrial reads and writes.
const LOCK_FORMAT: u8 = 1;

const VERSION_KEYS: &[Key] = &[declare_key(
    "lock",
    T::Text(StringFormat::new(check_lock_version)),
    "The format of the lock, 1. `retrial lock RECIPE` writes locks.",
)
.required()];

object! {
    /// The digests and commits of a recipe's names when it was locked.
    #[derive(Debug, Clone, Default, PartialEq, Eq)]
    pub struct RecipeLock: "a lock", first VERSION_KEYS;
    keys {
        /// The recipe's name or path.
        recipe: String,
        /// Of the recipe with its templates, see [`super::compute_fingerprint`].
        fingerprint: String,
        /// The digest of each image, by its reference.
        images: BTreeMap<String, String> = T::Map(ANY, &T::Text(StringFormat::new(check_digest))),
        /// Images that no registry had and the engine had without a digest: nothing can pin them.
        local_images: Vec<String>,
        /// The commit and the files of each model, by `owner/name@revision`.
        models: BTreeMap<String, LockedModel> = T::Map(ANY, &LockedModel::TYPE),
    }
}

object! {
    /// The content of a model's revision when it was locked.
    #[derive(Debug, Clone, Default, PartialEq, Eq)]
    pub struct LockedModel: "a locked model";
    keys {
        /// The commit of the revision, 40 hexadecimal digits.
        commit: String [required] = T::Text(StringFormat::new(check_commit)),
        /// `sha256:…` or `git:…` by path, of every file.
        files: BTreeMap<String, String> = T::Map(ANY, &T::Text(StringFormat::new(check_hash))),
    }
}

fn check_lock_version(text: &str) -> Option<FormatMismatch> {
    mismatch_unless(
        text == LOCK_FORMAT.to_string(),
        format!("this version of retrial reads lock format {LOCK_FORMAT}"),
        "update retrial, or lock the recipe again",
    )
}

fn check_digest(text: &str) -> Option<FormatMismatch> {
    check_prefixed_hash(text, &[("sha256:", 64)], "a digest, sha256:…")
}

fn check_commit(text: &str) -> Option<FormatMismatch> {
    check_prefixed_hash(text, &[("", 40)], "a commit")
}

fn check_hash(text: &str) -> Option<FormatMismatch> {
    let kinds = [("sha256:", 64), ("git:", 40)];
    check_prefixed_hash(text, &kinds, "a hash, sha256:… or git:…")
}

/// Checks that a text has one of these prefixes and the number of hexadecimal digits of that prefix.
fn check_prefixed_hash(text: &str, kinds: &[(&str, usize)], noun: &str) -> Option<FormatMismatch> {
    let fits = kinds.iter().any(|(prefix, digits)| {
        text.strip_prefix(prefix).is_some_and(|hex| is_lower_hexadecimal(hex, *digits))
    });
    if fits {
        return None;
    }
    let excerpt: String = text.chars().take(80).collect();
    mismatch_with_help(
        format!("`{excerpt}` is not {noun}"),
        "locks are not written by hand: `retrial lock RECIPE`",
    )
}

impl RecipeLock {
    /// Returns the key of a model's revision in a lock: `owner/name@revision`.
    pub fn model_key(repository: &str, revision: &str) -> String {
        format!("{repository}@{revision}")
    }

    /// Parses and validates a lock.
    ///
    /// # Errors
    /// Returns every problem of the file, with its position.
    pub fn parse(source: &Source) -> Result<Self, Diagnostics> {
        let mut problems = Diagnostics::default();
        read_document(source, &mut problems).ok_or(problems)
    }

    /// Returns the text of the lock file.
    pub fn to_yaml(&self) -> String {
        let models = self.models.iter();
        let models: Map<String, Value> = models
            .map(|(name, model)| {
                let value = json!({ "commit": model.commit, "files": model.files });
                (name.clone(), value)
            })
            .collect();
        let mut content = json!({
            "lock": LOCK_FORMAT,
            "recipe": self.recipe,
            "fingerprint": self.fingerprint,
            "images": self.images,
            "models": models,
        });
        if !self.local_images.is_empty() {
            content["local_images"] = json!(self.local_images);
        }
        format!(
            "# written by `retrial lock`: the content behind the recipe's names\n{}",
            json_to_yaml(&content)
        )
    }

    /// Pins a recipe to the locked versions. Returns a sentence for each name that the lock does not have.
    pub fn apply_to(&self, recipe: &mut Recipe) -> Vec<String> {
        let mut unknown = Vec::new();
        if let Image::Pull { reference, digest, built_by: None } = &mut recipe.image
            && digest.is_none()
        {
            match self.images.get(reference) {
                Some(locked) => *digest = Some(locked.clone()),
                // A lock need not have an image that the recipe does not name.
                None if recipe.replaced.contains_key("image") => {}
                None if self.local_images.contains(reference) => {}
                None => unknown.push(format!("the image {reference} is not in the lock")),
            }
        }
        if let Some(published) = recipe.replaced.get_mut("image")
            && let Some(locked) = self.images.get(published)
        {
            *published = format!("{published}@{locked}");
        }
        for (_, model) in &mut recipe.models {
            let ModelSource::Hub { repository, revision, locked, .. } = &mut model.source else {
                continue;
            };
            let key = Self::model_key(repository, revision);
            match self.models.get(&key) {
                Some(model) => {
                    revision.clone_from(&model.commit);
                    locked.clone_from(&model.files);
                }
                None if is_commit(revision) => {}
                None => unknown.push(format!("the model {key} is not in the lock")),
            }
        }
        unknown
    }

    /// Returns the differences from a newer lock, one per line.
    pub fn differences_from(&self, now: &Self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.fingerprint != now.fingerprint {
            lines.push("the recipe was changed since it was locked".to_owned());
        }
        let commits = |lock: &Self| -> BTreeMap<String, String> {
            let models = lock.models.iter();
            let commit =
                |(key, model): (&String, &LockedModel)| (key.clone(), model.commit.clone());
            models.map(commit).collect()
        };
        compare_versions("image", "registry", &self.images, &now.images, &mut lines);
        compare_versions("model", "hub", &commits(self), &commits(now), &mut lines);
        for (key, model) in &self.models {
            let newer = now.models.get(key);
            if newer.is_some_and(|now| now.commit == model.commit && now.files != model.files) {
                lines.push(format!("model {key}: the hub has different files for the same commit"));
            }
        }
        lines
    }
}

fn compare_versions(
    kind: &str,
    place: &str,
    locked: &BTreeMap<String, String>,
    now: &BTreeMap<String, String>,
    lines: &mut Vec<String>,
) {
    for (name, locked) in locked {
        match now.get(name) {
            Some(now) if now == locked => {}
            Some(now) => lines
                .push(format!("{kind} {name}: the lock has {locked}, the {place} now has {now}")),
            None => lines.push(format!("{kind} {name}: the recipe no longer uses it")),
        }
    }
    for name in now.keys().filter(|name| !locked.contains_key(*name)) {
        lines.push(format!("{kind} {name} is not in the lock"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full_lock() -> RecipeLock {
        let hex = "0123456789abcdef".repeat(4);
        let model = LockedModel {
            commit: hex[..40].to_owned(),
            files: BTreeMap::from([
                ("config.json".into(), format!("git:{}", &hex[..40])),
                ("a: \"b\"#.bin".into(), format!("sha256:{hex}")),
            ]),
        };
        RecipeLock {
            recipe: "./mine.yaml".into(),
            fingerprint: hex.clone(),
            images: BTreeMap::from([("rocm/x:7.1".into(), format!("sha256:{hex}"))]),
            local_images: vec!["mine:dev".into()],
            models: BTreeMap::from([("amd/tiny@main".into(), model)]),
        }
    }

    fn parse_problems(text: &str) -> String {
        let lock = RecipeLock::parse(&Source::new("mine.lock.yaml", text));
        lock.unwrap_err().to_string()
    }

    #[test]
    fn a_written_lock_can_be_read_back() {
        for lock in [full_lock(), RecipeLock::default()] {
            let source = Source::new("mine.lock.yaml", lock.to_yaml());
            assert_eq!(RecipeLock::parse(&source).unwrap(), lock);
        }
    }

    #[test]
    fn problems_are_reported_with_their_position() {
        assert!(parse_problems("images: {}\n").contains("mine.lock.yaml:1:1: a lock needs `lock`"));
        assert!(
            parse_problems("lock: 2\n")
                .contains("mine.lock.yaml:1:7: this version of retrial reads lock format")
        );
        assert!(parse_problems("lock: 1\nimage: {}\n").contains("2:1: unknown key `image`"));
        let digest = "lock: 1\nimages: { a: sha256:12 }\n";
        assert!(parse_problems(digest).contains("2:14: `sha256:12` is not a digest"));
        let commit = "lock: 1\nmodels: { a@main: { commit: main } }\n";
        assert!(parse_problems(commit).contains("2:29: `main` is not a commit"));
    }

    #[test]
    fn differences_are_reported() {
        let (before, mut now) = (full_lock(), full_lock());
        assert!(before.differences_from(&now).is_empty());
        let other = format!("sha256:{}", "f".repeat(64));
        now.images.insert("rocm/x:7.1".into(), other.clone());
        now.images.insert("rocm/y".into(), other);
        now.models.clear();
        let differences = before.differences_from(&now).join("\n");
        assert!(differences.contains("image rocm/x:7.1: the lock has sha256:0123"));
        assert!(differences.contains("the registry now has sha256:ffff"));
        assert!(differences.contains("image rocm/y is not in the lock"));
        assert!(differences.contains("model amd/tiny@main: the recipe no longer uses it"));
    }
}
