//! Quantiles and tails of the distributions that bounds are made of.

use std::cell::RefCell;
use std::collections::HashMap;

use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, Normal, StudentsT};

/// Past so many degrees of freedom Student's t and the normal differ by less than 1e-7.
const MAX_STUDENT_DEGREES: f64 = 1e7;

/// Quantile of Student's t above which `alpha` lies; the normal's where `degrees` are endless.
pub fn student_quantile(alpha: f64, degrees: f64) -> f64 {
    let upper = (1.0 - alpha).clamp(0.5, 1.0 - f64::EPSILON);
    match student_distribution(degrees) {
        None => Normal::standard().inverse_cdf(upper),
        // Samples of equal size share theirs, and a search needs the same few at every trial.
        Some(student) if degrees.fract() == 0.0 => CACHE.with_borrow_mut(|cache| {
            *cache
                .entry((upper.to_bits(), degrees.to_bits()))
                .or_insert_with(|| student.inverse_cdf(upper))
        }),
        Some(student) => student.inverse_cdf(upper),
    }
}

thread_local! {
    /// Quantiles of whole degrees of freedom, which cost hundreds of logarithms each.
    static CACHE: RefCell<HashMap<(u64, u64), f64>> = RefCell::default();
}

fn student_distribution(degrees: f64) -> Option<StudentsT> {
    (degrees < MAX_STUDENT_DEGREES).then(|| StudentsT::new(0.0, 1.0, degrees).ok()).flatten()
}

/// Zero-based rank of the lower order statistic that bounds the median with error `alpha`.
pub(crate) fn median_bound_rank(count: usize, alpha: f64) -> Option<usize> {
    let binomial = Binomial::new(0.5, u64::try_from(count).ok()?).ok()?;
    (0..count.div_ceil(2)).take_while(|rank| binomial.cdf(*rank as u64) <= alpha).last()
}
