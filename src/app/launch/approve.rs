//! The fourth step: a person approves the root-equivalent privileges of a recipe, and the secrets that it is given.
//! What needs approval, and which files belong to it, is the plan's list of accesses; nothing else is examined here.

use std::iter;
use std::path::{Path, PathBuf};

use indexmap::{IndexMap, IndexSet};
use itertools::Itertools as _;
use sha2::{Digest, Sha256};

use super::approvals::{approved_privileges, remember_approval};
use super::approved_plan::ApprovedPlan;
use super::check::CheckedRun;
use super::open::OpenedRecipe;
use super::plan::PlannedRun;
use crate::app::configuration::privileges_below;
use crate::app::failure::Failure;
use crate::app::options::GlobalOptions;
use crate::app::{file_owners, terminal};
use retrial_container::formats::RESERVED_PREFIX;
use retrial_document::escape_harmful;
use retrial_plan::Plan;

use retrial_plan::privilege::{HOST_PRIVILEGE, Privilege};
use retrial_plan::step::ExecStep;
use retrial_store::Home;
use retrial_store::files::{create_private_directory, parent_directory};

/// The most commands that show the steps of plans.
const MAX_PLAN_COMMANDS: usize = 3;

/// The most lines of a command in the question, the most characters of each, and the most blanks before it.
const MAX_COMMAND_LINES: usize = 12;
const MAX_LINE_LENGTH: usize = 300;
const MAX_INDENTATION: usize = 24;

/// The number of digits of a digest in the question.
const SHOWN_DIGEST_LENGTH: usize = 12;

/// The key of a remembered approval: a digest of the resolved recipe, of what needs approval, of the copy of the files
/// next to it, and of the images' references. None if it cannot be determined.
pub fn approval_key(plan: &Plan) -> Option<String> {
    let non_secrets = plan.privileges.iter().filter(|one| !one.is_secret());
    let privileges: Vec<&Privilege> = non_secrets.collect();
    // With the digests of a lock.
    let images: Vec<&String> = plan.pulled_images().collect();
    // JSON, so that no two lists of texts are the same bytes.
    let parts = (&plan.recipe_hash, privileges, &plan.companions, images);
    let parts = serde_json::to_vec(&parts).ok()?;
    Some(hex::encode(Sha256::digest(parts)))
}

/// Privileges of a plan that are not approved yet, and the key of the approval.
struct UnapprovedPrivileges<'a> {
    plan: &'a Plan,
    key: Option<String>,
    privileges: Vec<Privilege>,
    /// Who gives the recipe parameters or an image, if not the user.
    changed_by: Option<String>,
}

impl CheckedRun<'_> {
    pub fn approve(self, global: &GlobalOptions) -> Result<ApprovedPlan, Failure> {
        ensure_approved(global, &[&self.0], true)?;
        Ok(self.0.into_approved())
    }

    /// Has several runs approved by one answer.
    pub fn approve_all(
        runs: Vec<Self>,
        global: &GlobalOptions,
    ) -> Result<Vec<ApprovedPlan>, Failure> {
        let planned: Vec<&PlannedRun> = runs.iter().map(|run| &run.0).collect();
        ensure_approved(global, &planned, true)?;
        Ok(runs.into_iter().map(|run| run.0.into_approved()).collect())
    }
}

impl PlannedRun<'_> {
    fn into_approved(self) -> ApprovedPlan {
        ApprovedPlan { plan: self.plan, companions: self.companions }
    }
}

/// Refuses runs that are not approved, without a question: some of them cannot start.
pub fn require_approved(global: &GlobalOptions, runs: &[&PlannedRun]) -> Result<(), Failure> {
    ensure_approved(global, runs, false)
}

