//! `retrial config`, and what the user's configuration adds to a command line. The command line and the environment
//! come first.

use std::sync::Arc;

use clap::ArgMatches;
use clap::parser::ValueSource;
use serde_json::json;

use super::arguments::{Arguments, Command};
use crate::app::configuration::{Configuration, configuration_path};
use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, OutputFormat, PlanRequest};
use crate::app::rocm_releases::read_rocm_releases;
use crate::app::terminal;
use retrial_cluster::site_files::expand_home;
use retrial_recipe::model::Trials;
use retrial_results::verdict::ExitCode;
use retrial_store::Home;

/// The site that means this machine.
const NO_SITE: &str = "none";

/// Completes a command line from the user's configuration.
///
/// # Errors
/// The configuration cannot be read, or has errors.
pub fn complete_arguments(arguments: &mut Arguments, matches: &ArgMatches) -> Result<(), Failure> {
    let path = configuration_path();
    let configuration = Configuration::read(&path)?;
    if let Some(directory) = path.parent() {
        arguments.global.rocm_releases = read_rocm_releases(directory)?.map(Arc::new);
    }
    let is_default = |id: &str| matches.value_source(id) == Some(ValueSource::DefaultValue);
    let global = &mut arguments.global;
    if let Some(home) = configuration.home.as_deref().filter(|_| is_default("home")) {
        global.home = Home::from_root(expand_home(home));
    }
    if let Some(cache) = configuration.cache.as_deref().filter(|_| is_default("cache")) {
        global.cache = expand_home(cache);
    }
    let variables = ["DOCKER_HOST", "DOCKER_CONTEXT"];
    let is_in_environment = variables.iter().any(|name| std::env::var_os(name).is_some());
    if global.engine.is_none() && !is_in_environment {
        global.engine.clone_from(&configuration.engine);
    }
    global.allow_below.clone_from(&configuration.allow);
    global.notify = match &arguments.command {
        Command::Run(arguments) => arguments.run.notify.clone(),
        Command::Batch(arguments) => arguments.run.notify.clone(),
        Command::Bisect(arguments) => arguments.run.notify.clone(),
        Command::Resume(arguments) => arguments.notify.clone(),
        _ => None,
    };
    complete_command(&mut arguments.command, &configuration);
    Ok(())
}

fn complete_command(command: &mut Command, configuration: &Configuration) {
    match command {
        Command::Plan(arguments) => {
            complete_plan(&mut arguments.plan, configuration);
            arguments.site.take_if(|site| site == NO_SITE);
        }
        Command::Run(arguments) => {
            complete_plan(&mut arguments.plan, configuration);
            if arguments.nodes.is_none() {
                complete_site(&mut arguments.site, configuration);
            }
        }
        Command::Batch(arguments) => {
            complete_plan(&mut arguments.plan, configuration);
            complete_site(&mut arguments.site, configuration);
        }
        _ => {}
    }
}

/// A smoke test measures once.
fn complete_plan(plan: &mut PlanRequest, configuration: &Configuration) {
    let trials = configuration.trials.filter(|_| !plan.options.smoke_test);
    let trials = trials.map(|count| Trials { min: count, max: count });
    plan.options.trials = plan.options.trials.or(trials);
}

fn complete_site(site: &mut Option<String>, configuration: &Configuration) {
    if site.is_none() {
        site.clone_from(&configuration.site);
    }
    site.take_if(|site| site == NO_SITE);
}

/// Prints the configuration's path and values, and what follows from them.
pub fn print_configuration(global: &GlobalOptions) -> Result<ExitCode, Failure> {
    let path = configuration_path();
    let configuration = Configuration::read(&path)?;
    let Configuration { engine: _, home: _, cache: _, site, trials, allow } = configuration;
    let (home, cache) = (global.home.root(), &global.cache);
    if global.output == OutputFormat::Json {
        terminal::print_pretty_json(&json!({
            "path": path,
            "engine": global.engine,
            "home": home,
            "cache": cache,
            "site": site,
            "trials": trials,
            "allow": allow,
        }));
        return Ok(ExitCode::Success);
    }
    let state = if path.exists() { "" } else { " (does not exist)" };
    let or_none = |value: Option<String>, none: &str| value.unwrap_or_else(|| none.to_owned());
    let rows = [
        ("file", format!("{}{state}", path.display())),
        ("engine", or_none(global.engine.clone(), "none: DOCKER_HOST, else Docker's context")),
        ("home", home.display().to_string()),
        ("cache", cache.display().to_string()),
        ("site", or_none(site, "none: runs start on this machine")),
        ("trials", or_none(trials.map(|count| count.to_string()), "as each recipe states")),
    ];
    let rows = rows.into_iter().map(|(name, value)| format!("{name:<8} {value}"));
    let allowed = allow.into_iter().map(|(directory, names)| {
        let names = names.join(", ");
        format!("allow    {names}: recipes below {directory}")
    });
    terminal::print_lines(rows.chain(allowed));
    Ok(ExitCode::Success)
}
