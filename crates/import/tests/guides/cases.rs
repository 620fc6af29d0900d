//! Kinds of lines that guides publish, and what their recipes have.

use retrial_import::{
    FigureFinder, MeasuredFigures, NoCompanions, Selection, WrittenRecipe, draft_from_guide,
};
use rstest::rstest;

use super::recipe_from_block;

fn read(block: &str) -> WrittenRecipe {
    recipe_from_block(block).unwrap_or_else(|problems| panic!("{block}: {problems}"))
}

/// The text of the guide stays: in the recipe is this.
#[rstest]
#[case::heredoc(
    "docker run -it a bash\ncat <<E > x.yml\nb: 1\nE\n./b --x x.yml",
    "run: |-\n      cat <<E > x.yml\n      b: 1\n      E\n"
)]
#[case::continued("docker run a b \\\n  --n 1 \\\n  --m 2", "run: b --n 1 --m 2\n")]
#[case::quotes("docker run a b '$X' \"it's\"", "run: \"b '$X' \\\"it's\\\"\"\n")]
#[case::state(
    "docker run -it a bash\ncd /w\nexport M=1\npip install x\n./b",
    "cd /w\n        export M=1\n        ./b\n"
)]
#[case::script("docker run -i a bash <<'E'\n./b\nE", "run: \"./b\\n\"")]
#[case::input(
    "docker run -i a python3 - <<'E'\nprint(1)\nE",
    "python3 - <<'END_OF_INPUT'\n        print(1)\n        END_OF_INPUT\n"
)]
#[case::array("O=(-v '/m m:/m')\nO+=(--ipc=host)\ndocker run \"${O[@]}\" a x", "- \"/m m:/m\"")]
#[case::flags_with_unset("O=\"--ipc=host -e L=$L\"\ndocker run $O a x", "ipc: host\n")]
#[case::flag_default("docker run ${EXTRA:---rm} a x", "run: x\n")]
#[case::alias("alias d='docker run --ipc=host'\nd a x", "ipc: host\n")]
#[case::program("D=\"sudo docker\"\n$D run --cpus 2 a b", "cpus: 2\n")]
#[case::program_with_unknown_words("D=\"docker run -v $PWD:/w --gpus 1 a\"\n${D} b", "- \"./:/w\"")]
#[case::directory("cd sub\ndocker run -v $PWD/x:/x a y", "- \"./sub/x:/x\"")]
#[case::home("docker run -v ~/c:/c a y", "- \"~/c:/c\"")]
#[case::home_of_variable("C=$HOME/c\ndocker run -v $C:/c a y", "- \"~/c:/c\"")]
#[case::arguments_with_equals("docker run a token=T --n 1", "then `token=T --n 1`")]
#[case::home_of_the_cluster(
    "srun --container-image=a --container-mount-home b",
    "srun --container-mount-home: the home"
)]
#[case::hash_in_quotes("docker run a b '\\ #' c", "run: \"b '\\\\ #' c\"")]
#[case::comment_within("docker run \\\n  # limits \\\n  --cpus 2 \\\n  a b", "cpus: 2\n")]
#[case::comment_behind_a_quoted_one(
    "docker run \\ # limits\n  --cpus 2 a b \"x \\ # y\" \\ # z\n c",
    "run: \"b \\\"x \\\\ # y\\\" c\""
)]
#[case::image_file(
    "apptainer exec /d/x.sif b",
    "help: \"/d/x.sif: the image of a registry from which `/d/x.sif` was made\""
)]
#[case::braces(
    "docker run --device=/dev/dri/renderD{128,129} a b {1,2}",
    "- /dev/dri/renderD129\n"
)]
#[case::escaped_placeholder("docker run a:\\<yy.mm\\> b", "image: \"${{ params.image }}\"")]
#[case::entrypoint("docker run --entrypoint /bin/b a -c 'x y'", "run: \"/bin/b -c 'x y'\"")]
fn the_recipe_has(#[case] block: &str, #[case] text: &str) {
    let recipe = read(block).recipe;
    assert!(recipe.contains(text), "{recipe}");
}

