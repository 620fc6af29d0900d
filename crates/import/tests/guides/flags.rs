//! Each flag, whole blocks, secrets, and refused arguments.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use retrial_import::{FlagTreatment, docker_run_flags};
use retrial_recipe::Diagnostics;

use super::{Shell, made, recipe_from_block, script};

fn messages(problems: &Diagnostics) -> String {
    let texts = problems.iter().map(|problem| {
        let help = problem.help.as_deref().unwrap_or_default();
        format!("{} ({help})", problem.message)
    });
    texts.collect::<Vec<_>>().join("\n")
}

#[test]
fn every_flag_has_a_key_or_a_note_or_is_refused() {
    for flag in docker_run_flags() {
        let value = if flag.takes_value() { "=1" } else { "" };
        let reading = recipe_from_block(
            "x",
            &format!("docker run --{}{value} debian:12 true", flag.name),
            &EmptyEnvironment,
        );
        match (flag.treatment, reading) {
            (FlagTreatment::Dropped(reason), Ok(reading)) => {
                assert!(reading.notes.iter().any(|note| note.contains(reason)), "{}", flag.name);
                assert!(reading.recipe.contains(&format!("#   --{}", flag.name)), "{}", flag.name);
            }
            (FlagTreatment::Refused, Err(problems)) => {
                let message = messages(&problems);
                assert!(message.starts_with(&format!("--{}", flag.name)), "{message}");
            }
            // `1` is not a mount and no namespace; otherwise it is in the recipe.
            (FlagTreatment::Key, Err(problems)) => assert!(
                messages(&problems).starts_with(&format!("--{}", flag.name)),
                "{problems:?}"
            ),
            (FlagTreatment::Key, Ok(reading)) => {
                let key = flag.name.replace('-', "_");
                let key = key.trim_end_matches('s');
                let entry = flag.name == "entrypoint" && reading.recipe.contains("run: 1 true");
                let entry = entry
                    || (flag.name == "entrypoint" && reading.recipe.contains("run: \"1 true\""));
                let gpus = flag.name == "gpus" && reading.recipe.contains("count: 1");
                let asked = reading.incomplete.join("\n");
                let file = flag.name == "env-file" && asked.contains("file `1` (--env-file)");
                let written = reading.recipe.lines().any(|line| line.trim_start().starts_with(key));
                assert!(written || entry || gpus || file, "{}: {}", flag.name, reading.recipe);
            }
            (treatment, reading) => panic!("{}: {treatment:?} {reading:?}", flag.name),
        }
    }
}

#[test]
fn a_whole_block() {
    let block = "
        # Build the world
        $ export DATADIR=/data/llama MODE=fast
        $ sudo docker pull a/b:1
        $ docker run -dit --name x -v \"$DATADIR\":/data:ro --env-file mlperf.env -e HF_TOKEN=$HF_TOKEN \\
        >   -e WANDB_API_KEY=abc a/b:1 bash
        $ docker exec -it x bash /setup.sh \"$MODE\"
        $ docker exec -e K=V -w /w -u 0 x python3 bench.py --out '/tmp/a b'
        $ docker stop x
    ";
    let shell = Shell::new(&[("THREE", "3")]);
    let reading = recipe_from_block(block, &shell).unwrap();
    let script = script(&reading.recipe, &[]);
    let ((flags, image, _), executed) = made(&script);
    let has = |name: &str, value: &str| flags.contains(&(name.to_owned(), value.to_owned()));
    assert!(has("volume", "/data/llama:/data:ro"), "{flags:?}");
    assert!(has("env", "ONE=1") && has("env", "TWO=a b") && has("env", "THREE=3"), "{flags:?}");
    assert_eq!(image, "a/b:1");
    assert_eq!(
        executed,
        [
            "HF_TOKEN=\"$HF_TOKEN\" bash /setup.sh 'fast'",
            "HF_TOKEN=\"$HF_TOKEN\" python3 bench.py --out '/tmp/a b'"
        ]
    );
    assert!(
        script.contains("docker exec -e K=V -e HF_TOKEN -w /w -u 0 x ")
            || script.contains("-e K=V -e HF_TOKEN -w /w -u 0 guide "),
        "{script}"
    );
    // A secret's value is in no file.
    assert!(!reading.recipe.contains("abc"), "{}", reading.recipe);
    let notes = reading.notes.join("\n");
    for word in ["WANDB_API_KEY", "docker stop x", "--name x", "--env-file mlperf.env"] {
        assert!(notes.contains(word), "{word}: {notes}");
    }
}

