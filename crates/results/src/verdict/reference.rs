//! The published figure that decides, the direction of a figure, and the noise of one trial.

use super::context::is_usable_margin;
use super::{Evidence, NoiseBasis, RunContext};
use retrial_mlperf::figures::find_known_figure;
use retrial_mlperf::loadgen::TestScenario;
use retrial_mlperf::noise::{is_inference_benchmark, published_pairs};
use retrial_plan::measurement::MeasurementPlan;
use retrial_recipe::model::{Aggregate, Better, Claim, Expectation, Mode};

/// The margin of accuracy figures: `MLPerf`'s accuracy targets are 99 % of the reference.
const ACCURACY_MARGIN: f64 = 0.01;

/// The reason why a figure is not compared.
pub const UNKNOWN_DIRECTION: &str =
    "neither the recipe nor MLPerf defines whether higher or lower is better";

/// Returns the position of the expectation that decides: the most official, of equals the first.
pub(crate) fn find_decisive(expectations: &[Expectation]) -> Option<usize> {
    (0..expectations.len()).min_by_key(|position| expectations[*position].kind)
}

/// Returns whether higher or lower is better: by the recipe, else by `MLPerf`'s definition of the figure; none
/// where neither says it.
pub(crate) fn figure_direction(evidence: &Evidence, figure: &str) -> Option<Better> {
    let declared = evidence.figure_source(figure).map(|source| source.better);
    declared.or_else(|| find_known_figure(figure)?.better)
}

/// Returns how the trials of a figure are aggregated, by the recipe.
pub(crate) fn figure_aggregate(evidence: &Evidence, figure: &str) -> Aggregate {
    let declared = evidence.figure_source(figure);
    declared.map_or_else(Aggregate::default, |source| source.aggregate)
}

/// Returns the margin of a figure: its own, else the run's; in accuracy mode 1 %. What is to be better has
/// no margin but its own.
pub(crate) fn figure_margin(
    context: &RunContext,
    plan: &MeasurementPlan,
    expectation: &Expectation,
) -> f64 {
    let own = expectation.margin.filter(|margin| is_usable_margin(*margin));
    own.unwrap_or_else(|| match plan.mode {
        _ if expectation.claim == Claim::Better => 0.0,
        Mode::Performance => context.performance_margin(plan),
        Mode::Accuracy | Mode::Compliance => ACCURACY_MARGIN,
    })
}

/// The noise that is assumed of one trial.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AssumedNoise {
    /// Its relative standard deviation.
    pub value: f64,
    pub basis: NoiseBasis,
}

/// Returns the assumed noise of one trial, if there is any basis to assume one: for the figures by which
/// `MLPerf` Inference publishes its own benchmarks, how far published runs on one system are apart.
pub(crate) fn assumed_noise(
    context: &RunContext,
    evidence: &Evidence,
    figure: &str,
    expectation: Option<&Expectation>,
) -> Option<AssumedNoise> {
    let of_figure = || evidence.figure_source(figure)?.noise;
    let of_run = || match evidence.plan.mode {
        Mode::Performance => context.rules.noise,
        // A data set and a model are fixed: the benchmark's own check knows no noise either.
        Mode::Accuracy | Mode::Compliance => Some(0.0),
    };
    let stated_noise = expectation
        .and_then(|expectation| expectation.noise)
        .or_else(of_figure)
        .or_else(of_run)
        .filter(|noise| noise.is_finite() && *noise >= 0.0);
    let stated = stated_noise.map(|value| AssumedNoise { value, basis: NoiseBasis::Recipe });
    stated.or_else(|| {
        let rules = evidence.plan.rules.as_ref();
        let benchmark = rules.map_or(&context.submission.benchmark, |rules| &rules.benchmark);
        let published = context.is_mlperf_inference()
            && is_inference_benchmark(benchmark)
            && is_published(evidence, figure);
        let pairs = published.then(|| published_pairs(benchmark, &evidence.plan.scenario))??;
        Some(AssumedNoise {
            value: pairs.relative_deviation(),
            basis: NoiseBasis::Published(pairs.to_string()),
        })
    })
}

