//! The plan as text, for review before a recipe gets root on a node.

use std::fmt::Write as _;

pub mod downloads;
mod gpus;

use itertools::{Itertools as _, join};

use super::cached_directory::PopulateStep;
use super::deviation::REIMPLEMENTED_REASON;
use super::download::LocalHubSettings;
use super::measurement::MeasurementPlan;
use super::model::MountForm;
use super::options::PullPolicy;
use super::service::ServiceStep;
use super::shell::{build_line, pull_line, shell_quote};
use super::step::{Action, ExecStep, Plan, Step};
use retrial_container::OptionValue;
use retrial_document::measures::format::{format_bytes, format_time_limit};
use retrial_mlperf::Division;
use retrial_recipe::model::{HostRequirements, StepLocation, is_commit};

/// The title of a list of privileges.
pub const PRIVILEGES_TITLE: &str =
    "root-equivalent privileges (need --allow, unless the recipe is built in)";

/// The maximum number of failure signs in a step's line.
const MAX_SIGNS_PER_STEP: usize = 2;

/// Renders the plan, with its estimated time here, if known, and this machine's hub settings: what it needs and its
/// steps come first, the details of both below. Lines of prose are broken by `wrap`; commands, paths and remedies are
/// copied, and stay whole.
pub fn render_plan(
    plan: &Plan,
    here: Option<&str>,
    hub: &LocalHubSettings,
    wrap: impl Fn(&str) -> String,
) -> String {
    let plan = &plan.preview();
    let mut out = format!("{}\n", plan.title);
    for (name, value) in summary_rows(plan, here) {
        let _ = writeln!(out, "  {name:<12}{value}");
    }
    let unmet = plan.unmet.iter().map(|check| {
        let effect = if check.prevents_start() { "" } else { " (a warning)" };
        format!("{check}{effect}")
    });
    let needs = need_rows(plan).into_iter();
    let needs = needs.map(|(name, value)| format!("{name:<12}{value}"));
    let prose = |line: &str| wrap(&format!("  {line}"));
    let verbatim = |line: &str| format!("  {line}");
    write_section(&mut out, "unmet requirements", unmet.collect(), &prose);
    write_section(&mut out, "needs", needs.collect(), &prose);
    write_steps(&mut out, plan);
    // Secrets have a section of their own.
    let machine_privileges = plan.privileges.iter().filter(|one| !one.is_secret());
    let privileges = machine_privileges.map(|privilege| format!("{}: {privilege}", privilege.name));
    let deviations = plan.deviations.iter().map(|deviation| format!("- {deviation}"));
    let removed = plan.removed_privileges.iter().map(ToString::to_string);
    let gpus = plan.assigned_gpus.as_ref().map(gpus::gpu_lines);
    let downloads = downloads::download_lines(plan, hub);
    write_section(&mut out, PRIVILEGES_TITLE, privileges.collect(), &prose);
    write_section(&mut out, "secrets", plan.secrets.clone(), &verbatim);
    write_section(&mut out, "downloads", downloads, &verbatim);
    write_section(&mut out, "deviates from the guide", deviations.collect(), &prose);
    write_section(&mut out, "notes", plan.notes.clone(), &prose);
    write_section(&mut out, "gpus", gpus.unwrap_or_default(), &prose);
    write_section(&mut out, "removed (--least-privilege)", removed.collect(), &prose);
    write_section(&mut out, "container", container_lines(plan), &verbatim);
    out
}

fn write_steps(out: &mut String, plan: &Plan) {
    out.push_str("\nsteps\n");
    for step in &plan.steps {
        let when = Some(step.when.to_string()).filter(|when| !when.is_empty());
        let on = step.describe_machines().map(str::to_owned);
        let condition = match join(on.into_iter().chain(when), ", ") {
            none if none.is_empty() => none,
            notes => format!("  [{notes}]"),
        };
        let _ = writeln!(out, "  {:02} {}{condition}", step.number, step.name);
        for line in step_lines(plan, step) {
            for part in line.lines() {
                let _ = writeln!(out, "       {part}");
            }
        }
    }
}

