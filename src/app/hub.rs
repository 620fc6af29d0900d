//! The hub of models as this machine's environment has it.

use retrial_hub::Hub;
use retrial_plan::download::HubHere;

/// Which hub, where its cache is, and whether there is a token; nothing of a hub whose settings are wrong,
/// which `doctor` reports.
pub fn here() -> HubHere {
    let Ok(hub) = Hub::from_environment() else {
        return HubHere::default();
    };
    let settings = hub.settings();
    HubHere {
        host: settings.endpoint.host_str().unwrap_or_default().to_owned(),
        cache: settings.cache.display().to_string(),
        token: settings.token.as_ref().map(|token| token.source.clone()),
    }
}
