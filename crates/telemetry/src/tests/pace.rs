//! The sampling rate.

use super::*;

#[test]
fn expensive_samples_are_taken_less_often() {
    let mut pace = SamplingPace::new(Duration::from_secs(1));
    // The first opens the sensors, and does not count.
    pace.add_sample(Duration::from_millis(700));
    assert_eq!(pace.next_pause(), Duration::from_secs(1));
    for cost in [30, 34] {
        pace.add_sample(Duration::from_millis(cost));
    }
    assert_eq!(pace.next_pause(), Duration::from_millis(4480));
}

#[test]
fn twelve_hours_are_a_few_thousand_samples() {
    let mut pace = SamplingPace::new(Duration::from_secs(1));
    let (mut past, mut looks) = (Duration::ZERO, 0);
    while past < Duration::from_hours(12) {
        past += pace.next_pause();
        pace.add_sample(Duration::from_millis(1));
        looks += 1;
    }
    assert!((1800..10_000).contains(&looks), "{looks}");
    assert_eq!(looks, 1800 * 4 + (43_200 - 1800 * 15_u32).div_ceil(16));
    const { assert!(SAMPLES_BEFORE_SLOWER == 1800) };
}

#[test]
fn intervals_are_read_or_refused() {
    let ms = |text: &str| SamplingInterval::parse(text).map(|interval| interval.ms).ok();
    assert_eq!(ms("1s"), Some(1000));
    assert_eq!(ms("500 ms"), Some(500));
    assert_eq!(ms("2m"), Some(120_000));
    assert_eq!(ms("off"), Some(0));
    for wrong in ["", "0s", "50ms", "1h", "1", "s", "-1s", "11m", "99999999999999999999s"] {
        assert_eq!(ms(wrong), None, "{wrong}");
    }
}
