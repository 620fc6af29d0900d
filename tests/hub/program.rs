//! The tests' hub as a program: `cargo run --example hub -- --help`.
#![expect(clippy::unwrap_used, reason = "a tool for tests")]

#[path = "mod.rs"]
mod hub;

use std::io::Read as _;
use std::path::PathBuf;

use clap::Parser;
use hub::{Access, Content, Hub, Repository};

/// A Hugging Face hub for tests. Prints where it listens, and serves until its standard input is
/// closed.
#[derive(Parser)]
struct Arguments {
    /// The port; 0 for a free one
    #[arg(long, default_value_t = 0)]
    port: u16,

    /// Repositories from a folder: FOLDER/owner/name/…
    #[arg(long)]
    folder: Vec<PathBuf>,

    /// A generated model: OWNER/NAME=COUNTxBYTES
    #[arg(long, value_name = "OWNER/NAME=COUNTxBYTES")]
    model: Vec<String>,

    /// A user's token: USER=TOKEN
    #[arg(long, value_name = "USER=TOKEN")]
    account: Vec<String>,

    /// A gated model (one file) and who may read it: OWNER/NAME=USER
    #[arg(long, value_name = "OWNER/NAME=USER")]
    gated: Vec<String>,
}

fn main() {
    let arguments = Arguments::parse();
    let hub = Hub::start_at(arguments.port);
    for folder in &arguments.folder {
        for repository in hub::repositories(folder) {
            hub.add(repository);
        }
    }
    for model in &arguments.model {
        let (name, shape) = model.split_once('=').unwrap();
        let (count, length) = shape.split_once('x').unwrap();
        hub.add(Repository::sharded(name, count.parse().unwrap(), length.parse().unwrap()));
    }
    for account in &arguments.account {
        let (user, token) = account.split_once('=').unwrap();
        hub.account(user, token);
    }
    for gated in &arguments.gated {
        let (name, user) = gated.split_once('=').unwrap();
        let repository = Repository::new(name)
            .file("config.json", "{}")
            .lfs("model.safetensors", Content::generated(1, 1 << 20))
            .access(Access::Gated(vec![user.to_owned()]));
        hub.add(repository);
    }
    println!("HF_ENDPOINT={}", hub.endpoint());
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}
