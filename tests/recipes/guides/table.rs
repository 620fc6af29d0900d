//! Which recipe is compared with which guide's commands, and a recipe's additional commands.

/// A built-in recipe and the commands of its guide.
pub struct Guide {
    /// Below `mlperf-inference/`.
    pub recipe: &'static str,
    /// Below `tests/fixtures/guides/`.
    pub commands: &'static str,
    /// `--set`
    pub settings: &'static [&'static str],
    /// How commands begin that the recipe runs and the guide does not print.
    pub added: &'static [&'static str],
    /// Flags of the container that the guide's `docker run` has not.
    pub flags: &'static [&'static str],
}

const NONE: Guide = Guide { recipe: "", commands: "", settings: &[], added: &[], flags: &[] };

const SDXL: &[&str] =
    &["harness=/of/harness", "data=/data/mlperf_sdxl/data", "models=/data/mlperf_sdxl/models"];

const CODE: &str = "--workdir=/lab-mlperf-inference/code";

/// The environment of the accuracy check, before anything is measured.
const ACCURACY: &str = r"printf '%s\n' 'pyarrow<20'";

/// All of them.
pub const GUIDES: &[Guide] = &[
    Guide {
        recipe: "v4.1/amd/llama2-70b-mi300x",
        commands: "llama2-70b-v4.1",
        settings: &["model=/of/model", "dataset=/of/open_orca", "hist=/of/hist"],
        added: &["ls -d /lab-hist", "sha256sum /app/kv_cache_scales.json"],
        ..NONE
    },
    Guide { recipe: "v5.0/amd/llama2-70b-mi325x", commands: "llama2-70b-v5.0", ..NONE },
    Guide {
        recipe: "v5.0/amd/stable-diffusion-xl-mi325x",
        commands: "stable-diffusion-xl-v5.0",
        settings: SDXL,
        added: &["cd Submission/closed/AMD/compliance"],
        ..NONE
    },
    Guide { recipe: "v5.1/amd/llama2-70b-mi325x", commands: "llama2-70b-v5.1", ..NONE },
    Guide {
        recipe: "v5.1/amd/mixtral-8x7b-mi325x",
        commands: "mixtral-8x7b-v5.1",
        added: &[ACCURACY],
        ..NONE
    },
    Guide {
        recipe: "v5.1/amd/stable-diffusion-xl-mi325x",
        commands: "stable-diffusion-xl-v5.1-server",
        settings: SDXL,
        added: &["cd Submission/closed/AMD/compliance"],
        ..NONE
    },
    Guide {
        recipe: "v5.1/amd/stable-diffusion-xl-mi325x",
        commands: "stable-diffusion-xl-v5.1-offline",
        settings: &[SDXL[0], SDXL[1], SDXL[2], "runs=offline"],
        added: &["cd Submission/closed/AMD/compliance"],
        ..NONE
    },
    Guide {
        recipe: "v5.1/amd/llama2-70b-mi355x",
        commands: "llama2-70b-open-v5.1",
        added: &[
            "mkdir -p /model/llama2-70b-chat-hf",
            "bash /lab-mlperf-inference/code/scripts/check_llama2",
        ],
        ..NONE
    },
    Guide {
        recipe: "v5.1/amd/llama3.1-405b-pruned-mi355x",
        commands: "llama3.1-405b-pruned-v5.1",
        added: &["mkdir -p /data/llama3.1-405b bash <(curl", "sed -i"],
        flags: &[CODE, "--env=VLLM_USE_V1=0"],
        ..NONE
    },
    Guide {
        recipe: "v5.1/amd/llama3.1-405b-tuned-mi355x",
        commands: "llama3.1-405b-tuned-v5.1",
        added: &["sed -i"],
        flags: &[CODE, "--env=VLLM_USE_V1=0"],
        ..NONE
    },
    Guide {
        recipe: "v6.0/amd/llama2-70b-mi355x",
        commands: "llama2-70b-v6.0",
        added: &[ACCURACY],
        ..NONE
    },
    Guide { recipe: "v6.0/amd/gpt-oss-120b-mi355x", commands: "gpt-oss-120b-v6.0", ..NONE },
    Guide {
        recipe: "v6.0/amd/wan2.2-t2v-a14b-mi355x",
        commands: "wan2.2-v6.0",
        settings: &["outputs=/of/outputs"],
        added: &["cat outputs/compliance"],
        ..NONE
    },
    Guide {
        recipe: "v6.1/amd/llama2-70b-mi355x",
        commands: "llama2-70b-v6.1",
        added: &["mkdir -p /data/processed-openorca bash <(curl", ACCURACY],
        ..NONE
    },
    Guide { recipe: "v6.1/amd/gpt-oss-120b-mi355x", commands: "gpt-oss-120b-v6.1", ..NONE },
    Guide {
        recipe: "v6.1/amd/deepseek-r1-mi355x",
        commands: "deepseek-r1-v6.1",
        flags: &[CODE],
        added: &["bash scripts/setup_deepseek_accuracy_env.sh python3="],
        ..NONE
    },
    Guide {
        recipe: "v6.1/amd/llama3.1-8b-mi355x",
        commands: "llama3.1-8b-v6.1",
        flags: &[CODE],
        ..NONE
    },
    Guide {
        recipe: "v6.1/amd/wan2.2-t2v-a14b-mi355x",
        commands: "wan2.2-v6.1",
        settings: &["outputs=/of/outputs"],
        added: &["ls -d /app/mlperf", "verified=$(find runs"],
        ..NONE
    },
    Guide {
        recipe: "v6.1/amd/dlrm-v3-mi355x",
        commands: "dlrm-v3-v6.1",
        settings: &[
            "dataset=/of/dataset",
            "checkpoint=/of/checkpoint",
            "results=/of/results",
            "triton=/of/triton",
            "runner=/of/runner",
            "docker=/usr/bin/docker",
            "socket=/var/run/docker.sock",
        ],
        added: &[
            "[ -n \"$(ls -A \"$CHECKPOINT\")\" ] || bash <(curl",
            "[ -n \"$(ls -A \"$DATASET\")\" ] || bash <(curl",
            "ls -d /of/results",
            "verified=$(ls -t",
        ],
        ..NONE
    },
];
