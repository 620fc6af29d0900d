//! The trials of one position, as sums.

/// Sums over the trials of one or more positions.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct PositionTally {
    pub count: f64,
    sum: f64,
    squares: f64,
}

impl PositionTally {
    pub fn add(&mut self, value: f64) {
        self.count += 1.0;
        self.sum += value;
        self.squares += value * value;
    }

    /// All trials of these positions.
    pub fn merge(tallies: &[Self]) -> Self {
        tallies.iter().fold(Self::default(), |all, tally| Self {
            count: all.count + tally.count,
            sum: all.sum + tally.sum,
            squares: all.squares + tally.squares,
        })
    }

    pub fn mean(&self) -> f64 {
        self.sum / self.count.max(1.0)
    }

    /// The sum of squared distances from the mean.
    pub fn squared_deviations(&self) -> f64 {
        (self.squares - self.sum * self.mean()).max(0.0)
    }

    /// The surplus of trials that answered yes over those that answered no.
    pub fn yes_surplus(&self) -> f64 {
        2.0 * self.sum - self.count
    }
}
