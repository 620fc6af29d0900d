//! Writes a published curve as a recipe.

use std::borrow::Cow;
use std::iter;

use itertools::Itertools as _;
use retrial_document::Node;
use retrial_recipe::model::GpuVendor;
use retrial_recipe::writer::{Section, list_node, map_node, plain_node, render_recipe, text_node};

use super::configuration::Configuration;
use super::launch::{Launch, LaunchError, multiple_of_point};
use super::selection::{Curve, CurveError};
use crate::published_text::{published_text, published_texts, to_single_line};

/// Requests for each of those in flight, and those before the load.
const REQUESTS: f64 = 10.0;
const WARM_UP_REQUESTS: f64 = 2.0;
/// Half of 518 pairs of published runs of one configuration within three days differ by less than 0.4 %: a standard deviation of
/// 0.4 % of each.
const NOISE: &str = "0.5%";
/// InferenceX draws lengths from this share of what is asked for.
const RANGE_RATIO: &str = "0.8";
/// Decided by, with the factor from the row's unit.
const JUDGED: [(&str, &str, Unit); 2] = [
    ("total_throughput", "tput_per_gpu", Unit::PerGpu),
    ("tpot_p50", "median_tpot", Unit::Seconds),
];
/// For information: of the same pairs, 77 % are within 10 % in the first token's time.
const SHOWN: [(&str, &str, Unit); 2] = [
    ("output_throughput", "output_tput_per_gpu", Unit::PerGpu),
    ("ttft_p50", "median_ttft", Unit::Seconds),
];

/// The unit that a row has a figure in; recipes have tokens/s and milliseconds.
#[derive(Debug, Clone, Copy)]
enum Unit {
    PerGpu,
    Seconds,
}

/// Why a curve is no recipe.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    #[error(transparent)]
    Curve(#[from] CurveError),
    #[error("{name}: {source}")]
    Configuration { name: String, source: LaunchError },
}

/// Returns the recipe's text.
///
/// # Errors
/// If the configuration is none of the curve, or nobody makes such a GPU.
pub fn write_recipe(
    curve: &Curve,
    configuration: Option<&Configuration>,
) -> Result<String, WriteError> {
    let launch = configuration.map(|configuration| {
        Launch::find(curve, configuration).map_err(|source| WriteError::Configuration {
            name: configuration.name.clone(),
            source,
        })
    });
    let launch = launch.transpose()?;
    let first = curve.points().first().ok_or(CurveError::NoMatch)?;
    let gpu = first.gpu_model();
    let vendor =
        GpuVendor::of_model(&gpu).ok_or_else(|| CurveError::UnknownGpu { gpu: gpu.clone() })?;
    let gpus = first.gpus().unwrap_or_default();
    let system = format!("{gpus}x{gpu}");
    let of = |name| curve.member(name);
    let benchmark = ["model", "precision", "isl", "osl"].map(of).join("-").to_lowercase();
    let benchmark = benchmark.replace('/', "-");
    let mut keys = Section::default();
    let speculation =
        Some(of("spec_method")).filter(|method| !["", "none", "false"].contains(method));
    let speculation = speculation.map(|method| format!(" with {method}")).unwrap_or_default();
    let title = format!(
        "InferenceX, {} {}, {}{speculation}, {gpus} x {gpu}, {}/{}",
        launch.as_ref().map_or(of("model"), |launch| &launch.model),
        of("precision").to_uppercase(),
        of("framework"),
        of("isl"),
        of("osl"),
    );
    keys.set("title", published_text(&title));
    keys.set_section("submission", submission(curve, &benchmark, &system));
    keys.set("deviations", published_texts(&deviations(curve, configuration)));
    keys.set_section("params", params(launch.is_some()));
    let image = launch.as_ref().map_or(of("image"), |launch| &launch.image);
    if image.is_empty() {
        keys.set("incomplete", list_node(vec![text_node("image: the rows name none")]));
    } else {
        keys.set("image", published_text(image));
    }
    let mut requires = Section::default();
    requires.set_compact(
        "gpus",
        map_node([
            ("vendor", text_node(vendor.word())),
            ("models", published_texts(&[gpu])),
            ("count", plain_node(gpus.to_string())),
        ]),
    );
    keys.set_section("requires", requires);
    let mounts =
        ["${{ params.model }}:/model:ro", "${{ params.client }}:/client:ro"].map(text_node);
    keys.set(
        "container",
        map_node([("ipc", text_node("host")), ("mounts", list_node(mounts.to_vec()))]),
    );
    keys.set_compact("judge", map_node([("noise", text_node(NOISE))]));
    keys.comment_beside(
        "judge",
        "of one trial: half of published pairs within three days differ by less than 0.4 %",
    );
    keys.set("services", map_node([("server", server(launch.as_ref()))]));
    keys.set_section("scenarios", scenarios(curve, launch.as_ref(), gpus));
    let heading = [
        "From published rows of InferenceX, by `retrial new NAME --from-inferencex`: one trial of each point.".to_owned(),
        "Between points nothing is known, and nothing is interpolated.".to_owned(),
    ];
    Ok(render_recipe(&heading, keys))
}

