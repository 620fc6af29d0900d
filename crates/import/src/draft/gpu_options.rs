//! The number of GPUs that a command uses, by the options of known programs.

use crate::shell::{ParamId, Values};

/// The most GPUs of one machine that a recipe may require.
pub const MAX_GPUS: u32 = 4096;

/// Options with the same meaning.
type Names = &'static [&'static str];

/// A program whose options state GPUs; the numbers of its options are multiplied.
struct GpuOptions {
    /// The name of the program, with `*` at its start for any beginning. Empty: any program.
    program: &'static str,
    /// A further word of its commands; empty: none is needed.
    word: &'static str,
    options: &'static [Names],
}

const TENSORS: Names = &[
    "--tensor-parallel-size",
    "--tensor_parallel_size",
    "tensor_parallel_size",
    "--tp-size",
    "--tp_size",
    "--tp",
    "-tp",
    "--num-shard",
];
const PIPELINES: Names = &["--pipeline-parallel-size", "--pp-size", "--pp_size", "--pp", "-pp"];
const REPLICAS: Names = &["--data-parallel-size", "--dp-size", "--dp_size", "--dp", "-dp"];
const THREAD_GPUS: Names = &["-g", "--ngpus"];
const THREADS: Names = &["-t", "--nthreads"];
const LAUNCHED_GPUS: &[Names] = &[THREAD_GPUS, THREADS, &["-np", "-n", "--np"]];

/// Options that state the number of machines.
const MACHINES: Names = &[
    "--nnodes",
    "--num_nodes",
    "--num-nodes",
    "--num_machines",
    "--num-machines",
    "trainer.num_nodes",
];
/// Options that list machines, or name a file of them.
const HOSTS: Names = &["-H", "-host", "--host", "-hosts", "--hosts", "-hostfile", "--hostfile"];

/// One process for each GPU of a machine.
const PROCESSES: GpuOptions = GpuOptions::of("", &[&["--nproc_per_node", "--nproc-per-node"]]);

/// The options of programs, those that count all GPUs first; the first entry with a number in the command is used.
const PROGRAMS: [GpuOptions; 11] = [
    PROCESSES,
    GpuOptions::of("accelerate", &[&["--num_processes", "--num-processes"]]),
    GpuOptions::of("deepspeed", &[&["--num_gpus"]]),
    // nccl-tests and rccl-tests: GPUs of a thread, threads of a process, and processes. Their own `-n` is another one.
    GpuOptions::of("*_perf", LAUNCHED_GPUS).with("mpirun"),
    GpuOptions::of("*_perf", LAUNCHED_GPUS).with("mpiexec"),
    GpuOptions::of("*_perf", &[THREAD_GPUS, THREADS]),
    GpuOptions::of("ray", &[&["--num-gpus"]]),
    GpuOptions::of("fastchat.serve.*", &[&["--num-gpus"]]),
    GpuOptions::of("tf_cnn_benchmarks.py", &[&["--num_gpus"]]),
    // SGLang's attention shares the GPUs of the tensors.
    GpuOptions::of("", &[TENSORS, PIPELINES]).with("--enable-dp-attention"),
    GpuOptions::of("", &[TENSORS, PIPELINES, REPLICAS]),
];

impl GpuOptions {
    const fn of(program: &'static str, options: &'static [Names]) -> Self {
        Self { program, word: "", options }
    }

    const fn with(mut self, word: &'static str) -> Self {
        self.word = word;
        self
    }

    fn is_of(&self, words: &[Token]) -> bool {
        let is_program = |word: &Token| {
            let name = word.text.rsplit('/').next().unwrap_or_default();
            match (self.program.strip_prefix('*'), self.program.strip_suffix('*')) {
                (Some(end), _) => name.ends_with(end),
                (_, Some(start)) => name.starts_with(start),
                (None, None) => name == self.program,
            }
        };
        (self.program.is_empty() || words.iter().any(is_program))
            && (self.word.is_empty() || words.iter().any(|word| word.text == self.word))
    }

    /// Returns the numbers that a command has of these options; none if it has none of them.
    fn factors(&self, words: &[Token]) -> Option<Vec<Factor>> {
        let factors: Vec<Factor> =
            self.options.iter().filter_map(|names| find_number(words, names)).collect();
        (!factors.is_empty()).then_some(factors)
    }
}

/// A word of a command, with the parameter that it is.
#[derive(Debug, Clone)]
pub struct Token {
    pub text: String,
    pub param: Option<ParamId>,
}

/// A number of GPUs or processes: stated, or that of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Factor {
    Number(u32),
    Param(ParamId),
}

impl Factor {
    /// Returns the number, if it is known.
    pub fn number(self, values: &Values) -> Option<u32> {
        match self {
            Self::Number(number) => Some(number),
            Self::Param(id) => values.param(id).default.as_ref()?.parse().ok(),
        }
    }
}

