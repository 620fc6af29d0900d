//! Sites: clusters on which a scheduler starts runs. A site is a file that defines how jobs are submitted
//! there; this module reads it and renders the job's script. Pure.
//!
//! ```text
//! sites/NAME.yaml ──read──▶ Site ──script──▶ what sbatch gets
//! ```

mod formats;
mod model;
mod read;
pub mod sbatch_option;
pub mod schema;
pub mod script;
pub mod time_limit;

pub use model::{Scheduler, Site};
pub use read::{is_site, read_site};
