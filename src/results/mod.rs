//! From evidence to a verdict: what the files of a run say ([`evidence`]), and what follows from it
//! ([`verdict`], pure).

pub mod evidence;
pub mod packages;
pub mod verdict;
