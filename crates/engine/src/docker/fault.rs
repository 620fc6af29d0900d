//! Converts bollard's errors to ours: the engine is unavailable, or it refused.

use std::iter;

use bollard::errors::Error;
use futures_util::future::ready;
use futures_util::{Stream, StreamExt};

use super::explain::{classify_refusal, explain_refusal, is_no_space};
use crate::error::EngineError;

/// Converts the error of an operation (`create retrial-7`) for users.
pub fn to_engine_error(action: &str, error: Error) -> EngineError {
    let operation = action.to_owned();
    match error {
        Error::DockerResponseServerError { status_code, message } => {
            refusal_error(operation, status_code, &message)
        }
        Error::DockerStreamError { error } => refusal_error(operation, 0, &error),
        Error::RequestTimeoutError => {
            EngineError::Disconnected { operation, reason: "it did not answer in time".into() }
        }
        other if is_connection_error(&other) => {
            EngineError::Disconnected { operation, reason: root_cause(&other) }
        }
        other => EngineError::unexpected_answer(
            operation,
            format!("its answer was not understood: {}", root_cause(&other)),
        ),
    }
}

/// [`to_engine_error`], but a 404 is the container's absence, unless it states that something else is absent:
/// a start answers 404 for a network that is not there, or a process.
pub fn to_container_error(operation: &str, container: &str, error: Error) -> EngineError {
    let is_other = engine_message(&error).is_some_and(|words| {
        let lower_words = words.to_lowercase();
        lower_words.contains("network") || lower_words.contains("exec instance")
    });
    if is_not_found_error(&error) && !is_other {
        return EngineError::NoContainer {
            operation: operation.to_owned(),
            container: container.to_owned(),
        };
    }
    to_engine_error(&format!("{operation} {container}"), error)
}

fn refusal_error(operation: String, status: u16, message: &str) -> EngineError {
    let reason = message.trim().to_owned();
    let lower = reason.to_lowercase();
    // A daemon that shuts down, or whose containerd does, answers the calls in flight with these.
    let unavailable = status == 503
        || lower.contains("transport is closing")
        || lower.contains("code = unavailable")
        || lower.contains("containerd is not running")
        // It was restarted between the creation and the start of a process, and has forgotten it.
        || lower.contains("no such exec instance");
    if unavailable {
        EngineError::Disconnected { operation, reason }
    } else if is_no_space(&lower) {
        EngineError::NoSpace { operation, reason }
    } else {
        let (refusal, help) = (classify_refusal(&reason), explain_refusal(&reason));
        EngineError::Refused { operation, status, reason, refusal, help }
    }
}

/// Returns whether the engine answered 404.
pub fn is_not_found_error(error: &Error) -> bool {
    matches!(error, Error::DockerResponseServerError { status_code: 404, .. })
}

/// Returns whether a stream of messages did end, and only its last line break is left over. bollard's
/// decoder takes a message whose line break has not come yet, and complains of the line break.
/// A connection that really breaks off gives another error (of the chunked encoding).
fn is_stray_line_break(error: &Error) -> bool {
    matches!(error, Error::IOError { err } if err.to_string() == "bytes remaining on stream")
}

/// Returns the messages of a stream, without an error for its last line break.
pub fn without_stray_line_break<T>(
    stream: impl Stream<Item = Result<T, Error>> + Unpin,
) -> impl Stream<Item = Result<T, Error>> + Unpin {
    stream.take_while(|message| ready(!message.as_ref().is_err_and(is_stray_line_break)))
}

/// Returns whether the engine answered 409: something is in use, or exists already.
pub fn is_conflict_error(error: &Error) -> bool {
    matches!(error, Error::DockerResponseServerError { status_code: 409, .. })
}

/// Returns the engine's message, if it answered at all.
pub fn engine_message(error: &Error) -> Option<&str> {
    match error {
        Error::DockerStreamError { error } => Some(error),
        Error::DockerResponseServerError { message, .. } => Some(message),
        _ => None,
    }
}

/// Returns whether the fault is in the connection, not in the request.
pub fn is_connection_error(error: &Error) -> bool {
    match error {
        Error::HyperResponseError { .. }
        | Error::HyperLegacyError { .. }
        | Error::IOError { .. }
        | Error::SocketNotFoundError(_)
        | Error::RequestTimeoutError => true,
        // A body that broke off in the middle of its JSON.
        Error::JsonSerdeError { err } => err.is_eof() || err.is_io(),
        _ => false,
    }
}

/// Returns the last cause of an error: hyper has the specific part there, and the text before it
/// (`Error in the hyper legacy client: client error (Connect)`) does not help a user.
pub fn root_cause(error: &dyn std::error::Error) -> String {
    let causes = iter::successors(Some(error), |error| error.source());
    causes.last().unwrap_or(error).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status_code: u16, message: &str) -> Error {
        Error::DockerResponseServerError { status_code, message: message.into() }
    }

    #[test]
    fn a_refusal_is_not_a_missing_engine() {
        let refusal = to_engine_error("start x", answer(500, "no such thing"));
        assert!(matches!(refusal, EngineError::Refused { status: 500, .. }));
        assert!(!refusal.is_unavailable());
        let error = to_engine_error("start x", Error::RequestTimeoutError);
        assert!(error.is_unavailable());
        let unavailable = to_engine_error(
            "start x",
            answer(500, "connection error: desc = \"transport is closing\": unknown"),
        );
        assert!(unavailable.is_unavailable());
    }

    #[test]
    fn a_restarted_engine_that_has_forgotten_a_process_is_asked_again() {
        let forgotten = answer(404, "No such exec instance: 4f1c");
        let error = to_container_error("start a process in", "x", forgotten);
        assert!(error.is_unavailable(), "{error}");
    }

    #[test]
    fn a_missing_container_and_a_full_disk_are_distinguished() {
        assert!(matches!(
            to_container_error("start", "x", answer(404, "No such container: x")),
            EngineError::NoContainer { .. }
        ));
        assert!(matches!(
            to_container_error("start", "x", answer(404, "network nosuch not found")),
            EngineError::Refused { help: Some(_), .. }
        ));
        assert!(matches!(
            to_engine_error("start x", answer(500, "write /a: no space left on device")),
            EngineError::NoSpace { .. }
        ));
    }
}
