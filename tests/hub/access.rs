//! Who may read a repository, and what the hub says to whom it does not let in.

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

/// Who asks, as the Authorization header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asker {
    Nobody,
    /// A token that the hub does not know.
    Stranger,
    User(String),
}

/// What the real hub answers where there is no such repository, or none for this asker: it does
/// not say which of them.
pub fn not_found(asker: &Asker) -> Answer {
    match asker {
        Asker::Nobody => refusal(
            StatusCode::UNAUTHORIZED,
            Some("RepoNotFound"),
            "Invalid username or password.",
        ),
        Asker::Stranger => wrong_token(),
        Asker::User(_) => refusal(
            StatusCode::NOT_FOUND,
            Some("RepoNotFound"),
            "Repository not found",
        ),
    }
}

/// The answer to a token that is none.
pub fn wrong_token() -> Answer {
    refusal(
        StatusCode::UNAUTHORIZED,
        None,
        "Invalid credentials in Authorization header",
    )
}

/// Whether the asker may know of the repository.
pub fn may_see(stored: &Stored, asker: &Asker) -> Result<(), Box<Answer>> {
    if *asker == Asker::Stranger {
        return Err(Box::new(wrong_token()));
    }
    match (&stored.access, asker) {
        (Access::Private(users), Asker::User(user)) if users.contains(user) => Ok(()),
        (Access::Private(_), _) => Err(Box::new(not_found(asker))),
        _ => Ok(()),
    }
}

/// Whether the asker may read the files; `endpoint` stands in the page to visit.
pub fn may_read(stored: &Stored, asker: &Asker, endpoint: &str) -> Result<(), Box<Answer>> {
    may_see(stored, asker)?;
    let name = &stored.name;
    match (&stored.access, asker) {
        (Access::Gated(users), Asker::User(user)) if users.contains(user) => Ok(()),
        (Access::Gated(_), Asker::User(_)) => Err(Box::new(refusal(
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
