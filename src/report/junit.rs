//! Test suites in the `JUnit` format.

use quick_junit::Report;

/// Suites as XML.
#[must_use]
pub fn render(report: &Report) -> String {
    // Writing to a string cannot fail.
    report.to_string().unwrap_or_default()
}
