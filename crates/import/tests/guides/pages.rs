//! Lines as the pages of guides show them: typesetting, transcripts, other shells, containers that only wait, and commands
//! of several machines.

use retrial_import::WrittenRecipe;
use rstest::rstest;

use super::recipe_from_block;

fn read(block: &str) -> WrittenRecipe {
    let read = recipe_from_block(block);
    read.unwrap_or_else(|problems| panic!("{block}: {problems}"))
}

#[rstest]
#[case::script("docker run a bash -c “b --n 1”", "run: \"bash -c 'b --n 1'\"")]
#[case::nested("docker run --gpus ‘“device=0”’ a b", "count: 1\n")]
#[case::in_plain_quotes("docker run a b --p \"“x”\"", "run: \"b --p '“x”'\"")]
#[case::powershell("docker run --cpus 2 `\n  a `\n  b", "run: b")]
#[case::command_prompt("docker run --cpus 2 ^\r\n  a ^\r\n  b\r\n", "run: b")]
#[case::program("D=\"sudo docker\"\n$D run --cpus 2 a b", "run: b")]
#[case::program_default("${D:-docker} run --cpus 2 a b", "run: b")]
fn lines_of_pages_are_read(#[case] block: &str, #[case] text: &str) {
    let recipe = read(block).recipe;
    assert!(recipe.contains(text), "{recipe}");
}

#[rstest]
#[case("docker run –rm a b", "1:12")]
#[case("docker run -it a bash\nb —n 8", "2:3")]
fn a_dash_that_typesetting_made_is_refused(#[case] block: &str, #[case] place: &str) {
    let problems = recipe_from_block(block).unwrap_err();
    let shown = problems.to_string();
    assert!(shown.contains("a typeset dash"), "{shown}");
    assert!(shown.contains(&format!("guide.txt:{place}")), "{shown}");
    assert_eq!(problems.error_count(), 1, "{shown}");
}

/// What is printed has no prompt, where what is typed has one.
#[rstest]
#[case::of_a_step("a@h:~$ docker run -it a bash\nroot@c:/w# b\nspeed: 1 items/s\nroot@c:/w# exit")]
#[case::between("1. Start:\n $ docker run -it a bash\n2. In it:\n # x\n root@c:/# b")]
#[case::of_a_page("```\n$ docker run -it a bash\n```\n```\n$ b\nspeed: 1 items/s\n```")]
#[case::continued("$ docker run -it \\\n  a \\\n  bash\n$ b\nspeed: 1 items/s")]
fn output_is_no_command(#[case] block: &str) {
    let read = read(block);
    let (before, measured) = read.recipe.split_once("scenarios:").unwrap();
    assert!(measured.contains("run: b\n"), "{}", read.recipe);
    assert!(!before.contains("setup:"), "{}", read.recipe);
    let has_note = |note: &String| note.contains("dropped as output");
    assert!(read.notes.iter().any(has_note), "{:?}", read.notes);
}

/// Many guides give the first line a prompt only.
#[rstest]
#[case("$ docker run -it a bash\ncd /w\nb")]
#[case("$ docker run -it a bash\n$ cat <<'E'\ntext\nE\n$ cd /w\n$ b")]
#[case("$ docker run -it a bash\n$ for i in 1 2; do\n  x\ndone\n$ cd /w\n$ b")]
#[case("$ docker run -it a bash\n$ export N=1\ncd /w\n$ b")]
#[case("$ docker run -it a bash\n$ pip install x\n./warm\n$ cd /w\n$ b")]
fn commands_without_a_prompt_are_kept(#[case] block: &str) {
    let read = read(block);
    assert!(read.recipe.contains("run: b\n      workdir: /w"), "{}", read.recipe);
    assert!(!read.notes.iter().any(|note| note.contains("output,")), "{:?}", read.notes);
}

#[rstest]
#[case("a sleep 1d")]
#[case("--entrypoint /bin/sleep a 99999")]
#[case("a tail -F /dev/null")]
#[case("a sh -c 'sleep infinity'")]
#[case("a bash -c 'while true; do sleep 1000; done'")]
#[case("a bash -c 'trap : TERM INT; sleep inf & wait'")]
fn a_container_that_only_waits_is_no_server(#[case] line: &str) {
    let recipe = read(&format!("docker run -d --name c {line}\ndocker exec c b")).recipe;
    assert!(!recipe.contains("services:"), "{recipe}");
    assert!(recipe.contains("run: b\n"), "{recipe}");
}

