//! The rules of verdicts, tried out on trials whose truth is known.
//!
//! Everything goes through the library's own code: nothing is computed here but the draws.

mod against;
mod figures;
mod noise;
mod one_figure;
mod scatter;
mod search;
mod table;

pub use table::Table;

/// Every table of docs/statistics.md, in its order.
pub fn tables() -> Vec<Table> {
    let mut tables = vec![
        one_figure::power(),
        one_figure::error(),
        one_figure::worse(),
        one_figure::assumed(),
        one_figure::cases_error(),
        one_figure::cases_worse(),
        one_figure::cases_power(),
        one_figure::tails(),
        one_figure::printed(),
        figures::stages(),
        figures::holm(),
        figures::equivalence(),
        against::equal(),
        against::single(),
        against::power(),
        against::fail_if(),
        scatter::error(),
        scatter::power(),
    ];
    tables.extend(search::one_change());
    tables.push(search::cases());
    tables
}
