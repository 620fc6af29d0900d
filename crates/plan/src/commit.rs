//! Values known only after planning: commits of fetched models, names and addresses of machines. In a plan, the
//! expression itself is the placeholder.

use std::ops::RangeInclusive;

use retrial_container::ContainerSpec;
use retrial_recipe::expression::{ExpressionScope, NodeScope, render_template};
use retrial_recipe::model::{ReadyWhen, Template};

use super::cached_directory::{CachedDirectory, PopulateStep};
use super::service::ServiceStep;
use super::step::{Action, ExecStep, Plan, Step, StepCondition};

/// Returns the placeholder of a model's commit, before it is known. It has no special meaning in a shell.
pub fn commit_placeholder(model: &str) -> String {
    format!("${{{{ models.{model}.commit }}}}")
}

impl Plan {
    /// Fills the values of a machine into texts of the plan, for one trial of a measurement or for none. Text
    /// whose expressions cannot be evaluated is unchanged: [`super::build_plan()`] has tested them.
    pub fn render_on_machine(
        &self,
        texts: Vec<&mut String>,
        node: &NodeScope,
        trial: Option<(usize, u32)>,
    ) {
        let measured = trial.and_then(|(measurement, trial)| {
            let measured = self.measurements.get(measurement)?;
            Some((measured.scenario.to_string(), measured.mode, trial))
        });
        let mut scope = ExpressionScope {
            params: self.params.clone(),
            variant: self.variant.clone(),
            gpus: self.requires.gpus.as_ref().map(|gpus| gpus.count),
            node: Some(node.clone()),
            ..ExpressionScope::default()
        };
        if let Some((scenario, mode, trial)) = measured {
            (scope.scenario, scope.mode, scope.trial) = (Some(scenario), Some(mode), Some(trial));
        }
        for text in texts.into_iter().filter(|text| text.contains("${{")) {
            if let Ok(rendered) = render_template(&Template(text.clone()), &scope) {
                *text = rendered;
            }
        }
    }

    /// The plan with the number of machines and GPUs that the recipe has, for display: names, addresses, and a
    /// number of GPUs that differs between machines remain expressions.
    #[must_use]
    pub fn preview(&self) -> Self {
        let Some(nodes) = self.nodes else {
            return self.clone();
        };
        let gpus = self.gpus_per_node().filter(|gpus| gpus.start() == gpus.end());
        let declared = NodeScope {
            name: "${{ node.name }}".to_owned(),
            gpus: gpus.map(|gpus| *gpus.end()),
            head: "${{ head.address }}".to_owned(),
            count: nodes.count,
            all_gpus: self.total_gpus().unwrap_or(0),
        };
        let mut preview = self.clone();
        self.render_on_machine(preview.container.rendered_texts(), &declared, None);
        for step in &mut preview.steps {
            let trial = step.measurement_and_trial();
            self.render_on_machine(step.rendered_texts(), &declared, trial);
        }
        preview
    }

    /// Returns the number of GPUs of all machines, according to the recipe.
    pub fn total_gpus(&self) -> Option<u32> {
        let nodes = self.nodes?;
        let each = self.requires.gpus.as_ref().map(|gpus| gpus.count);
        nodes.gpus.or_else(|| each?.checked_mul(nodes.count))
    }

    /// Returns the least and the largest number of GPUs that one of several machines may have, so that all together
    /// have those that the recipe requires.
    pub fn gpus_per_node(&self) -> Option<RangeInclusive<u32>> {
        let (nodes, total) = (self.nodes?, self.total_gpus()?);
        let most = self.requires.gpus.as_ref()?.count;
        let others = nodes.count.saturating_sub(1);
        let least = total.saturating_sub(most.saturating_mul(others));
        Some(least.clamp(1, most)..=most)
    }

    /// Describes the GPUs of one of several machines, `7 or 8`, if these cannot all have the same number.
    pub fn describe_unequal_gpus(&self) -> Option<String> {
        let gpus = self.gpus_per_node()?;
        let (least, most) = (*gpus.start(), *gpus.end());
        match most - least {
            0 => None,
            1 => Some(format!("{least} or {most}")),
            _ => Some(format!("{least} to {most}")),
        }
    }
}

/// A part of a plan whose texts may contain placeholders.
pub trait PlaceholderTexts {
    /// Returns all texts that are made from expressions of the recipe.
    fn rendered_texts(&mut self) -> Vec<&mut String>;
}

impl PlaceholderTexts for Step {
    fn rendered_texts(&mut self) -> Vec<&mut String> {
        let mut texts = self.action.rendered_texts();
        if let StepCondition::UnlessCached { key } = &mut self.when {
            texts.push(key);
        }
        texts
    }
}

impl PlaceholderTexts for Action {
    fn rendered_texts(&mut self) -> Vec<&mut String> {
        match self {
            Self::Pull { reference, .. } => vec![reference],
            Self::Build(build) => {
                let mut texts = vec![&mut build.context, &mut build.dockerfile, &mut build.tag];
                texts.extend(build.args.values_mut());
                texts
            }
            Self::FetchModel(model) => vec![&mut model.mount.target],
            Self::CopyOut { path, to } => vec![path, to],
            Self::Populate(PopulateStep { directory, command, .. }) => {
                let mut texts = directory.rendered_texts();
                texts.extend(command.rendered_texts());
                texts
            }
            Self::Exec(command) | Self::Host(command) => command.rendered_texts(),
            Self::StartService(service) => service.rendered_texts(),
            Self::Collect { path, .. } => vec![path],
            Self::StopService(_) | Self::Create | Self::Judge | Self::Remove => Vec::new(),
        }
    }
}

impl PlaceholderTexts for ExecStep {
    fn rendered_texts(&mut self) -> Vec<&mut String> {
        let mut texts = vec![&mut self.run];
        texts.extend(self.shell.iter_mut().flatten());
        texts.extend(self.env.iter_mut().map(|(_, value)| value));
        texts.extend(&mut self.workdir);
        texts.extend(&mut self.user);
        texts.extend(&mut self.results);
        texts
    }
}

impl PlaceholderTexts for CachedDirectory {
    fn rendered_texts(&mut self) -> Vec<&mut String> {
        let mut texts = vec![&mut self.key, &mut self.path];
        texts.extend(self.files.iter_mut().map(|(name, _)| name));
        texts
    }
}

impl PlaceholderTexts for ServiceStep {
    fn rendered_texts(&mut self) -> Vec<&mut String> {
        let mut texts = self.command.rendered_texts();
        match &mut self.ready {
            ReadyWhen::Http(text) | ReadyWhen::Command(text) => texts.push(&mut text.0),
            ReadyWhen::Log(_) | ReadyWhen::Port(_) => {}
        }
        if let Some(container) = &mut self.own_container {
            texts.extend(container.rendered_texts());
        }
        texts
    }
}

impl PlaceholderTexts for ContainerSpec {
    fn rendered_texts(&mut self) -> Vec<&mut String> {
        let mut texts: Vec<&mut String> = self.entrypoint.iter_mut().flatten().collect();
        texts.extend(&mut self.command);
        texts.extend(&mut self.devices);
        texts.extend(&mut self.extra.tmpfs);
        texts.extend(self.env.iter_mut().map(|(_, value)| value));
        for mount in &mut self.mounts {
            texts.extend([&mut mount.source, &mut mount.target]);
        }
        texts.extend(self.cache_mounts.iter_mut().map(|(_, path)| path));
        texts.extend(&mut self.workdir);
        texts.extend(&mut self.user);
        texts
    }
}
