//! The kinds of lines that guides publish: GPUs, servers, entrypoints, what is typed, other programs.

use super::{Shell, made, recipe_from_block, script, split_commands};

fn recipe(block: &str) -> String {
    let read = recipe_from_block(block);
    read.unwrap_or_else(|problems| panic!("{block}: {problems}")).recipe
}

/// Returns the lines of `incomplete`.
fn incomplete(block: &str) -> Vec<String> {
    recipe_from_block(block).unwrap().incomplete
}

#[test]
fn the_number_of_gpus_is_that_of_the_line_or_is_asked_for() {
    let amd = "--device /dev/kfd --device /dev/dri";
    for (line, vendor, count) in [
        ("--gpus 2 a", "nvidia", Some("2")),
        ("--gpus '\"device=0,3\"' a", "nvidia", Some("2")),
        ("--gpus device=GPU-1 a", "nvidia", Some("1")),
        ("--gpus all a", "nvidia", None),
        ("--gpus all a vllm serve m -tp 4", "nvidia", Some("4")),
        ("--gpus all a all_reduce_perf -g 8", "nvidia", Some("8")),
        ("--gpus all a other -g 8", "nvidia", None),
        ("--gpus all -e CUDA_VISIBLE_DEVICES=0,1 a", "nvidia", Some("2")),
        ("--runtime=nvidia a", "nvidia", None),
        ("--runtime=nvidia -e NVIDIA_VISIBLE_DEVICES=1,2,3 a", "nvidia", Some("3")),
        ("--device nvidia.com/gpu=all a", "nvidia", None),
        ("--device nvidia.com/gpu=0 --device nvidia.com/gpu=1 a", "nvidia", Some("2")),
        ("--device /dev/kfd --device /dev/dri/renderD128 a", "amd", Some("1")),
        (&format!("{amd} a"), "amd", None),
        (&format!("{amd} -e HIP_VISIBLE_DEVICES=0-3 a"), "amd", Some("4")),
        (&format!("{amd} a torchrun --nproc_per_node 8 x.py"), "amd", Some("8")),
    ] {
        let block = format!("docker run {line}");
        let recipe = recipe(&block);
        assert!(recipe.contains(&format!("vendor: {vendor}")), "{block}: {recipe}");
        let asks = incomplete(&block).iter().any(|line| line.starts_with("params.gpus: "));
        assert_eq!(asks, count.is_none(), "{block}: {recipe}");
        let written = count.map_or("\"${{ params.gpus }}\"".to_owned(), str::to_owned);
        assert!(recipe.contains(&format!("count: {written}")), "{block}: {recipe}");
    }
    assert!(!recipe("docker run --cpus 4 a b").contains("requires"));
}

#[test]
fn a_server_is_a_service_that_its_client_needs() {
    let block = "docker run -d --name s --network host a vllm serve /m --port 81\n\
        until curl localhost:81/health; do sleep 1; done\n\
        docker exec s vllm bench serve --port 81\ndocker rm -f s";
    let recipe = recipe(block);
    assert!(recipe.contains("http: \"http://localhost:81/health\""), "{recipe}");
    let (service, scenario) = recipe.split_once("scenarios:").unwrap();
    assert!(service.contains("run: vllm serve /m --port 81"), "{recipe}");
    assert!(scenario.contains("run: vllm bench serve --port 81"), "{recipe}");
    assert!(scenario.contains("- server"), "{recipe}");
    // The port of the host is none of the container.
    let client = "docker run -d -p 8080:80 ghcr.io/huggingface/text-generation-inference:3 --model-id m\n\
        curl http://localhost:8080/generate";
    assert!(
        self::recipe(client).contains("curl http://localhost:80/generate"),
        "{}",
        self::recipe(client)
    );
    assert!(
        incomplete(client).iter().any(|line| line.contains("on the host")),
        "{:?}",
        incomplete(client)
    );
    // An unknown server without a port: how it is awaited is asked for.
    let unknown = "docker run -d a serve\ndocker exec s bench";
    assert!(incomplete(unknown).iter().any(|line| line.starts_with("services.server.ready")));
    // Without a client nothing is measured yet.
    let alone = incomplete("docker run --gpus 1 -p 8000:8000 vllm/vllm-openai:v1 --model m");
    assert!(alone.iter().any(|line| line.contains("vllm bench serve")), "{alone:?}");
}

