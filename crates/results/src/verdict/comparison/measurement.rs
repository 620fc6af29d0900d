//! The measurement of one scenario in one mode, as far as a comparison needs it: from evidence that was just
//! judged, or from what an index has stored of a verdict.

use std::borrow::Cow;
use std::collections::BTreeSet;

use itertools::Itertools as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::verdict::{Evidence, NoiseBasis, Outcome, ResultVerdict, RunContext};
use crate::verdict::{convergence, number, published_figure, reference};
use retrial_mlperf::ScenarioName;
use retrial_readings::units;
use retrial_recipe::model::{Aggregate, Better, Mode};
use retrial_telemetry::TelemetrySummary;

use super::fact::{Fact, FactGroup};

/// A mean of fewer samples is meaningless.
const MIN_TELEMETRY_SAMPLES: usize = 10;

/// One scenario in one mode of a run, or of several pooled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PooledMeasurement {
    /// The benchmark, as published.
    pub benchmark: String,
    /// The scenario, for example `Offline`.
    pub scenario: ScenarioName,
    /// Performance, accuracy or compliance.
    pub mode: Mode,
    /// The benchmark's own rules passed.
    pub valid: bool,
    /// The outcome of its own verdict.
    pub outcome: Outcome,
    /// The target rate of a server, queries per second, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_qps: Option<f64>,
    /// The figures to compare, in order of weight.
    pub figures: Vec<MeasuredFigure>,
    /// Telemetry of the GPUs and the container.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<TelemetryFigure>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeasuredFigure {
    /// The figure's name, for example `tokens_per_second`.
    pub name: String,
    /// Its unit; empty if it has none.
    pub unit: String,
    /// Whether higher or lower is better; none where neither the recipe nor `MLPerf` says it.
    pub better: Option<Better>,
    pub aggregate: Aggregate,
    /// Assumed noise of one trial, as a fraction, if there is basis to assume one.
    pub noise: Option<f64>,
    /// The source of the assumed noise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_basis: Option<NoiseBasis>,
    /// Half of the last printed digit of the trials, as a fraction of them; 0: they are exact.
    pub rounding_error: f64,
    /// The trials; none where one of them has no usable figure. JSON knows no infinity: a run that
    /// did not converge is null in it.
    #[serde(deserialize_with = "deserialize_trials")]
    pub trials: Option<Vec<f64>>,
}

/// A figure of telemetry, once a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TelemetryFigure {
    /// The quantity, for example `mean power of the GPUs`.
    pub what: String,
    /// Its unit; empty if it has none.
    pub unit: String,
    /// The value of each run.
    pub values: Vec<f64>,
}

impl MeasuredFigure {
    /// Returns the figure in another unit; none where the two are not of one kind. A figure without a
    /// unit has any.
    pub(crate) fn to_unit(&self, unit: &str) -> Option<Cow<'_, Self>> {
        if self.unit.is_empty() || unit.is_empty() || self.unit == unit {
            return Some(Cow::Borrowed(self));
        }
        let factor = units::conversion_factor(&self.unit, unit)?;
        let convert = |trials: &Vec<f64>| trials.iter().map(|trial| trial * factor).collect();
        Some(Cow::Owned(Self {
            unit: unit.to_owned(),
            trials: self.trials.as_ref().map(convert),
            ..self.clone()
        }))
    }
}

fn deserialize_trials<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<f64>>, D::Error> {
    let trials = Option::<Vec<Option<f64>>>::deserialize(deserializer)?;
    let value = |trial: Option<f64>| trial.unwrap_or(f64::INFINITY);
    Ok(trials.map(|trials| trials.into_iter().map(value).collect()))
}

impl PooledMeasurement {
    pub fn new(context: &RunContext, evidence: &Evidence, result: &ResultVerdict) -> Self {
        let figures = comparable_figures(evidence, result.deciding.as_deref());
        Self {
            benchmark: result.benchmark.clone(),
            scenario: evidence.plan.scenario.clone(),
            mode: evidence.plan.mode,
            valid: !result.violates_rule(),
            outcome: result.outcome,
            target_qps: evidence
                .trials
                .iter()
                .find_map(|trial| trial.run_settings.as_ref()?.settings.target_qps),
            figures: figures
                .into_iter()
                .map(|name| measured_figure(context, evidence, name))
                .collect(),
            seen: result.telemetry.as_ref().map(telemetry_figures).unwrap_or_default(),
        }
    }

    /// Returns whether both are the same scenario in the same mode of the same benchmark.
    pub fn is_like(&self, other: &Self, by_benchmark: bool) -> bool {
        self.mode == other.mode
            && self.scenario == other.scenario
            && (!by_benchmark || self.benchmark == other.benchmark)
    }

    /// Returns whether a trial has the same figure as one of another run, which may then be a copy.
    pub fn shares_figure(&self, other: &Self) -> bool {
        let mut pairs = self.figures.iter().cartesian_product(&other.figures);
        pairs.any(|(own, other)| {
            let mut values = own.trials.iter().flatten();
            let others = || other.trials.iter().flatten();
            own.name == other.name
                && values.any(|value| others().any(|other| other.to_bits() == value.to_bits()))
        })
    }

