//! Asks a person to approve the root-equivalent privileges of a recipe.

use std::path::{Path, PathBuf};

use indexmap::{IndexMap, IndexSet};
use itertools::Itertools as _;
use sha2::{Digest, Sha256};
use walkdir::WalkDir;

use crate::app::failure::Failure;
use crate::app::open::Opened;
use crate::app::{file_owners, terminal};
use retrial_plan::Plan;
use retrial_plan::privilege::Privilege;
use retrial_plan::step::{Action, ExecStep, RECIPE_DIRECTORY, Step};
use retrial_store::Home;

/// The largest size of companion files for which an approval is remembered.
const MOST_BYTES: u64 = 64 << 20;

/// The key of a remembered approval: a digest of the resolved recipe and of the companion files that
/// the container, the image or a command on the host can read. None if that cannot be determined.
fn key(plan: &Plan, directory: &Path) -> Option<String> {
    let mut digest = Sha256::new();
    digest.update(&plan.recipe_hash);
    let mut left = MOST_BYTES;
    for path in companions(plan, directory)? {
        add(&mut digest, &path, &mut left)?;
    }
    Some(hex::encode(digest.finalize()))
}

/// Companion files and directories of a recipe that the container, the image or a command on the host
/// can read. None if that cannot be determined.
fn companions(plan: &Plan, directory: &Path) -> Option<Vec<PathBuf>> {
    let own = directory.canonicalize().ok();
    let mut companions = Vec::new();
    // Read-only mounts: a directory that steps write into differs each time.
    let mounts = plan.container.mounts.iter().filter(|mount| mount.read_only);
    let mounts = mounts.map(|mount| mount.source.as_str());
    let contexts = plan.steps.iter().filter_map(|step| match &step.action {
        Action::Build(build) => Some(build.context.as_str()),
        _ => None,
    });
    for source in mounts.chain(contexts) {
        // Files elsewhere are a privilege of their own, `mounts`.
        let path = Path::new(source).canonicalize().ok()?;
        if own.as_ref().is_some_and(|own| path.starts_with(own)) {
            companions.push(path);
        }
    }
    // A command on the host that has the recipe's directory may run any file in it.
    let mut on_host = plan.steps.iter().filter_map(Step::on_host);
    let knows = |command: &ExecStep| command.env.iter().any(|(name, _)| name == RECIPE_DIRECTORY);
    if on_host.any(knows) {
        companions.push(own?);
    }
    Some(companions)
}

/// Adds a file, or the content of a directory in a stable order.
fn add(digest: &mut Sha256, path: &Path, left: &mut u64) -> Option<()> {
    for entry in WalkDir::new(path).sort_by_file_name() {
        let entry = entry.ok()?;
        let (path, kind) = (entry.path(), entry.file_type());
        digest.update(path.as_os_str().as_encoded_bytes());
        if kind.is_symlink() {
            let target = std::fs::read_link(path).ok()?;
            digest.update(target.as_os_str().as_encoded_bytes());
        } else if !kind.is_dir() {
            *left = left.checked_sub(entry.metadata().ok()?.len())?;
        }
        if kind.is_file() {
            digest.update(std::fs::read(path).ok()?);
        }
    }
    Some(())
}

/// Privileges of a plan that are not approved yet, and the key of the approval.
struct Missing<'a> {
    plan: &'a Plan,
    key: Option<String>,
    privileges: Vec<Privilege>,
}

