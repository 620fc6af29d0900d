//! Cached directories and steps on the host, as shell commands equivalent to the runner's.

use std::fmt::Write as _;

use super::{docker_exec, docker_run, quote, word};
use crate::cached::{CachedDirectory, PopulateStep, SEED, STAGE};
use crate::step::{ExecStep, Plan, Step};
use retrial_container::ContainerSpec;
use retrial_recipe::model::StepLocation;

/// The location of cached directories; empty for a plan without.
pub(super) fn header(plan: &Plan) -> String {
    let mut containers = plan.containers();
    let mounts = containers.any(|container| !container.cache_mounts.is_empty());
    if !mounts && plan.cached_directories().next().is_none() {
        return String::new();
    }
    let cache = plan.cache.replace('}', "\\}");
    format!(
        "\n# cached directories: populated once, shared with `retrial run`\ncached=\"${{RETRIAL_CACHE:-{cache}}}/directories\"\n"
    )
}

/// The mounts of directories that were cached before a step.
pub(super) fn mounts(plan: &Plan, before: u32) -> Vec<String> {
    let earlier = plan
        .cached_directories()
        .filter(|(number, _)| *number < before);
    let mounts = earlier.map(|(number, directory)| {
        let rights = if directory.writable { "" } else { ":ro" };
        format!(
            "--volume=\"$cached_{number}/current/content\":{}{rights}",
            quote(&directory.path)
        )
    });
    mounts.collect()
}

/// Populates a directory, unless it is cached.
pub(super) fn populate(
    plan: &Plan,
    step: &Step,
    populate_step: &PopulateStep,
    name: &str,
) -> String {
    let PopulateStep {
        directory: cached,
        location,
        command,
    } = populate_step;
    let number = step.number;
    let (image, path) = (quote(&plan.image), quote(&cached.path));
    let mut out = String::new();
    let _ = writeln!(out, "cached_{number}={}", directory(cached, &image));
    let _ = writeln!(out, "if [ ! -d \"$cached_{number}/current\" ]; then");
    let owner = match location {
        StepLocation::Container => "''",
        StepLocation::Host => "\"$(id -u):$(id -g)\"",
    };
    out.push_str(&seed(&format!("$cached_{number}"), &image, &path, owner));
    match location {
        StepLocation::Container => {
            let populator = format!("{name}-fill");
            let mut mounts = super::mounts(plan, step);
            mounts.push(format!("--volume=\"$stage/content\":{path}"));
            let container = ContainerSpec {
                cache_mounts: Vec::new(),
                ..plan.container.clone()
            };
            let _ = writeln!(out, "{}", docker_run(&container, &populator, mounts));
            let _ = writeln!(out, "{}", docker_exec(command, &populator));
            let rights = if cached.writable { "a+rwX" } else { "a+rX" };
            let _ = writeln!(out, "docker exec -u 0 {populator} chmod -R {rights} {path}");
            let _ = writeln!(out, "docker rm -f {populator}");
        }
        StepLocation::Host => {
            out.push_str("export RETRIAL_CACHE_PATH=\"$stage/content\"\n");
            let _ = writeln!(out, "{}", host(command));
        }
    }
    for (listed, expected) in &cached.files {
        let listed = quote(listed);
        if let Some(size) = expected.size {
            let _ = writeln!(
                out,
                "test \"$(stat -c %s \"$stage/content\"/{listed})\" = {size}"
            );
        }
        if let Some(hash) = &expected.sha256 {
            let _ = writeln!(
                out,
                "test \"$(sha256sum <\"$stage/content\"/{listed})\" = '{hash}  -'"
            );
        }
    }
    let _ = write!(out, "sync; mv \"$stage\" \"$cached_{number}/current\"\nfi");
    out
}

/// Creates a stage in a directory, with the image's content at `path`.
fn seed(directory: &str, image: &str, path: &str, owner: &str) -> String {
    format!(
        "stage={directory}/stage-shell\nrm -rf \"$stage\"; mkdir -p \"$stage/content\"\n\
         docker run --rm --pull=never --user=0 --network=none --volume=\"$stage/content\":{STAGE} --entrypoint=/bin/sh {image} -c {} sh {path} {owner}\n",
        quote(SEED)
    )
}

/// The directories of a container's cache mounts, which only containers of this name use: the commands that
/// create them, and the flags that mount them.
pub(super) fn cache_mounts(container: &ContainerSpec, name: &str) -> (String, Vec<String>) {
    let mut commands = String::new();
    let mut flags = Vec::new();
    let image = quote(&container.image);
    for (number, (mount, path)) in (1..).zip(&container.cache_mounts) {
        let path = quote(path);
        let id = image_id(&image);
        let _ = writeln!(commands, "kept_{number}=$cached/{mount}/shell-{name}-{id}");
        let _ = writeln!(commands, "if [ ! -d \"$kept_{number}/current\" ]; then");
        commands.push_str(&seed(&format!("$kept_{number}"), &image, &path, "''"));
        let _ = writeln!(commands, "mv \"$stage\" \"$kept_{number}/current\"\nfi");
        flags.push(format!(
            "--volume=\"$kept_{number}/current/content\":{path}"
        ));
    }
    (commands, flags)
}

/// The part of an image's id in names of image-specific directories.
fn image_id(image: &str) -> String {
    format!("$(docker image inspect --format '{{{{slice .Id 7 19}}}}' {image})")
}

fn directory(cached: &CachedDirectory, image: &str) -> String {
    let shared = format!("$cached/{}/{}", cached.key, cached.identity);
    if !cached.of_image {
        return shared;
    }
    format!("{shared}-{}", image_id(image))
}

/// A command on the host, in the directory of host files.
pub(super) fn host(command: &ExecStep) -> String {
    let mut line = String::from(
        "(mkdir -p host/files; export RETRIAL_RUN_DIR=\"$PWD\"; cd host/files; export RETRIAL_HOST_DIR=\"$PWD\"; ",
    );
    for (key, value) in &command.env {
        let _ = write!(line, "export {}; ", word(&format!("{key}={value}")));
    }
    if let Some(workdir) = &command.workdir {
        let _ = write!(line, "cd {}; ", quote(workdir));
    }
    format!(
        "{line}{} {})",
        super::shell_words(command),
        quote(&command.run)
    )
}

/// Copies files out of the image, for steps on the host.
pub(super) fn copy_out(plan: &Plan, name: &str, path: &str, to: &str) -> String {
    let image = quote(&plan.image);
    let (from, to) = (
        quote(&format!("{name}-copy:{path}")),
        quote(&format!("host/files/{to}")),
    );
    format!(
        "docker create --pull=never --name {name}-copy --entrypoint=/bin/true {image}\nmkdir -p \"$(dirname {to})\"\ndocker cp {from} {to}\ndocker rm {name}-copy"
    )
}
