//! Examines this host, its engine and the hub, for `doctor` and before a run.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use rustix::fs::Access as Rights;
use tokio::time::timeout;

use super::free_space::pulled_images;
use super::image_probe::{ProbedImage, probe_image};
use super::network::probe_hosts;
use super::prepare_error::PrepareError;
use super::secrets::list_unset_secrets;
use crate::app::failure::Failure;
use crate::app::options::GlobalOptions;
use crate::app::runtime::wait_with_notice;
use crate::app::terminal;
use itertools::join;
use retrial_container::EngineCapabilities;
use retrial_document::ErrorText;
use retrial_engine::api::Engine;
use retrial_engine::error::EngineError;
use retrial_host as host;
use retrial_host::checks::{
    DiskSpace, EngineStatus, HostCheck, HostCheckKind, HostCheckState, HostFacts, HostStatuses,
    ImageContent, ImageRelease, ImageReleaseSource, ModelAccess, ModelSize, ModelStatus,
    check_host, rocm_of_image,
};
use retrial_host::model::{GpuCondition, HostSettings, HostView};
use retrial_host::record::HostRecord;
use retrial_hub::{FetchError, Hub, ModelSpec};
use retrial_plan::{Action, Plan};
use retrial_rocm::{ReleaseTable, target_family_in_name};
use retrial_run::model::to_model_spec;
use retrial_run::{GPU_LABEL, describe_run, label_value};

/// How long the hub may take to list a model's files.
const HUB_LISTING_TIMEOUT: Duration = Duration::from_secs(10);

/// The state of a host, and the results of its checks.
pub struct HostExamination {
    /// GPUs, drivers and kernel of the host.
    pub host: HostView,
    /// Temperature, clocks and partition of its GPUs at that moment.
    conditions: Vec<GpuCondition>,
    /// Settings of the kernel that change what a benchmark measures.
    settings: HostSettings,
    /// The abilities of its engine; none if it does not answer.
    abilities: Option<EngineCapabilities>,
    /// The results of all checks, those that passed too.
    pub checks: Vec<HostCheck>,
}

/// Examines everything that the plan requires, or a host in general.
pub async fn examine_host(
    global: &GlobalOptions,
    host: HostView,
    engine: Result<&dyn Engine, &EngineError>,
    plan: Option<&Plan>,
) -> HostExamination {
    let connected = engine.ok();
    let releases = global.rocm_releases();
    // The engine answers while the files of the host are read, which comes last.
    let answers = async {
        tokio::join!(
            query_abilities(connected),
            examine_image_and_hosts(connected, plan, releases),
            is_image_missing(connected, plan),
            find_gpu_claims(connected),
            check_models(plan),
            async {
                let conditions = host::read_conditions(&global.root, &host.gpus);
                (conditions, host::read_settings(&global.root))
            },
        )
    };
    let (abilities, (image, hosts), needs_image, claims, models, (conditions, settings)) =
        wait_with_notice("the engine, the registries and the hub", Box::pin(answers)).await;
    let engine_state = match engine {
        Ok(engine) => engine_status(engine, abilities.as_ref()),
        Err(error) => EngineStatus::Fails(ErrorText::of(error)),
    };
    let facts = HostFacts {
        host: &host,
        conditions: &conditions,
        settings: Some(&settings),
        engine: engine_state,
        disks: list_disks(global, plan, abilities.as_ref(), &models),
        is_fetch_pending: needs_image.map(|image| image || models.iter().any(is_model_pending)),
        requires: plan.map(|plan| &plan.requires),
        scenario_memory: plan.map(Plan::scenario_memory).unwrap_or_default(),
        image,
        target_override: plan.and_then(target_override),
        recipe_use: plan.map(Plan::rocm_use).unwrap_or_default(),
        assigned: plan.and_then(|plan| plan.assigned_gpus.as_ref()),
        has_chosen_gpus: plan.is_some_and(|plan| !plan.gpus.is_empty()),
        claims,
        models,
        hosts,
        listening: host::listening_ports(&global.root),
        unset_secrets: plan.map(list_unset_secrets).unwrap_or_default(),
    };
    let checks = check_host(&facts, releases);
    HostExamination { host, conditions, settings, abilities, checks }
}