/// Secrets are handed on by name; their values are in no file, though the shell knows them.
#[test]
fn secrets_are_passed_by_name_only() {
    let shell = Shell::new(&[("HF_TOKEN", "hf_value"), ("WANDB_API_KEY", "wandb_value")]);
    let block = "export HF_TOKEN=hf_given\ndocker login -u me -p geheim\ndocker run -e HF_TOKEN -e WANDB_API_KEY=third -e HUGGING_FACE_HUB_TOKEN=$HF_TOKEN a:1 get --token ${HF_TOKEN} --key=$WANDB_API_KEY";
    let reading = recipe_from_block(block, &shell).unwrap();
    for value in ["hf_value", "hf_given", "wandb_value", "third", "geheim"] {
        assert!(!reading.recipe.contains(value), "{value}: {}", reading.recipe);
    }
    let (_, executed) = made(&script(&reading.recipe, &[]));
    assert_eq!(
        executed,
        ["HF_TOKEN=\"$HF_TOKEN\" get --token \"$HF_TOKEN\" \"--key=$WANDB_API_KEY\""]
    );
    let notes = reading.notes.join("\n");
    assert!(notes.contains("retrial run --secret WANDB_API_KEY"), "{notes}");
}

#[test]
fn unsupported_arguments_are_refused_by_name() {
    let refused = |text: &str| -> String { messages(&recipe_from_block(text).unwrap_err()) };
    for (text, word) in [
        ("ls", "no `docker run`"),
        ("docker run a\ndocker run b", "2 `docker run`"),
        ("docker run --link db a", "--link db"),
        ("docker run a ls /data/*.bin", "`/data/*.bin` needs a shell"),
        ("docker run a ls file[0-9] x?", "`x?` needs a shell"),
        ("docker run --device=/dev/dri/renderD* a", "does not accept patterns of devices"),
        ("docker run --env-file <(env) a b", "needs a shell"),
        ("srun --frob --container-image=a b", "srun has no --frob"),
        ("podman run --pod x a b", "--pod x: a recipe cannot express"),
        ("apptainer exec --overlay x docker://a b", "--overlay x: a recipe"),
        ("ch-run a b", "`ch-run` is not supported"),
        ("enroot start a b", "`a` is not an image of a registry"),
        ("docker run --gpu all a", "did you mean --gpus?"),
        ("docker run --blkio-weight 5 --ip 1.2.3.4 a", "--ip 1.2.3.4"),
        ("docker run -v ../x:/x a", "`..` in a path"),
        ("docker run -v /x/../y:/x a", "`..` in a path"),
        ("docker run --device /dev/../x a", "--device /dev/../x"),
        ("docker run -w /x/.. a", "`..` in a path"),
        ("docker run --tmpfs /x/..:size=1g a", "`..` in a path"),
        ("docker run -v /x:/x:U a", "cannot express `U`"),
        ("docker run --network a --network b c", "one network"),
        ("docker run -e X=$(date) a", "`$(date)` needs a shell"),
        ("docker run -e X=${Y%%_*} a", "`${Y%%_*}` needs a shell"),
        ("docker run -e X=$((1 + 1)) a", "`$((1 + 1))` needs a shell"),
        ("docker run --device /dev/x{1,2} a", "`/dev/x{1,2}` needs a shell"),
        ("yes | docker run -i a b", "have no input"),
        ("docker run -i a b < file", "have no input"),
        ("for b in 1 2; do docker run a bench $b; done", "`for` around"),
        ("docker compose up", "`docker compose` starts"),
        ("kubectl apply -f x.yaml", "`kubectl` starts"),
        ("services:\n  a:\n    image: b", "this is a compose file"),
        ("apptainer exec image.sif bench", "image.sif"),
        ("srun -N 2 --container-image=a bench", "several machines"),
        ("docker run -it", "no image"),
        ("docker run a 'b", "unterminated quote"),
        ("docker run \u{1d} a", "U+001D"),
        ("docker run a echo '${{ x }}'", "expression"),
        ("docker run --shm-size lots a", "--shm-size lots"),
        ("docker run -e X=hf_abcdefghijklmnopqrst a", "a token of the Hugging Face hub"),
        ("docker run -e X=$MY_TOKEN a", "looks like a secret"),
        ("docker exec --privileged x y\ndocker run a", "docker exec --privileged"),
    ] {
        assert!(refused(text).contains(word), "{text}: {}", refused(text));
    }
}