fn submission(curve: &Curve, benchmark: &str, system: &str) -> Section {
    let runs: Vec<&str> =
        curve.points().iter().filter_map(|row| row.run.as_deref()).unique().collect();
    let mut submission = Section::default();
    let texts = [
        ("suite", "inferencex"),
        ("submitter", "SemiAnalysis"),
        ("system", system),
        ("benchmark", benchmark),
    ];
    for (key, text) in texts {
        submission.set(key, published_text(text));
    }
    if !runs.is_empty() {
        submission.set("sources", published_texts(&runs));
    }
    submission
}

/// What the rows do not state.
fn deviations(curve: &Curve, configuration: Option<&Configuration>) -> Vec<String> {
    let date = Some(curve.member("date")).filter(|date| !date.is_empty());
    let date = date.map_or_else(|| "on the day of the run".to_owned(), |date| format!("on {date}"));
    let mut deviations = vec![
        format!("The rows name the image by its tag alone: what it held {date} is unknown."),
        "The rows state neither the model's revision, nor the host, its driver and clocks, nor the client's commit.".to_owned(),
        "The rows do not state requests that failed: InferenceX accepts up to 5 % of them.".to_owned(),
    ];
    match configuration {
        Some(configuration) => deviations.push(format!(
            "The server's command is that of {}; the rows do not name it.",
            configuration.name
        )),
        None => {
            deviations
                .push("The rows do not state the server's command: it is a param.".to_owned());
        }
    }
    deviations
}

fn params(has_command: bool) -> Section {
    let param =
        |kind: &str, help: &str| map_node([("type", text_node(kind)), ("help", text_node(help))]);
    let mut params = Section::default();
    params.set_compact("model", param("path", "The directory of the model on the host."));
    params.set_compact(
        "client",
        param(
            "path",
            "A checkout of github.com/SemiAnalysisAI/InferenceX, at the commit of the run.",
        ),
    );
    if !has_command {
        let help = "The command that starts the server, of the model in /model, on port 8888.";
        params.set_compact("server", param("string", help));
    }
    params
}

/// InferenceX starts a new server for each point.
fn server(launch: Option<&Launch>) -> Node {
    let command = launch.map(|launch| launch.server.iter().map(|word| quote(word)).join(" "));
    let command = command.unwrap_or_else(|| "${{ params.server }}".to_owned());
    let variables = launch.map(|launch| &launch.environment[..]).unwrap_or_default();
    let variables = variables.iter().map(|(name, value)| (name.clone(), published_text(value)));
    let variables: Vec<(String, Node)> = variables.collect();
    let ready = map_node([
        ("http", text_node("http://localhost:8888/health")),
        ("timeout", text_node("2h")),
    ]);
    let environment = (!variables.is_empty()).then(|| ("env", map_node(variables)));
    let keys = [("run", text_node(command))].into_iter().chain(environment);
    let stop = map_node([("signal", text_node("TERM")), ("timeout", text_node("2m"))]);
    map_node(keys.chain([("ready", ready), ("stop", stop), ("scope", text_node("point"))]))
}

