//! Services: started before the measurement that needs them, watched during it, stopped after it; and
//! nothing of them is left, whatever ends first.

mod killed;
mod sglang;
mod swept;

use crate::lab::{Lab, case, image, recipe_with};

/// A server in the image's own Perl: it counts its starts, and answers with its own number.
/// It reads a request to its end: a connection that is closed with something unread is reset, and the answer
/// may be lost.
const SERVER: &str = r#"echo "uuid $(cat /proc/sys/kernel/random/uuid)"
echo start >>/starts
exec perl -MIO::Socket::INET -e 'sleep 1; $s = IO::Socket::INET->new(LocalPort => 8000, Listen => 9, ReuseAddr => 1) or die; while ($c = $s->accept) { 1 while defined($_ = <$c>) && !/^\s*$/; print $c "HTTP/1.0 200 OK\r\n\r\nserved by $$\n"; close $c }'"#;

/// Asks it once.
const ASK: &str = r"exec 3<>/dev/tcp/localhost/8000; printf 'GET / HTTP/1.0\r\n\r\n' >&3; cat <&3";

const HTTP: &str = "ready: { http: \"http://localhost:8000/\", timeout: 30s }";

fn service(name: &str, run: &str, keys: &str) -> String {
    let indented = |text: &str, by: &str| text.replace('\n', &format!("\n{by}"));
    let (run, keys) = (indented(run, "      "), indented(keys, "    "));
    format!("  {name}:\n    run: |\n      {run}\n    {keys}\n")
}

fn services(all: &str, cases: &str) -> String {
    recipe_with(&format!("services:\n{all}"), cases)
}

/// One case that needs the service `server`.
fn needing(name: &str, run: &str, keys: &str) -> String {
    case(name, run, &format!("needs: [server]\n{keys}"))
}

fn served(lab: Lab, server: &str, ready: &str, run: &str) -> Lab {
    let server = service("server", server, ready);
    lab.recipe(&services(&server, &needing("main", run, "")))
}

#[test]
#[ignore = "needs the lab"]
fn a_new_service_for_each_trial() {
    let lab = Lab::new();
    let server = service("server", SERVER, HTTP);
    let cases = needing("main", ASK, "trials: 2");
    let lab = lab.recipe(&services(&server, &cases));
    lab.run(&[]).expect_exit(0).prints("server is ready");
    let uuid = |step: &str| lab.output(step).lines().next().unwrap().to_owned();
    assert_ne!(
        uuid("03-main-performance-start-server-1"),
        uuid("06-main-performance-start-server-2")
    );
    for trial in ["04-main-performance-1", "07-main-performance-2"] {
        assert!(lab.output(trial).contains("served by"), "{trial}");
    }
    assert_eq!(lab.count("main-performance-stop-server-2", "service_ended"), 1);
    assert_eq!(lab.containers(), [""; 0]);
}

#[test]
#[ignore = "needs the lab"]
fn a_service_for_the_run_ends_with_its_children() {
    let lab = Lab::new();
    let run = format!(
        "cp /bin/sleep /tmp/holder; setsid -f env -i /tmp/holder 500; setsid -f /tmp/holder 500; trap '' TERM\n{SERVER}"
    );
    let server =
        service("server", &run, "ready: { port: 8000 }\nscope: run\nstop: { timeout: 1s }");
    let cases = needing("one", ASK, "")
        + &needing("two", &format!("{ASK}; test $(wc -l </starts) = 1"), "")
        + &case("after", "! grep -ls holder /proc/[0-9]*/comm", "");
    let lab = lab.recipe(&services(&server, &cases));
    lab.run(&[])
        .expect_exit(0)
        .prints("the service server did not end within 1s of TERM: it was killed");
    let steps =
        ["start-server", "one-performance", "two-performance", "stop-server", "after-performance"];
    let started: Vec<String> = lab
        .journal()
        .iter()
        .filter(|entry| entry["event"] == "step_started")
        .filter_map(|entry| entry["name"].as_str().map(str::to_owned))
        .filter(|name| steps.contains(&name.as_str()))
        .collect();
    assert_eq!(started, steps);
    assert_eq!(lab.containers(), [""; 0]);
}

/// Checks the messages of a failed start, and that the measurement was not tried.
fn fails(server: &str, ready: &str, messages: &[&str]) -> Lab {
    let lab = served(Lab::new(), server, ready, ASK);
    let mut done = lab.run(&[]).expect_exit(4);
    for text in messages {
        done = done.prints(text);
    }
    assert_eq!(lab.count("main-performance", "step_started"), 0);
    assert_eq!(lab.verdict()["outcome"], "failed");
    let reason = lab.verdict()["results"][0]["sentence"].to_string();
    assert!(reason.contains("the service server"), "{reason}");
    assert_eq!(lab.containers(), [""; 0]);
    lab
}

