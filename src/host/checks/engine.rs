//! The container engine.

use super::{Check, CheckKind, CheckState, EngineFound};

pub fn check(engine: &EngineFound) -> Option<Check> {
    Some(match engine {
        EngineFound::NotAsked => return None,
        EngineFound::Answers {
            product,
            api,
            endpoint,
            rootless,
        } => {
            let rootless = if *rootless { ", without root" } else { "" };
            CheckKind::Engine.ok(format!("{product}, API {api}, {endpoint}{rootless}"))
        }
        EngineFound::Fails(message) => CheckKind::Engine
            .failed(CheckState::Error, message)
            .required("an engine that answers"),
    })
}
