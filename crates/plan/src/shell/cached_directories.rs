//! Cached directories and steps on the host, as shell commands equivalent to the runner's.

use std::fmt::Write as _;

use itertools::join;

use super::{docker_exec_command, docker_run_command, quote_word, shell_quote};
use crate::cached_directory::{
    CachedDirectory, PopulateStep, SEED_SCRIPT, STAGE_MOUNT_PATH, short_identity,
};
use crate::step::{ExecStep, Plan, Step};
use retrial_container::ContainerSpec;
use retrial_recipe::model::StepLocation;

/// The location of cached directories; empty for a plan without.
pub(super) fn cache_location(plan: &Plan) -> String {
    let mut containers = plan.containers();
    let mounts = containers.any(|container| !container.cache_mounts.is_empty());
    if !mounts && plan.cached_directories().next().is_none() {
        return String::new();
    }
    "\n# cached directories: populated once, for scripts of this directory only\ncached=\"$PWD/cached\"\n".to_owned()
}

/// The mounts of directories that were cached before a step.
pub(super) fn cached_mount_flags(plan: &Plan, before: u32) -> Vec<String> {
    let earlier = plan.cached_directories().filter(|(number, _)| *number < before);
    let mounts = earlier.map(|(number, directory)| {
        let rights = if directory.writable { "" } else { ":ro" };
        format!(
            "--volume=\"$cached_{number}/current/content\":{}{rights}",
            shell_quote(&directory.path)
        )
    });
    mounts.collect()
}

/// Populates a directory, unless it is cached.
pub(super) fn populate_commands(
    plan: &Plan,
    step: &Step,
    populate_step: &PopulateStep,
    name: &str,
) -> String {
    let PopulateStep { directory: cached, location, command } = populate_step;
    let number = step.number;
    let (image, path) = (shell_quote(&plan.image), shell_quote(&cached.path));
    let (key, identity) = (&cached.key, short_identity(&cached.identity));
    let mut out = format!("cached_{number}=$cached/{key}-{identity}\n");
    let _ = writeln!(out, "if [ ! -d \"$cached_{number}/current\" ]; then");
    let owner = match location {
        StepLocation::Container => "''",
        StepLocation::Host => "\"$(id -u):$(id -g)\"",
    };
    out.push_str(&seed_commands(&format!("$cached_{number}"), &image, &path, owner));
    match location {
        StepLocation::Container => {
            let populator = format!("{name}-fill");
            let mut mounts = super::step_mount_flags(plan, step);
            mounts.push(format!("--volume=\"$stage/content\":{path}"));
            let container = ContainerSpec { cache_mounts: Vec::new(), ..plan.container.clone() };
            let _ = writeln!(out, "{}", docker_run_command(plan, &container, &populator, mounts));
            let _ = writeln!(out, "{}", docker_exec_command(command, &populator));
            let rights = if cached.writable { "a+rwX" } else { "a+rX" };
            let _ = writeln!(out, "docker exec -u 0 {populator} chmod -R {rights} {path}");
            let _ = writeln!(out, "docker rm -f {populator}");
        }
        StepLocation::Host => {
            out.push_str("export RETRIAL_CACHE_PATH=\"$stage/content\"\n");
            let _ = writeln!(out, "{}", host_command(command));
        }
    }
    out.push_str(&file_checks(cached));
    let _ = write!(out, "sync; mv \"$stage\" \"$cached_{number}/current\"\nfi");
    out
}

/// Checks that the directory has the files of the recipe's list, and no others if the list is complete.
fn file_checks(cached: &CachedDirectory) -> String {
    let mut out = String::new();
    for (name, expected) in &cached.files {
        let name = shell_quote(name);
        let file = format!("\"$stage/content\"/{name}");
        let _ = writeln!(out, "test -f {file} -a ! -L {file}");
        if let Some(size) = expected.size {
            let _ = writeln!(out, "test \"$(stat -c %s {file})\" = {size}");
        }
        if let Some(hash) = &expected.sha256 {
            let _ = writeln!(out, "test \"$(sha256sum <{file})\" = '{hash}  -'");
        }
    }
    if cached.has_complete_list() {
        let listed = cached.files.iter().map(|(name, _)| {
            let pattern = name.replace(['\\', '*', '?', '['], "?");
            format!("! -path {}", shell_quote(&format!("./{pattern}")))
        });
        let listed = join(listed, " ");
        let _ = writeln!(
            out,
            "unlisted=$(cd \"$stage/content\"; find . ! -path . '(' ! -type d -o -empty ')' {listed})\n\
             [ -z \"$unlisted\" ] || {{ echo \"error: the recipe does not list $unlisted\" >&2; exit 1; }}"
        );
    }
    out
}

/// Creates a stage in a directory, with the image's content at `path`.
fn seed_commands(directory: &str, image: &str, path: &str, owner: &str) -> String {
    format!(
        "stage={directory}/stage-shell\nrm -rf \"$stage\"; mkdir -p \"$stage/content\"\n\
         docker run --rm --pull=never --user=0 --network=none --volume=\"$stage/content\":{STAGE_MOUNT_PATH} --entrypoint=/bin/sh {image} -c {} sh {path} {owner}\n",
        shell_quote(SEED_SCRIPT)
    )
}

/// The directories of a container's cache mounts: the commands that create them, and the flags that mount them.
pub(super) fn cache_mount_commands(
    plan: &Plan,
    container: &ContainerSpec,
) -> (String, Vec<String>) {
    let mut commands = String::new();
    let mut flags = Vec::new();
    let image = shell_quote(&container.image);
    for (number, (mount, path)) in (1..).zip(&container.cache_mounts) {
        let identity = plan.cache_mount_identity(path, "", "", "");
        let path = shell_quote(path);
        let _ = writeln!(commands, "kept_{number}=$cached/{mount}-{}", short_identity(&identity));
        let _ = writeln!(commands, "if [ ! -d \"$kept_{number}/current\" ]; then");
        commands.push_str(&seed_commands(&format!("$kept_{number}"), &image, &path, "''"));
        let _ = writeln!(commands, "mv \"$stage\" \"$kept_{number}/current\"\nfi");
        flags.push(format!("--volume=\"$kept_{number}/current/content\":{path}"));
    }
    (commands, flags)
}

/// A command on the host, in the directory of host files.
pub(super) fn host_command(command: &ExecStep) -> String {
    let mut line = String::from(
        "(mkdir -p host/files; export RETRIAL_RUN_DIR=\"$PWD\"; cd host/files; export RETRIAL_HOST_DIR=\"$PWD\"; ",
    );
    for (key, value) in &command.env {
        let _ = write!(line, "export {}; ", quote_word(&format!("{key}={value}")));
    }
    if let Some(workdir) = &command.workdir {
        let _ = write!(line, "cd {}; ", shell_quote(workdir));
    }
    format!("{line}{} {})", super::shell_words(command), shell_quote(&command.run))
}

/// Copies files out of the image, for steps on the host.
pub(super) fn copy_out_commands(plan: &Plan, name: &str, path: &str, to: &str) -> String {
    let image = shell_quote(&plan.image);
    let (from, to) =
        (shell_quote(&format!("{name}-copy:{path}")), shell_quote(&format!("host/files/{to}")));
    format!(
        "docker create --pull=never --name {name}-copy --entrypoint=/bin/true {image}\nmkdir -p \"$(dirname {to})\"\ndocker cp {from} {to}\ndocker rm {name}-copy"
    )
}
