//! Shares in a table, as Markdown.

use std::fmt::Write as _;

/// One table of shares.
pub struct Table {
    /// By which the page finds it.
    pub name: &'static str,
    head: Vec<String>,
    /// Each row's name and shares.
    pub rows: Vec<(String, Vec<Option<f64>>)>,
}

impl Table {
    pub fn new(name: &'static str, head: &[&str]) -> Self {
        Self { name, head: head.iter().map(|head| (*head).to_owned()).collect(), rows: Vec::new() }
    }

    pub fn row(&mut self, label: impl Into<String>, shares: Vec<Option<f64>>) {
        self.rows.push((label.into(), shares));
    }

    pub fn markdown(&self) -> String {
        let rule: Vec<&str> = self.head.iter().map(|_| "---").collect();
        let mut text = format!("| {} |\n| {} |\n", self.head.join(" | "), rule.join(" | "));
        for (label, shares) in &self.rows {
            let shares: Vec<String> = shares
                .iter()
                .map(|share| {
                    share.map_or("–".to_owned(), |share| format!("{:.1} %", share * 100.0))
                })
                .collect();
            let _ = writeln!(text, "| {label} | {} |", shares.join(" | "));
        }
        text
    }
}

/// How often something happens in `draws`.
pub fn share(draws: u32, mut happens: impl FnMut() -> bool) -> f64 {
    let count = (0..draws).filter(|_| happens()).count();
    f64::from(u32::try_from(count).unwrap_or(u32::MAX)) / f64::from(draws)
}
