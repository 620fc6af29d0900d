//! Test suites as `JUnit` reads them.

use quick_junit::Report;

/// Suites as XML.
#[must_use]
pub fn render(report: &Report) -> String {
    // Only a writer could fail, and there is none.
    report.to_string().unwrap_or_default()
}
