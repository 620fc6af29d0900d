//! Very many runs, for tests by hand: `cargo run --example many-runs -- --help`.

#[path = "mod.rs"]
mod many_runs;

use std::path::PathBuf;

use clap::Parser;
use many_runs::Many;

/// Makes a home with planted runs: of one recipe over three ROCm releases and two backends, on two
/// hosts, over months, most of them parts of batches.
#[derive(Parser)]
struct Arguments {
    /// How many
    #[arg(long, default_value_t = 10_000)]
    count: usize,

    /// The home; its runs lie in HOME/runs
    home: PathBuf,
}

fn main() {
    let arguments = Arguments::parse();
    Many::new().plant(&arguments.home, 0..arguments.count);
    println!("{} runs in {}", arguments.count, arguments.home.display());
}
