//! Vendors' command lines as recipes: the shell plan of the recipe has the flags of the guide.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use retrial::host::model::HostView;
use retrial::plan;
use retrial::plan::build::Origin;
use retrial::plan::options::PlanOptions;
use retrial_recipe::docker_run::{
    DockerRunError, FLAGS, Nothing, Surroundings, Treatment, Word, commands, line, read,
};
use retrial_recipe::{Kind, NoTemplates, Setting, Source, check, resolve};

/// A shell with these variables, and one file.
struct Shell(BTreeMap<String, String>);

impl Shell {
    fn new(variables: &[(&str, &str)]) -> Self {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self(variables.iter().map(owned).collect())
    }
}

impl Surroundings for Shell {
    fn variable(&self, name: &str) -> Option<String> {
        self.0.get(name).cloned()
    }

    fn file(&self, path: &str) -> Result<String, String> {
        assert_eq!(path, "mlperf.env");
        Ok("# comment\nONE=1\nTWO=a b\n\nTHREE\n".to_owned())
    }
}

/// The flags of a `docker run` with Docker's own spelling of each value, sorted; and image and
/// command.
type Flags = (Vec<(String, String)>, String, Vec<String>);

/// What differs because Retrial runs the container is left out of both sides.
fn flags(text: &str, ours: bool) -> Flags {
    let words = commands(text).unwrap();
    let run = words
        .iter()
        .find_map(|words| {
            let at = words.iter().position(|word| word.plain() == Some("run"))?;
            Some(&words[at + 1..])
        })
        .unwrap();
    let line = line(run).unwrap();
    let mut flags = Vec::new();
    for given in &line.flags {
        let (name, value) = (given.flag.name, given.value.shown());
        if given.flag.treatment != Treatment::Key
            || name == "entrypoint"
            || (ours && value == "PYTHONUNBUFFERED=1")
        {
            continue;
        }
        flags.push((name.to_owned(), spelled(name, &value)));
    }
    flags.sort();
    let command = line.command.iter().map(Word::shown).collect();
    (flags, line.image.shown(), command)
}

fn spelled(name: &str, value: &str) -> String {
    let bytes = |text: &str| -> u64 {
        let lower = text.to_lowercase();
        let digits = lower.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
        let power = "kmgt".find(lower[digits.len()..].chars().next().unwrap_or('-'));
        let power = power.map_or(0, |at| u32::try_from(at).unwrap() + 1);
        digits.parse::<u64>().unwrap() * 1024_u64.pow(power)
    };
    match name {
        "shm-size" | "memory" => bytes(value).to_string(),
        "ulimit" => match value.split_once(':') {
            Some(_) => value.to_owned(),
            None => format!("{value}:{}", value.split_once('=').unwrap().1),
        },
        "volume" => value.trim_end_matches(":rw").to_owned(),
        _ => value.to_owned(),
    }
}

/// The script that the recipe's plan prints, beside `/guide`.
fn script(recipe: &str, settings: &[(&str, &str)]) -> String {
    let source = Source::new("recipe.yaml", recipe.to_owned());
    let problems = check(&source, Kind::Recipe, &NoTemplates);
    assert!(!problems.has_errors(), "{problems}\n{recipe}");
    let settings: Vec<Setting> = settings
        .iter()
        .map(|(name, value)| Setting::new(*name, *value))
        .collect();
    let resolved = resolve("guide", &source, &NoTemplates, &settings)
        .unwrap_or_else(|problems| panic!("{problems}\n{recipe}"));
    let origin = Origin {
        directory: Some("/guide".to_owned()),
        hash: resolved.hash.clone(),
    };
    let plan = plan::build(
        &resolved.recipe,
        &origin,
        &PlanOptions::default(),
        &HostView::default(),
    );
    plan::shell::script(&plan.unwrap(), &[])
}

/// The `docker run` and the commands of `docker exec` of a script.
fn made(script: &str) -> (Flags, Vec<String>) {
    let at = script.find("docker run -d").unwrap();
    let flags = flags(&script[at..], true);
    let executed = commands(&script[at..]).unwrap();
    let exec = |words: &Vec<Word>| -> Option<String> {
        let is_kept = words[0].plain() == Some("logged");
        let words: &[Word] = if is_kept { &words[2..] } else { words };
        (words[1].plain() == Some("exec")).then(|| words.last().unwrap().shown())
    };
    (flags, executed.iter().filter_map(exec).collect())
}

