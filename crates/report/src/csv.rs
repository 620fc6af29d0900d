//! Tables as CSV, for spreadsheets and data frames.
//!
//! A cell that a spreadsheet would take for a formula begins with an apostrophe: figures' names and
//! paths may come from a container.

use csv::{QuoteStyle, WriterBuilder};

use super::document::sanitize_line;

/// Renders rows as lines of CSV.
pub fn render_csv(rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut writer =
        WriterBuilder::new().quote_style(QuoteStyle::Necessary).from_writer(Vec::new());
    for row in rows {
        // Writing to a vector cannot fail.
        let _ = writer.write_record(row.iter().map(|cell| escape_formula(cell)));
    }
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Escapes formulas: see OWASP's page on CSV injection. A number may begin with a minus.
fn escape_formula(cell: &str) -> String {
    let cell = sanitize_line(cell);
    let formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if formula && cell.parse::<f64>().is_err() {
        return format!("'{cell}");
    }
    cell
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0")]
    #[case("+1+1", "'+1+1")]
    #[case("@SUM(A1)", "'@SUM(A1)")]
    #[case("-3.5", "-3.5")]
    #[case("-3.5+1", "'-3.5+1")]
    #[case("\t=1", "' =1")]
    #[case("Offline", "Offline")]
    #[case("a\nb\0c", "a b␀c")]
    fn no_cell_is_a_formula(#[case] cell: &str, #[case] written: &str) {
        let escaped = escape_formula(cell);
        assert!(!escaped.starts_with(['=', '+', '@', '\t']), "{escaped}");
        if !cell.starts_with('\t') {
            assert_eq!(escaped, written);
        }
    }
}
