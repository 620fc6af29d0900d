//! The head: starts the agent on the other machines, compares them all, and has them prepare.

use std::net::{ToSocketAddrs, UdpSocket};
use std::time::Duration;

use itertools::join;

use crate::app::failure::Failure;
use crate::app::options::GlobalOptions;
use crate::app::{open, runtime};
use retrial_cluster::nodes::allocation::NodeAllocation;
use retrial_cluster::nodes::compare::{KnownMachine, compare_machines, machine_facts};
use retrial_cluster::nodes::nonce::write_nonce;
use retrial_cluster::slurm::current_node;
use retrial_plan::Plan;
use retrial_recipe::expression::NodeScope;
use retrial_run::nodes::{AgentSetup, NodeError, PeerNodes, RunMachine};
use retrial_run::read_secrets;
use retrial_store::RunDirectory;

/// Starts the agent on the other machines of a run, and checks them all. Returns this machine and the others,
/// ready for the first step. Forced differences become 'modified' in the verdict.
///
/// # Errors
/// If a machine cannot be reached, or does not meet the requirements.
pub async fn start_machines(
    global: &GlobalOptions,
    run: &RunDirectory,
    allocation: &NodeAllocation,
    patience: Duration,
) -> Result<(RunMachine, PeerNodes), Failure> {
    let mut plan: Plan = run.read_json("plan.json")?;
    for name in &allocation.others {
        run.machine_directory(name).create_layout()?;
    }
    let nonce = write_nonce(run)?;
    let program = runtime::program_path()?;
    let path = run.path().display().to_string();
    let command = |words: &[&str]| runtime::command_line(&program, global, words);
    let serve = |name: &str| command(&["node", &path, name]);
    let clean = command(&["clean", "--all", &path]);
    let started = PeerNodes::start_all(
        allocation.launcher,
        &allocation.others,
        serve,
        clean,
        allocation.force,
    );
    let (mut others, answers) = started.await?;
    let host = open::probe_host(global);
    let this_machine = KnownMachine {
        name: current_node().unwrap_or_else(|| host.hostname.clone()),
        facts: machine_facts(&host, Some(&plan), Some(nonce.clone())),
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
        gpus: machine.facts.gpus,
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
    let machine = RunMachine {
        scope: scope(&machines[0]),
        is_head: true,
    };
    Ok((machine, others))
}

/// Refuses machines that differ where they must not.
fn refuse_differing_machines(
    run: &RunDirectory,
    plan: &mut Plan,
    machines: &[KnownMachine],
    nonce: &str,
    force: bool,
) -> Result<(), Failure> {
    let directory = run.path().display().to_string();
    let differences = compare_machines(machines, nonce, plan.total_gpus(), &directory);
    let refused: &[String] = if force { &[] } else { &differences.refusals };
    let lines = differences.errors.iter().chain(refused);
    let lines = join(lines.map(|line| format!("  {line}")), "\n");
    if !lines.is_empty() {
        let force = if refused.is_empty() {
            ""
        } else {
            "differences in GPUs and drivers can be allowed with --force: the verdict is then marked 'modified'"
        };
        let message = format!("the machines of this run do not match:\n{lines}");
        return Err(Failure::host(message).with_help(force));
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
        let any = if other.is_ipv4() {
            "0.0.0.0:0"
        } else {
            "[::]:0"
        };
        let socket = UdpSocket::bind(any).ok()?;
        // Sends nothing: the kernel chooses the route.
        socket.connect(other).ok()?;
        Some(socket.local_addr().ok()?.ip())
    });
    local.map_or_else(|| hostname.to_owned(), |address| address.to_string())
}

impl From<NodeError> for Failure {
    fn from(NodeError { node, error }: NodeError) -> Self {
        Self::host(error.in_context(&format!("{node}: ")))
    }
}
