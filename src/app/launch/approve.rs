//! The fourth step: a person approves the root-equivalent privileges of a recipe, and the secrets that it is given.
//! What needs approval, and which files belong to it, is the plan's list of accesses; nothing else is examined here.

use std::path::{Path, PathBuf};

use indexmap::{IndexMap, IndexSet};
use itertools::Itertools as _;
use sha2::{Digest, Sha256};
use walkdir::WalkDir;

use super::approved_plan::ApprovedPlan;
use super::check::CheckedRun;
use super::open::OpenedRecipe;
use super::plan::PlannedRun;
use crate::app::failure::Failure;
use crate::app::{file_owners, terminal};
use retrial_beneath::resolve_existing;
use retrial_plan::Plan;
use retrial_plan::privilege::Privilege;
use retrial_store::Home;

/// The largest size of companion files for which an approval is remembered.
const MAX_COMPANION_BYTES: u64 = 64 << 20;

/// The key of a remembered approval: a digest of the resolved recipe, of what needs approval, and of the companion
/// files that a container of any kind, the builder or a command on the host can read. None if it cannot be determined.
fn approval_key(plan: &Plan) -> Option<String> {
    let mut digest = Sha256::new();
    digest.update(&plan.recipe_hash);
    let non_secrets = plan.privileges.iter().filter(|one| !one.is_secret());
    let privileges: Vec<&Privilege> = non_secrets.collect();
    digest.update(serde_json::to_vec(&privileges).ok()?);
    let mut left = MAX_COMPANION_BYTES;
    for path in companion_paths(plan) {
        digest.update(path.as_os_str().as_encoded_bytes());
        // One that appears later is new to the user.
        if path.exists() {
            hash_path(&mut digest, &path, &mut left)?;
        }
    }
    Some(hex::encode(digest.finalize()))
}

/// Companion files and directories of a recipe that a container, the builder or a command on the host can read.
/// Paths that lead elsewhere are a privilege of their own, `mounts`.
fn companion_paths(plan: &Plan) -> Vec<PathBuf> {
    let Some(own) = plan.directory.as_deref().map(Path::new).map(resolve_existing) else {
        return Vec::new();
    };
    let accesses = plan.access.iter().filter_map(|access| access.kind.known_readable_path());
    let companions = accesses.filter(|path| plan.is_companion(path));
    let resolved = companions.map(|path| resolve_existing(Path::new(path)));
    let inside = resolved.filter(|path| path.starts_with(&own));
    inside.sorted().dedup().collect()
}

/// Adds a file, or the content of a directory in a stable order.
fn hash_path(digest: &mut Sha256, path: &Path, left: &mut u64) -> Option<()> {
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
struct UnapprovedPrivileges<'a> {
    plan: &'a Plan,
    key: Option<String>,
    privileges: Vec<Privilege>,
}

impl CheckedRun<'_> {
    pub fn approve(self, home: &Home) -> Result<ApprovedPlan, Failure> {
        ensure_approved(home, &[&self.0], true)?;
        Ok(ApprovedPlan { plan: self.0.plan })
    }

    /// Has several runs approved by one answer.
    pub fn approve_all(runs: Vec<Self>, home: &Home) -> Result<Vec<ApprovedPlan>, Failure> {
        let planned: Vec<&PlannedRun> = runs.iter().map(|run| &run.0).collect();
        ensure_approved(home, &planned, true)?;
        let plans = runs.into_iter().map(|run| run.0.plan);
        Ok(plans.map(|plan| ApprovedPlan { plan }).collect())
    }
}

/// Refuses runs that are not approved, without a question: some of them cannot start.
pub fn require_approved(home: &Home, runs: &[&PlannedRun]) -> Result<(), Failure> {
    ensure_approved(home, runs, false)
}

