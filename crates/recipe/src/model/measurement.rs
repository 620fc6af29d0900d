//! The measurements of a recipe: scenarios, modes, trials.

use retrial_document::{
    ByteUnits, Field, FieldType as T, Keys, Node, Object, OrderedMap, declare_key, object,
};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::command::{CommandOptions, MEASURED_OPTIONS, NEEDS_TYPE};
use super::download::Download;
use super::figures::{WrittenLimit, read_expectations, read_limits, read_required_values};
use super::load_client::LoadClient;
use super::mode::Mode;
use super::nodes::Placement;
use super::{Expectation, FigureSource, Limit, ReferenceFigures, RequiredValue};
use crate::expression::{MEASUREMENT_SCOPE, Template};
use crate::formats;

/// The most trials that a warm-up may have.
pub const MAX_WARMUP_TRIALS: i64 = 100;

/// One scenario with its measurements by mode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// The name of the scenario in MLPerf (`Offline`, `Server`, …); none if the key is no scenario of MLPerf.
    pub loadgen: Option<String>,
    /// The modes, in the order of the file.
    pub modes: Vec<(Mode, Measurement)>,
}

/// The modes that a scenario may have.
static SCENARIO_MODES: Object = Object {
    label: "a scenario",
    one_of: &[],
    groups: &[&[
        declare_key("performance", Measurement::TYPE, "Measures speed: throughput and latency."),
        declare_key("accuracy", Measurement::TYPE, "Measures the accuracy of the answers."),
        declare_key("compliance", Measurement::TYPE, "Runs the compliance tests of the audit."),
    ]],
};

/// The scenarios of a recipe, by name.
pub(super) const SCENARIOS_TYPE: T = T::Map(formats::NAME, &T::Object(&SCENARIO_MODES));

pub(super) fn read_scenarios(node: &Node) -> Option<OrderedMap<Scenario>> {
    let scenario = |(name, node): (&str, &Node)| {
        let scenario = Scenario {
            loadgen: loadgen_name(name).map(str::to_owned),
            modes: Field::from_node(node, &<Vec<(Mode, Measurement)>>::TYPE)?,
        };
        Some((name.to_owned(), scenario))
    };
    node.present_entries().map(scenario).collect()
}

/// `LoadGen`'s spelling of a scenario, if the key is one of MLPerf's in any spelling.
pub fn loadgen_name(key: &str) -> Option<&'static str> {
    let plain = key.replace(['-', '_', ' '], "");
    match plain.to_ascii_lowercase().as_str() {
        "offline" => Some("Offline"),
        "server" => Some("Server"),
        "interactive" => Some("Interactive"),
        "singlestream" => Some("SingleStream"),
        "multistream" => Some("MultiStream"),
        _ => None,
    }
}

object! {
    /// One scenario in one mode.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct Measurement: "a measurement", one of "run", "from", first WrittenMeasurement::KEYS, last MEASURED_OPTIONS;
    fields {
        /// The command, its own or a shared one.
        command: MeasurementCommand = MeasurementCommand::from_node,
        /// Its further settings.
        #[serde(flatten)]
        options: CommandOptions = CommandOptions::from_keys,
        /// What a result must state of itself, among the `limits`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        required_values: OrderedMap<RequiredValue> = read_required_values,
    }
    keys {
        /// The point of a sweep that it measures: written by `sweep`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        point: Option<SweepPoint>,
        /// The machines on which it runs; figures are those of the first.
        on: Placement [default = "head"],
        /// The services that it needs, by name: each is ready before it starts.
        needs: Vec<String> = NEEDS_TYPE,
        /// The directory that LoadGen writes, a path or a glob that one new directory matches.
        results: Option<Template> = T::Template(MEASUREMENT_SCOPE, formats::ABSOLUTE_PATH),
        /// The most that the results may hold, all files together; 16 GiB unless stated.
        max_results: Option<u64> = T::Size(ByteUnits::Precise),
        /// A command that checks the results, for example the accuracy script.
        check: Option<Template> = T::Template(MEASUREMENT_SCOPE, formats::FILLED),
        /// The longest that the check may take.
        check_timeout: Option<Duration>,
        /// The data that the command or its check downloads.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        download: Option<Download>,
        /// The program that loads a server: its figures are declared thereby, and the counts in its output are checked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        client: Option<LoadClient>,
        /// Figures that are not LoadGen's, by name.
        figures: OrderedMap<FigureSource>,
        /// Published figures, by name: one, or a list. For a table: {values: {…}}, or `name[entry]`.
        expect: OrderedMap<Vec<Expectation>> [read = read_expectations] = super::figures::EXPECT_TYPE,
        /// What else was published of the run: shown next to the measured figures, and never judged.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        references: Option<ReferenceFigures>,
        /// The benchmark's own limits: outside of them a result is invalid. Bounds of a figure, or a word or a truth value that the result must state: {json: $.was_cancelled, is: false}.
        limits: OrderedMap<Limit> [read = read_limits] = T::Map(formats::FIGURE, &WrittenLimit::TYPE),
        /// The free memory that it needs on each of its GPUs, bytes: 107.9 GB. A variant that changes the batch states its own.
        gpu_memory: Option<u64> = T::Size(ByteUnits::Precise),
        /// The target rate of the published result, queries per second: another one is `modified`.
        target_qps: Option<f64>,
        /// The number of trials: 3, or {min, max} to continue until the evidence decides.
        trials: Trials [default = "1"],
        /// The number of warm-up trials, which are shown but not judged; they count in `${{ trial }}`.
        warmup: u32 [default = "0"] = T::Integer(0, MAX_WARMUP_TRIALS),
    }
}

