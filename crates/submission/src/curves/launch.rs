//! The command of a server and of its client, as a configuration has them for the points of a curve.

use std::iter;

use itertools::Itertools as _;
use serde_json::Value;

use super::configuration::{Configuration, Job, to_word};
use super::selection::Curve;
use crate::published_text::to_single_line;

/// The script that InferenceX's configurations start, with further options of the client behind it.
const CLIENT_SCRIPT: &str = "bash /infmax-workspace/benchmarks/single_node/srt_fixed_sequence.sh";
const ARGUMENTS: &str = "/roles/agg/args";

/// How the points of a curve were measured.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Launch {
    pub image: String,
    /// The model, as the hub has it.
    pub model: String,
    /// The words of the server's command; where one is the concurrency, an expression.
    pub server: Vec<String>,
    pub environment: Vec<(String, String)>,
    /// Further options of the client.
    pub client_options: Vec<String>,
    /// Lengths of prompts and answers are drawn from this share of what is asked for to all of it.
    pub range_ratio: String,
}

/// Why a configuration is none of a curve.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    #[error("it starts no server for concurrency {concurrency} on {gpus} GPUs (ep {ep})")]
    NoJob { concurrency: f64, gpus: String, ep: String },
    #[error("it starts several servers for concurrency {0}")]
    SeveralJobs(f64),
    #[error("its {what} is {own}, and that of the rows {published}")]
    Other { what: &'static str, own: String, published: String },
    #[error("its {0} differs from point to point")]
    Varies(String),
    #[error("it states no `{0}`")]
    Missing(&'static str),
    #[error(
        "`{0}` is not read: only one server (`roles.agg`) of SGLang or vLLM, loaded by InferenceX's own client, is"
    )]
    Unknown(String),
}

impl Launch {
    /// Finds how the points of a curve were measured.
    ///
    /// # Errors
    /// If the configuration is another one, or has what is not read.
    pub fn find(curve: &Curve, configuration: &Configuration) -> Result<Self, LaunchError> {
        let jobs = find_jobs(curve, configuration)?;
        let (_, first) = jobs.first().ok_or(LaunchError::Missing("benchmark.env.CONC"))?;
        let text = |place: &str, name: &'static str| same_text(&jobs, place, name);
        let model = text("/model/path", "model.path")?;
        let model = model.strip_prefix("hf:").unwrap_or(&model).to_owned();
        // Enroot separates the registry from the name by a number sign.
        let image = text("/model/container", "model.container")?.replacen('#', "/", 1);
        let engine_place = if first.text("/engine").is_some() { "/engine" } else { "/engine/type" };
        let engine = text(engine_place, "engine")?;
        let program = match &*engine {
            "sglang" => {
                ["python3", "-m", "sglang.launch_server", "--model-path", "/model"].as_slice()
            }
            "vllm" => ["vllm", "serve", "/model"].as_slice(),
            _ => return Err(LaunchError::Unknown(format!("engine: {engine}"))),
        };
        let command = text("/benchmark/command", "benchmark.command")?;
        let options = command.strip_prefix(CLIENT_SCRIPT);
        let options = options.and_then(shlex::split);
        let mut client_options =
            options.ok_or_else(|| LaunchError::Unknown(format!("benchmark.command: {command}")))?;
        if same_text_or(&jobs, "/benchmark/env/USE_CHAT_TEMPLATE", "USE_CHAT_TEMPLATE", "false")?
            == "true"
        {
            client_options.push("--use-chat-template".to_owned());
        }
        let place = format!("{ARGUMENTS}/served-model-name");
        let served = same_text_or(&jobs, &place, "served-model-name", &model)?;
        let named = ["--served-model-name", &served].map(str::to_owned);
        let fixed = ["--host", "0.0.0.0", "--port", "8888"].map(str::to_owned);
        let program = program.iter().map(|word| (*word).to_owned());
        Ok(Self {
            image,
            server: program.chain(named).chain(fixed).chain(arguments(&jobs)?).collect(),
            environment: environment(&jobs)?,
            client_options,
            range_ratio: text(
                "/benchmark/env/RANDOM_RANGE_RATIO",
                "benchmark.env.RANDOM_RANGE_RATIO",
            )?,
            model,
        })
    }
}

