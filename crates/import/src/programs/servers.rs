//! Servers that guides start, their images, and where they listen.

use retrial_container::ImageRef;

use super::line::ContainerLine;
use super::words::program_name;
use crate::shell::{Values, Word};

/// A program that serves until it is stopped.
pub struct ServerProgram {
    /// Words that its command has in a row; the first may be the end of a path.
    words: &'static [&'static str],
    pub port_options: &'static [&'static str],
    pub port: u16,
    /// The path that answers once it is ready.
    pub health: &'static str,
}

const PORT: &[&str] = &["--port"];

const fn server(
    words: &'static [&'static str],
    port_options: &'static [&'static str],
    port: u16,
    health: &'static str,
) -> ServerProgram {
    ServerProgram { words, port_options, port, health }
}

const SERVERS: [ServerProgram; 19] = [
    server(&["vllm", "serve"], PORT, 8000, "/health"),
    server(&["vllm.entrypoints.openai.api_server"], PORT, 8000, "/health"),
    server(&["vllm.entrypoints.api_server"], PORT, 8000, "/health"),
    server(&["sglang.launch_server"], PORT, 30000, "/health"),
    server(&["sglang", "serve"], PORT, 30000, "/health"),
    server(&["sglang_router.launch_router"], PORT, 30000, "/health"),
    server(&["sglang.srt.disaggregation.mini_lb"], PORT, 8000, "/health"),
    server(&["tritonserver"], &["--http-port"], 8000, "/v2/health/ready"),
    server(&["triton", "start"], &[], 8000, "/v2/health/ready"),
    server(&["trtllm-serve"], PORT, 8000, "/health"),
    server(&["text-generation-launcher"], &["--port", "-p"], 80, "/health"),
    server(&["tgi-entrypoint.sh"], &["--port", "-p"], 80, "/health"),
    server(&["text-embeddings-router"], &["--port", "-p"], 80, "/health"),
    server(&["llama-server"], PORT, 8080, "/health"),
    server(&["tools.sh", "--server"], PORT, 8080, "/health"),
    server(&["tools.sh", "-s"], PORT, 8080, "/health"),
    server(&["lmdeploy", "serve", "api_server"], &["--server-port"], 23333, "/health"),
    server(&["ollama", "serve"], &[], 11434, "/"),
    server(&["jupyter"], PORT, 8888, "/"),
];

/// An image whose entrypoint is a program: the words behind the image are its arguments.
struct ServerImage {
    /// The prefixes of its name and its tag.
    name: &'static str,
    /// The entrypoint; none if it differs between images of the name.
    entrypoint: Option<&'static str>,
    /// The arguments where the line has none.
    arguments: &'static str,
}

const fn server_image(
    name: &'static str,
    entrypoint: Option<&'static str>,
    arguments: &'static str,
) -> ServerImage {
    ServerImage { name, entrypoint, arguments }
}

const SERVER_IMAGES: [ServerImage; 9] = [
    server_image("vllm/vllm-openai", Some("vllm serve"), ""),
    server_image("ghcr.io/huggingface/text-generation-inference", Some("/tgi-entrypoint.sh"), ""),
    server_image(
        "ghcr.io/huggingface/text-embeddings-inference",
        Some("text-embeddings-router"),
        "",
    ),
    server_image("ghcr.io/ggml-org/llama.cpp:server", Some("/app/llama-server"), ""),
    server_image("ghcr.io/ggml-org/llama.cpp:light", Some("/app/llama-cli"), ""),
    server_image("ghcr.io/ggml-org/llama.cpp:full", Some("/app/tools.sh"), ""),
    server_image("ghcr.io/ggml-org/llama.cpp", None, ""),
    server_image("ollama/ollama", Some("ollama"), "serve"),
    server_image("nvcr.io/nim/", None, ""),
];

/// What the words behind an image are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImageArguments {
    Command,
    /// Arguments of the image's entrypoint, which is these words.
    Of(Vec<String>),
    /// Arguments of an entrypoint that is not known.
    OfUnknown,
}