#[test]
fn words_behind_an_image_may_be_arguments_of_its_entrypoint() {
    for (line, expected) in [
        (
            "vllm/vllm-openai:v1 --model m",
            "run: python3 -m vllm.entrypoints.openai.api_server --model m",
        ),
        ("vllm/vllm-openai:v1 acme/M-7b", "run: vllm serve acme/M-7b"),
        ("ollama/ollama", "run: ollama serve"),
        ("ghcr.io/ggml-org/llama.cpp:full-cuda --bench -m x", "run: /app/tools.sh --bench -m x"),
        ("own:1 python3 x.py", "run: python3 x.py"),
    ] {
        let recipe = recipe(&format!("docker run {line}"));
        assert!(recipe.contains(expected), "{recipe}");
    }
    for line in ["own:1 -m times", "own:1 acme/Model-8B", "nvcr.io/nim/a/b:1"] {
        let block = format!("docker run {line}");
        let lines = incomplete(&block);
        assert!(lines.iter().any(|line| line.contains("entrypoint")), "{lines:?}");
        assert!(recipe(&block).contains("write the command"));
    }
    let behind = recipe_from_block("docker run own:1 -p 80:80").unwrap();
    assert!(behind.notes.iter().any(|note| note.contains("`-p 80:80` is behind the image")));
}

#[test]
fn lines_behind_an_interactive_run_are_steps() {
    let block =
        "docker run -it a bash\ncd /w\nexport M=1\npip install x\npython3 b.py $M > log\nexit\nls";
    let reading = recipe_from_block(block).unwrap();
    let (_, executed) = made(&script(&reading.recipe, &[]));
    assert_eq!(executed, ["pip install x", "python3 b.py $M > log"]);
    assert!(reading.notes.iter().any(|note| note.starts_with("`ls`")), "{:?}", reading.notes);
    // What only one shell can do stays together.
    let venv = "docker run -it a bash\nsource venv/bin/activate\npython3 b.py";
    let (_, executed) = made(&script(&recipe(venv), &[]));
    assert_eq!(executed, ["source venv/bin/activate\npython3 b.py\n"]);
    let built = "docker run -it -w /w a bash\ngit clone h/r && cd r/\npip install .\nexport N=$(ls | wc -l)\n\
                 HIP_VISIBLE_DEVICES=0 python3 b.py\ncd ..";
    let reading = recipe_from_block(built).unwrap();
    let (_, executed) = made(&script(&reading.recipe, &[]));
    let export = "export N=$(ls | wc -l)";
    assert_eq!(
        executed,
        [
            "git clone h/r",
            "pip install .",
            &format!("{export}\nHIP_VISIBLE_DEVICES=0 python3 b.py\n"),
        ]
    );
    assert_eq!(reading.recipe.matches("workdir: /w/r\n").count(), 2);
    assert!(reading.notes.iter().any(|note| note.starts_with("`cd ..`: dropped")));
    let unknown = "docker run -it a bash\ngit clone h/r\ncd r\npip install .\nsource run.sh";
    assert_eq!(
        made(&script(&recipe(unknown), &[])).1,
        ["git clone h/r", "cd r\npip install .\n", "cd r\nsource run.sh\n"]
    );
    let here = "docker run -i a bash <<'EOF'\npython3 b.py\nEOF";
    assert_eq!(made(&script(&recipe(here), &[])).1, ["python3 b.py\n"]);
}

