//! Services, in shell: a detached exec that records its process, a loop until it is ready, its end.

use std::fmt::Write as _;

use itertools::Itertools as _;

use super::{docker_run_command, exec_options, shell_quote, shell_words, step_mount_flags};
use crate::service::{HTTP_PROBE_SCRIPT, PORT_PROBE_SCRIPT, ServiceStep, StopPolicy, StopStep};
use crate::step::{Action, Plan, Step};
use retrial_recipe::model::ReadyWhen;

/// `$0` is the service, the words after it are its command; the process leads its own group.
const SERVE_SCRIPT: &str =
    r#"echo $$ >"/tmp/retrial-$0.pid"; exec "$@" >"/tmp/retrial-$0.log" 2>&1 </dev/null"#;

/// Ends the group of the service `$0` by signal `$1`, and kills it after `$2` seconds.
const STOP_SCRIPT: &str = r#"[ -s "/tmp/retrial-$0.pid" ] || exit 0
group=$(cat "/tmp/retrial-$0.pid"); rm -f "/tmp/retrial-$0.pid"
kill "-$1" "-$group" 2>/dev/null || exit 0
waited=0
while kill -0 "-$group" 2>/dev/null; do
  if [ "$waited" -ge "$2" ]; then kill -KILL "-$group"; exit 0; fi
  waited=$((waited + 1)); sleep 1
done"#;

/// The script's own shell functions.
const SERVICE_FUNCTIONS: &str = r#"# Seconds of a clock that nobody sets, where there is one.
uptime_s() { if read -r now _ 2>/dev/null </proc/uptime; then echo "${now%%.*}"; else date +%s; fi; }
wait_until_ready() {
  container=$1 service=$2 until=$(($(uptime_s) + $3)); shift 3
  until "$@" >/dev/null 2>&1; do
    if ! docker exec -u 0 "$container" sh -c '[ ! -s "/tmp/retrial-$0.pid" ] || kill -0 "$(cat "/tmp/retrial-$0.pid")"' "$service" 2>/dev/null; then
      why='ended before it was ready'
    elif [ "$(uptime_s)" -ge "$until" ]; then
      why='was not ready in time'
    else
      sleep 1; continue
    fi
    docker exec -u 0 "$container" tail -n 12 "/tmp/retrial-$service.log" >&2
    echo "the service $service $why" >&2
    exit 1
  done
}
stop_service() { docker exec -u 0 "$1" sh -c "$end" "$2" "$3" "$4" 2>/dev/null || true; }"#;

/// The part shared by all services; empty for a plan without.
pub(super) fn services_header(plan: &Plan) -> String {
    let services = distinct_services(plan);
    if services.is_empty() {
        return String::new();
    }
    let uses = |check: fn(&ReadyWhen) -> bool| services.iter().any(|service| check(&service.ready));
    let mut out = String::from(
        "\n# services run detached; their output is in /tmp/retrial-NAME.log of their container\n",
    );
    let _ = writeln!(out, "serve={}\nend={}", shell_quote(SERVE_SCRIPT), shell_quote(STOP_SCRIPT));
    if uses(|ready| matches!(ready, ReadyWhen::Http(_))) {
        let _ = writeln!(out, "ask_http={}", shell_quote(HTTP_PROBE_SCRIPT));
    }
    if uses(|ready| matches!(ready, ReadyWhen::Port(_))) {
        let _ = writeln!(out, "ask_port={}", shell_quote(PORT_PROBE_SCRIPT));
    }
    let _ = writeln!(out, "{SERVICE_FUNCTIONS}");
    out
}

/// The commands that end the services, those that were started last first.
pub(super) fn end_services_commands(plan: &Plan, name: &str) -> Vec<String> {
    let services = distinct_services(plan).into_iter().rev();
    let ends = services.map(|service| {
        let container = service_container_name(service, name);
        match service.own_container {
            Some(_) => format!("docker rm -f {container} >/dev/null 2>&1"),
            None => stop_service_call(&container, &service.service, service.stop),
        }
    });
    ends.collect()
}

fn distinct_services(plan: &Plan) -> Vec<&ServiceStep> {
    let started_services = plan.steps.iter().filter_map(|step| match &step.action {
        Action::StartService(service) => Some(&**service),
        _ => None,
    });
    started_services.unique_by(|service| &service.service).collect()
}

/// The container in which a service runs.
fn service_container_name(service: &ServiceStep, name: &str) -> String {
    match service.own_container {
        Some(_) => format!("{name}-{}", service.service),
        None => name.to_owned(),
    }
}

pub(super) fn start_commands(
    plan: &Plan,
    step: &Step,
    service: &ServiceStep,
    name: &str,
) -> String {
    let container = service_container_name(service, name);
    let mut out = String::new();
    if let Some(own) = &service.own_container {
        let mut own_spec = own.clone();
        own_spec.network.get_or_insert_with(|| format!("container:{name}"));
        let _ = writeln!(
            out,
            "{}",
            docker_run_command(plan, &own_spec, &container, step_mount_flags(plan, step))
        );
    }
    let command = &service.command;
    let options = exec_options(command);
    let (shell, run) = (shell_words(command), shell_quote(&command.run));
    let named = &service.service;
    let _ =
        writeln!(out, "docker exec -d{options} {container} sh -c \"$serve\" {named} {shell} {run}");
    let probe = match &service.ready {
        ReadyWhen::Log(pattern) => {
            let grep = format!(
                "grep -qP {0} \"$1\" 2>/dev/null || grep -qE {0} \"$1\"",
                shell_quote(pattern)
            );
            let file = format!("/tmp/retrial-{named}.log");
            format!("docker exec -u 0 {container} sh -c {} sh {file}", shell_quote(&grep))
        }
        ReadyWhen::Port(port) => format!("docker exec {container} sh -c \"$ask_port\" {port}"),
        ReadyWhen::Http(url) => {
            let url = shell_quote(&url.0);
            format!("docker exec {container} sh -c \"$ask_http\" {url}")
        }
        ReadyWhen::Command(ready) => {
            let ready = shell_quote(&ready.0);
            format!("docker exec{options} {container} {shell} {ready}")
        }
    };
    let timeout = command.timeout_s;
    let _ = write!(out, "wait_until_ready {container} {named} {timeout} {probe}");
    out
}

pub(super) fn stop_commands(plan: &Plan, stop: &StopStep, name: &str) -> String {
    let Some((_, service)) = plan.started_service(stop.of) else {
        return String::new();
    };
    let container = service_container_name(service, name);
    let end = stop_service_call(&container, &stop.service, stop.stop);
    match service.own_container {
        Some(_) => format!("{end}\ndocker rm -f {container}"),
        None => end,
    }
}

fn stop_service_call(container: &str, service: &str, stop: StopPolicy) -> String {
    let (signal, timeout) = (stop.signal, stop.timeout_s);
    format!("stop_service {container} {service} {signal} {timeout}")
}