/// Checks that every privilege of the plans is approved: by `--allow`, by an earlier answer for the
/// same recipe and companion files, or by an answer now, for all of them. Built-in recipes need no
/// approval. If no person can be asked, the failure names the flag to add. A recipe that other users can
/// change is refused.
fn ensure_approved(
    global: &GlobalOptions,
    runs: &[&PlannedRun],
    interactive: bool,
) -> Result<(), Failure> {
    let home = &global.home;
    let mut missing = Vec::new();
    for run in runs {
        let PlannedRun { opened, plan, .. } = run;
        if opened.is_trusted() {
            continue;
        }
        if !plan.privileges.is_empty() {
            check_owners(opened, plan)?;
            check_own_directories(global, plan)?;
        }
        let mut allowed = run.request.allow.clone();
        // A stream is below no directory.
        if !opened.has_settings_of_program() && !opened.entry.is_stream() {
            allowed.extend(privileges_below(&global.allow_below, &opened.files()));
        }
        missing.extend(find_unapproved(home, plan, &allowed, opened.changed_by())?);
    }
    if missing.is_empty() {
        return Ok(());
    }
    let text = describe_missing(&missing);
    let names = privilege_names(missing.iter().flat_map(|one| &one.privileges));
    // With the settings of the command line or of a batch's file.
    let plan_commands = missing.iter().map(|one| one.plan.plan_command("retrial"));
    let plan_command = plan_commands.unique().take(MAX_PLAN_COMMANDS).join("    ");
    let mut asked = missing.iter().flat_map(|one| &one.privileges);
    let until =
        if asked.all(|one| one.each_time) { "for this run" } else { "until the recipe changes" };
    let question = format!("{text}Approve this {until}?");
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
                .with_help(format!("approve them: --allow {}", names.join(",")))
                .with_missing_approval(names));
        }
    }
    for request in &missing {
        let mut kept = request.privileges.clone();
        kept.retain(|privilege| !privilege.each_time);
        if let Some(key) = request.key.as_ref().filter(|_| !kept.is_empty()) {
            remember_approval(home, key, &privilege_names(&kept))?;
        }
    }
    Ok(())
}

/// Refuses a recipe on disk that other users can change.
fn check_owners(opened: &OpenedRecipe, plan: &Plan) -> Result<(), Failure> {
    let reason = if plan.privileges.iter().all(Privilege::is_secret) {
        "the recipe asks for a secret of yours"
    } else {
        "the recipe needs root-equivalent privileges"
    };
    // What was read, whatever has its name now; then the names, by which others could have put it there.
    opened.require_trusted(reason)?;
    let mut files = opened.files();
    let directories: Vec<PathBuf> =
        files.iter().map(|file| parent_directory(file).to_owned()).collect();
    files.extend(opened.entry.templates_directory());
    files.extend(plan.lock.iter().map(|lock| PathBuf::from(&lock.path)));
    let own = opened.entry.directory();
    let companions = plan.companion_names();
    files.extend(own.into_iter().flat_map(|own| companions.iter().map(|name| own.join(name))));
    let own = own.map(Path::to_owned).into_iter().chain(directories);
    own.unique()
        .try_for_each(|directory| file_owners::require_trusted_owners(&directory, &files, reason))
}

/// Refuses a home or a cache in whose place another user can put something else: the copy of a recipe's files and its
/// cached directories are there.
fn check_own_directories(global: &GlobalOptions, plan: &Plan) -> Result<(), Failure> {
    let mut containers = plan.containers();
    let is_cached = containers.any(|container| !container.cache_mounts.is_empty())
        || plan.cached_directories().next().is_some();
    let cache = is_cached.then_some(&*global.cache);
    iter::once(global.home.root()).chain(cache).try_for_each(|directory| {
        create_private_directory(directory)?;
        let reason = "what runs with privileges is taken from it";
        // By its name, and without links.
        file_owners::require_own_directories(&[directory.to_owned()], reason)?;
        file_owners::require_trusted_owners(directory, &[], reason)
    })
}

fn find_unapproved<'a>(
    home: &Home,
    plan: &'a Plan,
    allowed: &[String],
    changed_by: Option<String>,
) -> Result<Option<UnapprovedPrivileges<'a>>, Failure> {
    let mut privileges = plan.privileges.clone();
    privileges.retain(|privilege| !allowed.contains(&privilege.name));
    if privileges.is_empty() {
        return Ok(None);
    }
    let key = approval_key(plan);
    let earlier_approval = key.as_deref().map(|key| approved_privileges(home, key)).transpose()?;
    let approved = earlier_approval.unwrap_or_default();
    privileges.retain(|privilege| privilege.each_time || !approved.contains(&privilege.name));
    Ok((!privileges.is_empty()).then_some(UnapprovedPrivileges {
        plan,
        key,
        privileges,
        changed_by,
    }))
}

