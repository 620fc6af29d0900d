//! Services: started like any step, left running once they are ready, and stopped by a later step. That one
//! ended while a step needed it is noticed by that step (`step`).

mod lifecycle;
mod readiness;

pub use lifecycle::{start_service, stop_service};
