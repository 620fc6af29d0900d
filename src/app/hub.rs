//! The hub of models that this machine's environment selects.

use retrial_hub::HubSettings;
use retrial_plan::download::LocalHubSettings;

/// Returns which hub is used, its cache, and the source of its token; empty if the settings of the hub are invalid,
/// which `doctor` reports.
pub fn hub_from_environment() -> LocalHubSettings {
    let Ok(settings) = HubSettings::from_environment() else {
        return LocalHubSettings::default();
    };
    LocalHubSettings {
        host: settings.endpoint.host_str().unwrap_or_default().to_owned(),
        cache: settings.cache.display().to_string(),
        token: settings.token.map(|token| token.source),
    }
}
