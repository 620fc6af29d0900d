//! The machines of a run: named on the command line, and written into its directory.

use itertools::Itertools as _;
use serde::{Deserialize, Serialize};

use crate::app::failure::Failure;
use retrial_plan::Plan;
use retrial_run::nodes::{Launcher, is_machine_name};
use retrial_store::RunDirectory;

/// The file with the machines of a run.
const RECORD_FILE: &str = "nodes.json";

/// The machines of a run other than the head, which executes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeAllocation {
    /// The launcher that starts a process on them.
    pub launcher: Launcher,
    /// The names of these machines, as the launcher takes them.
    pub others: Vec<String>,
    /// Continue even if they do not meet the recipe's requirements.
    #[serde(default)]
    pub force: bool,
    /// They are allocated to this job only.
    #[serde(default)]
    pub exclusive: bool,
}

/// An argument of `--nodes` that names no machines.
#[derive(Debug, thiserror::Error)]
pub enum InvalidNodes {
    /// It names another launcher, or none.
    #[error("expected ssh:NODE,NODE,…")]
    Launcher,
    /// Not the name of a machine.
    #[error("`{0}` is not a machine name: put users and ports in ~/.ssh/config")]
    Name(String),
    /// A machine that is named twice.
    #[error("duplicate `{0}`")]
    Duplicate(String),
}

/// Parses the value of `--nodes`: `ssh:n2,n3`.
///
/// # Errors
/// If the launcher is another one, or a name is invalid.
pub fn parse_nodes_option(text: &str) -> Result<NodeAllocation, InvalidNodes> {
    let Some(names) = text.strip_prefix("ssh:") else {
        return Err(InvalidNodes::Launcher);
    };
    let others: Vec<String> = names.split(',').map(str::to_owned).collect();
    if let Some(name) = others.iter().find(|name| !is_machine_name(name)) {
        return Err(InvalidNodes::Name(name.clone()));
    }
    if let Some(name) = others.iter().duplicates().next() {
        return Err(InvalidNodes::Duplicate(name.clone()));
    }
    Ok(NodeAllocation {
        launcher: Launcher::Ssh,
        others,
        force: false,
        exclusive: false,
    })
}

impl NodeAllocation {
    /// The machines of a run, if it has several.
    ///
    /// # Errors
    /// If the file exists and cannot be read.
    pub fn read(run: &RunDirectory) -> Result<Option<Self>, Failure> {
        if !run.join(RECORD_FILE).exists() {
            return Ok(None);
        }
        let written: Self = run.read_json(RECORD_FILE)?;
        Ok(Some(written).filter(|written| !written.others.is_empty()))
    }

    /// The directory of a machine's files within a run's: that of the head if none is named.
    ///
    /// # Errors
    /// If the run does not use such a machine.
    pub fn machine_directory(
        run: &RunDirectory,
        node: Option<&str>,
    ) -> Result<RunDirectory, Failure> {
        let Some(node) = node else {
            return Ok(run.clone());
        };
        let others = Self::read(run)?.map_or_else(Vec::new, |allocation| allocation.others);
        if others.iter().any(|name| name == node) {
            return Ok(run.machine_directory(node));
        }
        let has = if others.is_empty() {
            "it ran on one machine".to_owned()
        } else {
            format!("it has {}; omit --node for the head", others.join(", "))
        };
        Err(Failure::usage(format!(
            "{}: no machine {node}; {has}",
            run.id()
        )))
    }

    /// Writes them into the run's directory.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, run: &RunDirectory) -> Result<(), Failure> {
        Ok(run.write_json(RECORD_FILE, self)?)
    }

    /// Refuses another number of machines than the recipe has.
    ///
    /// # Errors
    /// If the numbers differ.
    pub fn check_machine_count(allocation: Option<&Self>, plan: &Plan) -> Result<(), Failure> {
        let required = plan.nodes.map_or(1, |nodes| nodes.count);
        let actual = allocation.map_or(1, |allocation| allocation.others.len() + 1);
        if usize::try_from(required) == Ok(actual) {
            return Ok(());
        }
        let advice = if required == 1 {
            "run it without --nodes".to_owned()
        } else {
            format!(
                "name the other {} machines, --nodes ssh:NODE,… (this one is the head), or submit a job: --site NAME",
                required - 1
            )
        };
        let recipe = &plan.recipe;
        let message = format!("{recipe} needs {required} machines, not {actual}");
        Err(Failure::usage(message).with_help(advice))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("ssh:n2,n3", Ok("n2 n3"))]
    #[case("n2", Err("expected ssh:NODE,NODE,…"))]
    #[case(
        "ssh:",
        Err("`` is not a machine name: put users and ports in ~/.ssh/config")
    )]
    #[case(
        "ssh:-oProxyCommand=x",
        Err("`-oProxyCommand=x` is not a machine name: put users and ports in ~/.ssh/config")
    )]
    #[case("ssh:a,b,a", Err("duplicate `a`"))]
    fn nodes_are_parsed_from_the_command_line(
        #[case] text: &str,
        #[case] expected: Result<&str, &str>,
    ) {
        let parsed = parse_nodes_option(text).map(|allocation| allocation.others.join(" "));
        let parsed = parsed.map_err(|error| error.to_string());
        assert_eq!(parsed.as_deref().map_err(String::as_str), expected);
    }
}
