//! A Hugging Face hub of the project's own: what the real one says, over real sockets, and the
//! faults that it has on bad days, to order.
//!
//! ```ignore
//! let hub = Hub::start();
//! hub.add(Repository::new("amd/tiny").file("config.json", "{}").lfs("model.safetensors", Content::generated(1, 5 << 20)));
//! hub.fault(Fault::Cut(1_000_000), &At::bytes("amd/tiny", "model.safetensors"), 1);
//! // … a client with HF_ENDPOINT=hub.endpoint() …
//! assert_eq!(hub.downloads("amd/tiny", "config.json"), 1);
//! ```
//!
//! It listens twice, as the real one does: the hub, and beside it, under another host name, the
//! CDN that signed links lead to, which refuses a token. What it says was taken from
//! `huggingface_hub`'s source (`file_download.py`, `hf_api.py`, `utils/_http.py`) and from what the
//! real hub was seen to answer. Beside the CDN it has an Xet
//! store for the files that are put there.
#![allow(
    dead_code,
    unused_imports,
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "each test file uses its part of it, and a test may stop"
)]

mod access;
mod answer;
mod api;
mod bytes;
mod cdn;
mod content;
mod fault;
mod folder;
mod log;
mod order;
mod repository;
mod resolve;
mod route;
mod server;
mod state;
mod tree;
mod xet;

pub use access::Access;
pub use content::{Content, hex};
pub use fault::{At, Fault, Place};
pub use folder::repositories;
pub use log::Request;
pub use repository::{File, Repository};
pub use server::Hub;