impl HostExamination {
    /// Refuses a run that cannot work before anything is fetched, unless it is forced. Returns the
    /// warnings of its verdict.
    pub fn refuse_or_warn(&self, plan: &Plan, force: bool) -> Result<Vec<String>, PrepareError> {
        let recipe = &plan.recipe;
        // Other hardware was refused or forced before, and a qualifier states that.
        let checks = self.checks.iter().filter(|check| !check.kind.is_hardware());
        let errors: Vec<&HostCheck> =
            checks.clone().filter(|check| check.state == HostCheckState::Error).collect();
        if !errors.is_empty() && !force {
            let is_image = errors.iter().all(|check| check.kind == HostCheckKind::ImageTarget);
            let lines: Vec<String> = errors.into_iter().map(describe_with_fix).collect();
            let failure = Failure::host(format!(
                "{recipe} cannot run on this host; nothing was downloaded:\n{}",
                lines.join("\n")
            ));
            let help = format!("run it anyway with --force; all checks: retrial doctor {recipe}");
            return Err(PrepareError {
                failure: failure.with_help(help),
                unsupported_targets: if is_image { plan.gpu_targets() } else { Vec::new() },
            });
        }
        // What may fail after hours is said before the first step.
        let early_warnings = checks.clone().filter(|check| {
            let may_fail = matches!(
                check.kind,
                HostCheckKind::Network
                    | HostCheckKind::Disk
                    | HostCheckKind::Memory
                    | HostCheckKind::KnownIssue
            );
            may_fail && check.state == HostCheckState::Warning
        });
        for check in early_warnings {
            terminal::advise(format!("warning: {check}"), &check.fix);
        }
        let forced = errors.iter().map(ToString::to_string);
        // A run waits for GPUs that are claimed. Issues are of the release that is read in the container.
        let unjudged = [HostCheckKind::GpusClaimed, HostCheckKind::KnownIssue];
        let warnings = checks
            .filter(|check| !unjudged.contains(&check.kind))
            .filter_map(HostCheck::verdict_warning);
        Ok(forced.chain(warnings).collect())
    }

    /// The content of host.json, by which two runs can be compared.
    pub fn into_host_record(self, engine: &dyn Engine, plan: &Plan) -> HostRecord {
        HostRecord {
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            host: Some(self.host),
            engine: Some(engine.info().clone()),
            abilities: self.abilities,
            assigned_gpus: plan.assigned_gpus.clone(),
            conditions: self.conditions,
            settings: Some(self.settings),
            checks: self.checks,
            ..HostRecord::default()
        }
    }
}

/// A check and how to fix it, as a failure lists it.
pub fn describe_with_fix(check: &HostCheck) -> String {
    let lines = ErrorText::new(check.to_string()).with_help(&check.fix);
    join(lines.to_lines().iter().map(|line| format!("  {line}")), "\n")
}

fn engine_status(engine: &dyn Engine, abilities: Option<&EngineCapabilities>) -> EngineStatus {
    let info = engine.info();
    EngineStatus::Answers {
        product: format!("{} {}", info.product, info.version),
        api: info.api.clone(),
        endpoint: format!("{} ({})", info.endpoint, info.chosen_by),
        rootless: abilities.is_some_and(|abilities| abilities.rootless),
    }
}

/// Returns the abilities of the engine; none if they cannot be read.
async fn query_abilities(engine: Option<&dyn Engine>) -> Option<EngineCapabilities> {
    engine?.query_capabilities().await.ok()
}

/// Examines the image's content and the hosts that its commands connect to: from a container of the image if
/// the engine has it; otherwise hosts from this machine.
async fn examine_image_and_hosts(
    engine: Option<&dyn Engine>,
    plan: Option<&Plan>,
    releases: &ReleaseTable,
) -> (ImageContent, HostStatuses) {
    let Some(plan) = plan else {
        return <_>::default();
    };
    let hosts = plan.needed_hosts();
    let (mut env, mut probed) = (Vec::new(), ProbedImage::default());
    if let Some(engine) = engine
        && let Ok(Some(image)) = engine.find_image(&plan.image).await
    {
        probed = probe_image(engine, plan, &image.id, &hosts).await;
        env = image.env;
    }
    let hosts = match probed.hosts {
        Some(hosts) => HostStatuses { hosts, from_container: true },
        None => probe_hosts(&hosts).await,
    };
    let variant = plan.variant.get("rocm").map(String::as_str);
    let from_name = || rocm_of_image(&plan.image, &env, variant, releases);
    let read = probed.rocm.map(|rocm| {
        let source = ImageReleaseSource::Container;
        ImageRelease { release: rocm.stated.release, source }
    });
    let image = ImageContent {
        rocm: read.or_else(from_name),
        family: target_family_in_name(&plan.image),
        packages: probed.packages,
    };
    (image, hosts)
}

/// Returns whether a run would pull its image; none if the engine does not tell.
async fn is_image_missing(engine: Option<&dyn Engine>, plan: Option<&Plan>) -> Option<bool> {
    let engine = engine?;
    for reference in pulled_images(plan?) {
        if engine.find_image(reference).await.ok()?.is_none() {
            return Some(true);
        }
    }
    Some(false)
}

/// Returns whether a part of a model is to be fetched.
fn is_model_pending(model: &ModelStatus) -> bool {
    match model.access {
        ModelAccess::Granted(Some(size)) => size.missing_bytes > 0,
        ModelAccess::NotQueried(_) => false,
        _ => true,
    }
}

