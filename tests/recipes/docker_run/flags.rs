//! Each flag, whole blocks, secrets, and refused arguments.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use retrial_document::ErrorText;
use retrial_recipe::docker_run::{
    DOCKER_RUN_FLAGS, DockerRunError, EmptyEnvironment, FlagTreatment, recipe_from_block,
};

use super::{Shell, made, script};

#[test]
fn every_flag_has_a_key_or_a_note_or_is_refused() {
    for flag in DOCKER_RUN_FLAGS {
        let value = if flag.takes_value { "=1" } else { "" };
        let reading = recipe_from_block(
            "x",
            &format!("docker run --{}{value} debian:12 true", flag.name),
            &EmptyEnvironment,
        );
        match (flag.treatment, reading) {
            (FlagTreatment::Dropped(reason), Ok(reading)) => {
                assert!(
                    reading.notes.iter().any(|note| note.contains(reason)),
                    "{}",
                    flag.name
                );
                assert!(
                    reading.recipe.contains(&format!("#   --{}", flag.name)),
                    "{}",
                    flag.name
                );
            }
            (FlagTreatment::Refused, Err(problems)) => {
                let message = problems[0].to_string();
                assert!(
                    message.starts_with(&format!("--{}", flag.name)),
                    "{message}"
                );
            }
            // `1` is not a mount and no namespace; otherwise it is in the recipe.
            (FlagTreatment::Key, Err(problems)) => assert!(
                problems[0]
                    .to_string()
                    .starts_with(&format!("--{}", flag.name)),
                "{problems:?}"
            ),
            (FlagTreatment::Key, Ok(reading)) => {
                let key = flag.name.replace('-', "_");
                let key = key.trim_end_matches('s');
                let entry = flag.name == "entrypoint" && reading.recipe.contains("run: 1 true");
                let entry = entry
                    || (flag.name == "entrypoint" && reading.recipe.contains("run: \"1 true\""));
                let gpus = flag.name == "gpus" && reading.recipe.contains("count: 1");
                let written = reading
                    .recipe
                    .lines()
                    .any(|line| line.trim_start().starts_with(key));
                assert!(
                    written || entry || gpus,
                    "{}: {}",
                    flag.name,
                    reading.recipe
                );
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
    let reading = recipe_from_block("x", block, &shell).unwrap();
    let script = script(&reading.recipe, &[]);
    let ((flags, image, _), executed) = made(&script);
    let has = |name: &str, value: &str| flags.contains(&(name.to_owned(), value.to_owned()));
    assert!(has("volume", "/data/llama:/data:ro"), "{flags:?}");
    assert!(
        has("env", "ONE=1") && has("env", "TWO=a b") && has("env", "THREE=3"),
        "{flags:?}"
    );
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
    for word in [
        "WANDB_API_KEY",
        "docker stop x",
        "--name x",
        "--env-file mlperf.env",
    ] {
        assert!(notes.contains(word), "{word}: {notes}");
    }
}

/// Secrets are handed on by name; their values are in no file, though the shell knows them.
#[test]
fn secrets_are_passed_by_name_only() {
    let shell = Shell::new(&[("HF_TOKEN", "hf_value"), ("WANDB_API_KEY", "wandb_value")]);
    let block = "export HF_TOKEN=hf_given\ndocker login -u me -p geheim\ndocker run -e HF_TOKEN -e WANDB_API_KEY=third -e HUGGING_FACE_HUB_TOKEN=$HF_TOKEN a:1 get --token ${HF_TOKEN} --key=$WANDB_API_KEY";
    let reading = recipe_from_block("x", block, &shell).unwrap();
    for value in ["hf_value", "hf_given", "wandb_value", "third", "geheim"] {
        assert!(
            !reading.recipe.contains(value),
            "{value}: {}",
            reading.recipe
        );
    }
    let (_, executed) = made(&script(&reading.recipe, &[]));
    assert_eq!(
        executed,
        ["HF_TOKEN=\"$HF_TOKEN\" get --token \"$HF_TOKEN\" \"--key=$WANDB_API_KEY\""]
    );
    let notes = reading.notes.join("\n");
    assert!(
        notes.contains("retrial run --secret WANDB_API_KEY"),
        "{notes}"
    );
}

#[test]
fn unsupported_arguments_are_refused_by_name() {
    let refused = |text: &str| -> String {
        let problems: Vec<DockerRunError> =
            recipe_from_block("x", text, &EmptyEnvironment).unwrap_err();
        let texts = problems
            .iter()
            .map(|problem| ErrorText::of(problem).to_string());
        texts.collect::<Vec<_>>().join("\n")
    };
    for (text, word) in [
        ("ls", "no `docker run`"),
        ("docker run a\ndocker run b", "2 `docker run`"),
        ("docker run --link db a", "--link db"),
        ("docker run --gpu all a", "did you mean --gpus?"),
        ("docker run --blkio-weight 5 --ip 1.2.3.4 a", "--ip 1.2.3.4"),
        ("docker run -v cache:/x a", "not named volumes"),
        ("docker run -v ../x:/x a", "not named volumes"),
        ("docker run -v /x/../y:/x a", "`..` in a path"),
        ("docker run --device /dev/../x a", "--device /dev/../x"),
        ("docker run -w /x/.. a", "`..` in a path"),
        ("docker run --tmpfs /x/..:size=1g a", "`..` in a path"),
        ("docker run -v /x:/x:z a", "SELinux"),
        ("docker run --network a --network b c", "one network"),
        ("docker run -w $(pwd) a", "`${PWD}` is not possible here"),
        ("docker run -u $(id -u) a", "$(id -u)"),
        ("docker run a | tee log", "`|` belongs to the shell"),
        (
            "docker run -d server:1 serve --port 1\ndocker exec x bench",
            "background",
        ),
        ("docker run -it", "no image"),
        ("docker run a 'b", "never closed"),
        ("docker run \u{1d} a", "U+001D"),
        ("docker run a echo '${{ x }}'", "expression"),
        ("docker run --shm-size lots a", "--shm-size lots"),
        (
            "docker run -e X=hf_abcdefghijklmnopqrst a",
            "a token of the Hugging Face hub",
        ),
        ("docker run -e X=$MY_TOKEN a", "looks like a secret"),
        ("docker exec -d x y\ndocker run a", "docker exec --detach"),
    ] {
        assert!(refused(text).contains(word), "{text}: {}", refused(text));
    }
}

#[test]
fn the_remedy_of_a_refused_value_is_apart_from_its_message() {
    for (text, message, help) in [
        (
            "docker run --pid container:x a",
            "--pid container:x: a recipe allows `host` only",
            "remove it for the engine's default",
        ),
        (
            "docker run -v /x a",
            "--volume /x: an anonymous volume lasts only as long as its container",
            "remove it, or write source:target",
        ),
    ] {
        let problems = recipe_from_block("x", text, &EmptyEnvironment).unwrap_err();
        let expected = ErrorText::new(message).with_help(help);
        assert_eq!(ErrorText::of(&problems[0]), expected);
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
fn each_flag_that_no_recipe_has_is_an_error_with_its_own_remedy() {
    let directory = tempfile::tempdir().unwrap();
    let block = "docker run --link db -v /x a";
    let (code, stderr) = new_from_input(directory.path(), "bad.yaml", block);
    assert_eq!(code, Some(2), "{stderr}");
    let lines: Vec<&str> = stderr.lines().collect();
    let expected = [
        "error: --link db: a recipe cannot express this yet",
        "help: remove it from the command line if the figure does not depend on it",
        "error: --volume /x: an anonymous volume lasts only as long as its container",
        "help: remove it, or write source:target",
    ];
    assert_eq!(lines, expected);
}

/// From standard input; and where it is refused, nothing is written.
#[test]
fn the_program_reads_a_block_and_writes_nothing_if_refused() {
    let directory = tempfile::tempdir().unwrap();
    let new = |name: &str, block: &str| new_from_input(directory.path(), name, block);
    let (code, stderr) = new(
        "good.yaml",
        "docker run --rm -v $MODEL_DIR:/model:ro a/b:1 bench",
    );
    assert_eq!(code, Some(0), "{stderr}");
    let text = std::fs::read_to_string(directory.path().join("good.yaml")).unwrap();
    assert!(text.contains("default: /models"), "{text}");
    let (code, stderr) = new("good.yaml", "docker run a/b:1");
    assert_eq!(
        (code, stderr.contains("already exists")),
        (Some(2), true),
        "{stderr}"
    );
    // What the flags' reader lets through and a recipe does not hold.
    for block in [
        "docker run --device kfd a/b:1",
        "docker run -p a",
        "docker run A/B",
    ] {
        let (code, stderr) = new("bad.yaml", block);
        assert_eq!(code, Some(2), "{block}: {stderr}");
        assert!(!directory.path().join("bad.yaml").exists(), "{block}");
    }
}