#[test]
fn a_value_that_is_exported_in_the_container_and_never_set_is_a_param() {
    let block = "docker run -it a bash\nexport HF_TOKEN=$your_token\nexport M=\"$your_model\"\nexport P=$ROCM_PATH\nbench";
    let reading = recipe_from_block(block).unwrap();
    let recipe = reading.recipe;
    assert!(recipe.contains("secrets:\n  - HF_TOKEN"), "{recipe}");
    assert!(!recipe.contains("your_token"), "{recipe}");
    assert!(recipe.contains("M: \"${{ params.your_model }}\""), "{recipe}");
    assert!(recipe.contains("export P=$ROCM_PATH"), "{recipe}");
    let prefix = "docker run -it a bash\nHF_TOKEN=<your token> bench --a\nAPI_KEY=abc bench --b";
    let given = self::recipe(prefix);
    assert!(given.contains(r#"run: "HF_TOKEN=\"$HF_TOKEN\" bench --a""#), "{given}");
    assert!(given.contains(r#"API_KEY=\"$API_KEY\" bench --b"#), "{given}");
    assert!(!given.contains("abc") && !given.contains("your_token"), "{given}");
    let set = "docker run -e A=1 -it a bash\nexport M=$A\nbench";
    assert!(!self::recipe(set).contains("params:"));
}

/// A shell in the container does not have the variables of the host's shell.
#[test]
fn a_variable_that_the_container_lacks_is_passed_or_asked_for() {
    let typed = "MODEL=m/x\ndocker run -it -e N=1 a bash\nA=2\nbench --model $MODEL $N $A ${B:-3} $CUDA_HOME";
    let passed = recipe(typed);
    assert!(passed.contains("env:\n        MODEL: \"${{ params.model }}\"\n"), "{passed}");
    assert!(!incomplete(typed).join(" ").contains("env:"));
    let client =
        "MODEL=m/x\ndocker run -d -p 80:80 a vllm serve $MODEL\nvllm bench serve --model $MODEL";
    assert!(recipe(client).contains("env:\n        MODEL: \"${{ params.model }}\"\n"));
    let unset = incomplete("docker run -it a bash\n./run.sh --config $tp").join("\n");
    assert!(unset.contains("container: env: the value of tp"), "{unset}");
    let inner = incomplete("docker run -d --name c a sleep inf\ndocker exec c bash -c 'bench $N'");
    assert!(inner.join("\n").contains("the value of N"), "{inner:?}");
    let port = "P=8080\ndocker run -d -p $P:8000 a vllm serve m\nvllm bench serve --port $P";
    assert!(recipe(port).contains("P: \"8000\"\n"), "{}", recipe(port));
    let token = recipe("docker run -it a bash\nhf auth login --token $HF_TOKEN\nbench");
    assert!(token.contains("secrets:\n  - HF_TOKEN\n"), "{token}");
}

#[test]
fn a_placeholder_is_within_one_word() {
    let (_, executed) = made(&script(&recipe("docker run a b '<0' '>' '<c' 'd>'"), &[]));
    assert_eq!(split_commands(&executed[0])[0], ["b", "<0", ">", "<c", "d>"]);
    assert!(recipe("docker run a b <the model's path>").contains("params.the_model_s_path"));
}

#[test]
fn a_flag_that_takes_the_image_is_named() {
    for (block, flag) in [
        ("docker run -it --device /dev/kfd --name rocm/a:1", "--name"),
        ("docker run --name rocm/a:1 bash", "--name"),
        ("docker run -it --network rocm/a:1", "--network"),
    ] {
        let problems = recipe_from_block(block).unwrap_err();
        let texts: Vec<String> = problems.iter().map(|problem| problem.message.clone()).collect();
        let expected = format!("{flag} takes `rocm/a:1` as its value, which looks like the image");
        assert_eq!(texts, [expected], "{block}");
    }
}

#[test]
fn prompts_are_no_part_of_a_command() {
    for prompt in [
        "$",
        "ann@host:~$",
        "(venv) $",
        "(base) ann@host:/w#",
        "[root@gpu01 ~]#",
        "root@a1b2:/workspace#",
        "bash-5.1#",
        "PS>",
        "PS C:\\Users\\ann>",
        "ann@host ~ %",
    ] {
        let recipe = recipe(&format!("{prompt} docker run -it a bash\n{prompt} bench --n 1"));
        assert!(recipe.contains("run: bench --n 1"), "{prompt}: {recipe}");
    }
}

#[test]
fn the_shell_is_followed() {
    let shell = Shell::new(&[("HOME", "/home/ann"), ("PWD", "/here")]);
    for (block, expected) in [
        ("R=a/b\nI=\"$R:1\"\ndocker run $I x", "default: \"a/b:1\""),
        ("O=\"-v /m:/m --ipc host\"\ndocker run $O a x", "- \"/m:/m\""),
        ("O=(-v '/m m:/m')\nO+=(--ipc=host)\ndocker run \"${O[@]}\" a x", "- \"/m m:/m\""),
        ("alias d='docker run --ipc=host'\nd a x", "ipc: host"),
        ("go() { docker run a bench \"$@\"; }\ngo --n 1", "run: bench --n 1"),
        ("cd sub\ndocker run -v $PWD/x:/x a y", "- \"./sub/x:/x\""),
        ("docker run -w $PWD a y", "default: /here"),
        ("docker run -v ~/c:/c a y", "default: /home/ann"),
        ("docker run a bench 2>&1 | tee log", "run: bench"),
        ("docker run a bench ${A:-${B:-deep}}", "default: deep"),
        ("docker run a bench ${T:+--token}", "run: bench"),
        ("docker run -e A=$X -e B=$x a y", "x_2"),
        ("podman run --net host a y", "network: host"),
        (
            "srun --container-image=nvcr.io#nvidia/p:1 --container-mounts=/d:/d,/e -n1 bench",
            "- \"/e:/e\"",
        ),
        ("apptainer exec --nv --bind /d docker://a:1 bench", "- \"/d:/d\""),
    ] {
        let read = recipe_from_block(block, &shell);
        let recipe = read.unwrap_or_else(|problems| panic!("{block}: {problems}")).recipe;
        assert!(recipe.contains(expected), "{block}: {recipe}");
        assert!(!recipe.contains("$PWD/") && !recipe.contains("problems."), "{recipe}");
    }
}

#[test]
fn nothing_that_a_shell_computes_counts_in_a_flag_that_is_dropped() {
    let recipe = recipe("docker run --name x-$(date +%s) --label a=$(git rev-parse HEAD) a bench");
    assert!(recipe.contains("run: bench"), "{recipe}");
    assert!(recipe.contains("--name x-$(date +%s): dropped"), "{recipe}");
}
