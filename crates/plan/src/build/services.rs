//! Services: started before the measurement that needs them, stopped after it; one with the run's scope is
//! started before the first such measurement, and stopped after the last.

use super::error::PlanError;
use super::measure::TrialContext;
use super::{PlanBuilder, render_expression};
use crate::failure::FailureSigns;
use crate::service::{ServiceStep, StopPolicy, StopStep};
use crate::step::{Action, CommandPurpose, ExecStep, StepCondition};
use retrial_container::ContainerSpec;
use retrial_recipe::model::{
    Image, Measurement, MeasurementCommand, Placement, ReadyWhen, Service, ServiceScope,
};

impl<'a> PlanBuilder<'a> {
    /// Pulls the images of services with containers of their own. The plan is pinned if all of them are.
    pub(super) fn add_service_pulls(&mut self) {
        let mut pulled = vec![self.plan.image.clone()];
        for (name, service) in &self.recipe.services {
            let image = service.own_container.as_ref();
            let Some(image) = image.and_then(|own| own.image.as_ref()) else {
                continue;
            };
            let reference = image.reference().unwrap_or_default();
            self.plan.pinned &= matches!(image, Image::Pull { digest: Some(_), .. });
            if !pulled.contains(&reference) {
                self.add_pull_step(&format!("pull-{name}"), Some(name), image);
                pulled.push(reference);
            }
        }
    }

    /// Adds a step that measures, between the starts and stops of the services that it needs.
    pub(super) fn add_measuring_step(
        &mut self,
        context: &TrialContext<'_>,
        name: &str,
        mut exec: ExecStep,
        needs: &[String],
        on: Placement,
    ) -> Result<u32, PlanError> {
        let services = self.recipe.services.iter();
        let needed: Vec<&'a (String, Service)> =
            services.filter(|(name, _)| needs.contains(name)).collect();
        for (service, written) in &needed {
            let start = match (written.scope, self.running.get(service)) {
                (ServiceScope::Run | ServiceScope::Point, Some(start)) => *start,
                (ServiceScope::Run | ServiceScope::Point, None) => {
                    let name = self.step_of_service("start", service, written);
                    let start = self.add_service_start(&name, &context.when, service, written)?;
                    self.running.insert(service.clone(), start);
                    start
                }
                (ServiceScope::Trial, _) => {
                    let name = context.step_name(&format!("{}-start-{service}", context.stem));
                    self.add_service_start(&name, &context.when, service, written)?
                }
            };
            exec.needs.push(start);
        }
        let starts = exec.needs.clone();
        let action = Action::Exec(exec);
        let number = self.add_step_on(on, name, Some("main"), context.when.clone(), action);
        for ((service, written), start) in needed.iter().zip(starts).rev() {
            if written.scope == ServiceScope::Trial {
                let name = context.step_name(&format!("{}-stop-{service}", context.stem));
                self.add_service_stop(&name, &context.when, start, service, written);
            }
        }
        Ok(number)
    }

    /// Stops services of the run that no later measurement needs, and those of a point.
    pub(super) fn stop_unneeded_services(&mut self, later: impl Iterator<Item = &'a Measurement>) {
        let needed: Vec<&String> = later.flat_map(|from| self.needed_services(from)).collect();
        let services = self.recipe.services.iter();
        let lasting = services.filter(|(_, service)| service.scope == ServiceScope::Run);
        let lasting: Vec<&String> = lasting.map(|(name, _)| name).collect();
        let is_needed = |name: &String| needed.contains(&name) && lasting.contains(&name);
        let mut unneeded = std::mem::take(&mut self.running);
        self.running = unneeded.extract_if(.., |name, _| is_needed(name)).collect();
        for (name, service) in self.recipe.services.iter().rev() {
            if let Some(start) = unneeded.get(name) {
                let step = self.step_of_service("stop", name, service);
                self.add_service_stop(&step, &StepCondition::Always, *start, name, service);
            }
        }
    }

    /// Returns the name of a step of a service that outlives a trial: that of a point has the measurement's name.
    fn step_of_service(&self, verb: &str, name: &str, service: &Service) -> String {
        let of_point =
            self.plan.measurements.last().filter(|_| service.scope == ServiceScope::Point);
        match of_point {
            Some(measurement) => format!("{}-{verb}-{name}", measurement.step_name_stem()),
            None => format!("{verb}-{name}"),
        }
    }

    fn needed_services(&self, from: &'a Measurement) -> &'a [String] {
        let MeasurementCommand::From(name) = &from.command else {
            return &from.needs;
        };
        let mut commands = self.recipe.commands.iter();
        let command = commands.find(|(key, _)| key == name);
        command.map_or(&[], |(_, command)| &command.needs)
    }

    fn add_service_start(
        &mut self,
        step: &str,
        when: &StepCondition,
        name: &str,
        service: &Service,
    ) -> Result<u32, PlanError> {
        let scope = self.expression_scope();
        let place = |key: &str| format!("services.{name}.{key}");
        let (run, options) = (&service.run, &service.options);
        let mut command =
            self.exec_step(CommandPurpose::Prepare, &place("run"), run, options, &scope)?;
        command.timeout_s = service.ready.timeout.as_secs().max(1);
        command.failure = FailureSigns::new(self.recipe, &service.options);
        let mut ready = service.ready.when.clone();
        if let ReadyWhen::Http(text) | ReadyWhen::Command(text) = &mut ready {
            text.0 = render_expression(&place("ready"), text, &scope)?;
        }
        let own_container = self.own_container(service)?;
        if let Some(own) = &service.own_container {
            // The recipe's shell belongs to another container.
            let shell = service.options.shell.as_ref().or(own.flags.shell.as_ref());
            command.shell = shell.cloned();
        }
        let container = service_container(name, service);
        let action = Action::StartService(Box::new(ServiceStep {
            service: name.to_owned(),
            command,
            ready,
            stop: stop_policy(service),
            own_container,
        }));
        Ok(self.add_step_on(service.on, step, Some(container), when.clone(), action))
    }

    fn add_service_stop(
        &mut self,
        step: &str,
        when: &StepCondition,
        start: u32,
        name: &str,
        service: &Service,
    ) {
        let container = service_container(name, service);
        let action = Action::StopService(StopStep {
            service: name.to_owned(),
            of: start,
            stop: stop_policy(service),
        });
        self.add_step_on(service.on, step, Some(container), when.clone(), action);
    }

    /// Returns the service's own container. Its network is added when it is created, except for the host's.
    fn own_container(&self, service: &Service) -> Result<Option<ContainerSpec>, PlanError> {
        let Some(own) = &service.own_container else {
            return Ok(None);
        };
        let image = own.image.as_ref().and_then(Image::reference);
        let image = image.unwrap_or_else(|| self.plan.image.clone());
        let (mut spec, _) = self.container_with_gpus(&own.flags, &image)?;
        let network = self.recipe.container.network.clone();
        spec.network = network.filter(|network| network == "host");
        Ok(Some(spec))
    }
}

/// The name of the container in which a service runs.
fn service_container<'a>(name: &'a str, service: &Service) -> &'a str {
    let own = service.own_container.as_ref();
    own.map_or("main", |_| name)
}

fn stop_policy(service: &Service) -> StopPolicy {
    StopPolicy { signal: service.stop.signal, timeout_s: service.stop.timeout.as_secs() }
}