    /// Takes the trials of another run in, after those that are there.
    pub(crate) fn append(&mut self, other: Self) {
        self.valid &= other.valid;
        self.outcome = self.outcome.max(other.outcome);
        for figure in other.figures {
            let mut own = self.figures.iter_mut();
            let converted = own.find_map(|own| {
                let converted = (own.name == figure.name).then(|| figure.to_unit(&own.unit));
                Some((own, converted??.into_owned()))
            });
            match converted {
                Some((own, figure)) => {
                    let both = own.trials.take().zip(figure.trials);
                    own.trials = both.map(|(trials, more)| [trials, more].concat());
                    own.rounding_error = own.rounding_error.max(figure.rounding_error);
                }
                None => self.figures.push(figure),
            }
        }
        for figure in other.seen {
            match self.seen.iter_mut().find(|own| own.what == figure.what) {
                Some(own) => own.values.extend(figure.values),
                None => self.seen.push(figure),
            }
        }
    }

    /// Returns the telemetry as facts: the mean over the runs.
    pub(crate) fn telemetry_facts(&self) -> impl Iterator<Item = Fact> {
        self.seen.iter().filter_map(|figure| {
            let count = f64::from(u32::try_from(figure.values.len()).ok()?);
            let mean = figure.values.iter().sum::<f64>() / count;
            let name = format!("{} {}: {}", self.scenario, self.mode, figure.what);
            let (value, unit) = match figure.unit.as_str() {
                "GiB" if mean < 1.0 => (mean * 1024.0, "MiB"),
                unit => (mean, unit),
            };
            let mut fact = Fact::new(
                FactGroup::Telemetry,
                name,
                number::format_figure(round_to_three_digits(value), unit),
            );
            fact.number = Some(mean);
            mean.is_finite().then_some(fact)
        })
    }
}

/// Rounds telemetry to three digits: no sensor is better.
fn round_to_three_digits(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let scale = 10_f64.powf((2.0 - value.abs().log10().floor()).max(-12.0));
    (value * scale).round() / scale
}

/// Returns the figures that are worth comparing, in order of their weight.
fn comparable_figures<'a>(evidence: &'a Evidence, deciding: Option<&'a str>) -> Vec<&'a str> {
    let mut names: Vec<&str> = evidence.published_metric.as_deref().into_iter().collect();
    names.extend(evidence.plan.expect.iter().map(|(name, _)| name.as_str()));
    names.extend(deciding);
    let trials = evidence.trials.iter();
    let trial_figures: Vec<&str> =
        trials.flat_map(|trial| trial.figures.keys().map(String::as_str)).collect();
    let accuracy = evidence.plan.mode != Mode::Performance;
    names.extend(
        trial_figures.iter().filter(|name| accuracy || evidence.figure_source(name).is_some()),
    );
    let available: BTreeSet<&str> = trial_figures.into_iter().collect();
    let mut unique = BTreeSet::new();
    names.retain(|name| available.contains(name) && unique.insert(*name));
    names
}

/// Returns a figure of evidence, with its trials and what is known of it.
pub(crate) fn measured_figure(
    context: &RunContext,
    evidence: &Evidence,
    name: &str,
) -> MeasuredFigure {
    let unit = published_figure::figure_unit(evidence, name);
    let expectations = evidence.plan.expect.iter().find(|(expected, _)| expected == name);
    let decides = expectations.and_then(|(_, list)| list.get(reference::find_decisive(list)?));
    let assumed = reference::assumed_noise(context, evidence, name, decides);
    let noise = assumed.as_ref().map(|assumed| assumed.value);
    MeasuredFigure {
        name: name.to_owned(),
        better: reference::figure_direction(evidence, name),
        aggregate: reference::figure_aggregate(evidence, name),
        noise,
        noise_basis: assumed.map(|assumed| assumed.basis),
        rounding_error: published_figure::relative_rounding_error(evidence, name, noise),
        trials: normalized_values(evidence, name),
        unit,
    }
}

/// Returns the trials of a figure, times what their convergence makes of them; none where one of them has
/// no usable figure.
fn normalized_values(evidence: &Evidence, figure: &str) -> Option<Vec<f64>> {
    let factor = convergence::score_factor(evidence, figure).unwrap_or(1.0);
    let values =
        published_figure::usable_values(evidence, figure).filter(|values| !values.is_empty())?;
    Some(values.into_iter().map(|value| value * factor).collect())
}

fn telemetry_figures(summary: &TelemetrySummary) -> Vec<TelemetryFigure> {
    if summary.samples < MIN_TELEMETRY_SAMPLES {
        return Vec::new();
    }
    let bytes = |bytes: u64| {
        // Gibibytes, to a thousandth.
        u32::try_from(bytes >> 20).ok().map(|mib| f64::from(mib) / 1024.0)
    };
    let throttled = summary.throttled_s.as_ref();
    let all = [
        ("mean power of the GPUs", "W", summary.mean_power_w),
        ("mean clock of the GPUs", "MHz", summary.mean_core_mhz),
        ("mean utilization of the GPUs", "%", summary.mean_utilization),
        ("highest temperature of a GPU", "°C", summary.peak_temperature_c),
        ("peak memory of a GPU", "GiB", summary.peak_vram.and_then(bytes)),
        ("clocks throttled", "s", throttled.map(|causes| causes.values().sum())),
        ("CPUs used", "", summary.mean_cpus),
        ("peak memory of the container", "GiB", summary.peak_memory.and_then(bytes)),
    ];
    let figures = all.into_iter();
    figures
        .filter_map(|(name, unit, value)| {
            Some(TelemetryFigure {
                what: name.to_owned(),
                unit: unit.to_owned(),
                values: vec![value.filter(|value| value.is_finite())?],
            })
        })
        .collect()
}
