//! Lists the access that each step needs. Every action is named, so that a new one does not compile before its access
//! is decided.

use super::container::container_accesses;
use super::{AccessKind, HostAccess, HostPath};
use crate::cached_directory::PopulateStep;
use crate::exec::ExecStep;
use crate::recipe_files::{RECIPE_DIRECTORY, named_recipe_files, runs_recipe_file};
use crate::service::ServiceStep;
use crate::step::{Action, Plan, Step};
use retrial_recipe::model::StepLocation;

/// Returns what a step can use of this machine.
pub fn step_accesses(step: &Step) -> Vec<HostAccess> {
    if step.is_skipped() {
        return Vec::new();
    }
    let recipient = || recipient_name(step);
    match &step.action {
        Action::Build(build) => vec![HostAccess {
            recipient: recipient(),
            kind: AccessKind::BuildContext(HostPath::new(&build.context)),
        }],
        Action::Exec(command) => command_accesses(command, &recipient()),
        Action::Host(command) => host_command_accesses(command, &recipient()),
        Action::Populate(PopulateStep { directory: _, location, command }) => match location {
            // In a container with the flags of the recipe's.
            StepLocation::Container => command_accesses(command, &recipient()),
            StepLocation::Host => host_command_accesses(command, &recipient()),
        },
        Action::StartService(service) => service_accesses(service, &recipient()),
        // The recipe's container is listed without a step; the others have files of the image, of the hub's cache or
        // of the run's own directory.
        Action::Create
        | Action::Pull { .. }
        | Action::FetchModel(_)
        | Action::CopyOut { .. }
        | Action::StopService(_)
        | Action::Collect { .. }
        | Action::Judge
        | Action::Remove => Vec::new(),
    }
}

fn recipient_name(step: &Step) -> String {
    let name = step.name.as_str();
    let own = name.strip_prefix("setup-").or(name.strip_prefix("dataset-"));
    format!("step {}", own.unwrap_or(name))
}

impl Plan {
    /// Returns the texts of the commands on the host that a recipient of access runs: steps of `setup` and `datasets` may
    /// have one name.
    pub fn host_commands(&self, recipient: &str) -> impl Iterator<Item = &ExecStep> {
        let steps = self.steps.iter().filter(|step| !step.is_skipped());
        steps.filter_map(move |step| match &step.action {
            Action::Host(command)
            | Action::Populate(PopulateStep { location: StepLocation::Host, command, .. }) => {
                (recipient_name(step) == recipient).then_some(command)
            }
            _ => None,
        })
    }
}

fn service_accesses(service: &ServiceStep, recipient: &str) -> Vec<HostAccess> {
    let mut all = command_accesses(&service.command, recipient);
    if let Some(own) = &service.own_container {
        let place = format!("services.{}.container", service.service);
        all.extend(container_accesses(own, &place));
    }
    all
}

fn host_command_accesses(command: &ExecStep, recipient: &str) -> Vec<HostAccess> {
    let directory = command.env.iter().find(|(name, _)| name == RECIPE_DIRECTORY);
    let files = directory.into_iter().flat_map(|(_, directory)| {
        let named = named_recipe_files(&command.run).unwrap_or_default().into_iter();
        named.map(move |path| AccessKind::RecipeFile(HostPath::new(&format!("{directory}/{path}"))))
    });
    let of_recipe = runs_recipe_file(command);
    let kinds = [AccessKind::HostCommand { of_recipe }].into_iter().chain(files);
    let mut all: Vec<HostAccess> = kinds.map(|kind| HostAccess::new(recipient, kind)).collect();
    all.extend(command_accesses(command, recipient));
    all
}

fn command_accesses(command: &ExecStep, recipient: &str) -> Vec<HostAccess> {
    let secrets = command
        .secrets
        .iter()
        .map(|name| AccessKind::Secret { name: name.clone(), named_by_user: false });
    secrets.map(|kind| HostAccess::new(recipient, kind)).collect()
}
