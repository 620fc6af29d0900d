//! Models, datasets, setup steps, shared commands.

use super::shared::{COMMAND, ENVIRONMENT, SHELL, SILENCE, TEXTS, TIMEOUT, USER, WORKDIR};
use crate::format::Format as F;
use crate::shape::{Choice, Object, Reach, Shape as S, Units, choice, key};

pub(super) static COPY: Object = Object {
    what: "a copy out of the image",
    one_of: &[],
    keys: &[
        key("path", S::Text(F::Absolute), "In the image.").required(),
        key(
            "to",
            S::Text(F::Inner),
            "Relative to the run's directory for host files.",
        )
        .required(),
    ],
};

pub(super) static MODEL: Object = Object {
    what: "a model",
    one_of: &[],
    keys: &[
        key("source", S::Object(&MODEL_SOURCE), "Where it comes from.").required(),
        key(
            "mount",
            S::Template(Reach::Run, F::Absolute),
            "Where it lies in the container.",
        ),
        key(
            "as",
            S::Choice(&[choice(
                "hub-cache",
                "Mount the hub's cache, for programs that load by hub id.",
            )]),
            "How it is mounted; none: a directory of real files.",
        ),
        key(
            "writable",
            S::List(&S::Text(F::Inner), 0),
            "Sub-directories that a setup step writes into.",
        ),
    ],
};

pub(super) static MODEL_SOURCE: Object = Object {
    what: "a model's source",
    one_of: &["hub", "path", "run"],
    keys: &[
        key(
            "hub",
            S::Text(F::Hub),
            "owner/name on the Hugging Face hub.",
        ),
        key(
            "revision",
            S::Text(F::Filled),
            "Branch, tag or commit on the hub.",
        )
        .default("main"),
        key("allow", TEXTS, "Globs of the files to fetch; none: all."),
        key("ignore", TEXTS, "Globs of files to leave."),
        key(
            "path",
            S::Template(Reach::Recipe, F::HostPath),
            "A directory of the host.",
        ),
        key(
            "run",
            COMMAND,
            "A command in the container that fills the mount.",
        ),
    ],
};

pub(super) static SETUP: Object = Object {
    what: "a setup step",
    one_of: &[],
    keys: &[
        key("run", COMMAND, "The command.").required(),
        key("on", S::Choice(PLACES), "Where it runs.").default("container"),
        key(
            "cache",
            S::Object(&CACHE),
            "A directory that it populates once, and that later runs reuse.",
        ),
        key(
            "writable",
            S::Bool,
            "The cached directory stays writable afterwards.",
        )
        .default("false"),
        TIMEOUT,
        ENVIRONMENT,
        WORKDIR,
        USER,
        SHELL,
    ],
};

pub(super) const PLACES: &[Choice] = &[
    choice("container", "In the container."),
    choice("host", "On the host; needs --allow host."),
];

pub(super) static CACHE: Object = Object {
    what: "a cached directory",
    one_of: &[],
    keys: &[
        key(
            "path",
            S::Template(Reach::Run, F::Absolute),
            "In the container.",
        )
        .required(),
        key(
            "key",
            S::Template(Reach::Run, F::CacheKey),
            "The name under which it is cached.",
        )
        .required(),
        key(
            "files",
            S::Map(F::Inner, &S::Object(&CACHED_FILE)),
            "Files that must be there in the end, with size and sha256.",
        ),
    ],
};

pub(super) static CACHED_FILE: Object = Object {
    what: "a cached file",
    one_of: &[],
    keys: &[
        key("size", S::Size(Units::Precise), "Bytes."),
        key("sha256", S::Text(F::Sha256), "SHA-256 in hexadecimal."),
    ],
};

pub(super) static COMMAND_OBJECT: Object = Object {
    what: "a shared command",
    one_of: &[],
    keys: &[
        key("run", COMMAND, "The command.").required(),
        TIMEOUT,
        SILENCE,
        ENVIRONMENT,
        WORKDIR,
        USER,
        SHELL,
    ],
};