const LLM: &str = "--ipc=host --network=host --privileged --cap-add=CAP_SYS_ADMIN --device=/dev/kfd --device=/dev/dri --device=/dev/mem --cap-add=SYS_PTRACE --security-opt seccomp=unconfined";
const TRAIN: &str = "--net=host --uts=host --ipc=host --device /dev/dri --device /dev/kfd --security-opt=seccomp=unconfined";

/// The command lines of AMD's guides, by what they are for.
fn guides() -> Vec<(&'static str, String)> {
    let sdxl = "--network=host --device=/dev/kfd --device=/dev/dri --group-add video --cap-add=SYS_PTRACE --security-opt seccomp=unconfined";
    let wan = |name: &str, outputs: &str| {
        format!(
            "docker run \\\n-it \\\n--rm \\\n--device /dev/kfd \\\n--device /dev/dri \\\n--group-add video \\\n--cap-add SYS_PTRACE \\\n--security-opt seccomp=unconfined \\\n--ipc=host \\\n--network host \\\n--privileged \\\n--shm-size 128G \\\n--name ${{USER}}-mlperf-inference-{name} \\\n-v ./mlperf_outputs:/app/mlperf/mlperf_inference/text_to_video/wan-2.2-t2v-a14b/{outputs} \\\n-w /app/mlperf/mlperf_inference/text_to_video/wan-2.2-t2v-a14b/ \\\nrocm/amd-mlperf:mi355x_wan2_2_inference_6.0 /bin/bash"
        )
    };
    vec![
        ("v4.1 llama2-70b", format!("docker run -it {LLM} \\\n    --group-add render \\\n    -v ${{LAB_MODEL}}:/data/llm/llama2-70b-chat \\\n    -v ${{LAB_DATASET}}:/data/open_orca \\\n    -v ${{LAB_HIST}}:/lab-hist \\\n    -e LAB_CLOG=/lab-hist/mlperf-results \\\n    mlperf/llama_inference:latest")),
        ("v5.0 sdxl", format!("docker run -it {sdxl} -v /data/mlperf_sdxl/data:/data -v /data/mlperf_sdxl/models:/models -v $(pwd)/SDXL_inference/:/mlperf/harness -e ROCR_VISIBLE_DEVICES=0,1,2 -e HIP_VISIBLE_DEVICES=0,1,2 -w /mlperf/harness rocm/amd-mlperf:sdxl")),
        ("v5.1 multi-node", "docker run --network host --group-add video --ipc host --cap-add SYS_PTRACE --security-opt seccomp=unconfined -v <model>:/model -v <data>:/data prod:1".to_owned()),
        ("v6.0 llama2-70b", format!("docker run -it --name llama2_test \\\n{LLM} \\\nrocm/amd-mlperf:mi355x_llama2_70b_inference_6.0")),
        ("v6.0 gpt-oss-120b", format!("docker run -it --name gptoss_test \\\n{LLM} \\\nrocm/amd-mlperf:mi355x_gptoss_120b_inference_6.0")),
        ("v6.0 wan2.2", wan("xdit", "outputs")),
        ("v6.1 wan2.2", wan("wan22", "runs")),
        ("v6.1 deepseek-r1", format!("docker run -it {LLM} -v $(pwd)/model:/model -v $(pwd)/data:/data rocm/amd-mlperf:mi355x_deepseek_r1_inference_6.1")),
        ("v6.1 wan2.2, the results repository's", "docker run --device /dev/kfd --device /dev/dri --security-opt seccomp=unconfined --ipc host --ulimit memlock=-1 --ulimit stack=67108864 --shm-size 32g amdsiloai/pytorch-xdit:v26.6".to_owned()),
        ("training, prepare", format!("docker run -it -v /data/mlperf_llama2:/data {TRAIN} rocm/amd-mlperf:llama2_70b_training_6.0")),
        ("training, run_with_docker.sh", format!("docker run --rm --init --detach {TRAIN} --volume=\"${{DATADIR}}/data:/data\" --volume=\"${{DATADIR}}/model:/ckpt\" ${{CONT:-rocm/amd-mlperf:llama2_70b_training_5.1}} sleep infinity")),
        ("training, multi-node", format!("docker run {TRAIN} --device /dev/infiniband --cap-add IPC_LOCK --privileged --ulimit memlock=-1:-1 --ulimit nofile=1048576:1048576 rocm/amd-mlperf:flux1_training_6.0")),
        ("training, flux", "docker run -it --rm --network=host --ipc=host --volume /data/mlperf_flux1/data:/dataset rocm/amd-mlperf:flux1_training_6.0".to_owned()),
        ("seed, GEMM", "docker run --rm --device /dev/kfd --device /dev/dri \\\n  -e TORCH_BLAS_PREFER_HIPBLASLT=1 \\\n  -v /home/asrr/amd_test:/workspace \\\n  rocm/vllm:rocm7.0.0_vllm_0.11.2_20251210 \\\n  python3 /workspace/gemm_benchmark.py".to_owned()),
        ("seed, DDP", "docker run --rm --device /dev/kfd --device /dev/dri --ipc=host \\\n  -v /home/asrr/amd_test:/workspace \\\n  rocm/vllm:rocm7.0.0_vllm_0.11.2_20251210 \\\n  python3 /workspace/multigpu_benchmark.py --model 7b --gpus 8 --batch-size 8".to_owned()),
        ("AMD's container toolkit", "docker run --runtime=amd -e AMD_VISIBLE_DEVICES=0,1 rocm/pytorch:7.1 rocm-smi".to_owned()),
        ("NVIDIA", "sudo docker run --gpus all --ipc=host --ulimit memlock=-1 --ulimit stack=67108864 -it nvcr.io/nvidia/pytorch:26.01-py3 python -c 'import torch; print(torch.cuda.get_device_name(0))'".to_owned()),
    ]
}