#[test]
#[ignore = "needs the lab"]
fn a_service_that_exits_early() {
    let run = "echo 'no model at /model'; sleep 0.3; exit 3";
    let lab = fails(
        run,
        HTTP,
        &[
            "the service server ended before it was ready: it ended with exit code 3",
            "no model at /model",
        ],
    );
    assert_eq!(lab.end_of("main-performance-start-server")["exit_code"], 3);
}

#[test]
#[ignore = "needs the lab"]
fn a_service_that_daemonizes() {
    fails(
        "setsid -f sleep 500; echo 'started in the background'",
        HTTP,
        &["it ended with exit code 0", "must stay in the foreground", "started in the background"],
    );
}

#[test]
#[ignore = "needs the lab"]
fn a_service_that_is_never_ready() {
    fails(
        "echo loading; sleep 500",
        "ready: { log: '^ready$', timeout: 2s }",
        &[
            "the service server was not ready within 2s: waited until its output matches '^ready$'",
            "loading",
        ],
    );
}

#[test]
#[ignore = "needs the lab"]
fn a_service_that_hangs_on_readiness_requests() {
    let run = "exec perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(LocalPort => 8000, Listen => 9) or die; sleep 500'";
    fails(
        run,
        "ready: { http: \"http://localhost:8000/\", timeout: 3s }",
        &["the service server was not ready within 3s"],
    );
    fails(
        "sleep 500",
        "ready: { command: sleep 400, timeout: 2s }",
        &["was not ready within 2s: waited until `sleep 400` succeeds"],
    );
}

#[test]
#[ignore = "needs the lab"]
fn a_service_that_prints_too_much() {
    let lab = Lab::new();
    let run = "echo ready; sleep 1; exec yes 'a line of a chatty server'";
    let lab = served(lab, run, "ready: { log: ready }\nmax_log: 1 MiB", "sleep 60");
    lab.run(&[])
        .expect_exit(4)
        .prints("its service server failed: its output has")
        .prints("a line of a chatty server");
    let log = lab.the_run().join("steps/03-main-performance-start-server/output.log");
    assert_eq!(std::fs::metadata(log).unwrap().len(), 1 << 20);
    assert_eq!(lab.containers(), [""; 0]);
}

#[test]
#[ignore = "needs the lab"]
fn a_service_that_dies_during_a_measurement() {
    let lab = Lab::new();
    let run = "echo ready; sleep 1; echo 'CUDA error: out of memory'; kill -SEGV $$";
    let cases = needing("main", "echo measuring; sleep 60", "") + &case("other", "true", "");
    let server = service("server", run, "ready: { log: ready }");
    let lab = lab.recipe(&services(&server, &cases));
    lab.run(&[])
        .expect_exit(4)
        .prints("its service server failed: it was terminated by signal 11 (SEGV) (exit code 139)")
        .prints("CUDA error: out of memory");
    assert_eq!(lab.end_of("main-performance")["fault"], "command");
    assert_eq!(lab.end_of("main-performance")["exit_code"], 139);
    assert_eq!(lab.end_of("other-performance")["end"], "done");
    assert_eq!(lab.containers(), [""; 0]);
}

/// The client notices first; the server is why.
#[test]
#[ignore = "needs the lab"]
fn a_client_failure_caused_by_a_dead_server() {
    let lab = Lab::new();
    let run = "echo ready; read -r line <>/tmp/pipe || true; echo 'assertion failed'; exit 7";
    let lab = served(
        lab,
        &format!("rm -f /tmp/pipe; mkfifo /tmp/pipe; {run}"),
        "ready: { log: ready }",
        "echo >/tmp/pipe; echo 'connection reset'; exit 1",
    );
    lab.run(&[])
        .expect_exit(4)
        .prints("its service server failed: it ended with exit code 7")
        .prints("assertion failed");
}

/// It has nothing more to do when the measurement ends, as workers of a head have.
#[test]
#[ignore = "needs the lab"]
fn a_service_that_exits_at_the_end() {
    let lab = Lab::new();
    let run = "echo ready; until [ -e /over ]; do sleep 0.1; done";
    let lab = served(lab, run, "ready: { log: ready }", "touch /over; sleep 1");
    lab.run(&[]).expect_exit(0);
}

