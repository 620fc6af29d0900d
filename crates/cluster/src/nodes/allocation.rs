//! The machines of a run: named on the command line, and written into its directory.

use itertools::Itertools as _;
use miette::Diagnostic;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use retrial_plan::Plan;
use retrial_run::nodes::{Launcher, is_machine_name};
use retrial_store::{RunDirectory, StoreError};

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
#[derive(Debug, Error)]
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

/// Machines that do not match a run or its recipe.
#[derive(Debug, Error, Diagnostic)]
pub enum AllocationError {
    /// The file with the machines of a run cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The run did not use a machine.
    #[error("{run}: no machine {node}; {}", describe_machines(.others))]
    NoSuchMachine {
        /// The id of the run.
        run: String,
        /// The name that the user gave.
        node: String,
        /// The machines of the run other than the head.
        others: Vec<String>,
    },
    /// A recipe needs another number of machines.
    #[error("{recipe} needs {required} machines, not {actual}")]
    #[diagnostic(help("{}", advise_machines(*.required)))]
    MachineCount {
        /// The name of the recipe.
        recipe: String,
        /// How many machines it needs.
        required: u32,
        /// How many there are, with the head.
        actual: usize,
    },
}

fn describe_machines(others: &[String]) -> String {
    if others.is_empty() {
        "it ran on one machine".to_owned()
    } else {
        format!("it has {}; omit --node for the head", others.join(", "))
    }
}

fn advise_machines(required: u32) -> String {
    if required == 1 {
        "run it without --nodes".to_owned()
    } else {
        format!(
            "name the other {} machines, --nodes ssh:NODE,… (this one is the head), or submit a job: --site NAME",
            required - 1
        )
    }
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
    Ok(NodeAllocation { launcher: Launcher::Ssh, others, force: false, exclusive: false })
}

impl NodeAllocation {
    /// The machines of a run, if it has several.
    ///
    /// # Errors
    /// If the file exists and cannot be read.
    pub fn read(run: &RunDirectory) -> Result<Option<Self>, StoreError> {
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
    ) -> Result<RunDirectory, AllocationError> {
        let Some(node) = node else {
            return Ok(run.clone());
        };
        let others = Self::read(run)?.map_or_else(Vec::new, |allocation| allocation.others);
        if others.iter().any(|name| name == node) {
            return Ok(run.machine_directory(node));
        }
        let run = run.id().to_owned();
        let node = node.to_owned();
        Err(AllocationError::NoSuchMachine { run, node, others })
    }

    /// Writes them into the run's directory.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, run: &RunDirectory) -> Result<(), StoreError> {
        run.write_json(RECORD_FILE, self)
    }

    /// Refuses another number of machines than the recipe has.
    ///
    /// # Errors
    /// If the numbers differ.
    pub fn check_machine_count(
        allocation: Option<&Self>,
        plan: &Plan,
    ) -> Result<(), AllocationError> {
        let required = plan.nodes.map_or(1, |nodes| nodes.count);
        let actual = allocation.map_or(1, |allocation| allocation.others.len() + 1);
        if usize::try_from(required) == Ok(actual) {
            return Ok(());
        }
        Err(AllocationError::MachineCount { recipe: plan.recipe.clone(), required, actual })
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("ssh:n2,n3", Ok("n2 n3"))]
    #[case("n2", Err("expected ssh:NODE,NODE,…"))]
    #[case("ssh:", Err("`` is not a machine name: put users and ports in ~/.ssh/config"))]
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
