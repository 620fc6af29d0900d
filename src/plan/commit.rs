//! Commits of models that are known only after they were fetched: what stands for one in a plan,
//! and the texts of a plan that may name one.

use retrial_container::ContainerSpec;

use super::cached::{CachedDirectory, PopulateStep};
use super::step::{Action, Condition, ExecStep, Step};

/// Returns what stands for a model's commit in a plan that was made before it is known. No shell
/// takes it for something of its own.
#[must_use]
pub fn commit_later(model: &str) -> String {
    format!("${{{{ models.{model}.commit }}}}")
}

/// A part of a plan whose texts may name the commit of a model.
pub trait NamesCommits {
    /// Returns all texts that are made from expressions of the recipe.
    fn texts(&mut self) -> Vec<&mut String>;
}

impl NamesCommits for Step {
    fn texts(&mut self) -> Vec<&mut String> {
        let mut texts = self.action.texts();
        if let Condition::UnlessCached { key } = &mut self.when {
            texts.push(key);
        }
        texts
    }
}

impl NamesCommits for Action {
    fn texts(&mut self) -> Vec<&mut String> {
        match self {
            Self::Pull { reference, .. } => vec![reference],
            Self::Build(build) => {
                let mut texts = vec![&mut build.context, &mut build.dockerfile, &mut build.tag];
                texts.extend(build.args.values_mut());
                texts
            }
            Self::FetchModel(model) => vec![&mut model.mount.target],
            Self::CopyOut { path, to } => vec![path, to],
            Self::Populate(PopulateStep {
                directory, command, ..
            }) => {
                let mut texts = directory.texts();
                texts.extend(command.texts());
                texts
            }
            Self::Exec(command) | Self::Host(command) => command.texts(),
            Self::StartService(service) => service.texts(),
            Self::Collect { path, .. } => vec![path],
            Self::StopService(_) | Self::Create | Self::Judge | Self::Remove => Vec::new(),
        }
    }
}

impl NamesCommits for ExecStep {
    fn texts(&mut self) -> Vec<&mut String> {
        let mut texts = vec![&mut self.run];
        texts.extend(self.shell.iter_mut().flatten());
        texts.extend(self.env.iter_mut().map(|(_, value)| value));
        texts.extend(&mut self.workdir);
        texts.extend(&mut self.user);
        texts.extend(&mut self.results);
        texts
    }
}

impl NamesCommits for CachedDirectory {
    fn texts(&mut self) -> Vec<&mut String> {
        let mut texts = vec![&mut self.key, &mut self.path];
        texts.extend(self.files.iter_mut().map(|(name, _)| name));
        texts
    }
}

impl NamesCommits for ContainerSpec {
    fn texts(&mut self) -> Vec<&mut String> {
        let mut texts: Vec<&mut String> = self.entrypoint.iter_mut().flatten().collect();
        texts.extend(&mut self.command);
        texts.extend(&mut self.devices);
        texts.extend(&mut self.extra.tmpfs);
        texts.extend(self.env.iter_mut().map(|(_, value)| value));
        for mount in &mut self.mounts {
            texts.extend([&mut mount.source, &mut mount.target]);
        }
        texts.extend(&mut self.workdir);
        texts.extend(&mut self.user);
        texts
    }
}