/// `HSA_OVERRIDE_GFX_VERSION` of the plan's container.
pub fn target_override(plan: &Plan) -> Option<&str> {
    let mut variables = plan.container.env.iter();
    let found = variables.find(|(name, _)| name == "HSA_OVERRIDE_GFX_VERSION");
    found.map(|(_, value)| value.as_str())
}

/// Running Retrial containers that have GPUs, of any user.
async fn find_gpu_claims(engine: Option<&dyn Engine>) -> Vec<String> {
    let Some(engine) = engine else {
        return Vec::new();
    };
    let containers = engine.list_containers(GPU_LABEL).await.unwrap_or_default();
    let running = containers.iter().filter(|container| container.running);
    running
        .map(|container| {
            format!("{} by {}", label_value(container, GPU_LABEL), describe_run(container))
        })
        .collect()
}

/// Checks the access to the models that a run would fetch.
async fn check_models(plan: Option<&Plan>) -> Vec<ModelStatus> {
    let mut checked = Vec::new();
    for model in plan.into_iter().flat_map(Plan::fetched_models) {
        let spec = to_model_spec(model);
        let access = match Hub::from_environment() {
            Ok(hub) => check_model_access(&hub, &spec).await,
            Err(error) => ModelAccess::Refused(ErrorText::of(&error)),
        };
        checked.push(ModelStatus { repository: model.repository.clone(), access });
    }
    checked
}

async fn check_model_access(hub: &Hub, model: &ModelSpec) -> ModelAccess {
    if hub.settings().offline {
        return ModelAccess::NotQueried(
            "requests to the hub are disabled (HF_HUB_OFFLINE)".to_owned(),
        );
    }
    match hub.check_access(model).await {
        Ok(()) => {
            let size = timeout(HUB_LISTING_TIMEOUT, model_size(hub, model)).await;
            ModelAccess::Granted(size.ok().flatten())
        }
        Err(
            error @ (FetchError::Refused { .. }
            | FetchError::Missing { .. }
            | FetchError::Name { .. }),
        ) => ModelAccess::Refused(ErrorText::of(&error)),
        Err(error) => ModelAccess::NoResponse(ErrorText::of(&error)),
    }
}

async fn model_size(hub: &Hub, model: &ModelSpec) -> Option<ModelSize> {
    let snapshot = hub.resolve_unreported(model).await.ok()?;
    Some(ModelSize {
        files: snapshot.files.len(),
        bytes: snapshot.files.iter().map(|file| file.size).sum(),
        missing_bytes: hub.missing_bytes(&snapshot),
    })
}

/// The disks that a run writes to.
fn list_disks(
    global: &GlobalOptions,
    plan: Option<&Plan>,
    abilities: Option<&EngineCapabilities>,
    models: &[ModelStatus],
) -> Vec<DiskSpace> {
    let mut disks = vec![describe_disk("runs", global.home.root(), true)];
    let images_root = abilities.and_then(|abilities| abilities.root_directory.as_deref());
    // An engine elsewhere has its disk elsewhere.
    let images = images_root.filter(|path| path.exists());
    disks.extend(images.map(|path| describe_disk("images", path, false)));
    let Some(plan) = plan else {
        return disks;
    };
    if plan.fetched_models().next().is_some()
        && let Ok(hub) = Hub::from_environment()
    {
        let missing_bytes = models.iter().map(|model| match model.access {
            ModelAccess::Granted(Some(size)) => Some(size.missing_bytes),
            _ => None,
        });
        let missing: Option<u64> = missing_bytes.sum();
        let stated =
            || plan.total_download_size(|step| matches!(step.action, Action::FetchModel(_)));
        disks.push(DiskSpace {
            needed: missing.or_else(stated),
            ..describe_disk("models", &hub.settings().cache, true)
        });
    }
    if plan.cached_directories().next().is_some() {
        let needed = plan.total_download_size(|step| matches!(step.action, Action::Populate(_)));
        disks.push(DiskSpace { needed, ..describe_disk("data", &global.cache, true) });
    }
    disks
}

fn describe_disk(label: &str, path: &Path, must_be_writable: bool) -> DiskSpace {
    let existing = path.ancestors().find(|path| path.exists());
    let rights = |path: &Path| rustix::fs::access(path, Rights::WRITE_OK | Rights::EXEC_OK);
    DiskSpace {
        purpose: label.to_owned(),
        path: path.display().to_string(),
        free: host::free_disk_bytes(path),
        needed: None,
        network: host::network_file_system(path),
        writable: !must_be_writable || existing.is_none_or(|path| rights(path).is_ok()),
        device: existing.and_then(|path| Some(path.metadata().ok()?.dev())),
    }
}
