//! The head: starts the agent on the other machines, compares them all, and has them prepare.

use std::net::{ToSocketAddrs, UdpSocket};
use std::time::Duration;

use itertools::join;
use thiserror::Error;

use super::allocation::NodeAllocation;
use super::compare::{KnownMachine, compare_machines, machine_facts};
use super::nonce::write_nonce;
use crate::slurm::current_node;
use retrial_document::ErrorText;
use retrial_host::model::HostView;
use retrial_plan::Plan;
use retrial_recipe::expression::NodeScope;
use retrial_run::nodes::{AgentSetup, NodeError, PeerNodes, RunMachine};
use retrial_run::read_secrets;
use retrial_store::{RunDirectory, StoreError};

/// The command lines of this program on another machine.
pub struct MachineCommands<S> {
    /// Serves the head on the machine of this name.
    pub serve: S,
    /// Removes the containers of the run.
    pub clean: Vec<String>,
}

/// A run that cannot start on its machines.
#[derive(Debug, Error)]
pub enum MachinesError {
    /// The run's files cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A machine cannot be reached, or does not meet the requirements.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// Machines differ where they must not.
    #[error("the machines of this run do not match:\n{differences}")]
    Different {
        /// What differs, a line each.
        differences: String,
        /// A run with some of the differences can be forced.
        is_forceable: bool,
    },
}

impl MachinesError {
    /// The message and its remedies.
    pub fn to_error_text(&self) -> ErrorText {
        match self {
            Self::Store(error) => ErrorText::of(error),
            Self::Node(NodeError { node, error }) => error.clone().in_context(&format!("{node}: ")),
            Self::Different { is_forceable, .. } => {
                let force = "differences in GPUs and drivers can be allowed with --force: the verdict is then marked 'modified'";
                ErrorText::new(self.to_string()).with_help(if *is_forceable { force } else { "" })
            }
        }
    }
}

/// Starts the agent on the other machines of a run, and checks them all. Returns this machine and the others,
/// ready for the first step. Forced differences become 'modified' in the verdict.
///
/// # Errors
/// If a machine cannot be reached, or does not meet the requirements.
pub async fn start_machines(
    run: &RunDirectory,
    allocation: &NodeAllocation,
    host: &HostView,
    commands: MachineCommands<impl Fn(&str) -> Vec<String>>,
    patience: Duration,
) -> Result<(RunMachine, PeerNodes), MachinesError> {
    let mut plan: Plan = run.read_json("plan.json")?;
    for name in &allocation.others {
        run.machine_directory(name).create_layout()?;
    }
    let nonce = write_nonce(run)?;
    let started = PeerNodes::start_all(
        allocation.launcher,
        &allocation.others,
        commands.serve,
        commands.clean,
        allocation.force,
    );
    let (mut others, answers) = started.await?;
    let this_machine = KnownMachine {
        name: current_node().unwrap_or_else(|| host.hostname.clone()),
        facts: machine_facts(host, Some(&plan), Some(nonce.clone())),
        ahead: 0.0,
    };
    let mut machines = vec![this_machine];
    for (name, (facts, ahead)) in allocation.others.iter().cloned().zip(answers) {
        machines.push(KnownMachine { name, facts, ahead });
    }
    refuse_differing_machines(run, &mut plan, &machines, &nonce, allocation.force)?;
    let all_gpus = machines.iter().map(|one| one.facts.gpus).sum();
    let address = own_address(allocation.others.first(), &host.hostname);
    let scope = |machine: &KnownMachine| NodeScope {
        name: machine.name.clone(),
        gpus: Some(machine.facts.gpus),
        head: address.clone(),
        count: u32::try_from(machines.len()).unwrap_or(u32::MAX),
        all_gpus,
    };
    let secrets = read_secrets(&plan);
    let ready = others.prepare_all(|index| AgentSetup {
        scope: scope(&machines[index + 1]),
        secrets: secrets.clone(),
        force: allocation.force,
        exclusive: allocation.exclusive,
        on_disconnect: allocation.launcher.on_disconnect(),
        patience,
    });
    ready.await?;
    let machine = RunMachine { scope: scope(&machines[0]), is_head: true };
    Ok((machine, others))
}

/// Refuses machines that differ where they must not.
fn refuse_differing_machines(
    run: &RunDirectory,
    plan: &mut Plan,
    machines: &[KnownMachine],
    nonce: &str,
    force: bool,
) -> Result<(), MachinesError> {
    let directory = run.path().display().to_string();
    let differences = compare_machines(machines, nonce, plan.total_gpus(), &directory);
    let refused: &[String] = if force { &[] } else { &differences.refusals };
    let lines = differences.errors.iter().chain(refused);
    let lines = join(lines.map(|line| format!("  {line}")), "\n");
    if !lines.is_empty() {
        return Err(MachinesError::Different {
            differences: lines,
            is_forceable: !refused.is_empty(),
        });
    }
    if plan.node_differences != differences.refusals {
        plan.node_differences = differences.refusals;
        run.write_json("plan.json", plan)?;
    }
    Ok(())
}

/// This machine's address, as another one reaches it.
fn own_address(other: Option<&String>, hostname: &str) -> String {
    let remote = other.and_then(|name| (name.as_str(), 9).to_socket_addrs().ok()?.next());
    let local = remote.and_then(|other| {
        let any = if other.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
        let socket = UdpSocket::bind(any).ok()?;
        // Sends nothing: the kernel chooses the route.
        socket.connect(other).ok()?;
        Some(socket.local_addr().ok()?.ip())
    });
    local.map_or_else(|| hostname.to_owned(), |address| address.to_string())
}
