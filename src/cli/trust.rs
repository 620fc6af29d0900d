//! Asks for a person's trust before a recipe gets root-equivalent powers.

use std::fmt::Write as _;
use std::io::{BufRead, IsTerminal, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::failure::Failure;
use crate::plan::Plan;
use crate::plan::power::{self, Power};
use crate::plan::step::{Action, ExecStep, RECIPE_DIRECTORY, Step};
use crate::store::Home;

/// The most that an answer may vouch for: with more beside the recipe it is asked each time.
const MOST_BYTES: u64 = 64 << 20;

/// What an answer is remembered by: the resolved recipe, and the content of what lies beside it
/// and goes into the container, the image, or to a command on the host. None where that cannot be told.
fn key(plan: &Plan, directory: Option<&Path>) -> Option<String> {
    let mut digest = Sha256::new();
    digest.update(&plan.recipe_hash);
    let own = directory.and_then(|directory| directory.canonicalize().ok());
    // What is mounted read-only: a directory that steps write into differs each time.
    let mounts = plan.container.mounts.iter().filter(|mount| mount.read_only);
    let mounts = mounts.map(|mount| mount.source.as_str());
    let contexts = plan.steps.iter().filter_map(|step| match &step.action {
        Action::Build { context, .. } => Some(context.as_str()),
        _ => None,
    });
    let mut left = MOST_BYTES;
    for source in mounts.chain(contexts) {
        // What lies elsewhere is asked for by its name, as `mounts`.
        let path = Path::new(source).canonicalize().ok()?;
        if own.as_ref().is_some_and(|own| path.starts_with(own)) {
            add(&mut digest, &path, &mut left)?;
        }
    }
    // A command on the host that knows where the recipe lies may run anything beside it.
    let mut on_host = plan.steps.iter().filter_map(Step::on_host);
    let told = |command: &ExecStep| command.env.iter().any(|(name, _)| name == RECIPE_DIRECTORY);
    if on_host.any(told) {
        add(&mut digest, own.as_deref()?, &mut left)?;
    }
    Some(hex::encode(digest.finalize()))
}

/// Adds a file, or what a directory holds, in an order of its own.
fn add(digest: &mut Sha256, path: &Path, left: &mut u64) -> Option<()> {
    digest.update(path.as_os_str().as_encoded_bytes());
    let kind = std::fs::symlink_metadata(path).ok()?;
    if kind.is_dir() {
        let entries = std::fs::read_dir(path).ok()?;
        let mut names: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        names.sort();
        return names.iter().try_for_each(|name| add(digest, name, left));
    }
    if kind.is_symlink() {
        digest.update(
            std::fs::read_link(path)
                .ok()?
                .as_os_str()
                .as_encoded_bytes(),
        );
        return Some(());
    }
    *left = left.checked_sub(kind.len())?;
    if kind.is_file() {
        digest.update(std::fs::read(path).ok()?);
    }
    Some(())
}

/// Sees that every power of the plan is allowed: by `--allow`, by an earlier answer to the same
/// resolved recipe with the same files beside it, or by an answer now.
pub fn ask(
    home: &Home,
    plan: &Plan,
    directory: Option<&Path>,
    allowed: &[String],
) -> Result<(), Failure> {
    if let Some(unknown) = allowed
        .iter()
        .find(|name| !power::NAMES.contains(&name.as_str()))
    {
        let names = power::NAMES.join(", ");
        return Err(Failure::usage(format!(
            "--allow {unknown}: no such power; there are {names}"
        )));
    }
    let key = key(plan, directory);
    let known = key
        .as_deref()
        .map(|key| home.trusted(key))
        .unwrap_or_default();
    let asked = plan.powers.iter().cloned().chain(led_out(plan, directory));
    let missing: Vec<Power> = asked
        .filter(|power| !allowed.contains(&power.name) && !known.contains(&power.name))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let mut names: Vec<String> = missing.iter().map(|power| power.name.clone()).collect();
    names.sort_unstable();
    names.dedup();
    let mut text = format!(
        "{} asks for powers that are as good as root on this machine:\n",
        plan.recipe
    );
    for power in &missing {
        let _ = writeln!(text, "  {:<14} {}", power.name, power.because);
    }
    let flag = format!("--allow {}", names.join(","));
    if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        return Err(Failure::usage(format!(
            "{text}  look at it: retrial plan {}\n  if you trust it: {flag}",
            plan.recipe
        )));
    }
    let mut err = std::io::stderr();
    let _ = write!(
        err,
        "{text}Allow this, now and for this recipe unchanged? [y/N] "
    );
    let _ = err.flush();
    let mut answer = String::new();
    let _ = std::io::stdin().lock().read_line(&mut answer);
    if !matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
        return Err(Failure::usage(format!(
            "not allowed; nothing was done\n  look at it: retrial plan {}",
            plan.recipe
        )));
    }
    match key {
        Some(key) => Ok(home.remember_trust(&key, &names)?),
        None => Ok(()),
    }
}

/// Mounts from beside the recipe that a link leads out of its directory: the plan, which is made
/// of text only, cannot see that.
fn led_out(plan: &Plan, directory: Option<&Path>) -> Vec<Power> {
    let Some(directory) = directory.and_then(|directory| std::path::absolute(directory).ok())
    else {
        return Vec::new();
    };
    let Ok(real) = directory.canonicalize() else {
        return Vec::new();
    };
    let beside = plan
        .container
        .mounts
        .iter()
        .map(|mount| &mount.source)
        .filter(|source| Path::new(source).starts_with(&directory));
    beside
        .filter_map(|source| {
            let leads_to = Path::new(source).canonicalize().ok()?;
            let because = format!(
                "mount {source}: a link to {}, outside the recipe's directory",
                leads_to.display()
            );
            (!leads_to.starts_with(&real)).then(|| Power {
                name: "mounts".to_owned(),
                because,
            })
        })
        .collect()
}
