//! The plan as a person reads it before giving a recipe root on a node.

use std::fmt::Write as _;

mod gpus;

use super::cached::PopulateStep;
use super::model::Form;
use super::options::PullPolicy;
use super::shell::quote;
use super::step::{Action, ExecStep, Plan, Step};
use crate::format::limit;
use retrial_recipe::model::Place;

/// Renders the plan. `width` only matters for nothing but long command lines, which are kept whole.
#[must_use]
pub fn render(plan: &Plan) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}", plan.title);
    let _ = writeln!(out, "  recipe      {}", plan.recipe);
    let submission = [
        Some(plan.submission.suite.as_str()),
        plan.submission.round.as_deref(),
        plan.submission.division.as_deref(),
        plan.submission.submitter.as_deref(),
        plan.submission.system.as_deref(),
        Some(plan.submission.benchmark.as_str()),
    ];
    let _ = writeln!(
        out,
        "  submission  {}",
        submission
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" · ")
    );
    let chosen: Vec<String> = plan
        .variant
        .iter()
        .map(|(axis, value)| format!("{axis}={value}"))
        .chain(
            plan.modified
                .iter()
                .filter_map(|name| plan.params.get(name).map(|value| format!("{name}={value}"))),
        )
        .collect();
    if !chosen.is_empty() {
        let _ = writeln!(out, "  choices     {}", chosen.join(" "));
    }
    let pinned = if plan.pinned {
        ""
    } else {
        "   (not pinned by digest)"
    };
    let _ = writeln!(out, "  image       {}{pinned}", plan.image);
    if let Some(rules) = plan.judged_by() {
        let _ = writeln!(out, "  rules       {rules}");
    }
    if let Some(whole) = plan.expected_duration {
        let whole = limit(whole.as_secs());
        let _ = writeln!(
            out,
            "  takes       {whole} where it was published, all scenarios, besides downloads"
        );
    }
    if let Some(lock) = &plan.lock {
        let _ = writeln!(out, "  locked      {}", lock.path);
    }
    section(
        &mut out,
        "the host lacks",
        plan.unmet.iter().map(|lack| {
            let effect = if lack.stops() { "" } else { " (a warning)" };
            format!(
                "{}: found {}, wanted {}{effect}",
                lack.what, lack.found, lack.wanted
            )
        }),
    );
    section(
        &mut out,
        "asks for your trust",
        plan.privileges
            .iter()
            .map(|power| format!("{}: {}", power.name, power.because)),
    );
    section(&mut out, "secrets", plan.secrets.iter().cloned());
    section(&mut out, "notes", plan.notes.iter().cloned());
    let given = plan.assigned_gpus.as_ref();
    section(
        &mut out,
        "gpus",
        given.map(gpus::lines).unwrap_or_default().into_iter(),
    );
    section(
        &mut out,
        "taken away (--least-privilege)",
        plan.removed_privileges.iter().cloned(),
    );
    section(&mut out, "container", container_lines(plan).into_iter());
    out.push_str("\nsteps\n");
    for step in &plan.steps {
        let condition = step.when.to_string();
        let condition = if condition.is_empty() {
            condition
        } else {
            format!("  [{condition}]")
        };
        let _ = writeln!(out, "  {:02} {}{condition}", step.number, step.name);
        for line in step_lines(plan, step) {
            for part in line.lines() {
                let _ = writeln!(out, "       {part}");
            }
        }
    }
    out
}

fn section(out: &mut String, title: &str, lines: impl Iterator<Item = String>) {
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{title}");
    for line in lines {
        let _ = writeln!(out, "  {line}");
    }
}

fn container_lines(plan: &Plan) -> Vec<String> {
    let container = &plan.container;
    let mut lines = Vec::new();
    let mut add = |key: &str, value: String| {
        if !value.is_empty() {
            lines.push(format!("{key:<13} {value}"));
        }
    };
    add(
        "privileged",
        if container.privileged {
            "yes".to_owned()
        } else {
            String::new()
        },
    );
    let namespaces = [
        ("ipc", &container.ipc),
        ("network", &container.network),
        ("uts", &container.uts),
        ("pid", &container.pid),
    ];
    for (key, value) in namespaces {
        add(key, value.clone().unwrap_or_default());
    }
    add("devices", container.devices.join(" "));
    add("cap_add", container.cap_add.join(" "));
    add("security_opt", container.security_opt.join(" "));
    add("group_add", container.group_add.join(" "));
    add(
        "shm_size",
        container
            .shm_size
            .map(crate::format::size)
            .unwrap_or_default(),
    );
    add(
        "ulimits",
        container
            .ulimits
            .iter()
            .map(|limit| format!("{}={}:{}", limit.name, limit.soft, limit.hard))
            .collect::<Vec<_>>()
            .join(" "),
    );
    add(
        "env",
        container
            .env
            .iter()
            .map(|(key, value)| quote(&format!("{key}={value}")))
            .collect::<Vec<_>>()
            .join(" "),
    );
    for mount in &container.mounts {
        add(
            "mount",
            format!(
                "{} at {}{}",
                mount.source,
                mount.target,
                if mount.read_only { " (read-only)" } else { "" }
            ),
        );
    }
    for (_, kept) in plan.cached_directories() {
        let rights = if kept.writable { "" } else { " (read-only)" };
        add("kept", format!("{} at {}{rights}", kept.key, kept.path));
    }
    for (flag, value) in container.further.flags() {
        add(&flag.replace('-', "_"), value);
    }
    add("workdir", container.workdir.clone().unwrap_or_default());
    add("user", container.user.clone().unwrap_or_default());
    add(
        "entrypoint",
        container
            .entrypoint
            .as_ref()
            .map_or_else(|| "the image's own".to_owned(), |_| "bypassed".to_owned()),
    );
    lines
}