/// Returns the job of each point.
fn find_jobs<'c>(
    curve: &Curve,
    configuration: &'c Configuration,
) -> Result<Vec<(f64, &'c Job)>, LaunchError> {
    let (tp, ep) = (curve.member("tp"), curve.member("ep"));
    let is_of = |job: &&Job| {
        // A server without the option has one of each.
        let argument = |names: [&str; 2]| {
            let stated =
                names.into_iter().find_map(|name| job.text(&format!("{ARGUMENTS}/{name}")));
            stated.unwrap_or_else(|| "1".to_owned())
        };
        argument(["tensor-parallel-size", "tp-size"]) == tp
            && (ep.is_empty() || argument(["expert-parallel-size", "ep-size"]) == ep)
    };
    let jobs: Vec<(f64, &Job)> = curve
        .points()
        .iter()
        .map(|row| {
            let at_point = |job: &&Job| job.concurrency.total_cmp(&row.concurrency).is_eq();
            match configuration.jobs.iter().filter(at_point).filter(is_of).at_most_one() {
                Ok(Some(job)) => Ok((row.concurrency, job)),
                Ok(None) => Err(LaunchError::NoJob {
                    concurrency: row.concurrency,
                    gpus: tp.to_owned(),
                    ep: ep.to_owned(),
                }),
                Err(_) => Err(LaunchError::SeveralJobs(row.concurrency)),
            }
        })
        .collect::<Result<_, _>>()?;
    let stated = [
        (
            "GPU",
            "/resources/gpu_type",
            curve.points().first().map(|row| row.gpu_model().to_lowercase()),
        ),
        ("precision", "/model/precision", Some(curve.member("precision").to_owned())),
        ("image", "/model/container", Some(curve.member("image").to_owned())),
        ("length of prompts", "/benchmark/env/ISL", Some(curve.member("isl").to_owned())),
        ("length of answers", "/benchmark/env/OSL", Some(curve.member("osl").to_owned())),
    ];
    for (what, place, published) in stated {
        let own = same_text(&jobs, place, what)?.replacen('#', "/", 1);
        let published = published.unwrap_or_default();
        if !published.is_empty() && own != published {
            return Err(LaunchError::Other { what, own, published });
        }
    }
    jobs.iter().try_for_each(|(_, job)| refuse_other_roles(job))?;
    let speculates = |job: &Job| {
        let arguments = job.settings.pointer(ARGUMENTS).and_then(Value::as_object);
        arguments.into_iter().flatten().any(|(name, _)| name.starts_with("speculative"))
    };
    let published = curve.member("spec_method");
    let is_published = !["", "none", "false"].contains(&published);
    if jobs.iter().any(|(_, job)| speculates(job) != is_published) {
        let own = if is_published { "none" } else { "in its options" };
        let (what, own) = ("speculative decoding", own.to_owned());
        return Err(LaunchError::Other { what, own, published: published.to_owned() });
    }
    Ok(jobs)
}

/// Refuses what is more than one server by its options: nothing of it would be in the command.
fn refuse_other_roles(job: &Job) -> Result<(), LaunchError> {
    let unknown = |place: String| Err(LaunchError::Unknown(place));
    let roles = job.settings.pointer("/roles").and_then(Value::as_object);
    if let Some((role, _)) = roles.into_iter().flatten().find(|(role, _)| *role != "agg") {
        return unknown(format!("roles.{role}"));
    }
    let settings = job.settings.pointer("/roles/agg").and_then(Value::as_object);
    for (name, value) in settings.into_iter().flatten() {
        let is_read = match name.as_str() {
            "args" | "env" | "gpus" => true,
            "nodes" | "workers" => value.as_u64() == Some(1),
            _ => false,
        };
        if !is_read {
            return unknown(format!("roles.agg.{name}: {value}"));
        }
    }
    Ok(())
}

