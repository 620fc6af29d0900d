//! `cargo run --example simulate`: the tables of docs/statistics.md, drawn again.

mod simulation;

fn main() {
    for table in simulation::tables() {
        println!("<!-- simulated: {} -->\n{}", table.name, table.markdown());
    }
}
