//! Figures by the names that recipes use.

use rstest::rstest;

use super::{SERVER, summary_of};

#[test]
fn server_rates_are_aliases_of_completed_rates() {
    let run = summary_of(SERVER);
    let tokens = run.resolve_figure("tokens_per_second").unwrap();
    assert!((tokens.value - 3425.6).abs() < 1e-9);
    for (name, own) in [
        ("tokens_per_second", "completed_tokens_per_second"),
        ("samples_per_second", "completed_samples_per_second"),
    ] {
        assert_eq!(run.resolve_figure(name).as_ref(), Some(run.figure(own).unwrap()));
        assert_eq!(run.resolve_figure(name), run.resolve_figure(own));
    }
}

#[test]
fn a_missing_figure_resolves_to_none() {
    let run = summary_of(SERVER);
    for name in
        ["tokens_per_second_inferred", "early_stopping_latency_ns", "nonsense", "", "_s", "s"]
    {
        assert_eq!(run.resolve_figure(name), None, "{name}");
    }
    let offline = summary_of(printed!("own-misc-offline_errors_double_complete"));
    assert_eq!(offline.resolve_figure("tokens_per_second"), None);
    let own = offline.figure("samples_per_second").unwrap();
    assert_eq!(offline.resolve_figure("samples_per_second").as_ref(), Some(own));
}

#[rstest]
#[case("ttft_p99_us", 6414.571, "us")]
#[case("ttft_p99_ms", 6.414_571, "ms")]
#[case("ttft_p99_s", 0.006_414_571, "s")]
fn times_are_converted_to_the_requested_unit(
    #[case] name: &str,
    #[case] value: f64,
    #[case] unit: &str,
) {
    let figure = summary_of(SERVER).resolve_figure(name).unwrap();
    assert_eq!(figure.unit, unit);
    assert!((figure.value - value).abs() < 1e-9 * value);
    assert!(figure.half_digit < value * 1e-6);
}

#[test]
fn inferred_figures_resolve_by_loadgen_name() {
    let text =
        "SUT name : A\nScenario : Server\nCompleted tokens per second (inferred): 20471.43\n";
    let run = summary_of(text);
    let own = run.figure("completed_tokens_per_second_inferred").unwrap();
    assert_eq!(run.resolve_figure("inferred_tokens_per_second").as_ref(), Some(own));
}
