//! Several machines for one recipe: a row for each, then what has to be fixed.

use indexmap::IndexMap;
use serde::Serialize;

use super::checks;
use crate::document::{Block, Document, ListItem, Table, TableCell};
use retrial_host::checks::{HostCheck, HostCheckState};

/// A machine that a recipe runs on, as `doctor --nodes` prints it: what machines tell each other is not printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MachineReport {
    /// The machine's host name.
    pub name: String,
    /// Its usable GPUs of the recipe's vendor.
    pub gpus: u32,
    /// Their models, each once.
    pub models: Vec<String>,
    /// The version of their driver.
    pub driver: Option<String>,
    /// The version of ROCm.
    pub rocm: Option<String>,
    /// The checks of the recipe; none if the machine could not examine itself.
    pub checks: Vec<HostCheck>,
}

/// The machines, what has to be fixed on them, how they must not differ, and whether they are ready.
pub fn machines_document(machines: &[MachineReport], differences: &[String]) -> Document {
    let version = |version: &Option<String>| version.clone().unwrap_or_default();
    let table = Table::builder("Machines", machines)
        .head("machine", |machine| &machine.name)
        .status("result", |machine| machine_result(machine))
        .text("GPUs", |machine| format_gpus(machine))
        .text("driver", |machine| version(&machine.driver))
        .text("ROCm", |machine| version(&machine.rocm));
    let problems = collect_problems(machines).map(|problem| problem_item(&problem, machines.len()));
    let errors = differences.iter().map(|_| HostCheckState::Error);
    let differ = differences.iter();
    let differ = differ.map(|text| ListItem::new(text).with_mark(HostCheckState::Error));
    let lists = [Block::list(problems), Block::list(differ)];
    let mut blocks = Vec::from_iter(table.into_block());
    blocks.extend(lists.into_iter().flatten());
    let each = machines.iter().flat_map(|machine| &machine.checks);
    let states = each.map(|check| check.state);
    blocks.push(Block::Conclusion(checks::checks_conclusion(states.chain(errors))));
    Document::new("", blocks)
}

/// The worst of a machine's checks.
fn machine_result(machine: &MachineReport) -> TableCell {
    let worst = machine.checks.iter().map(|check| check.state).max();
    match worst {
        None => TableCell::status(HostCheckState::Unknown, "not examined"),
        Some(HostCheckState::Error) => TableCell::status(HostCheckState::Error, "not ready"),
        Some(HostCheckState::Warning) => TableCell::status(HostCheckState::Warning, "ready"),
        Some(HostCheckState::Ok | HostCheckState::Unknown) => {
            TableCell::status(HostCheckState::Ok, "ready")
        }
    }
}

/// Formats the number and the models of its GPUs: `8 x MI355X`.
fn format_gpus(machine: &MachineReport) -> String {
    if machine.gpus == 0 {
        return String::new();
    }
    format!("{} x {}", machine.gpus, machine.models.join(" and "))
}

/// Something to fix: the machines where it has to be, each with its check.
type MachineProblem<'a> = Vec<(&'a str, &'a HostCheck)>;

fn problem_item(problem: &MachineProblem<'_>, machines: usize) -> ListItem {
    let (first, check) = problem[0];
    let names: Vec<&str> = problem.iter().map(|(name, _)| *name).collect();
    let is_same = problem.iter().all(|(_, other)| other.actual == check.actual);
    let listed = |names: &[&str], all: &str| {
        if problem.len() == machines && names.len() > 1 { all.to_owned() } else { names.join(", ") }
    };
    let on = if is_same {
        listed(&names, "all")
    } else {
        format!("{first}; also {}", listed(&names[1..], "all others"))
    };
    checks::check_item(check, &format!("{} ({on})", check.actual))
}

/// Collects the problems in the order in which they were found: the same on several machines once.
fn collect_problems(machines: &[MachineReport]) -> impl Iterator<Item = MachineProblem<'_>> {
    let mut problems: IndexMap<_, MachineProblem<'_>> = IndexMap::new();
    for machine in machines {
        for check in machine.checks.iter().filter(|check| check.is_unmet()) {
            let fix = (&check.name, &check.required, &check.fix);
            let found = problems.entry((check.kind, check.state, fix)).or_default();
            found.push((&machine.name, check));
        }
    }
    problems.into_values()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::{Terminal, render_terminal};
    use retrial_host::checks::HostCheckKind;

    fn machine(name: &str, gpus: u32, checks: &[&HostCheck]) -> MachineReport {
        MachineReport {
            name: name.to_owned(),
            gpus,
            models: vec!["MI355X".to_owned()],
            driver: Some("6.16.6".to_owned()),
            rocm: None,
            checks: checks.iter().map(|check| (*check).clone()).collect(),
        }
    }

    #[test]
    fn each_node_has_a_row_and_each_problem_is_listed_once() {
        let engine = HostCheck {
            kind: HostCheckKind::Engine,
            name: "engine".to_owned(),
            state: HostCheckState::Ok,
            actual: "Docker 28.2.2".to_owned(),
            required: String::new(),
            fix: String::new(),
        };
        let away = HostCheck {
            state: HostCheckState::Error,
            actual: "no answer".to_owned(),
            fix: "start it".to_owned(),
            ..engine.clone()
        };
        let governor = HostCheck {
            kind: HostCheckKind::Setting,
            name: "governor".to_owned(),
            state: HostCheckState::Warning,
            actual: "powersave".to_owned(),
            required: "performance".to_owned(),
            fix: "cpupower frequency-set -g performance".to_owned(),
        };
        let machines = [
            machine("n1", 8, &[&engine, &governor]),
            machine("n2", 8, &[&away, &governor]),
            machine("n3", 7, &[]),
        ];
        let differences = ["the clock of n3 is 5.0 s behind that of n1".to_owned()];
        let terminal = Terminal { width: 80, color: false, unicode: true };
        insta::assert_snapshot!(render_terminal(&machines_document(&machines, &differences), terminal), @r"
        machine  result          GPUs        driver
        ───────────────────────────────────────────
        n1       ! ready         8 x MI355X  6.16.6
        n2       ✗ not ready     8 x MI355X  6.16.6
        n3       ? not examined  7 x MI355X  6.16.6
        ───────────────────────────────────────────

        ! governor  powersave (n1, n2)
            required: performance
            help: cpupower frequency-set -g performance
        ✗ engine    no answer (n2)
            help: start it

        ✗ the clock of n3 is 5.0 s behind that of n1

        ✗ not ready: 2 errors, 2 warnings
        ");
    }
}