#[test]
#[ignore = "needs the lab"]
fn another_program_uses_the_port() {
    let lab = Lab::new();
    let (first, second) = (service("first", SERVER, HTTP), service("server", SERVER, HTTP));
    let cases = case("main", ASK, "needs: [first, server]");
    let lab = lab.recipe(&services(&(first + &second), &cases));
    lab.run(&[])
        .expect_exit(3)
        .prints("http://localhost:8000/ answers before the service server was started");
    assert_eq!(lab.containers(), [""; 0]);
}

#[test]
#[ignore = "needs the lab"]
fn in_its_own_container() {
    let lab = Lab::new();
    let keys = format!(
        "{HTTP}\nenv: {{ WHERE: there }}\ncontainer:\n  image: {}\n  env: {{ ITS: own }}",
        image("entrypoint")
    );
    let server = service("server", &format!("echo \"$WHERE $ITS\"; {SERVER}"), &keys);
    let run = format!("{ASK}; test -z \"$ITS\"; test ! -e /starts");
    let lab = lab.recipe(&services(&server, &needing("main", &run, "trials: 2")));
    lab.run(&[]).expect_exit(0);
    assert!(lab.output("04-main-performance-start-server-1").starts_with("there own\n"));
    assert_eq!(lab.containers(), [""; 0]);
}

/// A program by the name of vLLM's, with its options and its result file.
const VLLM: &str = r#"#!/bin/bash
case $1 in
serve)
  echo "loading $2"
  exec perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(LocalPort => $ARGV[0], Listen => 9, ReuseAddr => 1) or die; while ($c = $s->accept) { 1 while defined($_ = <$c>) && !/^\s*$/; print $c "HTTP/1.0 200 OK\r\n\r\n"; close $c }' "$4"
  ;;
bench)
  while [ $# -gt 0 ]; do
    case $1 in
    --port) port=$2 ;; --num-prompts) requests=$2 ;; --result-dir) directory=$2 ;; --result-filename) name=$2 ;;
    esac
    shift
  done
  exec 3<>"/dev/tcp/localhost/$port" || exit 1
  mkdir -p "$directory"
  cat >"$directory/$name" <<END
{"date": "$(date +%Y%m%d-%H%M%S)", "backend": "openai", "num_prompts": $requests, "request_rate": "inf", "duration": 20.0,
 "completed": $((requests - ${FAILED:-0})), "failed": ${FAILED:-0}, "total_input_tokens": 20480, "total_output_tokens": 20480,
 "request_throughput": 1.0, "output_throughput": 1024.0, "total_token_throughput": 2048.0,
 "mean_ttft_ms": 40.1, "median_ttft_ms": 39.0, "std_ttft_ms": 2.0, "p99_ttft_ms": 45.2,
 "mean_tpot_ms": 9.1, "median_tpot_ms": 9.0, "std_tpot_ms": 0.2, "p99_tpot_ms": 9.9,
 "mean_itl_ms": 9.1, "median_itl_ms": 9.0, "std_itl_ms": 0.3, "p99_itl_ms": 12.0,
 "mean_e2el_ms": 9400.0, "median_e2el_ms": 9400.0, "std_e2el_ms": 80.0, "p99_e2el_ms": 9900.0}
END
  ;;
esac
"#;

#[test]
#[ignore = "needs the lab"]
fn the_vllm_template() {
    let lab = Lab::new();
    let recipe = "schema: 1
title: vLLM
extends: vllm-serve
submission: { suite: flow, benchmark: tiny, sources: [here] }
image: debian:bookworm-slim
files: { vllm: /in/vllm }
params: { requests: { default: 20 }, failed: { type: int, default: 0 } }
container: { env: { FAILED: '${{ params.failed }}' } }
setup: { vllm: { run: install -m 755 /in/vllm /usr/local/bin/vllm } }
scenarios:
  online:
    performance:
      expect: { output_throughput: { value: 1000, kind: official, source: here, noise: 1% } }
";
    let lab = lab.recipe(recipe).file("vllm", VLLM);
    lab.run(&[]).expect_exit(0).prints("1,024 tokens/s").prints("1.024");
    let trial = &lab.verdict()["results"][0]["trials"][0]["figures"];
    for (figure, value) in
        [("request_throughput", 1.0), ("ttft_p50", 39.0), ("ttft_p99", 45.2), ("tpot_mean", 9.1)]
    {
        assert_eq!(trial[figure]["value"], value, "{figure}: {trial:#}");
    }
    lab.run(&["--set", "failed=1"]).expect_exit(1).prints("1 of 20 requests failed");
    lab.run(&["--set", "output_len=1000"])
        .expect_exit(1)
        .prints("answers of 1024 tokens")
        .prints("1000 tokens each");
}

