//! The container engine.

use super::{Check, CheckKind, CheckState, EngineFound};

pub fn check(engine: &EngineFound) -> Check {
    match engine {
        EngineFound::Answers {
            product,
            api,
            endpoint,
            rootless,
        } => {
            let rootless = if *rootless { ", without root" } else { "" };
            Check::new(
                CheckKind::Engine,
                "engine",
                CheckState::Ok,
                format!("{product}, API {api}, {endpoint}{rootless}"),
            )
        }
        EngineFound::Fails(because) => {
            let mut lines = because.lines();
            let found = lines.next().unwrap_or("it does not answer").to_owned();
            let rest: Vec<&str> = lines.map(str::trim).collect();
            Check::new(CheckKind::Engine, "engine", CheckState::Error, found)
                .required("an engine that answers")
                .fix(rest.join("; "))
        }
    }
}
