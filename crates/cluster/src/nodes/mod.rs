//! The machines of a run on several: their allocation, and their comparison before the first step. `head` starts the
//! agents on the others.

pub mod allocation;
pub mod compare;
pub mod head;
pub mod nonce;