/// The entrypoint of TGI's image, as far as the client asks it.
const TGI: &str = r#"#!/bin/sh
[ "$1 $2 $3" = '--model-id /model --port' ] || exit 2
exec perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(LocalPort => $ARGV[0], Listen => 9, ReuseAddr => 1) or die; while ($c = $s->accept) { 1 while defined($_ = <$c>) && !/^\s*$/; print $c "HTTP/1.0 200 OK\r\n\r\n"; close $c }' "$4"
"#;

/// The server in a container of its own, the client in the recipe's.
#[test]
#[ignore = "needs the lab"]
fn the_tgi_template() {
    use std::os::unix::fs::PermissionsExt;
    let lab = Lab::new();
    let recipe = "schema: 1
title: TGI
extends: tgi-serve
submission: { suite: flow, benchmark: tiny, sources: [here] }
image: debian:bookworm-slim
files: { vllm: /in/vllm, tgi-entrypoint.sh: /tgi-entrypoint.sh }
params: { requests: { default: 20 } }
setup: { vllm: { run: install -m 755 /in/vllm /usr/local/bin/vllm } }
services: { tgi: { container: { image: debian:bookworm-slim, ipc: null, devices: null, cap_add: null, security_opt: null } } }
scenarios:
  online:
    performance:
      expect: { output_throughput: { value: 1000, kind: official, source: here, noise: 1% } }
";
    let lab = lab.recipe(recipe).file("vllm", VLLM).file("tgi-entrypoint.sh", TGI);
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(lab.path("tgi-entrypoint.sh"), executable).unwrap();
    lab.run(&[]).expect_exit(0).prints("1,024 tokens/s").prints("1.024");
    let end = lab.end_of("online-performance-stop-tgi");
    assert_eq!(end["reason"], serde_json::Value::Null, "{end:#}");
}

#[test]
#[ignore = "needs the lab"]
fn no_service_for_trials_that_are_not_needed() {
    let lab = Lab::new();
    let server = service("server", "echo ready; sleep 500", "ready: { log: ready }");
    let cases = needing("main", "true", "trials: { min: 3, max: 5 }");
    let lab = lab.recipe(&services(&server, &cases));
    lab.run(&[]).expect_exit(0);
    for name in ["start-server-4", "stop-server-4"] {
        let end = lab.end_of(&format!("main-performance-{name}"));
        assert_eq!(end["reason"]["kind"], "decided", "{name}");
    }
}

/// `--from` starts what the steps from there on need, and a person may serve in the recipe's place.
#[test]
#[ignore = "needs the lab"]
fn a_later_start_runs_only_the_services_that_it_needs() {
    let lab = Lab::new();
    let server = service("server", SERVER, HTTP);
    let cases = needing("one", ASK, "") + &needing("two", ASK, "");
    let lab = lab.recipe(&services(&server, &cases));
    lab.run(&["--from", "two-performance"]).expect_exit(4);
    let ran = |name: &str| lab.count(name, "step_started") == 1;
    assert!(!ran("one-performance-start-server") && !ran("one-performance"));
    assert!(ran("two-performance-start-server") && ran("two-performance"));
    assert_eq!(lab.containers(), [""; 0]);
}

#[test]
#[ignore = "needs the lab"]
fn as_a_script() {
    for own in ["", "\ncontainer: { env: { ITS: own } }"] {
        let lab = Lab::new();
        let name = format!("script-{}-{}", std::process::id(), own.len());
        let server = service("server", SERVER, &format!("{HTTP}{own}"));
        let recipe = services(&server, &needing("main", ASK, ""));
        let file = format!("{name}.yaml");
        let lab = lab.file(&file, &recipe);
        let plan = ["plan", &format!("./{file}"), "--format", "shell"];
        let script = lab.retrial(&plan).expect_exit(0).out;
        let run = |script: &str| {
            let output = lab.script(script);
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            (output.status.code(), text(&output.stdout) + &text(&output.stderr))
        };
        let (code, printed) = run(&script);
        assert!(code == Some(0) && printed.contains("served by"), "{printed}\n{script}");
        let early = script.replace("exec perl", "echo broken; exit 5; exec perl");
        let (code, printed) = run(&early);
        lab.docker(&["rm", "-f", &name]);
        let expected = "broken\nthe service server ended before it was ready";
        assert!(code == Some(1) && printed.contains(expected), "{printed}");
        let left = lab.docker(&["ps", "-aq", "--filter", &format!("name={name}")]);
        assert_eq!(left, "", "the trap removes a service's own container");
    }
}
