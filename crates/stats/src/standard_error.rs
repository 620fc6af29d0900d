//! The standard error of a value.

use crate::quantile::student_quantile;

/// The standard error of a value, and how well it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct StandardError {
    pub value: f64,
    /// Its degrees of freedom.
    pub degrees: f64,
    /// The trials behind it; of a difference, those of the side that has fewer.
    pub trials: u32,
}

impl StandardError {
    /// Returns that of the difference of two independent values (Welch, Satterthwaite).
    pub fn combine(self, other: Self) -> Self {
        let square = |error: Self| (error.value.powi(2), error.value.powi(4) / error.degrees);
        let ((ours, our_spread), (theirs, their_spread)) = (square(self), square(other));
        let (total, spread) = (ours + theirs, our_spread + their_spread);
        Self {
            value: total.sqrt(),
            degrees: if spread > 0.0 { total * total / spread } else { f64::INFINITY },
            trials: self.trials.min(other.trials),
        }
    }

    /// Returns how far a one-sided bound with error `alpha` lies from the value.
    pub fn half_width(self, alpha: f64) -> f64 {
        student_quantile(alpha, self.degrees) * self.value
    }
}