/// Returns a text that all jobs have.
fn same_text(jobs: &[(f64, &Job)], place: &str, name: &'static str) -> Result<String, LaunchError> {
    let texts = jobs.iter().map(|(_, job)| job.text(place));
    let texts: Vec<String> = texts.collect::<Option<_>>().ok_or(LaunchError::Missing(name))?;
    match texts.iter().all_equal_value() {
        Ok(text) => Ok(text.clone()),
        Err(_) => Err(LaunchError::Varies(name.to_owned())),
    }
}

/// Returns a text that all jobs have, or that stands for none of them having it.
fn same_text_or(
    jobs: &[(f64, &Job)],
    place: &str,
    name: &'static str,
    default: &str,
) -> Result<String, LaunchError> {
    if jobs.iter().all(|(_, job)| job.settings.pointer(place).is_none()) {
        return Ok(default.to_owned());
    }
    same_text(jobs, place, name)
}

/// Returns the options of the server's command; one that is a multiple of the concurrency is an expression.
fn arguments(jobs: &[(f64, &Job)]) -> Result<Vec<String>, LaunchError> {
    let given =
        jobs.iter().map(|(_, job)| job.settings.pointer(ARGUMENTS).and_then(Value::as_object));
    let given: Vec<_> =
        given.collect::<Option<_>>().ok_or(LaunchError::Missing("roles.agg.args"))?;
    let names = given.iter().flat_map(|arguments| arguments.keys()).unique();
    // Written above, or chosen by the launcher.
    let own = ["model-path", "served-model-name", "host", "port", "nccl-port"];
    let mut words = Vec::new();
    for name in names.filter(|name| !own.contains(&&*name.replace('_', "-"))) {
        let values: Vec<&Value> = given
            .iter()
            .map(|arguments| arguments.get(name))
            .collect::<Option<_>>()
            .ok_or_else(|| LaunchError::Varies(name.clone()))?;
        let flag = format!("--{}", name.replace('_', "-"));
        match values.iter().all_equal_value() {
            Ok(Value::Bool(false) | Value::Null) => {}
            Ok(Value::Bool(true)) => words.push(flag),
            Ok(Value::Array(items)) => {
                let items = items.iter().map(foreign_word).collect::<Option<Vec<_>>>();
                let items = items.ok_or_else(|| LaunchError::Unknown(name.clone()))?;
                words.extend(iter::once(flag).chain(items));
            }
            Ok(value) => {
                let word = foreign_word(value).ok_or_else(|| LaunchError::Unknown(name.clone()))?;
                words.extend([flag, word]);
            }
            Err(_) => {
                let factors = values.iter().zip(jobs).map(|(value, (concurrency, _))| {
                    let factor = value.as_f64()? / concurrency;
                    (factor.fract() == 0.0).then_some(factor)
                });
                let factors: Option<Vec<f64>> = factors.collect();
                let factor = factors.filter(|factors| factors.iter().all_equal());
                let factor = factor.and_then(|factors| factors.first().copied());
                words.extend([
                    flag,
                    multiple_of_point(factor.ok_or_else(|| LaunchError::Varies(name.clone()))?),
                ]);
            }
        }
    }
    Ok(words)
}

/// Returns a word in which nothing is an expression.
fn foreign_word(value: &Value) -> Option<String> {
    Some(to_single_line(&to_word(value)?))
}

/// `${{ sweep.concurrency * 10 }}`
pub(super) fn multiple_of_point(factor: f64) -> String {
    match factor {
        1.0 => "${{ sweep.concurrency }}".to_owned(),
        factor => format!("${{{{ sweep.concurrency * {factor} }}}}"),
    }
}

fn environment(jobs: &[(f64, &Job)]) -> Result<Vec<(String, String)>, LaunchError> {
    let mut stated = jobs.iter().map(|(_, job)| job.settings.pointer("/roles/agg/env"));
    let varies = |_| LaunchError::Varies("roles.agg.env".to_owned());
    let stated = stated.all_equal_value().map_err(varies)?.and_then(Value::as_object);
    let variables = stated.into_iter().flatten();
    let variable = |(name, value): (&String, &Value)| {
        let unknown = || LaunchError::Unknown(format!("roles.agg.env.{name}"));
        Ok((name.clone(), to_word(value).ok_or_else(unknown)?))
    };
    variables.map(variable).collect()
}