/// Returns what the words behind an image are, by the image and their first.
pub fn read_image_arguments(image: &str, words: &[String]) -> ImageArguments {
    let name = ImageRef::parse(image)
        .map_or_else(|_| image.to_owned(), |image| image.to_lookup_reference());
    let server = SERVER_IMAGES.iter().find(|server| name.starts_with(server.name));
    match (server, words.first()) {
        (Some(ServerImage { entrypoint: None, .. }), None) => ImageArguments::OfUnknown,
        (Some(server), first) if first.is_none_or(|word| !is_program(word)) => {
            let Some(entrypoint) = server.entrypoint else {
                return ImageArguments::OfUnknown;
            };
            // vLLM's `serve` takes the model as its first argument; its older entrypoint takes `--model`.
            let names_model =
                words.iter().any(|word| word == "--model" || word.starts_with("--model="));
            let entrypoint = match entrypoint {
                "vllm serve" if names_model => "python3 -m vllm.entrypoints.openai.api_server",
                other => other,
            };
            let arguments = if first.is_none() { server.arguments } else { "" };
            let all = entrypoint.split(' ').chain(arguments.split_whitespace());
            ImageArguments::Of(all.map(str::to_owned).collect())
        }
        (None, Some(first))
            if first.starts_with('-') || first.contains([' ', '=']) || is_hub_name(first) =>
        {
            ImageArguments::OfUnknown
        }
        _ => ImageArguments::Command,
    }
}

/// Whether a word behind the image of a server is a program and not a server's argument.
fn is_program(word: &str) -> bool {
    let programs = [
        "bash",
        "sh",
        "python",
        "python3",
        "vllm",
        "env",
        "ollama",
        "trtllm-serve",
        "mpirun",
        "numactl",
        "text-generation-launcher",
    ];
    programs.contains(&program_name(word)) || word.starts_with('/') || word.starts_with("./")
}

/// Whether a word is a model of the hub, as no program is called: `acme/Big-MoE-FP8`.
fn is_hub_name(word: &str) -> bool {
    let Some((owner, model)) = word.split_once('/') else {
        return false;
    };
    let has_size = |part: &str| {
        let digits = part.trim_end_matches(['b', 'B', 'm', 'M']);
        digits != part && digits.ends_with(|letter: char| letter.is_ascii_digit())
    };
    !owner.is_empty()
        && !owner.starts_with(['.', '$'])
        && !model.contains(['/', '$'])
        && model.rsplit_once('.').is_none_or(|(_, ending)| !["sh", "py"].contains(&ending))
        && (model.contains(|letter: char| letter.is_ascii_uppercase())
            || model.split('-').any(has_size))
}

/// Returns the server that a command starts, also in a shell.
pub fn find_server(words: &[String]) -> Option<&'static ServerProgram> {
    let words: Vec<&str> = words.iter().flat_map(|word| word.split_whitespace()).collect();
    let has = |server: &&ServerProgram| {
        words.windows(server.words.len()).any(|window| {
            program_name(window[0]) == server.words[0] && window[1..] == server.words[1..]
        })
    };
    SERVERS.iter().find(has)
}

/// Returns the port in the container that a line publishes first.
pub fn published_ports(line: &ContainerLine, values: &Values) -> Vec<(u16, u16)> {
    let pair = |word: &Word| {
        let literal = word.known(values)?;
        let bare = literal.split('/').next().unwrap_or_default();
        let mut numbers = bare.rsplit(':');
        let inside = numbers.next()?.parse().ok()?;
        let outside = numbers.next().and_then(|port| port.parse().ok());
        Some((outside.unwrap_or(inside), inside))
    };
    line.all_values("publish").filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::words::split_words;

    #[test]
    fn servers_are_known_by_their_words() {
        let finds = |text: &str| find_server(&split_words(text)).is_some();
        assert!(finds("bash -lc 'python3 -m sglang.launch_server --tp 8'"));
        assert!(finds("/usr/bin/tritonserver --model-repository=/models"));
        assert!(!finds("vllm bench serve --port 8000"));
    }

    #[test]
    fn models_are_no_programs() {
        for (word, is_model) in [
            ("acme/Big-MoE-FP8", true),
            ("acme/tiny-7b", true),
            ("bin/bench", false),
            ("./run_bench", false),
            ("bench/run.sh", false),
        ] {
            assert_eq!(is_hub_name(word), is_model, "{word}");
        }
    }
}