/// What the machine and its user have to give: the details are in sections of their own.
fn need_rows(plan: &Plan) -> Vec<(&'static str, String)> {
    let mut rows = requirement_rows(&plan.requires);
    let names = plan.privileges.iter().map(|privilege| &privilege.name);
    let privileges = join(names.unique(), ", ");
    let downloads = downloads::describe_total(plan);
    rows.extend(downloads.map(|total| ("downloads", total)));
    if !privileges.is_empty() {
        rows.push(("privileges", privileges));
    }
    rows
}

/// The measurements, their subject and the duration.
pub fn summary_rows(plan: &Plan, here: Option<&str>) -> Vec<(&'static str, String)> {
    let submission = &plan.submission;
    let submission = [
        Some(submission.suite.as_str()),
        submission.round.as_deref(),
        submission.division.map(Division::word),
        submission.submitter.as_deref(),
        submission.system.as_deref(),
        Some(submission.benchmark.as_str()),
    ];
    let submission = join(submission.into_iter().flatten(), " · ");
    let variants = plan.variant.iter();
    let variant = variants.map(|(axis, value)| format!("{axis}={value}"));
    // The image has a row of its own.
    let changed_params = plan.modified.iter().filter(|name| !plan.replaced.contains_key(*name));
    let modified =
        changed_params.filter_map(|name| Some(format!("{name}={}", plan.params.get(name)?)));
    let options = join(variant.chain(modified), " ");
    let nodes = plan.nodes.map(|nodes| {
        let total_gpus = plan.total_gpus();
        let gpus = total_gpus.map(|gpus| format!(", {gpus} GPUs together"));
        let each = plan.describe_unequal_gpus();
        let each = each.map(|each| format!(", {each} on each"));
        let (gpus, each) = (gpus.unwrap_or_default(), each.unwrap_or_default());
        format!("{}{gpus}{each}", nodes.count)
    });
    let reimplemented = || format!("reimplemented: {REIMPLEMENTED_REASON}");
    let duration = plan.expected_duration.map(|whole| {
        let (whole, on) = (format_time_limit(whole.as_secs()), plan.published_system_suffix());
        format!("{whole}{on}, all scenarios, without downloads")
    });
    let smoke_test =
        plan.smoke_test.then(|| "not comparable with the published figures".to_owned());
    let rows = [
        ("recipe", Some(plan.recipe.clone())),
        ("submission", Some(submission)),
        ("options", Some(options).filter(|all| !all.is_empty())),
        ("image", Some(plan.image.clone())),
        ("may move", describe_unpinned(plan)),
        ("nodes", nodes),
        ("rules", plan.describe_rules()),
        ("smoke test", smoke_test),
        ("qualifier", plan.judge.reimplemented.then(reimplemented)),
        ("takes", duration),
        ("takes here", here.map(str::to_owned)),
        ("locked", plan.lock.as_ref().map(|lock| lock.path.clone())),
    ];
    let known = |(name, value): (&'static str, Option<String>)| Some((name, value?));
    rows.into_iter().filter_map(known).collect()
}

/// Returns the names of a plan that are not pinned, and how to pin them; none if all are pinned.
fn describe_unpinned(plan: &Plan) -> Option<String> {
    let image = (!plan.pinned).then(|| "the image".to_owned());
    let branches = plan.fetched_models().filter(|model| !is_commit(&model.revision));
    let models = branches.map(|model| format!("{} at {}", model.repository, model.revision));
    let names: Vec<String> = image.into_iter().chain(models).collect();
    if plan.lock.is_some() {
        // What it could pin, it has.
        let names = join(&names, ", ");
        return (!names.is_empty()).then(|| format!("{names}, of which the lock has nothing"));
    }
    let them = if names.len() == 1 { "it" } else { "them" };
    let names = join(names, ", ");
    (!names.is_empty()).then(|| format!("{names}; pin {them}: retrial lock {}", plan.recipe))
}

/// What the recipe requires of the machine, each with its label.
pub fn requirement_rows(requires: &HostRequirements) -> Vec<(&'static str, String)> {
    let gpus = requires.gpus.as_ref().map(|gpus| {
        let partition_mode = gpus.partition.as_ref();
        let partition = partition_mode.map(|mode| format!(", partition {mode}"));
        let kind = if gpus.models.is_empty() {
            format!("{} GPU", gpus.vendor.name())
        } else {
            gpus.models.join(" or ")
        };
        format!("{} × {kind}{}", gpus.count, partition.unwrap_or_default())
    });
    let ports = Some(join(&requires.ports, ", ")).filter(|ports| !ports.is_empty());
    let rows = [
        ("GPUs", gpus),
        ("ROCm", requires.rocm.clone()),
        ("disk", requires.disk.map(format_bytes)),
        ("memory", requires.memory.map(format_bytes)),
        ("free ports", ports),
    ];
    let known = |(name, value): (&'static str, Option<String>)| Some((name, value?));
    rows.into_iter().filter_map(known).collect()
}

/// The limits of a step's command, or of a service's readiness.
pub fn describe_limits(step: &Step) -> Option<String> {
    match &step.action {
        Action::StartService(service) => Some(describe_service(service)),
        _ => step.recipe_command().map(describe_exec),
    }
}

/// Writes the lines of a section below its title, nothing for none.
pub fn write_section(
    out: &mut String,
    title: &str,
    lines: Vec<String>,
    indented: &dyn Fn(&str) -> String,
) {
    if !lines.is_empty() {
        let _ = writeln!(out, "\n{title}");
    }
    for line in lines {
        let _ = writeln!(out, "{}", indented(&line));
    }
}

fn container_lines(plan: &Plan) -> Vec<String> {
    let container = &plan.container;
    // Several values of one flag share a line, in the order of the flags.
    let mut rows: Vec<(&str, Vec<String>)> = Vec::new();
    for option in container.run_options() {
        let value = match option.value {
            OptionValue::Switch => "yes".to_owned(),
            OptionValue::Bytes(bytes) => format_bytes(bytes),
            OptionValue::Text(text) => shell_quote(&text),
        };
        match rows.last_mut() {
            // Paths are long: each mount has a line of its own.
            Some((flag, values)) if *flag == option.flag && *flag != "volume" => values.push(value),
            _ => rows.push((option.flag, vec![value])),
        }
    }
    rows.retain(|(flag, _)| *flag != "entrypoint");
    rows.extend(plan.cached_directories().map(|(_, directory)| {
        let mode = if directory.writable { "" } else { ":ro" };
        ("cached", vec![format!("{}:{}{mode}", directory.key, directory.path)])
    }));
    let cache_mounts = container.cache_mounts.iter();
    rows.extend(cache_mounts.map(|(name, path)| ("cache mount", vec![format!("{name}:{path}")])));
    let entrypoint = match container.entrypoint {
        Some(_) => "bypassed",
        None => "the image's own",
    };
    rows.push(("entrypoint", vec![entrypoint.to_owned()]));
    let line = |(flag, values): (&str, Vec<String>)| format!("{flag:<13} {}", values.join(" "));
    rows.into_iter().map(line).collect()
}

fn step_lines(plan: &Plan, step: &Step) -> Vec<String> {
    match &step.action {
        Action::Pull { reference, policy } => match policy {
            PullPolicy::Never => vec![format!("{reference}: must be present, is not pulled")],
            _ => vec![pull_line(reference)],
        },
        Action::Build(build) => vec![build_line(build)],
        Action::FetchModel(model) => {
            let how = match model.mount.form {
                MountForm::Directory => "",
                MountForm::Files => " file by file",
                MountForm::HubCache => " as the hub's cache",
            };
            vec![format!(
                "{} at {}, mounted at {}{how}",
                model.repository, model.revision, model.mount.target
            )]
        }
        Action::CopyOut { path, to } => vec![format!("{path} of the image → host/files/{to}")],
        Action::Populate(populate) => populate_lines(populate),
        Action::Create => vec!["create and start the container below".to_owned()],
        Action::Exec(exec) => exec_lines(exec),
        Action::Host(exec) => {
            let mut lines = vec!["on the host:".to_owned()];
            lines.extend(exec_lines(exec));
            lines
        }
        Action::StartService(service) => service_lines(service),
        Action::StopService(ending) => vec![format!("stop {}: {}", ending.service, ending.stop)],
        Action::Collect { measurement, trial, path, max_bytes, .. } => {
            let to = plan.results_directory(*measurement, *trial);
            let most = max_bytes.map(|bytes| format!(" (at most {})", format_bytes(bytes)));
            vec![format!("{path} → {to}{}", most.unwrap_or_default())]
        }
        Action::Judge => {
            let measurements = plan.measurements.iter();
            measurements.map(|one| judge_line(plan, one)).collect()
        }
        Action::Remove => vec!["remove the container".to_owned()],
    }
}

fn judge_line(plan: &Plan, measured: &MeasurementPlan) -> String {
    let published = measured.expect.iter().flat_map(|(name, list)| {
        let entries = list.iter();
        entries.map(move |entry| format!("{name} {} ({})", entry.value, entry.publisher()))
    });
    let mut expected: Vec<String> = published.collect();
    if plan.smoke_test {
        expected = vec!["measured, not compared".to_owned()];
    } else if expected.is_empty() {
        expected.push("measured, nothing published".to_owned());
    }
    let (scenario, mode) = (&measured.scenario, measured.mode);
    format!("{scenario} {mode}: {}", expected.join(", "))
}

fn populate_lines(populate: &PopulateStep) -> Vec<String> {
    let directory = &populate.directory;
    let location = match populate.location {
        StepLocation::Container => "in its own container",
        StepLocation::Host => "on the host",
    };
    let mut lines = vec![format!("{location}, beginning with the image's {}:", directory.path)];
    lines.extend(exec_lines(&populate.command));
    lines.extend(directory.files.iter().map(|(name, file)| {
        let size = file.size.map(|bytes| format!(" {bytes} bytes"));
        let hash = file.sha256.as_deref().map(|hash| format!(" sha256 {hash}"));
        let stated = size.unwrap_or_default() + &hash.unwrap_or_default();
        format!("must contain {name}{stated}")
    }));
    let images = if directory.of_image && !directory.any_image { "this" } else { "any" };
    lines.push(format!("cached for {images} image"));
    lines
}

fn service_lines(service: &ServiceStep) -> Vec<String> {
    let mut lines = vec![service.command.run.clone()];
    if let Some(container) = &service.own_container {
        let container_options = container.run_options();
        let options = container_options.iter().map(|option| shell_quote(&option.to_string()));
        let words = join(options.chain([shell_quote(&container.image)]), " ");
        lines.insert(0, format!("in a container of its own: {words}"));
    }
    lines.push(format!("({})", describe_service(service)));
    lines
}

fn describe_service(service: &ServiceStep) -> String {
    let ready = format!(
        "ready when {}, within {}",
        service.describe_readiness(),
        format_time_limit(service.command.timeout_s)
    );
    describe_command(&service.command, ready)
}

fn exec_lines(exec: &ExecStep) -> Vec<String> {
    vec![exec.run.clone(), format!("({})", describe_exec(exec))]
}

fn describe_exec(exec: &ExecStep) -> String {
    let timeout = format!("timeout {}", format_time_limit(exec.timeout_s));
    describe_command(exec, timeout)
}

/// The attributes of a command.
fn describe_command(exec: &ExecStep, first: String) -> String {
    let signs = exec.failure.describe_conditions();
    let fails = match signs.len() {
        0..=MAX_SIGNS_PER_STEP => signs.iter().map(|sign| format!("fails {sign}")).collect(),
        count => vec![format!("fails on any of {count} conditions (--output json lists them)")],
    };
    let mut about = vec![first];
    if let Some(silence) = exec.silence_s {
        about.push(format!("silence {}", format_time_limit(silence)));
    }
    about.extend(fails);
    if let Some(bytes) = exec.max_log {
        about.push(format!("at most {} of output", format_bytes(bytes)));
    }
    about.extend(exec.workdir.iter().map(|workdir| format!("in {workdir}")));
    about.extend(exec.user.iter().map(|user| format!("as {user}")));
    if let Some(shell) = &exec.shell {
        about.push(format!("by {}", shell.join(" ")));
    }
    let env = exec.env.iter();
    about.extend(env.map(|(key, value)| shell_quote(&format!("{key}={value}"))));
    about.extend(exec.secrets.iter().map(|name| format!("secret {name}")));
    about.join(", ")
}