object! {
    /// What a recipe writes, and a measurement has otherwise: its command, and its sweep.
    pub struct WrittenMeasurement: "a measurement";
    keys {
        /// The text of the command, for the shell.
        run: Option<Template> = T::Template(MEASUREMENT_SCOPE, formats::FILLED),
        /// One of `commands`, run once for all modes that use it.
        from: Option<String> = T::Text(formats::FILLED),
        /// Measures at each of several points, each a scenario of its own: {concurrency: [1, 4, 16, 64]}; `${{ sweep.concurrency }}` is the point.
        sweep: OrderedMap<Vec<String>> [read = read_sweep] = T::Map(formats::NAME, &T::List(&T::Text(formats::FILLED), 1)),
        /// Measures the points in a random order, which this seed decides; otherwise as they are written.
        shuffle: Option<u32> = T::Integer(0, u32::MAX as i64),
    }
}

fn read_sweep(node: &Node) -> Option<OrderedMap<Vec<String>>> {
    let axis = |(name, points): (&str, &Node)| {
        let points = points.items().iter().map(|point| Some(point.text()?.to_owned()));
        Some((name.to_owned(), points.collect::<Option<_>>()?))
    };
    node.present_entries().map(axis).collect()
}

object! {
    /// The point of a sweep that a scenario measures.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
    pub struct SweepPoint: "a point of a sweep";
    keys {
        /// The scenario that is swept.
        sweep: String [required] = T::Text(formats::NAME),
        /// What is varied: concurrency.
        axis: String [required] = T::Text(formats::NAME),
        /// Its value.
        value: f64 [required] = T::Number,
    }
}

/// The axis along which a client's loads are told apart.
pub const CONCURRENCY: &str = "concurrency";

impl SweepPoint {
    /// Returns the requests in flight that it asks for, if that is what is varied.
    pub fn concurrency(&self) -> Option<f64> {
        (self.axis == CONCURRENCY).then_some(self.value)
    }

    /// Returns whether a text is its value.
    pub fn is_at(&self, text: &str) -> bool {
        text.parse() == Ok(self.value)
    }
}

/// The command of a measurement: its own, or a shared one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MeasurementCommand {
    /// The measurement's own command.
    Run(Template),
    /// The key of one of `commands`, which runs once for all modes that name it.
    From(String),
}

impl MeasurementCommand {
    fn from_node(node: &Node) -> Option<Self> {
        let written = WrittenMeasurement::from_keys(node)?;
        let from = written.from.map(Self::From);
        from.or_else(|| written.run.map(Self::Run))
    }
}

object! {
    /// How often a performance measurement is repeated.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub struct Trials: "a number of trials", or T::Integer(1, 1000) => Trials::from_count;
    keys {
        /// At least.
        min: u32 [required] = T::Integer(1, 1000),
        /// At most; more than `min` adds trials until the evidence decides.
        max: u32 [required] = T::Integer(1, 1000),
    }
}

/// More interim analyses would leave each too little of the error.
const MAX_ANALYSIS_STAGES: usize = 4;

impl Trials {
    fn from_count(text: &str) -> Option<Self> {
        let count = text.parse().ok()?;
        Some(Self { min: count, max: count })
    }

    /// Returns the numbers of trials after which the evidence is analysed: 3 to 8 gives 3, 5, 8.
    pub fn analysis_stages(self) -> Vec<u32> {
        let (first, last) = (self.min.max(1), self.max.max(self.min).max(1));
        let mut stages = vec![first];
        let mut next = first;
        while next < last && stages.len() < MAX_ANALYSIS_STAGES - 1 {
            next = next.saturating_mul(8).div_ceil(5).max(next.saturating_add(2)).min(last);
            stages.push(next);
        }
        if next < last {
            stages.push(last);
        }
        stages
    }
}

impl Default for Trials {
    fn default() -> Self {
        Self { min: 1, max: 1 }
    }
}
