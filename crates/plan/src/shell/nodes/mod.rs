//! Several machines, in shell: each runs the same script in its role, and they wait for each other before a step that
//! depends on the others.

use std::fmt::Write as _;

use crate::step::{Action, Plan, Step};
use retrial_recipe::model::Placement;

/// Expressions that only the machines can evaluate, with the variables that have their values.
const VARIABLES: [(&str, &str); 3] = [
    ("${{ head.address }}", "head_address"),
    ("${{ node.name }}", "node_name"),
    ("${{ node.gpus }}", "node_gpus"),
];

/// The assignment of a machine's values to variables, with words to replace; none for a plan for one machine.
pub(super) fn node_variables(plan: &Plan) -> Option<String> {
    plan.nodes?;
    let mut out = String::from(
        "head_address=ADDRESS   # of the head: `hostname -I` prints it there\nnode_name=$(hostname)",
    );
    if let Some(gpus) = plan.describe_unequal_gpus() {
        let _ = write!(out, "\nnode_gpus=GPUS         # of this machine: {gpus}");
    }
    Some(out)
}

/// Part of the trap at the end: tells the other machines if the script has failed.
pub(super) const REPORT_FAILURE: &str = r#"[ $? = 0 ] || [ -z "${MEET:-}" ] || [ -e "$MEET/failed" ] || echo "$node_name" >"$MEET/failed""#;

/// The roles and the variables of a machine, and the function by which the machines wait for each other; empty for a
/// plan for one machine.
pub(super) fn nodes_header(plan: &Plan) -> String {
    let Some(nodes) = plan.nodes else {
        return String::new();
    };
    let (count, others) = (nodes.count, nodes.count.saturating_sub(1));
    let gpus = plan.describe_unequal_gpus();
    let gpus_argument = if gpus.is_some() { " GPUS" } else { "" };
    let mut out = format!(
        "\n# each of the {count} machines runs this script, in an empty directory of its own:\n\
         #   sh plan.sh head ADDRESS{gpus_argument}     on the first; ADDRESS is its own\n\
         #   sh plan.sh worker ADDRESS{gpus_argument}   on each of the other {others}; ADDRESS is that of the first\n"
    );
    if let Some(gpus) = &gpus {
        let total = plan.total_gpus().unwrap_or_default();
        let _ = writeln!(
            out,
            "# GPUS is the number of the machine's own GPUs, {gpus}; all machines together have {total}"
        );
    }
    let arguments = 2 + usize::from(gpus.is_some());
    let _ = write!(
        out,
        r#"case "$#:${{1:-}}" in {arguments}:head | {arguments}:worker) ;; *) echo "usage: sh $0 head|worker ADDRESS{gpus_argument}" >&2; exit 2 ;; esac
role=$1 head_address=$2 node_name=$(hostname){gpus_variable}
on_head() {{ [ "$role" = head ]; }}

# The machines wait for each other by files, if MEET names a directory that all of them share, empty and new for
# each run; else by you.
[ -z "${{MEET:-}}" ] || mkdir "$MEET/$node_name"
meet() {{
  if [ -z "${{MEET:-}}" ]; then
    printf 'press Enter once all {count} machines are at step %s ' "$1" >/dev/tty; read -r _ </dev/tty; return
  fi
  : >"$MEET/$node_name/$1"
  until [ "$(ls -d "$MEET"/*/"$1" | wc -l)" -ge {count} ]; do
    [ ! -s "$MEET/failed" ] || {{ echo "error: $(cat "$MEET/failed") has failed" >&2; exit 1; }}
    sleep 1
  done
}}
"#,
        gpus_variable = if gpus.is_some() { " node_gpus=$3" } else { "" },
    );
    out
}

/// Returns whether the machines wait for each other before a step: after a step of other machines, and until a
/// service is ready on all of them.
pub(super) fn machines_meet(previous: Option<&Step>, step: &Step) -> bool {
    let Some(previous) = previous.filter(|_| step.on.is_some()) else {
        return false;
    };
    // Results, verdict and container are a machine's own.
    let is_local =
        matches!(step.action, Action::Judge | Action::Remove) || step.measured_step().is_some();
    let follows_service = matches!(previous.action, Action::StartService(_));
    !is_local && (follows_service || previous.on != step.on)
}

/// Returns the commands, executed only on the machines of the step.
pub(super) fn limit_to_machines(step: &Step, commands: &str) -> String {
    let condition = match step.on {
        None | Some(Placement::All) => return commands.to_owned(),
        Some(Placement::Head) => "on_head",
        Some(Placement::Others) => "! on_head",
    };
    format!("if {condition}; then\n{commands}\nfi")
}

/// The script with the values that a machine knows when it runs: they are in quoted words.
pub(super) fn insert_node_values(mut script: String) -> String {
    for (expression, variable) in VARIABLES {
        script = script.replace(expression, &format!("'\"${variable}\"'"));
    }
    script
}

#[cfg(test)]
mod tests;