#[rstest]
#[case("for i in $(seq 9); do curl -s localhost:8000/health && break; sleep 5; done")]
#[case("timeout 60 bash -c 'until curl localhost:8000/v1/models; do sleep 2; done'")]
#[case("curl -s http://localhost:8000/v1/models")]
#[case("docker exec s tail -f server.log")]
fn what_awaits_a_server_is_not_measured(#[case] wait: &str) {
    let server = "docker run -d --name s -p 8000:8000 a vllm serve m";
    let recipe = read(&format!("{server}\n{wait}\ndocker exec s b")).recipe;
    let (_, measured) = recipe.split_once("scenarios:").unwrap();
    assert!(measured.contains("run: b\n"), "{recipe}");
}

/// The GPUs of all machines are not those of one.
#[rstest]
#[case("torchrun --nnodes=2 --nproc_per_node=8 x.py", Some(8))]
#[case("python3 -m sglang.bench_one_batch --tp 16 --nnodes 2", None)]
#[case("mpirun -np 16 -H n1:8,n2:8 ./all_reduce_perf -g 1", None)]
#[case("accelerate launch --num_machines 2 --num_processes 16 x.py", None)]
fn a_command_of_several_machines_is_incomplete(#[case] command: &str, #[case] count: Option<u32>) {
    let read = read(&format!("docker run --gpus all a {command}"));
    let written = count.map_or("\"${{ params.gpus }}\"".to_owned(), |count| count.to_string());
    assert!(read.recipe.contains(&format!("count: {written}\n")), "{}", read.recipe);
    let asks = |line: &String| line.contains("one of several machines");
    assert!(read.incomplete.iter().any(asks), "{:?}", read.incomplete);
}

#[rstest]
#[case("torchrun --nnodes=1 --nproc_per_node=8 x.py")]
#[case("deepspeed --hostfile=/dev/null --num_gpus 8 x.py")]
#[case("vllm bench serve --host 0.0.0.0,x -tp 8")]
fn a_command_of_one_machine_is_none_of_several(#[case] command: &str) {
    let read = read(&format!("docker run --gpus all a {command}"));
    assert!(read.recipe.contains("count: 8\n"), "{}", read.recipe);
    assert!(!read.incomplete.iter().any(|line| line.contains("several machines")));
}

/// The recipe asks for a directory.
#[rstest]
#[case("-v cache:/c")]
#[case("--mount type=volume,src=cache,dst=/c")]
fn a_volume_of_the_engine_is_a_param(#[case] flags: &str) {
    let recipe = read(&format!("docker run {flags} a b")).recipe;
    assert!(recipe.contains("cache:\n    type: path\n    help"), "{recipe}");
    assert!(recipe.contains("- \"${{ params.cache }}:/c\""), "{recipe}");
}

#[test]
fn unknown_gpus_are_asked_for() {
    let recipe = read("docker run --gpus '\"device='$IDS'\"' a b").recipe;
    assert!(
        recipe.contains("help: \"GPUs of the benchmark: --gpus \\\"device=$IDS\\\""),
        "{recipe}"
    );
}

/// What the shell would end a command at, and no guide means.
#[rstest]
#[case::comment_line("docker run \\\n  # limits \\\n  --cpus 2 \\\n  a b")]
#[case::comment_without_end("docker run \\\n  # limits\n  --cpus 2 \\\n  a b")]
#[case::comment_behind("docker run \\ # limits\n  --cpus 2 \\\n  a b")]
#[case::empty_line("docker run \\\n\n  --cpus 2 a b")]
fn a_command_goes_on_over_comments(#[case] block: &str) {
    let recipe = read(block).recipe;
    assert!(recipe.contains("cpus: 2\n"), "{recipe}");
    assert!(recipe.contains("run: b\n"), "{recipe}");
}

#[test]
fn a_comment_behind_a_command_ends_it() {
    let read = read("docker run a b \\\n# then\nls");
    assert!(read.recipe.contains("run: b\n"), "{}", read.recipe);
}

#[test]
fn a_session_of_a_terminal_is_a_server() {
    let block = "docker run -it a bash\ntmux new -d -s x 'vllm serve m'\nb\ndisown";
    let recipe = read(block).recipe;
    assert!(recipe.contains("run: vllm serve m\n"), "{recipe}");
    assert!(recipe.contains("run: b\n"), "{recipe}");
}

#[test]
fn what_is_typed_behind_attach_is_a_step() {
    let block = "docker run -itd --name c a\ndocker attach c\nb";
    assert!(read(block).recipe.contains("run: b\n"));
    let running = "docker run -d --name c a b\ndocker attach c\nls";
    assert!(read(running).recipe.contains("run: b\n"));
}