/// Checks that every privilege of the plans is approved: by `--allow`, by an earlier answer for the
/// same recipe and companion files, or by an answer now, for all of them. Built-in recipes need no
/// approval. If no person can be asked, the failure names the flag to add. A recipe that other users can
/// change is refused.
fn ensure_approved(home: &Home, runs: &[&PlannedRun], interactive: bool) -> Result<(), Failure> {
    let mut missing = Vec::new();
    for run in runs {
        let PlannedRun { opened, plan, .. } = run;
        // A built-in recipe has none, and needs no approval.
        let Some(directory) = opened.entry.directory() else {
            continue;
        };
        if !plan.privileges.is_empty() {
            check_owners(opened, directory, plan)?;
        }
        missing.extend(find_unapproved(home, plan, &run.request.allow));
    }
    if missing.is_empty() {
        return Ok(());
    }
    let text = describe_missing(&missing);
    let flag = format!(
        "--allow {}",
        privilege_names(missing.iter().flat_map(|one| &one.privileges)).join(",")
    );
    let recipe_names = missing.iter().map(|one| one.plan.recipe.as_str());
    let recipes = recipe_names.sorted().dedup().join("    retrial plan ");
    let plan_command = format!("retrial plan {recipes}");
    let question = format!("{text}Approve this until the recipe changes?");
    let answer = interactive.then(|| terminal::confirm(&question)).flatten();
    match answer {
        Some(true) => {}
        Some(false) => {
            return Err(Failure::usage("not approved; nothing was started")
                .with_help(format!("see its steps: {plan_command}")));
        }
        None => {
            return Err(Failure::usage(text.trim_end())
                .with_help(format!("see its steps: {plan_command}"))
                .with_help(format!("approve them: {flag}")));
        }
    }
    for request in &missing {
        if let Some(key) = &request.key {
            home.remember_approval(key, &privilege_names(&request.privileges))?;
        }
    }
    Ok(())
}

/// Refuses a recipe on disk that other users can change.
fn check_owners(opened: &OpenedRecipe, directory: &Path, plan: &Plan) -> Result<(), Failure> {
    let mut files = vec![PathBuf::from(&*opened.entry.source.path), directory.join("templates")];
    files.extend(plan.lock.iter().map(|lock| PathBuf::from(&lock.path)));
    files.extend(companion_paths(plan));
    let reason = if plan.privileges.iter().all(Privilege::is_secret) {
        "the recipe asks for a secret of yours"
    } else {
        "the recipe needs root-equivalent privileges"
    };
    file_owners::require_trusted_owners(directory, &files, reason)
}

fn find_unapproved<'a>(
    home: &Home,
    plan: &'a Plan,
    allowed: &[String],
) -> Option<UnapprovedPrivileges<'a>> {
    let mut privileges = plan.privileges.clone();
    privileges.retain(|privilege| !allowed.contains(&privilege.name));
    if privileges.is_empty() {
        return None;
    }
    let key = approval_key(plan);
    let earlier_approval = key.as_deref().map(|key| home.approved_privileges(key));
    let approved = earlier_approval.unwrap_or_default();
    privileges.retain(|privilege| !approved.contains(&privilege.name));
    (!privileges.is_empty()).then_some(UnapprovedPrivileges { plan, key, privileges })
}

/// The privileges to approve, each once, by recipe.
fn describe_missing(missing: &[UnapprovedPrivileges<'_>]) -> String {
    let mut by_recipe: IndexMap<&str, IndexSet<&Privilege>> = IndexMap::new();
    for request in missing {
        let privileges = by_recipe.entry(&request.plan.recipe).or_default();
        privileges.extend(&request.privileges);
    }
    let texts = by_recipe.into_iter().map(|(recipe, privileges)| {
        let needs = if privileges.iter().all(|privilege| privilege.is_secret()) {
            "asks for secrets of yours"
        } else {
            "needs root-equivalent privileges on this machine"
        };
        let line = |one: &&Privilege| format!("  {:<14} {one}\n", one.name);
        let lines: String = privileges.iter().map(line).collect();
        format!("{recipe} {needs}:\n{lines}")
    });
    texts.collect()
}

fn privilege_names<'a>(privileges: impl IntoIterator<Item = &'a Privilege>) -> Vec<String> {
    let names = privileges.into_iter().map(|privilege| &privilege.name);
    names.sorted().dedup().cloned().collect()
}