fn scenarios(curve: &Curve, launch: Option<&Launch>, gpus: f64) -> Section {
    let results = "/tmp/inferencex/c${{ sweep.concurrency }}/run_${{ trial }}";
    let points = curve.points().iter().map(|row| plain_node(row.concurrency.to_string()));
    let mut performance = Section::default();
    performance.set("needs", list_node(vec![text_node("server")]));
    performance.set_compact("sweep", map_node([("concurrency", list_node(points.collect()))]));
    performance.set("client", text_node("inferencex"));
    performance.set("run", text_node(client_command(curve, launch, results)));
    performance.set("results", text_node(results));
    performance.set("timeout", text_node("6h"));
    let source = curve.member("date");
    let source = format!("InferenceX {source}").trim().to_owned();
    let expect = JUDGED.iter().filter_map(|figure| {
        let values = values_at_points(curve, figure, gpus)?;
        let keys =
            [("at", values), ("kind", text_node("official")), ("source", published_text(&source))];
        Some((figure.0, map_node(keys)))
    });
    let mut expected = Section::default();
    for (name, figure) in expect {
        expected.set_compact(name, figure);
    }
    performance.set_section("expect", expected);
    let shown = SHOWN.iter().filter_map(|figure| {
        Some((figure.0, map_node([("at", values_at_points(curve, figure, gpus)?)])))
    });
    let references = [
        ("kind", text_node("official")),
        ("source", published_text(&source)),
        ("values", map_node(shown)),
    ];
    performance.set("references", map_node(references));
    let mut serving = Section::default();
    serving.set_section("performance", performance);
    let mut scenarios = Section::default();
    scenarios.set_section("serving", serving);
    scenarios
}

/// The values of a figure at the points whose rows state it, in the figure's unit.
fn values_at_points(curve: &Curve, figure: &(&str, &str, Unit), gpus: f64) -> Option<Node> {
    let (_, metric, unit) = figure;
    let values = curve.points().iter().filter_map(|row| {
        let value = row.metric(metric)?;
        let value = match unit {
            Unit::PerGpu => value * gpus,
            Unit::Seconds => value * 1e3,
        };
        Some((row.concurrency.to_string(), plain_node(format_digits(value))))
    });
    let values: Vec<(String, Node)> = values.collect();
    (!values.is_empty()).then(|| map_node(values))
}

/// Writes a number with six digits: rows are exact to as many.
fn format_digits(value: f64) -> String {
    let powers = iter::successors(Some(1e5), |power| Some(power / 10.0));
    let decimals = powers.take(12).position(|power| value.abs() >= power).unwrap_or(12);
    format!("{value:.decimals$}")
}

/// Quotes a word for the shell, unless it is one of our expressions.
fn quote(word: &str) -> String {
    if word.starts_with("${{ ") {
        return word.to_owned();
    }
    // Only NUL cannot be quoted, and a word has no control characters.
    shlex::try_quote(word).map_or_else(|_| word.to_owned(), Cow::into_owned)
}

fn client_command(curve: &Curve, launch: Option<&Launch>, results: &str) -> String {
    let foreign = |text: &str| quote(&to_single_line(text));
    let of = |name| foreign(curve.member(name));
    let model = launch.map_or_else(|| of("model"), |launch| foreign(&launch.model));
    let ratio = launch.map_or(RANGE_RATIO.to_owned(), |launch| foreign(&launch.range_ratio));
    let options =
        launch.map(|launch| launch.client_options.iter().map(|word| foreign(word)).join(" "));
    let options =
        options.filter(|options| !options.is_empty()).map(|options| format!(" {options}"));
    format!(
        "python3 /client/utils/bench_serving/benchmark_serving.py --model {model} --tokenizer /model --backend vllm \
         --base-url http://localhost:8888 --dataset-name random --random-input-len {} --random-output-len {} \
         --random-range-ratio {ratio} --num-prompts {} --max-concurrency {} --request-rate inf --ignore-eos \
         --save-result --num-warmups {} --percentile-metrics ttft,tpot,itl,e2el --result-dir {results} \
         --result-filename result.json{}",
        of("isl"),
        of("osl"),
        multiple_of_point(REQUESTS),
        multiple_of_point(1.0),
        multiple_of_point(WARM_UP_REQUESTS),
        options.unwrap_or_default(),
    )
}
