//! The logic of the commands: from a recipe to a plan, its approval and preflight, following runs
//! and batches. The arguments of the command line are `cli`'s; here they arrive as `options`.

pub(crate) mod attach;
pub(crate) mod batch;
pub mod catalog;
pub(crate) mod clean;
pub(crate) mod compare;
pub(crate) mod configuration;
pub(crate) mod doctor;
pub(crate) mod estimate;
pub mod evidence;
pub(crate) mod export;
pub(crate) mod failure;
pub(crate) mod file_owners;
pub(crate) mod follow;
pub(crate) mod hub;
pub(crate) mod judge;
pub(crate) mod keys;
pub(crate) mod launch;
pub(crate) mod lock;
pub(crate) mod lock_file;
pub(crate) mod log;
pub(crate) mod nodes;
pub(crate) mod open;
pub(crate) mod options;
pub(crate) mod published;
pub(crate) mod recheck;
pub(crate) mod recipes;
pub(crate) mod report;
pub(crate) mod runs;
pub(crate) mod runtime;
pub(crate) mod signals;
pub(crate) mod site;
pub(crate) mod stop;
pub(crate) mod stop_result;
pub(crate) mod terminal;
pub(crate) mod watch;
