//! The recipe's text.

use std::fmt::Write as _;

use super::parts::{Parts, Step, Value, yaml, yaml_key};

/// What stands where the command line says nothing of what is measured.
const NOTHING: &str = "echo 'write here what the guide has typed in the container' >&2\nexit 1\n";

/// Writes the recipe.
pub(super) fn recipe(name: &str, parts: &Parts<'_>) -> String {
    let mut out = String::from("# From a vendor's `docker run`, by `retrial new NAME --from`.\n");
    if !parts.told.is_empty() {
        out.push_str("# What it says otherwise:\n");
        for told in &parts.told {
            let told: String = told.replace(char::is_control, " ");
            let _ = writeln!(out, "#   {told}");
        }
    }
    out.push_str("# Retrial adds its first process, /.retrial and PYTHONUNBUFFERED=1.\n");
    out.push_str("# To be written: what was published (submission, expect), and how the figure is read (figures, or results).\n");
    let _ = writeln!(out, "schema: 1\ntitle: {}\n", yaml(name));
    let _ = writeln!(
        out,
        "submission:\n  suite: my-suite\n  benchmark: {}\n",
        yaml(name)
    );
    if !parts.params.is_empty() {
        out.push_str("params:\n");
        for param in &parts.params {
            let kind = if param.is_path { "path" } else { "string" };
            let default = param.default.as_ref().map_or_else(String::new, |default| {
                format!(", default: {}", quoted(default))
            });
            let _ = writeln!(
                out,
                "  {}: {{ type: {kind}{default}, help: {} }}",
                yaml_key(&param.name),
                quoted(&format!("${} of the command line.", param.variable))
            );
        }
        out.push('\n');
    }
    let _ = writeln!(out, "image: {}\n", yaml(&parts.image));
    if let Some(count) = parts.gpus {
        let _ = writeln!(
            out,
            "requires:\n  gpus: {{ vendor: nvidia, count: {count} }}\n"
        );
    }
    if !parts.container.is_empty() {
        out.push_str("container:\n");
        for key in ORDER {
            if let Some(value) = parts.container.get(key) {
                entry(&mut out, 1, key, value);
            }
        }
        out.push('\n');
    }
    if parts.token {
        out.push_str("secrets: [HF_TOKEN]\n\n");
    }
    steps(&mut out, parts);
    out
}

/// The keys of the container, in the order of the table.
const ORDER: &[&str] = &[
    "privileged",
    "ipc",
    "network",
    "uts",
    "pid",
    "devices",
    "cap_add",
    "cap_drop",
    "security_opt",
    "group_add",
    "shm_size",
    "ulimits",
    "env",
    "mounts",
    "workdir",
    "user",
    "init",
    "hostname",
    "runtime",
    "memory",
    "cpus",
    "cpuset_cpus",
    "cpuset_mems",
    "pids_limit",
    "sysctls",
    "tmpfs",
    "read_only",
    "dns",
    "add_host",
    "cgroupns",
    "userns",
];

fn steps(out: &mut String, parts: &Parts<'_>) {
    let nothing = Step {
        run: NOTHING.to_owned(),
        keys: Vec::new(),
    };
    let (measured, before) = parts.steps.split_last().unwrap_or((&nothing, &[]));
    if !before.is_empty() {
        out.push_str("setup:\n");
        for (at, step) in before.iter().enumerate() {
            let _ = writeln!(out, "  step-{}:", at + 1);
            command(out, 2, step, parts.token);
        }
        out.push('\n');
    }
    out.push_str("scenarios:\n  my-case:\n    performance:\n");
    command(out, 3, measured, parts.token);
    out.push_str("      figures:\n        speed: { pattern: 'speed: ([0-9.]+)', unit: items/s, better: higher }\n");
}

fn command(out: &mut String, depth: usize, step: &Step, token: bool) {
    // A step gets a secret where it names it.
    let run = if token && step.run != NOTHING {
        format!("HF_TOKEN=\"$HF_TOKEN\" {}", step.run)
    } else {
        step.run.clone()
    };
    let indent = "  ".repeat(depth);
    if run.contains('\n') && !run.starts_with([' ', '\n']) && !run.contains('\t') {
        let _ = writeln!(
            out,
            "{indent}run: |{}",
            if run.ends_with('\n') { "" } else { "-" }
        );
        for line in run.trim_end_matches('\n').lines() {
            let _ = writeln!(out, "{indent}  {line}");
        }
    } else {
        let _ = writeln!(out, "{indent}run: {}", yaml(&run));
    }
    for (key, value) in &step.keys {
        entry(out, depth, key, value);
    }
}

fn entry(out: &mut String, depth: usize, key: &str, value: &Value) {
    let indent = "  ".repeat(depth);
    let key = yaml_key(key);
    match value {
        Value::Bare(text) => {
            let _ = writeln!(out, "{indent}{key}: {text}");
        }
        Value::Text(text) => {
            let _ = writeln!(out, "{indent}{key}: {}", yaml(text));
        }
        Value::List(items) => {
            let _ = writeln!(out, "{indent}{key}:");
            for item in items {
                let _ = writeln!(out, "{indent}  - {}", yaml(item));
            }
        }
        Value::Map(entries) => {
            let _ = writeln!(out, "{indent}{key}:");
            for (name, value) in entries {
                entry(out, depth + 1, name, value);
            }
        }
    }
}

/// In quotes always: inside `{ … }` a comma would end it.
fn quoted(text: &str) -> String {
    let plain = yaml(text);
    if plain.starts_with('"') {
        plain
    } else {
        format!("\"{plain}\"")
    }
}