/// Returns the numbers whose product is the GPUs that a command uses.
pub fn gpus_of_command(tokens: &[Token]) -> Option<Vec<Factor>> {
    let words = inner_words(tokens, true);
    let is_of_several = find_machines(tokens).is_some();
    if is_of_several {
        // The other options count the GPUs of all machines.
        return PROCESSES.factors(&words);
    }
    let mut programs = PROGRAMS.iter().filter(|program| program.is_of(&words));
    programs.find_map(|program| program.factors(&words))
}

/// Returns the option, as it is written, by which a command is started on several machines.
pub fn find_machines(tokens: &[Token]) -> Option<String> {
    machines_option(&inner_words(tokens, false))
}

fn machines_option(words: &[Token]) -> Option<String> {
    let is_launcher = |word: &Token| {
        let name = word.text.rsplit('/').next().unwrap_or_default();
        ["mpirun", "mpiexec", "horovodrun", "deepspeed"].contains(&name)
    };
    let has_launcher = words.iter().any(is_launcher);
    let mut options = options_of(words);
    options.find_map(|(name, value)| {
        let value = &value.text;
        let is_number = value.starts_with(|letter: char| letter.is_ascii_digit());
        let are_several =
            MACHINES.contains(&&*name) && is_number && !["1", "1:1"].contains(&&**value)
                || has_launcher
                    && HOSTS.contains(&&*name)
                    && value != "/dev/null"
                    && (value.contains(',') || name.ends_with("file"));
        are_several.then(|| format!("{name} {value}"))
    })
}

/// Returns the words of a command, also those within a word: `bash -c "vllm serve … -tp 8"`, `a=1,tensor_parallel_size=8`.
pub fn inner_words(tokens: &[Token], splits_lists: bool) -> Vec<Token> {
    let inner = tokens.iter().flat_map(|token| {
        let pieces = token
            .text
            .split(move |letter: char| letter.is_whitespace() || splits_lists && letter == ',');
        let param = token.param;
        pieces.map(move |text| Token { text: text.to_owned(), param })
    });
    inner.collect()
}

/// Returns the options of words with their values: `--tp 8`, `--tp=8`.
pub fn options_of(words: &[Token]) -> impl Iterator<Item = (String, Token)> {
    words.iter().enumerate().filter_map(|(at, word)| {
        let (name, value) = match word.text.split_once('=') {
            Some((name, value)) => (name, Token { text: value.to_owned(), param: word.param }),
            None => (&*word.text, words.get(at + 1)?.clone()),
        };
        let text = value.text.trim_matches(['"', '\'', ';']).to_owned();
        Some((name.to_owned(), Token { text, ..value }))
    })
}

fn find_number(words: &[Token], names: Names) -> Option<Factor> {
    let mut options = options_of(words).filter(|(name, _)| names.contains(&&**name));
    options.find_map(|(_, value)| match value.param {
        Some(id) => Some(Factor::Param(id)),
        None => Some(Factor::Number(value.text.parse().ok()?)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::split_words;

    #[test]
    fn the_processes_of_a_command_are_counted() {
        let count = |text: &str| {
            let token = |text| Token { text, param: None };
            let tokens: Vec<Token> = split_words(text).into_iter().map(token).collect();
            let factors = gpus_of_command(&tokens)?;
            factors.iter().map(|factor| factor.number(&Values::default())).product::<Option<u32>>()
        };
        assert_eq!(count("vllm serve /m --tensor-parallel-size 4 -pp 2"), Some(8));
        assert_eq!(count("torchrun --nproc_per_node=8 x.py --tp 4 --pp 2"), Some(8));
        assert_eq!(count("sglang.launch_server --tp 8 --dp 8 --enable-dp-attention"), Some(8));
        assert_eq!(count("torchrun --nproc_per_node=gpu train.py"), None);
        assert_eq!(count("bash -c 'vllm serve -tp 2'"), Some(2));
        assert_eq!(count("bench --tp"), None);
        assert_eq!(count("accelerate launch --num_processes 4 x.py"), Some(4));
        assert_eq!(count("deepspeed --num_gpus=8 x.py --tp 2"), Some(8));
        assert_eq!(count("load.py --num_processes 4"), None);
        assert_eq!(count("./build/all_reduce_perf -b 8 -e 8G -f 2 -g 8"), Some(8));
        assert_eq!(count("mpirun -np 8 ./alltoall_perf -g 1"), Some(8));
        assert_eq!(count("./all_reduce_perf -n 20 -t 2 -g 4"), Some(8));
        assert_eq!(count("bench -g 8"), None);
        assert_eq!(count("python3 tf_cnn_benchmarks.py --num_gpus=4"), Some(4));
        assert_eq!(count("ray start --head --num-gpus 8"), Some(8));
        assert_eq!(count("load.py --gpus 8"), None);
        assert_eq!(count("torchrun --nnodes=2 --nproc_per_node 8 x.py"), Some(8));
        assert_eq!(count("sglang.launch_server --tp 16 --nnodes 2"), None);
        assert_eq!(count("mpirun -np 16 -H a:8,b:8 ./all_reduce_perf -g 1"), None);
    }
}
