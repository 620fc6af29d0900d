//! The machines of a run on several: their allocation, and their comparison before the first step.

pub mod allocation;
pub mod compare;
pub mod nonce;