/// Returns whether `MLPerf Inference` publishes a scenario by this figure: `LoadGen`'s in any of its units, or
/// that of an endpoint.
pub(crate) fn is_published(evidence: &Evidence, figure: &str) -> bool {
    if evidence.plan.mode != Mode::Performance {
        return false;
    }
    let is_of_suite = evidence.plan.loadgen || evidence.plan.scenario.test_scenario().is_some();
    if is_of_suite && evidence.published_metric.as_deref() == Some(figure) {
        return true;
    }
    if !evidence.plan.loadgen {
        return false;
    }
    let without_completed = figure.strip_prefix("completed_").unwrap_or(figure);
    let rate = without_completed.strip_prefix("inferred_").unwrap_or(without_completed);
    match evidence.plan.scenario.test_scenario() {
        Some(TestScenario::Offline | TestScenario::Server | TestScenario::Interactive) => {
            rate.starts_with("samples_per_second") || rate.starts_with("tokens_per_second")
        }
        Some(TestScenario::SingleStream | TestScenario::MultiStream) => {
            figure.starts_with("early_stopping_latency")
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use retrial_recipe::model::ExpectationKind;

    #[rstest]
    #[case("ttft_p99_ms", Some(Better::Lower))]
    #[case("DLRM_NE", Some(Better::Lower))]
    #[case("TOKENS_PER_SAMPLE", None)]
    #[case("latency_hiding_factor", None)]
    #[case("declared", Some(Better::Lower))]
    fn an_undeclared_figure_has_the_direction_that_mlperf_defines(
        #[case] figure: &str,
        #[case] better: Option<Better>,
    ) {
        let mut evidence = Evidence::new("Offline", Mode::Performance);
        let mut declared = crate::verdict::tests::build::source();
        declared.better = Better::Lower;
        evidence.plan.figures = vec![("declared".to_owned(), declared)];
        assert_eq!(figure_direction(&evidence, figure), better);
    }

    fn expectation(value: f64, kind: ExpectationKind) -> Expectation {
        Expectation {
            value,
            kind,
            source: None,
            sigma: None,
            noise: None,
            margin: None,
            claim: Claim::NotWorse,
        }
    }

    #[test]
    fn the_official_result_decides_at_any_position() {
        let list = [
            expectation(1.0, ExpectationKind::ThirdParty),
            expectation(2.0, ExpectationKind::Guide),
            expectation(3.0, ExpectationKind::Official),
            expectation(4.0, ExpectationKind::Official),
        ];
        assert_eq!(find_decisive(&list), Some(2));
        assert_eq!(find_decisive(&list[..2]), Some(1));
        assert_eq!(find_decisive(&[]), None);
    }

    #[rstest]
    #[case("Offline", Mode::Performance, "tokens_per_second", true, true)]
    #[case("Server", Mode::Performance, "completed_tokens_per_second", true, true)]
    #[case("Server", Mode::Performance, "samples_per_second", true, true)]
    #[case("Server", Mode::Performance, "ttft_p99_ns", true, false)]
    #[case("SingleStream", Mode::Performance, "early_stopping_latency_ms", true, true)]
    #[case("SingleStream", Mode::Performance, "latency_mean_ns", true, false)]
    #[case("Offline", Mode::Performance, "tokens_per_second", false, false)]
    #[case("gemm", Mode::Performance, "tflops", false, false)]
    #[case("Offline", Mode::Accuracy, "rouge1", true, true)]
    fn noise_is_assumed_only_where_published_pairs_exist(
        #[case] scenario: &str,
        #[case] mode: Mode,
        #[case] figure: &str,
        #[case] loadgen: bool,
        #[case] expected: bool,
    ) {
        let mut evidence = Evidence::new(scenario, mode);
        evidence.plan.loadgen = loadgen;
        let published = expectation(1.0, ExpectationKind::Official);
        let mut context = RunContext::default();
        context.submission.suite = "mlperf-inference".to_owned();
        context.submission.benchmark = "llama2-70b-99".to_owned();
        let assumed = assumed_noise(&context, &evidence, figure, Some(&published));
        assert_eq!(assumed.is_some(), expected);
        let fixed = assumed.is_some_and(|noise| noise.value <= 0.0);
        assert_eq!(fixed, mode == Mode::Accuracy);
    }

    /// By the benchmark's own pairs; what the recipe states goes before them.
    #[rstest]
    #[case("rgat", None, 0.019_7, "18 published pairs of rgat Offline")]
    #[case("llama2-70b-99.9", None, 0.003_2, "16 published pairs of llama2-70b Offline")]
    #[case("gpt-oss-120b", None, 0.009_5, "59 published pairs of v6.0 Offline")]
    #[case("rgat", Some(0.01), 0.01, "the recipe")]
    fn noise_depends_on_the_benchmark(
        #[case] benchmark: &str,
        #[case] stated: Option<f64>,
        #[case] value: f64,
        #[case] basis: &str,
    ) {
        let mut context = RunContext::default();
        context.submission.suite = "mlperf-inference".to_owned();
        context.submission.benchmark = benchmark.to_owned();
        context.rules.noise = stated;
        let mut evidence = Evidence::new("Offline", Mode::Performance);
        evidence.plan.loadgen = true;
        let assumed = assumed_noise(&context, &evidence, "samples_per_second", None).unwrap();
        assert!((assumed.value - value).abs() < 5e-5, "{assumed:?}");
        assert_eq!(assumed.basis.to_string(), basis);
    }

    /// Published pairs say nothing of another suite, or of a benchmark that none of them has.
    #[rstest]
    #[case("mlperf-inference", "llama2-70b-99", true)]
    #[case("mlperf-inference", "new", false)]
    #[case("mlperf-tiny", "resnet", false)]
    #[case("own", "llama2-70b-99", false)]
    #[case("", "llama2-70b-99", false)]
    fn no_noise_is_assumed_of_another_suite(
        #[case] suite: &str,
        #[case] benchmark: &str,
        #[case] expected: bool,
    ) {
        let mut context = RunContext::default();
        context.submission.suite = suite.to_owned();
        context.submission.benchmark = benchmark.to_owned();
        let mut evidence = Evidence::new("Offline", Mode::Performance);
        evidence.plan.loadgen = true;
        let assumed = assumed_noise(&context, &evidence, "samples_per_second", None);
        assert_eq!(assumed.is_some(), expected);
    }
}
