//! Keys and shapes that several maps have.

use crate::format::Format as F;
use crate::shape::{Key, Reach, Shape as S, key};

pub(super) const TEXT: S = S::Text(F::Any);

pub(super) const TEXTS: S = S::List(&TEXT, 0);

pub(super) const COMMAND: S = S::Template(Reach::Run, F::Filled);

pub(super) const MEASURED_COMMAND: S = S::Template(Reach::Measurement, F::Filled);

pub(super) const ENV: S = S::Map(F::Variable, &S::Scalar(Reach::Run));

pub(super) const MEASURED_ENV: S = S::Map(F::Variable, &S::Scalar(Reach::Measurement));

pub(super) const SHELL: Key = key(
    "shell",
    S::List(&S::Text(F::Filled), 1),
    "The shell that is given the command, for example [bash, -ilc] for one that reads .bashrc. None: bash with pipefail, else sh.",
);

pub(super) const USER: Key = key(
    "user",
    S::Text(F::Filled),
    "The user of the command, a name or a number, with :group if need be.",
);

pub(super) const TIMEOUT: Key = key("timeout", S::Duration, "The longest that it may take.");

pub(super) const SILENCE: Key = key(
    "silence",
    S::Duration,
    "The longest that it may go without output. Offline is silent for over an hour.",
);

pub(super) const WORKDIR: Key = key(
    "workdir",
    S::Template(Reach::Run, F::Absolute),
    "The working directory in the container.",
);

pub(super) const ENVIRONMENT: Key = key("env", ENV, "Environment variables of this command.");
