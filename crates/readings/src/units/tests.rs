use proptest::prelude::*;
use rstest::rstest;

use super::*;

#[rstest]
#[case("ms", "s", 1e-3)]
#[case("ms", "ms", 1.0)]
#[case("µs", "ms", 1e-3)]
#[case("min", "s", 60.0)]
#[case("h", "min", 60.0)]
#[case("TFLOPS", "TFLOP/s", 1.0)]
#[case("GFLOPS", "TFLOP/s", 1e-3)]
#[case("PFLOP/s", "TFLOPS", 1e3)]
#[case("TFlops/s", "TFLOP/s", 1.0)]
#[case("k", "tokens/s", 1e3)]
#[case("M", "tokens/s", 1e6)]
#[case("", "tokens/s", 1.0)]
#[case("tokens/s", "tokens/s", 1.0)]
#[case("k tokens/s", "tokens/s", 1e3)]
#[case("GiB", "GB", 1.073_741_824)]
#[case("MB/s", "GB/s", 1e-3)]
#[case("tok/s", "tokens/s", 1.0)]
#[case("tokens/sec", "tok/s", 1.0)]
#[case("Tokens per second", "tokens/s", 1.0)]
#[case("tokens_per_second", "tokens/s", 1.0)]
#[case("ktok/s", "tokens/s", 1e3)]
#[case("tokens/min", "tokens/s", 1.0 / 60.0)]
#[case("TPS", "tokens/s", 1.0)]
#[case("samples/sec", "samples/s", 1.0)]
#[case("sample / second", "samples/s", 1.0)]
#[case("it/sec", "it/s", 1.0)]
#[case("iter/s", "iterations/s", 1.0)]
#[case("imgs/s", "images/sec", 1.0)]
#[case("req/s", "requests/s", 1.0)]
#[case("qps", "queries/s", 1.0)]
#[case("queries per second", "QPS", 1.0)]
#[case("widgets/sec", "widget/s", 1.0)]
#[case("kwidgets/s", "widgets/s", 1e3)]
#[case("tok/s/GPU", "tokens/GPU/s", 1.0)]
#[case("TFLOPS/GPU", "TFLOP/s/gpu", 1.0)]
#[case("ms/it", "s/iteration", 1e-3)]
#[case("tok", "tokens", 1.0)]
#[case("m", "s", 60.0)]
#[case("pct", "%", 1.0)]
#[case("Gb/s", "GB/s", 0.125)]
#[case("Gbps", "Gbit/s", 1.0)]
#[case("gbps", "Gbit/s", 1.0)]
#[case("GBps", "GB/s", 1.0)]
#[case("Mbits/sec", "Gbit/s", 1e-3)]
#[case("M", "Gbit/s", 1e-3)]
#[case("infer/sec", "inferences/s", 1.0)]
#[case("q/s", "queries/s", 1.0)]
#[case("t/s", "tokens/s", 1.0)]
#[case("days", "h", 24.0)]
#[case("/min", "tokens/s", 1.0 / 60.0)]
#[case("ktok/s", "thousand tokens/s", 1.0)]
fn conversions(#[case] from: &str, #[case] to: &str, #[case] expected: f64) {
    let actual = conversion_factor(from, to).unwrap();
    assert!((actual / expected - 1.0).abs() < 1e-12, "{actual}");
}

#[rstest]
#[case("ms", "TFLOP/s")]
#[case("tokens/s", "samples/s")]
#[case("tok/s", "it/s")]
#[case("s/it", "it/s")]
#[case("images/s", "samples/s")]
#[case("tokens", "tokens/s")]
#[case("tok/s/gpu", "tok/s")]
#[case("unit/s", "it/s")]
#[case("tokens/kJ", "tokens/J")]
#[case("GB", "GB/s")]
#[case("bogus", "s")]
#[case("gb/s", "GB/s")]
#[case("/min", "GB")]
fn incompatible_units_have_no_factor(#[case] from: &str, #[case] to: &str) {
    assert_eq!(conversion_factor(from, to), None);
}

#[rstest]
#[case("tokens/s", true)]
#[case("TFLOPS", true)]
#[case("tokens", true)]
#[case("tokens/J", true)]
#[case("ns/day", true)]
#[case("%", true)]
#[case("", true)]
#[case("M", true)]
#[case("ms", false)]
#[case("s/it", false)]
#[case("J/token", false)]
#[case("W", false)]
#[case("GiB", false)]
#[case("ppl", false)]
fn a_direction_follows_from_the_unit(#[case] unit: &str, #[case] is_higher: bool) {
    assert_eq!(is_higher_better(unit), is_higher);
}

#[rstest]
#[case("throughput/gpu", "tokens/s", Some("tokens/s/gpu"))]
#[case("Output Throughput [w/ ctx] (tps/user)", "tokens/s/user", None)]
#[case("GB/s Raw Total B/W", "GB/s", None)]
#[case("power_mw", "W", Some("mw"))]
#[case("time_to_first_token_ms", "ms", None)]
#[case("time_to_first_token_ms", "s", Some("ms"))]
#[case("output_tokens_s", "tokens", Some("tokens/s"))]
fn a_name_states_another_unit(
    #[case] name: &str,
    #[case] unit: &str,
    #[case] expected: Option<&str>,
) {
    assert_eq!(find_contradiction(name, unit).as_deref(), expected);
}

#[rstest]
#[case("clat (usec): min=3, avg=", "avg=", "ms", Some("usec"))]
#[case("clat (usec): min=3, avg=", "avg=", "us", None)]
#[case("clat (usec): min=3, share=", "share=", "%", None)]
#[case("clat (usec): min=3, avg_ms=", "avg_ms=", "ms", None)]
fn a_line_states_the_unit_of_its_members(
    #[case] head: &str,
    #[case] name: &str,
    #[case] unit: &str,
    #[case] expected: Option<&str>,
) {
    assert_eq!(find_line_unit(head, name, unit).as_deref(), expected);
}

proptest! {
    #[test]
    fn conversions_are_invertible(from in "\\PC{0,8}", to in "\\PC{0,8}") {
        if let (Some(there), Some(back)) = (conversion_factor(&from, &to), conversion_factor(&to, &from))
            && prefix_factor(strip_remarks(&from)).is_none() && prefix_factor(strip_remarks(&to)).is_none()
        {
            prop_assert!((there * back - 1.0).abs() < 1e-9);
        }
    }
}

#[rstest]
#[case("s/it", "it/s", true)]
#[case("ms/token", "tok/s", true)]
#[case("it/s", "s/iter", true)]
#[case("it/s", "it/s", false)]
#[case("s/it", "tokens/s", false)]
#[case("", "it/s", false)]
fn inverse_units(#[case] one: &str, #[case] other: &str, #[case] expected: bool) {
    assert_eq!(is_inverse(one, other), expected);
}