/// Checks that every privilege of the plans is approved: by `--allow`, by an earlier answer for the
/// same recipe and companion files, or by an answer now, for all of them. Built-in recipes need no
/// approval. If no person can be asked, the failure names the flag to add. A recipe that other users can
/// change is refused.
pub fn ask(
    home: &Home,
    plans: &[(&Opened, &Plan)],
    allowed: &[String],
    interactive: bool,
) -> Result<(), Failure> {
    let mut missing = Vec::new();
    for (opened, plan) in plans {
        // A built-in recipe has none, and needs no approval.
        let Some(directory) = opened.entry.directory() else {
            continue;
        };
        let mut privileges = plan.privileges.clone();
        privileges.extend(escaping_mounts(plan, directory));
        if !privileges.is_empty() {
            check_owners(opened, directory, plan)?;
        }
        missing.extend(unapproved(home, directory, plan, privileges, allowed));
    }
    if missing.is_empty() {
        return Ok(());
    }
    let text = text(&missing);
    let flag = format!(
        "--allow {}",
        names(missing.iter().flat_map(|one| &one.privileges)).join(",")
    );
    let recipes = missing.iter().map(|one| one.plan.recipe.as_str());
    let recipes = recipes.sorted().dedup().join("    retrial plan ");
    let look = format!("retrial plan {recipes}");
    let question = format!("{text}Approve this until the recipe changes?");
    let answer = interactive.then(|| terminal::ask(&question)).flatten();
    match answer {
        Some(true) => {}
        Some(false) => {
            return Err(Failure::usage(format!(
                "not approved; nothing was started\n  see its steps: {look}"
            )));
        }
        None => {
            return Err(Failure::usage(format!(
                "{text}  see its steps: {look}\n  approve them: {flag}"
            )));
        }
    }
    for request in &missing {
        if let Some(key) = &request.key {
            home.remember_approval(key, &names(&request.privileges))?;
        }
    }
    Ok(())
}

/// Refuses a recipe on disk that other users can change.
fn check_owners(opened: &Opened, directory: &Path, plan: &Plan) -> Result<(), Failure> {
    let mut files = vec![
        PathBuf::from(&*opened.entry.source.path),
        directory.join("templates"),
    ];
    files.extend(plan.lock.iter().map(|lock| PathBuf::from(&lock.path)));
    files.extend(companions(plan, directory).unwrap_or_default());
    let reason = "the recipe needs root-equivalent privileges";
    file_owners::check(directory, &files, reason)
}

fn unapproved<'a>(
    home: &Home,
    directory: &Path,
    plan: &'a Plan,
    mut privileges: Vec<Privilege>,
    allowed: &[String],
) -> Option<Missing<'a>> {
    privileges.retain(|privilege| !allowed.contains(&privilege.name));
    if privileges.is_empty() {
        return None;
    }
    let key = key(plan, directory);
    let approved = key.as_deref().map(|key| home.approved(key));
    let approved = approved.unwrap_or_default();
    privileges.retain(|privilege| !approved.contains(&privilege.name));
    (!privileges.is_empty()).then_some(Missing {
        plan,
        key,
        privileges,
    })
}

/// The privileges to approve, each once, by recipe.
fn text(missing: &[Missing<'_>]) -> String {
    let mut by_recipe: IndexMap<&str, IndexSet<String>> = IndexMap::new();
    for request in missing {
        let lines = by_recipe.entry(&request.plan.recipe).or_default();
        let privileges = request.privileges.iter();
        lines.extend(privileges.map(|privilege| format!("  {:<14} {privilege}\n", privilege.name)));
    }
    let texts = by_recipe.into_iter().map(|(recipe, lines)| {
        let lines: String = lines.into_iter().collect();
        format!("{recipe} needs root-equivalent privileges on this machine:\n{lines}")
    });
    texts.collect()
}

fn names<'a>(privileges: impl IntoIterator<Item = &'a Privilege>) -> Vec<String> {
    let names = privileges.into_iter().map(|privilege| &privilege.name);
    names.sorted().dedup().cloned().collect()
}

/// Mounts below the recipe's directory that a link leads out of it: a plan, which is made without
/// reading files, cannot see that.
fn escaping_mounts(plan: &Plan, directory: &Path) -> Vec<Privilege> {
    let (Ok(directory), Ok(real)) = (std::path::absolute(directory), directory.canonicalize())
    else {
        return Vec::new();
    };
    let sources = plan.container.mounts.iter().map(|mount| &mount.source);
    let inside = sources.filter(|source| Path::new(source).starts_with(&directory));
    inside
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
