//! Programs that start containers, each by a table of its flags: docker, podman, srun, enroot, apptainer; and servers.
//!
//! A line of any of them becomes one [`ContainerLine`]. Nothing here knows the keys of a recipe.

mod block_text;
mod clients;
mod commands;
mod engines;
mod flags;
mod foreign;
mod host_commands;
mod line;
mod reader;
mod roles;
mod servers;
mod shell_state;
mod tables;
mod words;
mod wrappers;

pub use clients::{ClientCommand, save_figures_of_client};
pub use commands::{Action, Command};
pub use flags::{FlagArity, FlagTreatment, LineFlag, Meaning, docker_run_flags};
pub use foreign::JobContext;
pub use line::{Arguments, ContainerLine, FlagValue};
pub use reader::{Companions, ImageProgram, NoCompanions, Reading, read_blocks};
pub use roles::{Role, role_of, role_of_line, role_of_script, script_before_idling};
pub use servers::{ImageArguments, find_server, published_ports, read_image_arguments};
pub use words::{is_shell, shell_script, split_words};