#[test]
fn the_plans_of_guides_have_their_flags() {
    let values = [
        ("LAB_MODEL", "/m"),
        ("LAB_DATASET", "/d"),
        ("LAB_HIST", "/h"),
        ("USER", "ann"),
        ("DATADIR", "/data/x"),
        ("MODEL", "/m"),
        ("DATA", "/d"),
    ];
    for (what, guide) in guides() {
        let reading = read(what, &guide, &Shell::new(&values))
            .unwrap_or_else(|problems| panic!("{what}: {problems:?}"));
        let (ours, executed) = made(&script(&reading.recipe, &[]));
        // What the shell would have made of the guide's line.
        let mut expanded = guide.replace("$(pwd)", "/guide").replace(" ./", " /guide/");
        for (name, value) in values {
            expanded = expanded
                .replace(&format!("${{{name}}}"), value)
                .replace(&format!("<{}>", name.to_lowercase()), value);
        }
        expanded = expanded.replace(
            "${CONT:-rocm/amd-mlperf:llama2_70b_training_5.1}",
            "rocm/amd-mlperf:llama2_70b_training_5.1",
        );
        let theirs = flags(&expanded, false);
        assert_eq!(ours.0, theirs.0, "{what}");
        assert_eq!(ours.1, theirs.1, "{what}");
        match theirs.2.first().map(String::as_str) {
            None | Some("/bin/bash" | "sleep") => {
                assert!(executed[0].contains("write the command"));
            }
            Some(_) => {
                let words = commands(&executed[0]).unwrap();
                let words: Vec<String> = words[0].iter().map(Word::shown).collect();
                assert_eq!(words, theirs.2, "{what}");
            }
        }
        // What is not in the plan was told.
        let dropped = line(&commands(&expanded).unwrap()[0][2..]);
        for given in dropped.iter().flat_map(|line| &line.flags) {
            if matches!(given.flag.treatment, Treatment::Dropped(_)) {
                let flag = format!("--{}", given.flag.name);
                assert!(
                    reading.notes.iter().any(|told| told.starts_with(&flag)),
                    "{what}: {flag}"
                );
            }
        }
    }
}

/// What a guide leaves to its reader has no value: the plan asks for it, and takes it from the shell where it is set.
#[test]
fn placeholders_are_no_values() {
    let guide = "export LAB_MODEL=\"<path to model weight>\"
export LAB_DATASET=\"<path to dataset>/open_orca/\"
export LAB_HIST=/hist
docker run -v ${LAB_MODEL}:/model -v ${LAB_DATASET}:/data -v ${LAB_HIST}:/hist debian:12 true";
    let asked = read("x", guide, &Nothing).unwrap().recipe;
    let param = |name: &str| {
        let params = asked.split(&format!("\n  {name}:")).nth(1).unwrap();
        params.split("\n  lab_").next().unwrap().to_owned()
    };
    for (name, stated) in [
        ("lab_model", "<path to model weight>"),
        ("lab_dataset", "<path to dataset>/open_orca/"),
    ] {
        let param = param(name);
        assert!(!param.contains("default"), "{param}");
        assert!(param.contains("path"), "{param}");
        assert!(param.contains(stated), "{param}");
    }
    assert!(param("lab_hist").contains("default: /hist"), "{asked}");
    let shell = Shell::new(&[("LAB_MODEL", "/m"), ("LAB_DATASET", "/d")]);
    let known = read("x", guide, &shell).unwrap().recipe;
    assert!(
        known.contains("default: /m") && known.contains("default: /d"),
        "{known}"
    );
}

