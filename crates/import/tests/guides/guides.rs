//! The command lines of guides: what their plans have, and what they leave to the reader.

use retrial_import::FlagTreatment;

use super::{Line, Shell, flags, made, parse_line, recipe_from_block, script, split_commands};

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

/// The number of GPUs, which a recipe asks for unless its guide states it.
fn asked(recipe: &str) -> Vec<(&'static str, &'static str)> {
    let is_asked = recipe.contains("count: \"${{ params.gpus }}\"");
    is_asked.then_some(("gpus", "8")).into_iter().collect()
}

/// The GPUs that a line requests: the vendor, and the number if it is stated.
fn gpus_of(line: &Line) -> Option<(&'static str, String)> {
    let has = |name: &str, value: &str| {
        let mut flags = line.flags.iter();
        flags.any(|(flag, own)| flag.name == name && own.starts_with(value))
    };
    let vendor = if has("device", "/dev/kfd") || has("runtime", "amd") {
        "amd"
    } else {
        has("gpus", "").then_some("nvidia")?
    };
    let mut variables = line.flags.iter().filter(|(flag, _)| flag.name == "env");
    let ids = variables.find_map(|(_, value)| value.split_once("_VISIBLE_DEVICES="));
    let asked = || "\"${{ params.gpus }}\"".to_owned();
    let count = ids.map_or_else(asked, |(_, ids)| ids.split(',').count().to_string());
    Some((vendor, count))
}

#[test]
fn plans_from_guides_have_the_guides_flags() {
    let values = [
        ("LAB_MODEL", "/m"),
        ("LAB_DATASET", "/d"),
        ("LAB_HIST", "/h"),
        ("USER", "ann"),
        ("DATADIR", "/data/x"),
        ("MODEL", "/m"),
        ("DATA", "/d"),
    ];
    for (title, guide) in guides() {
        let reading = recipe_from_block(title, &guide, &Shell::new(&values))
            .unwrap_or_else(|problems| panic!("{title}: {problems:?}"));
        let (ours, executed) = made(&script(&reading.recipe, &asked(&reading.recipe)));
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
        assert_eq!(ours.0, theirs.0, "{title}");
        assert_eq!(ours.1, theirs.1, "{title}");
        let words = &split_commands(&expanded)[0];
        let run = words.iter().position(|word| word == "run").unwrap();
        let line = parse_line(&words[run + 1..]);
        match gpus_of(&line) {
            None => assert!(!reading.recipe.contains("requires:"), "{title}"),
            Some((vendor, count)) => {
                let gpus = format!("  gpus:\n    vendor: {vendor}\n    count: {count}\n");
                assert!(reading.recipe.contains(&gpus), "{title}: {}", reading.recipe);
            }
        }
        match theirs.2.first().map(String::as_str) {
            None | Some("/bin/bash" | "sleep") => {
                assert!(executed[0].contains("write the command"));
            }
            Some(_) => {
                assert_eq!(split_commands(&executed[0])[0], theirs.2, "{title}");
            }
        }
        // Flags that are not in the plan are in the notes.
        for (flag, _) in line.flags {
            if matches!(flag.treatment, FlagTreatment::Dropped(_)) {
                let flag = format!("--{}", flag.name);
                assert!(
                    reading.notes.iter().any(|note| note.starts_with(&flag)),
                    "{title}: {flag}"
                );
            }
        }
    }
}

/// A guide's placeholder has no value: the plan requires one, and takes it from the shell where it is set.
#[test]
fn placeholders_are_not_values() {
    let guide = "export LAB_MODEL=\"<path to model weight>\"
export LAB_DATASET=\"<path to dataset>/open_orca/\"
export LAB_HIST=/hist
docker run -v ${LAB_MODEL}:/model -v ${LAB_DATASET}:/data -v ${LAB_HIST}:/hist debian:12 true";
    let unresolved = recipe_from_block(guide).unwrap().recipe;
    let param = |name: &str| {
        let params = unresolved.split(&format!("\n  {name}:")).nth(1).unwrap();
        params.split("\n  lab_").next().unwrap().to_owned()
    };
    for (name, stated) in
        [("lab_model", "<path to model weight>"), ("lab_dataset", "<path to dataset>/open_orca/")]
    {
        let param = param(name);
        assert!(!param.contains("default"), "{param}");
        assert!(param.contains("path"), "{param}");
        assert!(param.contains(stated), "{param}");
    }
    assert!(param("lab_hist").contains("default: /hist"), "{unresolved}");
    let shell = Shell::new(&[("LAB_MODEL", "/m"), ("LAB_DATASET", "/d")]);
    let resolved = recipe_from_block(guide, &shell).unwrap().recipe;
    assert!(resolved.contains("default: /m") && resolved.contains("default: /d"), "{resolved}");
}