fn step_lines(plan: &Plan, step: &Step) -> Vec<String> {
    match &step.action {
        Action::Pull { reference, policy } => match policy {
            PullPolicy::Never => vec![format!("{reference}: must be there already (--pull never)")],
            _ => vec![format!("docker pull {reference}")],
        },
        Action::Build {
            context,
            dockerfile,
            args,
            tag,
        } => {
            let mut given = String::new();
            for (key, value) in args {
                let _ = write!(given, "--build-arg {key}={value} ");
            }
            vec![format!(
                "docker build -t {tag} {given}-f {context}/{dockerfile} {context}"
            )]
        }
        Action::FetchModel {
            repository,
            revision,
            mount,
            ..
        } => {
            let how = match mount.form {
                Form::Directory => "",
                Form::Files => " file by file",
                Form::HubCache => " as the hub's cache",
            };
            vec![format!(
                "{repository} at {revision}, mounted at {}{how}",
                mount.target
            )]
        }
        Action::CopyOut { path, to } => vec![format!("{path} of the image → host/files/{to}")],
        Action::Populate(fill) => fill_lines(fill),
        Action::Create => vec!["create and start the container above".to_owned()],
        Action::Exec(exec) => exec_lines(exec),
        Action::Host(exec) => {
            let mut lines = vec!["on the host:".to_owned()];
            lines.extend(exec_lines(exec));
            lines
        }
        Action::Collect {
            measurement,
            trial,
            path,
            ..
        } => {
            let to = plan.results_directory(*measurement, *trial);
            vec![format!("{path} → {to}")]
        }
        Action::Judge => plan
            .measurements
            .iter()
            .map(|measured| {
                let expected: Vec<String> = measured
                    .expect
                    .iter()
                    .flat_map(|(name, list)| {
                        list.iter()
                            .map(move |one| format!("{name} {} ({})", one.value, kind(one.kind)))
                    })
                    .collect();
                let expected = if expected.is_empty() {
                    "measured, nothing published".to_owned()
                } else {
                    expected.join(", ")
                };
                format!("{} {}: {expected}", measured.scenario, measured.mode)
            })
            .collect(),
        Action::Remove => vec!["remove the container".to_owned()],
    }
}

fn kind(kind: retrial_recipe::model::ExpectationKind) -> &'static str {
    use retrial_recipe::model::ExpectationKind as Kind;
    match kind {
        Kind::Official => "official",
        Kind::Guide => "guide",
        Kind::ThirdParty => "third party",
    }
}

fn fill_lines(fill: &PopulateStep) -> Vec<String> {
    let kept = &fill.directory;
    let place = match fill.on {
        Place::Container => "in a container of its own",
        Place::Host => "on the host",
    };
    let mut lines = vec![format!(
        "{place}, beginning with the image's {}:",
        kept.path
    )];
    lines.extend(exec_lines(&fill.command));
    lines.extend(kept.files.iter().map(|(name, file)| {
        let size = file.size.map(|bytes| format!(" {bytes} bytes"));
        let hash = file.sha256.as_deref().map(|hash| format!(" sha256 {hash}"));
        let said = size.unwrap_or_default() + &hash.unwrap_or_default();
        format!("must give {name}{said}")
    }));
    if kept.of_image {
        lines.push("kept for this image".to_owned());
    } else {
        lines.push("kept for any image".to_owned());
    }
    lines
}

fn exec_lines(exec: &ExecStep) -> Vec<String> {
    let mut lines = vec![exec.run.clone()];
    let mut about = vec![format!("timeout {}", limit(exec.timeout_s))];
    if let Some(silence) = exec.silence_s {
        about.push(format!("silence {}", limit(silence)));
    }
    if let Some(workdir) = &exec.workdir {
        about.push(format!("in {workdir}"));
    }
    if let Some(user) = &exec.user {
        about.push(format!("as {user}"));
    }
    if let Some(shell) = &exec.shell {
        about.push(format!("by {}", shell.join(" ")));
    }
    about.extend(
        exec.env
            .iter()
            .map(|(key, value)| quote(&format!("{key}={value}"))),
    );
    about.extend(exec.secrets.iter().map(|name| format!("secret {name}")));
    lines.push(format!("({})", about.join(", ")));
    lines
}