/// Other programs start the same containers.
#[rstest]
#[case("podman run --net host a y", "network: host\n")]
#[case("apptainer exec --nv --bind /d docker://a:1 bench", "- \"/d:/d\"")]
#[case("apptainer pull x.sif docker://a:1\napptainer exec x.sif b", "image: \"a:1\"")]
#[case(
    "srun --container-image=nvcr.io#nvidia/p:1 --container-mounts=/d:/d,/e -n1 bench",
    "- \"/e:/e\""
)]
#[case(
    "srun --container-image=a --container-name=j true\nsrun --container-name=j --gpus=2 b",
    "run: b\n"
)]
#[case(
    "enroot import -o f.sqsh docker://r#a/b:1\nenroot create -n c f.sqsh\nenroot start -m /d:/d c bench",
    "image: \"r/a/b:1\""
)]
#[case("#SBATCH --gres=gpu:4\nsrun --container-image nvcr.io/nvidia/a:1 b", "count: 4\n")]
#[case("srun -n8 --gpus-per-task=1 --container-image a b", "count: 8\n")]
#[case("srun --gpus=8 apptainer exec --nv docker://a b", "count: 8\n")]
#[case("export NUM=1\nsrun --container-image a b", "NUM: \"${{ params.num }}\"")]
fn programs_are_translated(#[case] block: &str, #[case] text: &str) {
    let recipe = read(block).recipe;
    assert!(recipe.contains(text), "{recipe}");
}

/// What the guide leaves to its reader is asked for, with its words.
#[rstest]
#[case::empty("IMAGE=\"\"  # set this\ndocker run $IMAGE bash b.sh", "help: \"$IMAGE: set this\"")]
#[case::path("P=/path/to/x\ndocker run -v $P:/x a b", "p:\n    type: path\n    help")]
#[case::sentence(
    "export P=<either INT8, or (default: FP32)>\ndocker run -e P=$P a b",
    "default: FP32\n"
)]
#[case::nested(
    "COUNT=<a number, <=16 as in `<devices>`>\ndocker run -e N=$COUNT a b",
    "count:\n    type: string\n    help"
)]
#[case::capitals("docker run -it a YOUR_MODEL", "your_model")]
#[case::argument(
    "M=$1\ndocker run -v $M:/m a b",
    "m:\n    type: path\n    help: \"$M: argument 1 of the script\""
)]
#[case::unset_in_container(
    "docker run -it a bash\n./b --m $MODEL",
    "MODEL: \"${{ params.model }}\""
)]
#[case::group(
    "docker run --group-add=$(stat -c \"%g\" /dev/dri/render* | head -n 1) a b",
    "params.render_group"
)]
fn blanks_are_params(#[case] block: &str, #[case] text: &str) {
    let recipe = read(block).recipe;
    assert!(recipe.contains(text), "{recipe}");
}

/// What is measured, or what is asked in its place.
#[rstest]
#[case::waits("docker run a bash -c 'service ssh start && sleep infinity'", "performance.run: ")]
#[case::installs("docker run -it a bash\npip install x", "performance.run: ")]
#[case::converts(
    "docker run ghcr.io/ggml-org/llama.cpp:full --all-in-one /models 7B",
    "performance.run: the command that is measured"
)]
#[case::idles_behind_unknown(
    "docker run a bash -c './start.sh; tail -f /dev/null'",
    "performance.run: "
)]
#[case::shows("docker run a cat /data/size", "performance.run: ")]
#[case::server(
    "docker run --gpus 1 vllm/vllm-openai:v1 --model m",
    "performance.run: the client that measures"
)]
#[case::omitted("docker run a b ...", "performance.run: the words that the guide leaves out")]
#[case::entrypoint(
    "docker run own:1 -m times",
    "performance.run: the image's entrypoint, then `-m times`"
)]
#[case::one_word("docker run own:1 \"cd x && ./run\"", "performance.run: the image's entrypoint")]
#[case::machines(
    "docker run a torchrun --nnodes=2 --nproc_per_node=8 x.py",
    "`--nnodes 2` is of several machines"
)]
#[case::processes("srun -n8 --container-image a b", "srun starts 8 processes")]
#[case::host_client(
    "docker run -d -p 80:80 a vllm serve m\ncurl http://localhost:80/x -d 1",
    "on the host"
)]
#[case::blocked(
    "docker run -it a bash\nvllm serve m\nbench",
    "services.server.run: is `vllm serve m` in this image?"
)]
#[case::moved(
    "docker run -d -p 81:80 a vllm serve m --port 80\ndocker run c bench --port 81",
    "asks the host's port 81"
)]
#[case::flags("docker run $MORE rocm/a:1 b", "$MORE may hold further flags")]
fn questions_are_asked(#[case] block: &str, #[case] question: &str) {
    let asked = read(block).incomplete.join("\n");
    assert!(asked.contains(question), "{asked}");
}

