//! Holm's step-down correction (Scand. J. Statist. 6, 1979): which of several hypotheses are
//! rejected, with error `alpha` that any is rejected wrongly.

/// Steps down over `count` hypotheses: `rejects` returns whether one is rejected with the error divided
/// by a number. It is called again at each step, so that bounds suffice in place of p-values.
pub fn holm_step_down(count: usize, rejects: impl Fn(usize, f64) -> bool) -> Vec<bool> {
    let mut rejected = vec![false; count];
    let mut open: Vec<usize> = (0..count).collect();
    while !open.is_empty() {
        let share = f64::from(u32::try_from(open.len()).unwrap_or(u32::MAX));
        let Some(at) = open.iter().position(|hypothesis| rejects(*hypothesis, share)) else {
            break;
        };
        rejected[open.swap_remove(at)] = true;
    }
    rejected
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(&[0.01, 0.04, 0.03, 0.005], &[true, false, false, true])]
    #[case(&[0.04, 0.01, 0.02], &[true, true, true])]
    #[case(&[0.04, 0.03], &[false, false])]
    #[case(&[], &[])]
    fn matches_the_textbook_example(#[case] p: &[f64], #[case] expected: &[bool]) {
        assert_eq!(
            holm_step_down(p.len(), |hypothesis, share| p[hypothesis] <= 0.05 / share),
            expected
        );
    }
}
