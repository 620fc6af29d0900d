//! Asks for a person's trust before a recipe gets root-equivalent powers.

use std::fmt::Write as _;
use std::io::{BufRead, IsTerminal, Write};
use std::path::Path;

use super::failure::Failure;
use crate::plan::Plan;
use crate::plan::power::{self, Power};
use crate::store::Home;

/// Sees that every power of the plan is allowed: by `--allow`, by an earlier answer to the same
/// resolved recipe, or by an answer now.
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
    let known = home.trusted(&plan.recipe_hash);
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
    Ok(home.remember_trust(&plan.recipe_hash, &names)?)
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
