//! The fifth step: an approved run is completed for the machine that executes it, and its host and engine are
//! examined. Nothing is fetched before.

use std::path::Path;

use super::approved_plan::ApprovedPlan;
use super::check::check_requirements;
use super::free_space::check_images_fit;
use super::host_mounts::check_host_paths;
use super::missing_requirements::add_missing_files;
use super::paths::{check_paths_again, record_links_here};
use super::preflight::examine_host;
use super::prepare_error::PrepareError;
use crate::app::failure::Failure;
use crate::app::options::GlobalOptions;
use retrial_engine::api::Engine;
use retrial_host::model::HostView;
use retrial_host::record::HostRecord;
use retrial_plan::build::plan_for_host;
use retrial_recipe::model::Recipe;
use retrial_run::PreparedRun;

impl ApprovedPlan {
    /// Completes the plan with what depends on the host. Refuses a host on which it needs a privilege that was not
    /// approved for another one.
    pub fn complete_for_host(
        &self,
        recipe: &Recipe,
        host: &HostView,
        global: &GlobalOptions,
    ) -> Result<Self, Failure> {
        let mut here = plan_for_host(&self.plan, recipe, host)?;
        record_links_here(&mut here, &self.plan);
        check_host_paths(&here, global)?;
        self.approve_here(here)
    }

    /// Adds files that this host lacks to the unmet requirements.
    #[must_use]
    pub fn with_missing_files(mut self, recipe: &Recipe, root: &Path) -> Self {
        add_missing_files(&mut self.plan, recipe, root);
        self
    }

    /// Refuses a host that does not meet the requirements of the plan, unless it is forced.
    pub fn check_requirements(&self, force: bool) -> Result<(), Failure> {
        check_requirements(&self.plan, force)
    }

    /// Examines the host and its engine, and completes the plan.
    pub async fn prepare(
        self,
        global: &GlobalOptions,
        host: HostView,
        engine: &dyn Engine,
        recipe: String,
        force: bool,
    ) -> Result<PreparedRun, PrepareError> {
        let Self { mut plan, companions } = self;
        // A trial of a batch starts hours after its approval.
        check_paths_again(global, &plan)?;
        let examination = examine_host(global, host, Ok(engine), Some(&plan)).await;
        plan.warnings = examination.refuse_or_warn(&plan, force)?;
        plan.simulated_host = simulated_host(global);
        check_images_fit(engine, &[&plan], false, force).await?;
        let host = examination.into_host_record(engine, &plan);
        Ok(PreparedRun { recipe, plan, host, companions })
    }

    /// The run as a job of a site executes it: the node prepares it.
    pub fn defer_to_site(self, site: &str, recipe: String) -> PreparedRun {
        PreparedRun {
            recipe,
            plan: self.plan,
            companions: self.companions,
            host: HostRecord { site: Some(site.to_owned()), ..HostRecord::default() },
        }
    }
}

/// The directory of `--root`, if the host's GPUs and settings are not those of this machine.
fn simulated_host(global: &GlobalOptions) -> Option<String> {
    let root = &global.root;
    (root.as_path() != Path::new("/")).then(|| root.display().to_string())
}
