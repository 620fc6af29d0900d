//! Asks for a person's trust before a recipe gets root-equivalent powers.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{BufRead, IsTerminal, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::app::failure::Failure;
use crate::app::open::Opened;
use crate::plan::Plan;
use crate::plan::privilege::{self, Privilege};
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
        Action::Build(build) => Some(build.context.as_str()),
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

/// A plan that asks for powers, and where its recipe lies.
pub struct Asking<'a> {
    plan: &'a Plan,
    directory: Option<&'a Path>,
    is_builtin: bool,
}

impl<'a> Asking<'a> {
    /// A recipe's plan.
    pub fn of(opened: &'a Opened, plan: &'a Plan) -> Self {
        Self {
            plan,
            directory: opened.entry.directory(),
            is_builtin: opened.entry.is_builtin(),
        }
    }
}

/// Powers of a plan that nobody allowed yet, and what an answer is remembered by.
struct Missing<'a> {
    plan: &'a Plan,
    key: Option<String>,
    powers: Vec<Privilege>,
}

/// Sees that every power of the plans is allowed: by `--allow`, by an earlier answer to the same
/// resolved recipe with the same files beside it, or by an answer now, to all of them. What is built
/// in is trusted. Where no person may be asked, the failure says what to add.
pub fn ask(
    home: &Home,
    plans: &[Asking<'_>],
    allowed: &[String],
    a_person: bool,
) -> Result<(), Failure> {
    let unknown = |name: &&String| !privilege::NAMES.contains(&name.as_str());
    if let Some(unknown) = allowed.iter().find(unknown) {
        let names = privilege::NAMES.join(", ");
        return Err(Failure::usage(format!(
            "--allow {unknown}: no such privilege; there are {names}"
        )));
    }
    let asking = plans.iter().filter(|asking| !asking.is_builtin);
    let missing: Vec<Missing<'_>> = asking
        .filter_map(|asking| missing(home, asking, allowed))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let text = text(&missing);
    let flag = format!(
        "--allow {}",
        names(missing.iter().flat_map(|one| &one.powers)).join(",")
    );
    let mut recipes: Vec<String> = Vec::new();
    for one in &missing {
        let look = format!("retrial plan {}", one.plan.recipe);
        if !recipes.contains(&look) {
            recipes.push(look);
        }
    }
    let look = recipes.join("    ");
    if !(a_person && std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        return Err(Failure::usage(format!(
            "{text}  look at it: {look}\n  approve them: {flag}"
        )));
    }
    let mut err = std::io::stderr();
    let _ = write!(
        err,
        "{text}Approve this, now and while the recipe is unchanged? [y/N] "
    );
    let _ = err.flush();
    let mut answer = String::new();
    let _ = std::io::stdin().lock().read_line(&mut answer);
    if !matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
        return Err(Failure::usage(format!(
            "not approved; nothing was started\n  look at it: {look}"
        )));
    }
    for one in &missing {
        if let Some(key) = &one.key {
            home.remember_approval(key, &names(&one.powers))?;
        }
    }
    Ok(())
}

fn missing<'a>(home: &Home, asking: &Asking<'a>, allowed: &[String]) -> Option<Missing<'a>> {
    let (plan, directory) = (asking.plan, asking.directory);
    let asked = plan
        .privileges
        .iter()
        .cloned()
        .chain(led_out(plan, directory));
    let mut powers: Vec<Privilege> = asked
        .filter(|power| !allowed.contains(&power.name))
        .collect();
    if powers.is_empty() {
        return None;
    }
    let key = key(plan, directory);
    let known = key
        .as_deref()
        .map(|key| home.approved(key))
        .unwrap_or_default();
    powers.retain(|power| !known.contains(&power.name));
    (!powers.is_empty()).then_some(Missing { plan, key, powers })
}

/// What is asked for, each recipe and power once.
fn text(missing: &[Missing<'_>]) -> String {
    let mut text = String::new();
    let mut told = BTreeSet::new();
    let mut recipe = None;
    for one in missing {
        for power in &one.powers {
            let line = format!("  {:<14} {}", power.name, power);
            if !told.insert((&one.plan.recipe, line.clone())) {
                continue;
            }
            if recipe != Some(&one.plan.recipe) {
                recipe = Some(&one.plan.recipe);
                let _ = writeln!(
                    text,
                    "{} needs root-equivalent privileges on this machine:",
                    one.plan.recipe
                );
            }
            let _ = writeln!(text, "{line}");
        }
    }
    text
}

fn names<'a>(powers: impl IntoIterator<Item = &'a Privilege>) -> Vec<String> {
    let names: BTreeSet<String> = powers.into_iter().map(|power| power.name.clone()).collect();
    names.into_iter().collect()
}

/// Mounts from beside the recipe that a link leads out of its directory: the plan, which is made
/// of text only, cannot see that.
fn led_out(plan: &Plan, directory: Option<&Path>) -> Vec<Privilege> {
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
            let effect = format!(
                "a link to {}, outside the recipe's directory",
                leads_to.display()
            );
            (!leads_to.starts_with(&real)).then(|| Privilege::mount(source, &effect))
        })
        .collect()
}