#[rstest]
#[case("apptainer exec --bind $DATA:/d,$PWD/x:/x docker://a b")]
#[case("L=$DATA:/d,$PWD/x:/x\nsrun --container-image=a --container-mounts=$L b")]
fn mounts_of_a_list_keep_their_params(#[case] block: &str) {
    let recipe = read(block).recipe;
    assert!(recipe.contains("- \"${{ params.data }}:/d\""), "{recipe}");
    assert!(recipe.contains("- \"./x:/x\""), "{recipe}");
}

#[rstest]
#[case("-e TP=4 a bash -c 'vllm bench latency -tp $TP'", 4)]
#[case("-e N=2 -e NG=4 a bash -c 'torchrun --nproc_per_node=${NG} x.py'", 4)]
fn gpus_are_counted_by_variables_of_the_container(#[case] line: &str, #[case] count: u32) {
    let recipe = read(&format!("docker run --gpus all {line}")).recipe;
    assert!(recipe.contains(&format!("count: {count}\n")), "{recipe}");
}

/// A privileged container has the devices of the host.
#[rstest]
#[case("--privileged rocm/pytorch:1 torchrun --nproc_per_node 8 x.py", "amd")]
#[case("--privileged -v /dev/kfd:/dev/kfd a torchrun --nproc_per_node 8 x.py", "amd")]
#[case("--privileged -v /dev/nvidia0:/dev/nvidia0 a torchrun --nproc_per_node 8 x.py", "nvidia")]
fn gpus_of_a_privileged_container_are_required(#[case] line: &str, #[case] vendor: &str) {
    let recipe = read(&format!("docker run {line}")).recipe;
    let gpus = format!("requires:\n  gpus:\n    vendor: {vendor}\n    count: 8\n");
    assert!(recipe.contains(&gpus), "{recipe}");
}

#[rstest]
#[case("docker run -v $(realpath data):/d a b", "- \"./data:/d\"")]
#[case("S=$(cd \"$(dirname \"$0\")\" && pwd)\ndocker run -v $S/x:/d a b", "- \"./x:/d\"")]
#[case("echo $K | docker login r -u x --password-stdin\ndocker run a b", "run: b\n")]
#[case("gunzip -c i.tgz | docker load\ndocker run a b", "run: b\n")]
fn common_lines_of_scripts_are_read(#[case] block: &str, #[case] text: &str) {
    let recipe = read(block).recipe;
    assert!(recipe.contains(text), "{recipe}");
}

#[test]
fn a_tool_that_srun_starts_is_read() {
    let block = "srun -n8 --gpus=8 apptainer exec --nv docker://a b";
    let read = read(block);
    assert!(read.recipe.contains("image: a\n"), "{}", read.recipe);
    assert!(read.recipe.contains("count: 8\n"), "{}", read.recipe);
    let asks = |line: &String| line.contains("srun starts 8 processes");
    assert!(read.incomplete.iter().any(asks), "{:?}", read.incomplete);
}

#[rstest]
#[case("srun --container-image=a --pty bash\ncd /w\nb")]
#[case("apptainer shell --nv docker://a\ncd /w\nb")]
#[case("apptainer exec docker://a bash\ncd /w\nb")]
fn what_is_typed_in_a_shell_of_other_tools_is_a_step(#[case] block: &str) {
    let recipe = read(block).recipe;
    assert!(recipe.contains("run: b\n      workdir: /w"), "{recipe}");
}

#[rstest]
#[case("docker run a b ...")]
#[case("docker run a b --n 1 …")]
fn omitted_words_are_asked_for(#[case] block: &str) {
    let lines = read(block).incomplete;
    assert!(lines.iter().any(|line| line.contains("leaves out")), "{lines:?}");
}

/// Else a later trial would read the file of an earlier one.
#[rstest]
#[case("docker run -it a bash\nb\ncat r.json")]
#[case("docker run -d --name c a sleep 1d\ndocker exec c b\ndocker exec c cat r.json")]
fn what_shows_the_figures_is_measured_with_their_command(#[case] block: &str) {
    let recipe = read(block).recipe;
    assert!(recipe.contains("        b &&\n        cat r.json\n"), "{recipe}");
    assert!(!recipe.contains("setup:"), "{recipe}");
}

#[test]
fn a_volumes_name_is_no_default_of_a_path() {
    let named = read("docker run -v ${VOL:-cache}:/c a b");
    assert!(!named.recipe.contains("default: cache"), "{}", named.recipe);
    let path = read("docker run -v ${VOL:-/cache}:/c a b").recipe;
    assert!(path.contains("default: /cache"), "{path}");
}
