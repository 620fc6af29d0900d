//! Sums of many printed numbers.

use super::figure::PrintedNumber;

/// A running sum that does not lose small terms next to large ones (Neumaier's).
#[derive(Debug, Clone, Copy, Default)]
pub struct CompensatedSum {
    terms: f64,
    correction: f64,
    half_digits: f64,
}

impl CompensatedSum {
    pub fn add_number(&mut self, printed: PrintedNumber) {
        self.add_value(printed.value);
        self.half_digits += printed.half_digit;
    }

    /// Adds the terms of another sum, with the precision that both have.
    pub fn append(&mut self, other: Self) {
        self.add_value(other.terms);
        self.correction += other.correction;
        self.half_digits += other.half_digits;
    }

    fn add_value(&mut self, value: f64) {
        let total = self.terms + value;
        self.correction += if self.terms.abs() >= value.abs() {
            (self.terms - total) + value
        } else {
            (value - total) + self.terms
        };
        self.terms = total;
    }

    pub fn total(self) -> PrintedNumber {
        PrintedNumber { value: self.terms + self.correction, half_digit: self.half_digits }
    }

    #[expect(clippy::cast_precision_loss, reason = "no log has 2^53 lines")]
    pub fn mean(self, count: u64) -> PrintedNumber {
        let total = self.total();
        PrintedNumber {
            value: total.value / count as f64,
            half_digit: total.half_digit / count as f64,
        }
    }
}