#[rstest]
#[case("--gpus 2 a", "nvidia", Some("2"))]
#[case("--gpus '\"device=0,3\"' a", "nvidia", Some("2"))]
#[case("--gpus all a", "nvidia", None)]
#[case("--gpus all a vllm serve m -tp 4", "nvidia", Some("4"))]
#[case("--gpus all a all_reduce_perf -g 8", "nvidia", Some("8"))]
#[case("--gpus all -e CUDA_VISIBLE_DEVICES=0,1 a", "nvidia", Some("2"))]
#[case("--device nvidia.com/gpu=0 --device nvidia.com/gpu=1 a", "nvidia", Some("2"))]
#[case("--device /dev/kfd --device /dev/dri/renderD128 a", "amd", Some("1"))]
#[case("--device /dev/kfd --device /dev/dri -e AMD_VISIBLE_DEVICES=0-3,5 a", "amd", Some("5"))]
#[case("--gpus all -e TP=4 a bash -c 'vllm bench latency -tp $TP'", "nvidia", Some("4"))]
#[case("--privileged rocm/pytorch:1 torchrun --nproc_per_node 8 x.py", "amd", Some("8"))]
fn gpus_are_counted_or_asked_for(
    #[case] line: &str,
    #[case] vendor: &str,
    #[case] count: Option<&str>,
) {
    let made = read(&format!("docker run {line}"));
    let written = count.map_or("\"${{ params.gpus }}\"".to_owned(), str::to_owned);
    let gpus = format!("vendor: {vendor}\n    count: {written}\n");
    assert!(made.recipe.contains(&gpus), "{}", made.recipe);
    assert_eq!(
        made.incomplete.iter().any(|line| line.starts_with("params.gpus: ")),
        count.is_none()
    );
}

#[test]
fn a_program_passes_on_all_gpus_without_a_flag() {
    let asked = read("nvidia-docker run a b").incomplete;
    assert!(asked[0].starts_with("params.gpus: the number of NVIDIA GPUs"), "{asked:?}");
}

#[test]
fn gpus_and_ports_follow_their_parameters() {
    let block =
        "TP=8\nPP=2\nPORT=81\ndocker run --gpus all a vllm serve m -tp $TP -pp $PP --port $PORT";
    let recipe = read(block).recipe;
    for text in [
        "count: \"${{ params.tp * params.pp }}\"",
        "localhost:${{ params.port }}/health",
        "tp:\n    type: int\n    default: 8\n",
    ] {
        assert!(recipe.contains(text), "{recipe}");
    }
}

/// Values of secrets are in no file, and each step gets them under the name that its program reads.
#[test]
fn secrets_reach_the_step_by_name() {
    let block = "export HF_TOKEN=hf_given\ndocker run -e HF_TOKEN -e WANDB_API_KEY=third -e HUGGING_FACE_HUB_TOKEN=$HF_TOKEN -e PAT=$GITHUB_PAT a:1 get --token ${HF_TOKEN}";
    let made = read(block);
    for value in ["hf_given", "third"] {
        assert!(!made.recipe.contains(value), "{value}: {}", made.recipe);
    }
    for text in [
        "HUGGING_FACE_HUB_TOKEN=\\\"$HF_TOKEN\\\"",
        "WANDB_API_KEY=\\\"$WANDB_API_KEY\\\"",
        "PAT=\\\"$GITHUB_PAT\\\"",
        "secrets:\n  - HF_TOKEN",
    ] {
        let unfolded = made.recipe.replace("\n        ", " ").replace('"', "\\\"");
        assert!(made.recipe.contains(text) || unfolded.contains(text), "{text}: {}", made.recipe);
    }
    assert!(
        made.notes.join("\n").contains("retrial run --secret WANDB_API_KEY"),
        "{:?}",
        made.notes
    );
    let counted = read("docker run -e INPUT_TOKEN=$INPUT_TOKEN -e MAX_TOKENS=5 a b").recipe;
    assert!(counted.contains("INPUT_TOKEN: \"${{ params.input_token }}\""), "{counted}");
}