#[test]
fn every_flag_has_a_key_or_is_told_or_refused() {
    for flag in FLAGS {
        let value = if flag.takes_value { "=1" } else { "" };
        let reading = read(
            "x",
            &format!("docker run --{}{value} debian:12 true", flag.name),
            &Nothing,
        );
        match (flag.treatment, reading) {
            (Treatment::Dropped(because), Ok(reading)) => {
                assert!(
                    reading.notes.iter().any(|told| told.contains(because)),
                    "{}",
                    flag.name
                );
                assert!(
                    reading.recipe.contains(&format!("#   --{}", flag.name)),
                    "{}",
                    flag.name
                );
            }
            (Treatment::Refused, Err(problems)) => {
                let told = problems[0].to_string();
                assert!(told.starts_with(&format!("--{}", flag.name)), "{told}");
            }
            // `1` is not a mount and no namespace; what else it is stands in the recipe.
            (Treatment::Key, Err(problems)) => assert!(
                problems[0]
                    .to_string()
                    .starts_with(&format!("--{}", flag.name)),
                "{problems:?}"
            ),
            (Treatment::Key, Ok(reading)) => {
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
    let reading = read("x", block, &shell).unwrap();
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
    let told = reading.notes.join("\n");
    for word in [
        "WANDB_API_KEY",
        "docker stop x",
        "--name x",
        "--env-file mlperf.env",
    ] {
        assert!(told.contains(word), "{word}: {told}");
    }
}

/// Secrets are handed on by name; their values are in no file, though the shell knows them.
#[test]
fn secrets_stay_where_they_are() {
    let shell = Shell::new(&[("HF_TOKEN", "hf_value"), ("WANDB_API_KEY", "wandb_value")]);
    let block = "export HF_TOKEN=hf_given\ndocker login -u me -p geheim\ndocker run -e HF_TOKEN -e WANDB_API_KEY=third -e HUGGING_FACE_HUB_TOKEN=$HF_TOKEN a:1 get --token ${HF_TOKEN} --key=$WANDB_API_KEY";
    let reading = read("x", block, &shell).unwrap();
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
    let told = reading.notes.join("\n");
    assert!(
        told.contains("retrial run --secret WANDB_API_KEY"),
        "{told}"
    );
}

#[test]
fn what_cannot_be_taken_over_is_refused_by_name() {
    let refused = |text: &str| -> String {
        let problems: Vec<DockerRunError> = read("x", text, &Nothing).unwrap_err();
        let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
        told.join("\n")
    };
    for (text, word) in [
        ("ls", "no `docker run`"),
        ("docker run a\ndocker run b", "2 `docker run`"),
        ("docker run --link db a", "--link db"),
        ("docker run --gpu all a", "did you mean --gpus?"),
        ("docker run --blkio-weight 5 --ip 1.2.3.4 a", "--ip 1.2.3.4"),
        ("docker run -v cache:/x a", "no volumes by name"),
        ("docker run -v ../x:/x a", "no volumes by name"),
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

/// From standard input; and where it is refused, nothing is written.
#[test]
fn the_program() {
    let directory = tempfile::tempdir().unwrap();
    let new = |name: &str, block: &str| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_retrial"))
            .args(["new", name, "--from", "-"])
            .current_dir(&directory)
            .env("MODEL_DIR", "/models")
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(block.as_bytes()).unwrap();
        drop(input);
        let output = child.wait_with_output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), told)
    };
    let (code, told) = new(
        "good.yaml",
        "docker run --rm -v $MODEL_DIR:/model:ro a/b:1 bench",
    );
    assert_eq!(code, Some(0), "{told}");
    let text = std::fs::read_to_string(directory.path().join("good.yaml")).unwrap();
    assert!(text.contains("default: /models"), "{text}");
    let (code, told) = new("good.yaml", "docker run a/b:1");
    assert_eq!(
        (code, told.contains("exists already")),
        (Some(2), true),
        "{told}"
    );
    // What the flags' reader lets through and a recipe does not hold.
    for block in [
        "docker run --device kfd a/b:1",
        "docker run -p a",
        "docker run A/B",
    ] {
        let (code, told) = new("bad.yaml", block);
        assert_eq!(code, Some(2), "{block}: {told}");
        assert!(!directory.path().join("bad.yaml").exists(), "{block}");
    }
}

/// Flags as somebody might write them, each with the spelling that the plan has.
fn flag() -> impl Strategy<Value = String> {
    let path = "/[a-z]{1,8}(/[a-z0-9._-]{1,8}){0,2}";
    let text = "[a-zA-Z0-9 $'\"#:=,.*~-]{1,12}";
    prop_oneof![
        Just("--privileged".to_owned()),
        Just("-it".to_owned()),
        Just("--rm".to_owned()),
        Just("--init=true".to_owned()),
        Just("--read-only".to_owned()),
        prop_oneof!["host", "private", "none"].prop_map(|ipc| format!("--ipc={ipc}")),
        prop_oneof![Just("SYS_ADMIN"), Just("CAP_SYS_PTRACE"), Just("ALL")]
            .prop_map(|cap| format!("--cap-drop {cap}")),
        path.prop_filter("a recipe takes no path that climbs", |path| !path
            .split('/')
            .any(|part| part == ".."))
            .prop_map(|path| format!("--device={path}")),
        "[a-z]{1,8}".prop_map(|group| format!("--group-add {group}")),
        (1_u32..500).prop_map(|size| format!("--shm-size {size}m")),
        (1_u32..500).prop_map(|size| format!("-m{size}G")),
        (-1_i64..9, 9_i64..99)
            .prop_map(|(soft, hard)| format!("--ulimit nofile={}:{hard}", soft.max(0))),
        (0_u32..64, 1_u32..10)
            .prop_map(|(cpu, part)| format!("--cpus {cpu}.{part} --cpuset-cpus={cpu}-70")),
        (1_i64..9999).prop_map(|limit| format!("--pids-limit {limit}")),
        ("[A-Z][A-Z0-9_]{0,6}X", text)
            .prop_map(|(name, value)| format!("-e {name}={}", quoted(&value))),
        "[a-z.]{1,10}[a-z]".prop_map(|name| format!("--sysctl {name}=1")),
        "/[a-z]{1,9}".prop_map(|path| format!("--tmpfs {path}:size=1g")),
        "[a-z]{1,9}".prop_map(|name| format!("-h {name} --add-host {name}:10.0.0.1")),
        "[0-9]{1,4}(:[0-9]{1,4})?".prop_map(|user| format!("-u {user}")),
    ]
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Docker takes the last of flags that come once, and each of the others.
fn settled(mut flags: Vec<(String, String)>, order: &str) -> Vec<(String, String)> {
    let many = [
        "volume",
        "device",
        "group-add",
        "cap-drop",
        "tmpfs",
        "add-host",
    ];
    let words = commands(order).unwrap();
    let given = line(&words[0][2..]).unwrap().flags;
    flags.clear();
    for given in given
        .iter()
        .filter(|given| given.flag.treatment == Treatment::Key)
    {
        let (name, value) = (
            given.flag.name.to_owned(),
            spelled(given.flag.name, &given.value.shown()),
        );
        let named = ["env", "sysctl", "ulimit"].contains(&name.as_str());
        let part = |value: &str| value.split('=').next().unwrap_or_default().to_owned();
        if !many.contains(&name.as_str()) {
            flags.retain(|(other, old)| *other != name || (named && part(old) != part(&value)));
        }
        flags.push((name, value));
    }
    flags.sort();
    flags
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn flags_to_recipe_to_plan_to_flags(
        flags in proptest::collection::vec(flag(), 0..8),
        mounts in proptest::collection::btree_map("/t[a-z]{1,6}", "/s[a-z ]{0,6}[a-z]", 0..3),
        command in proptest::collection::vec("[a-zA-Z0-9 $'\"#:=,.*~&|<>;\\\\-]{1,12}", 0..4),
    ) {
        let mut text = format!("docker run {}", flags.join(" "));
        for (target, source) in &mounts {
            text.extend([" -v ", &quoted(&format!("{source}:{target}"))]);
        }
        text += " debian:12 python3";
        for word in &command {
            text.extend([" ", &quoted(word)]);
        }
        let reading = read("x", &text, &Nothing).unwrap();
        let ((ours, image, _), executed) = made(&script(&reading.recipe, &[]));
        let theirs = settled(Vec::new(), &text);
        prop_assert_eq!(ours, theirs);
        prop_assert_eq!(image, "debian:12");
        let again = commands(&executed[0]).unwrap();
        let again: Vec<String> = again[0].iter().skip(1).map(Word::shown).collect();
        prop_assert_eq!(again, command);
    }

    #[test]
    fn nothing_makes_it_panic(text in "(docker run )?[ -~\n]{0,80}") {
        let _ = read("x", &text, &Nothing);
    }
}