/// The parameters and images that somebody else than the user gives a recipe.
fn describe_settings(author: &str, plan: &Plan) -> String {
    let given = plan.settings().map(|setting| format!("{}={}", setting.name, setting.value));
    let given = escape_harmful(&given.chain(Some(format!("image {}", plan.image))).join(", "));
    format!("  {:<14} {}: {given}\n", "set by", escape_harmful(author))
}

/// The privileges to approve, each once, by recipe.
fn describe_missing(missing: &[UnapprovedPrivileges<'_>]) -> String {
    // By the text of the question: cells of one recipe may have other commands.
    let mut by_recipe: IndexMap<_, IndexSet<(&Privilege, String)>> = IndexMap::new();
    for UnapprovedPrivileges { plan, privileges, changed_by, .. } in missing {
        // Cells of one recipe with other settings are asked for apart.
        let settings = changed_by.as_ref().map(|author| describe_settings(author, plan));
        let key = (&plan.recipe, &plan.companions, settings);
        let with_command = privileges.iter().map(|one| (one, describe_commands(plan, one)));
        by_recipe.entry(key).or_default().extend(with_command);
    }
    let texts = by_recipe.into_iter().map(|((recipe, companions, settings), privileges)| {
        let needs = if privileges.iter().all(|(privilege, _)| privilege.is_secret()) {
            "asks for secrets of yours"
        } else {
            "needs root-equivalent privileges on this machine"
        };
        let mut lines =
            privileges.iter().map(|(one, command)| format!("  {:<14} {one}\n{command}", one.name));
        let lines = lines.join("");
        let digest = companions.as_ref().and_then(|digest| digest.get(..SHOWN_DIGEST_LENGTH));
        let files = digest.map(|digest| format!("  {:<14} sha256:{digest}\n", "with its files"));
        let files = files.unwrap_or_default();
        let settings = settings.unwrap_or_default();
        format!("{} {needs}:\n{lines}{settings}{files}", escape_harmful(recipe))
    });
    texts.collect()
}

/// The first lines of each command on the host that a privilege is for; nothing of any other.
fn describe_commands(plan: &Plan, privilege: &Privilege) -> String {
    if privilege.name != HOST_PRIVILEGE {
        return String::new();
    }
    plan.host_commands(&privilege.setting).map(describe_command).join("")
}

/// What decides what a command does: its shell and variables if the recipe chooses them, and its text.
fn describe_command(command: &ExecStep) -> String {
    let shell = command.shell.as_ref().map(|words| format!("shell {words:?}"));
    let own = command.env.iter().filter(|(name, _)| !name.starts_with(RESERVED_PREFIX));
    let env = own.map(|(name, value)| format!("env {name}={value:?}"));
    let settings: String =
        shell.into_iter().chain(env).map(|line: String| describe_text(&line)).collect();
    settings + &describe_text(&command.run)
}

fn describe_text(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().split('\n').collect();
    let (shown, others) = lines.split_at(lines.len().min(MAX_COMMAND_LINES));
    let shown = shown.iter().map(|line| {
        let code = line.trim_start_matches(' ');
        let indentation = (line.len() - code.len()).min(MAX_INDENTATION);
        let rest = code.chars().count().saturating_sub(MAX_LINE_LENGTH);
        let start: String = code.chars().take(MAX_LINE_LENGTH).collect();
        let more = if rest > 0 { format!("… {rest} more characters") } else { String::new() };
        format!("{}{}{more}", " ".repeat(indentation), escape_harmful(&start))
    });
    let more = (!others.is_empty()).then(|| format!("… {} more lines", others.len()));
    shown.chain(more).map(|line| format!("  {:<14} | {line}\n", "")).join("")
}

fn privilege_names<'a>(privileges: impl IntoIterator<Item = &'a Privilege>) -> Vec<String> {
    let names = privileges.into_iter().map(|privilege| &privilege.name);
    names.sorted().dedup().cloned().collect()
}