/// Starts `retrial new` with a block on standard input.
fn new_from_input(directory: &Path, name: &str, block: &str) -> (Option<i32>, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_retrial"))
        .args(["new", name, "--from", "-"])
        .current_dir(directory)
        .env("MODEL_DIR", "/models")
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(block.as_bytes()).unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), stderr)
}

#[test]
fn each_problem_of_a_block_is_shown_at_its_place() {
    let directory = tempfile::tempdir().unwrap();
    let block = "export A=1\n$ docker run --link db \\\n>  -v /x -e B=$(date) a";
    let (code, stderr) = new_from_input(directory.path(), "bad.yaml", block);
    assert_eq!(code, Some(2), "{stderr}");
    for (place, message, help) in [
        (
            "standard input:2:21",
            "error: --link db: a recipe cannot express this yet",
            "remove it from the command line if the figure does not depend on it",
        ),
        (
            "standard input:3:7",
            "error: --volume /x: an anonymous volume lasts only as long as its container",
            "remove it, or write source:target",
        ),
        ("standard input:3:13", "error: `$(date)` needs a shell", "replace it by its output"),
    ] {
        let from_message = stderr.split(message).nth(1).unwrap_or_else(|| panic!("{stderr}"));
        let own = from_message.split("error: ").next().unwrap();
        assert!(own.contains(place) && own.contains(help), "{stderr}");
    }
    assert!(stderr.contains("3 errors"), "{stderr}");
}

#[test]
fn figures_of_the_command_line_make_a_recipe_that_runs() {
    let directory = tempfile::tempdir().unwrap();
    let retrial = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_retrial"))
            .args(arguments)
            .current_dir(directory.path())
            .output()
            .unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), stderr)
    };
    let block = "docker run debian:12 echo 'speed: 42'";
    let figure = ["--figure", "speed=speed: ${number}"];
    let new = ["new", "all.yaml", "--from", block, "--expect", "speed=42.0 items/s"];
    let (code, stderr) = retrial(&[&new[..], &figure].concat());
    assert_eq!(code, Some(0), "{stderr}");
    assert!(!stderr.contains("incomplete"), "{stderr}");
    let recipe = std::fs::read_to_string(directory.path().join("all.yaml")).unwrap();
    assert!(recipe.contains("unit: items/s") && recipe.contains("value: 42"), "{recipe}");
    let (code, stderr) = retrial(&["check", "all.yaml"]);
    assert_eq!((code, stderr.contains("warning")), (Some(0), false), "{stderr}");
    let (code, stderr) = retrial(
        &[&["new", "no.yaml", "--from", block, "--expect", "other=1"][..], &figure].concat(),
    );
    assert_eq!((code, stderr.contains("no --figure of this name")), (Some(2), true), "{stderr}");
}

/// From standard input; and where it is refused, nothing is written.
#[test]
fn the_program_reads_a_block_and_writes_nothing_if_refused() {
    let directory = tempfile::tempdir().unwrap();
    let new = |name: &str, block: &str| new_from_input(directory.path(), name, block);
    let (code, stderr) = new("good.yaml", "docker run --rm -v $MODEL_DIR:/model:ro a/b:1 bench");
    assert_eq!(code, Some(0), "{stderr}");
    let text = std::fs::read_to_string(directory.path().join("good.yaml")).unwrap();
    assert!(text.contains("default: /models"), "{text}");
    let (code, stderr) = new("good.yaml", "docker run a/b:1");
    assert_eq!((code, stderr.contains("already exists")), (Some(2), true), "{stderr}");
    // What the flags' reader lets through and a recipe does not hold.
    for block in ["docker run --device kfd a/b:1", "docker run -p a", "docker run A/B"] {
        let (code, stderr) = new("bad.yaml", block);
        assert_eq!(code, Some(2), "{block}: {stderr}");
        assert!(!directory.path().join("bad.yaml").exists(), "{block}");
    }
}