/// A figure's file is where the program writes it, or in a directory of the guide that is mounted.
#[rstest]
#[case("/o/r.json", "cp /o/r.json /tmp")]
#[case("r.json", "cp r.json /tmp")]
#[case("./out/r.json", "cp /o/r.json /tmp")]
fn a_file_with_a_figure_is_copied(#[case] file: &str, #[case] copied: &str) {
    let finder = FigureFinder::parse(&format!("json:{file}:$.p99")).unwrap();
    let figures =
        MeasuredFigures { figures: vec![("p99".to_owned(), finder)], ..MeasuredFigures::default() };
    let block = "docker run -v $PWD/out:/o -v $PWD:/w a b";
    let draft = draft_from_guide("x", block, Selection::All, &NoCompanions).unwrap();
    let recipe = draft.write("x", &figures).recipe;
    assert!(recipe.contains(copied) && recipe.contains("file: r.json"), "{recipe}");
}

#[test]
fn a_server_and_its_client_in_two_containers() {
    let block = "docker run -d --name llm --gpus 2 -v /m:/m img/server:1 vllm serve /m -tp 2\n\
        docker run --rm --network n -e A=1 img/client:2 bench --url http://llm:8000";
    let recipe = read(block).recipe;
    for text in [
        "image: \"img/client:2\"\n",
        "    container:\n      image: \"img/server:1\"\n      mounts:\n        - \"/m:/m\"\n",
        "  gpu_access: as-written\n",
        "    vendor: nvidia\n    count: 2\n",
        "http: \"http://localhost:8000/health\"",
        "- \"llm:127.0.0.1\"",
        "needs:\n        - server\n",
    ] {
        assert!(recipe.contains(text), "{text}: {recipe}");
    }
}

#[rstest]
#[case("ls", "no command that starts a container")]
#[case("docker run a\ndocker run b", "2 `docker run`")]
#[case("docker run --link db a", "--link db")]
#[case("docker run --device=/dev/dri/renderD* a", "does not accept patterns of devices")]
#[case("srun --frob --container-image=a b", "srun has no --frob")]
#[case("docker run --gpu all a", "docker run has no --gpu")]
#[case("docker run -v ../x:/x a", "`..` in a path")]
#[case("docker run -e X=$(git describe) a", "`$(git describe)`: only a shell")]
#[case("docker run a b ${Y%%_*}", "`${Y%%…}`: only a shell")]
#[case("yes | docker run -i a b", "have no input")]
#[case("docker run -i a b < file", "have no input")]
#[case("for b in 1 2; do docker run a bench $b; done", "`for` around")]
#[case("mpirun -np 2 apptainer exec docker://a b", "`mpirun` in front of `apptainer`")]
#[case("gcloud compute ssh x --command=\"docker run a b\"", "`gcloud` starts")]
#[case("docker compose up", "`docker compose` starts")]
#[case("docker run -it a bash\ntmux new -d 'vllm serve m'", "`tmux` opens another terminal")]
#[case("docker run -it a bash\nvllm serve m &\nvllm serve n &\nb", "two servers, on lines 2 and 3")]
#[case("docker run -v /d:/d a download.sh\ndocker run -d b vllm serve m", "2 `docker run`")]
#[case("docker run a 'b", "unterminated quote")]
#[case("docker run a echo '${{ x }}'", "expression")]
#[case("docker run --shm-size lots a", "--shm-size lots")]
#[case("docker run -e X=hf_abcdefghijklmnopqrst a", "a token of the Hugging Face hub")]
#[case("docker run ...", "the guide leaves out the image")]
fn what_no_recipe_expresses_is_refused_by_name(#[case] block: &str, #[case] message: &str) {
    let problems = recipe_from_block(block).unwrap_err().to_string();
    assert!(problems.contains(message), "{problems}");
}
