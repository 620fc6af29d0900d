//! Who may read a repository, and the hub's answers to others.

use axum::http::StatusCode;

use super::answer::{Answer, refusal};
use super::repository::Stored;

/// Who may read the files of a repository.
#[derive(Clone, Debug, Default)]
pub enum Access {
    /// Everybody.
    #[default]
    Public,
    /// Everybody sees it, those who accepted its terms read it.
    Gated(Vec<String>),
    /// Only these know of it.
    Private(Vec<String>),
}

/// The caller, by the Authorization header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caller {
    Nobody,
    /// A token that the hub does not know.
    Stranger,
    User(String),
}

/// What the real hub answers where there is no such repository, or none for this asker: it does
/// not say which of them.
pub fn not_found(caller: &Caller) -> Answer {
    match caller {
        Caller::Nobody => {
            refusal(StatusCode::UNAUTHORIZED, Some("RepoNotFound"), "Invalid username or password.")
        }
        Caller::Stranger => wrong_token(),
        Caller::User(_) => {
            refusal(StatusCode::NOT_FOUND, Some("RepoNotFound"), "Repository not found")
        }
    }
}

/// The answer to a token that is none.
pub fn wrong_token() -> Answer {
    refusal(StatusCode::UNAUTHORIZED, None, "Invalid credentials in Authorization header")
}

/// Whether the caller may know of the repository.
pub fn may_see(stored: &Stored, caller: &Caller) -> Result<(), Box<Answer>> {
    if *caller == Caller::Stranger {
        return Err(Box::new(wrong_token()));
    }
    match (&stored.access, caller) {
        (Access::Private(users), Caller::User(user)) if users.contains(user) => Ok(()),
        (Access::Private(_), _) => Err(Box::new(not_found(caller))),
        _ => Ok(()),
    }
}

/// Whether the caller may read the files; `endpoint` is part of the page to visit.
pub fn may_read(stored: &Stored, caller: &Caller, endpoint: &str) -> Result<(), Box<Answer>> {
    may_see(stored, caller)?;
    let name = &stored.name;
    match (&stored.access, caller) {
        (Access::Gated(users), Caller::User(user)) if users.contains(user) => Ok(()),
        (Access::Gated(_), Caller::User(_)) => Err(Box::new(refusal(
            StatusCode::FORBIDDEN,
            Some("GatedRepo"),
            &format!(
                "Access to model {name} is restricted and you are not in the authorized list. Visit {endpoint}/{name} to ask for access."
            ),
        ))),
        (Access::Gated(_), _) => Err(Box::new(refusal(
            StatusCode::UNAUTHORIZED,
            Some("GatedRepo"),
            &format!(
                "Access to model {name} is restricted. You must have access to it and be authenticated to access it. Please log in."
            ),
        ))),
        _ => Ok(()),
    }
}
