//! Servers that guides start, their images, and where they listen.

use retrial_container::ImageRef;

use super::line::ContainerLine;
use super::parts::{RecipeParts, WrittenKeys};
use crate::writer::{map_node, text_node};

/// The longest that a server may take until it is ready: it loads a model.
const READY_TIMEOUT: &str = "1h";

/// A program that serves until it is stopped.
struct ServerProgram {
    /// Words that its command has in a row; the first may be the end of a path.
    words: &'static [&'static str],
    port_options: &'static [&'static str],
    port: u16,
    /// The path that answers once it is ready.
    health: &'static str,
}

/// Host names by which a container reaches the ports of its host.
pub(super) const HOST_NAMES: [&str; 3] =
    ["host.docker.internal", "host.containers.internal", "172.17.0.1"];

const PORT: &[&str] = &["--port"];

const fn server(
    words: &'static [&'static str],
    port_options: &'static [&'static str],
    port: u16,
    health: &'static str,
) -> ServerProgram {
    ServerProgram { words, port_options, port, health }
}

const SERVERS: [ServerProgram; 16] = [
    server(&["vllm", "serve"], PORT, 8000, "/health"),
    server(&["vllm.entrypoints.openai.api_server"], PORT, 8000, "/health"),
    server(&["vllm.entrypoints.api_server"], PORT, 8000, "/health"),
    server(&["sglang.launch_server"], PORT, 30000, "/health"),
    server(&["sglang_router.launch_router"], PORT, 30000, "/health"),
    server(&["sglang.srt.disaggregation.mini_lb"], PORT, 8000, "/health"),
    server(&["tritonserver"], &["--http-port"], 8000, "/v2/health/ready"),
    server(&["trtllm-serve"], PORT, 8000, "/health"),
    server(&["text-generation-launcher"], &["--port", "-p"], 80, "/health"),
    server(&["tgi-entrypoint.sh"], &["--port", "-p"], 80, "/health"),
    server(&["text-embeddings-router"], &["--port", "-p"], 80, "/health"),
    server(&["llama-server"], PORT, 8080, "/health"),
    server(&["tools.sh", "--server"], PORT, 8080, "/health"),
    server(&["tools.sh", "-s"], PORT, 8080, "/health"),
    server(&["lmdeploy", "serve", "api_server"], &["--server-port"], 23333, "/health"),
    server(&["ollama", "serve"], &[], 11434, "/"),
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
pub(super) enum ImageArguments {
    Command,
    /// Arguments of the image's entrypoint, which is these words.
    Of(Vec<String>),
    /// Arguments of an entrypoint that is not known.
    OfUnknown,
}

/// Returns what the words behind an image are, by the image and their first.
pub(super) fn read_image_arguments(
    image: &str,
    words: &[String],
    is_interactive: bool,
) -> ImageArguments {
    let name = ImageRef::parse(image)
        .map_or_else(|_| image.to_owned(), |image| image.to_lookup_reference());
    let server = SERVER_IMAGES.iter().find(|server| name.starts_with(server.name));
    match (server, words.first()) {
        (Some(ServerImage { entrypoint: None, .. }), None) => ImageArguments::OfUnknown,
        (Some(server), first)
            if first.is_some_and(|word| !is_program(word))
                || !is_interactive && first.is_none() =>
        {
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
        (None, Some(first)) if first.starts_with('-') || is_hub_name(first) => {
            ImageArguments::OfUnknown
        }
        _ => ImageArguments::Command,
    }
}

/// Whether a word behind the image of a server is a program and not a server's argument.
fn is_program(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
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
    programs.contains(&name) || word.starts_with('/') || word.starts_with("./")
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
fn find_server(words: &[String]) -> Option<&'static ServerProgram> {
    let words: Vec<&str> = words.iter().flat_map(|word| word.split_whitespace()).collect();
    let has = |server: &&ServerProgram| {
        words.windows(server.words.len()).any(|window| {
            let first = window[0].rsplit('/').next().unwrap_or_default();
            first == server.words[0] && window[1..] == server.words[1..]
        })
    };
    SERVERS.iter().find(has)
}

/// Returns whether a command is a server that Retrial knows, without its client behind it.
pub(super) fn is_server(words: &[String]) -> bool {
    let text = words.join(" ").replace("&\n", "& ");
    let mut parts = text.split(" & ").skip(1);
    find_server(words).is_some() && !parts.any(|part| is_client(part, &[]))
}

/// Returns the key `ready` of a server; nothing if nobody knows where it listens.
pub(super) fn ready_key(words: &[String], published: &[(u16, u16)]) -> Option<WrittenKeys> {
    let server = find_server(words);
    let options = server.map_or(PORT, |server| server.port_options);
    let stated = find_port_option(words, options);
    let condition = match (server, stated, published.first()) {
        (Some(server), stated, _) => {
            let port = stated.unwrap_or(server.port);
            ("http", text_node(format!("http://localhost:{port}{}", server.health)))
        }
        (None, Some(port), _) | (None, None, Some(&(_, port))) => {
            ("port", crate::writer::plain_node(port.to_string()))
        }
        (None, None, None) => return None,
    };
    let ready = map_node([condition, ("timeout", text_node(READY_TIMEOUT))]);
    Some(vec![("ready", ready)])
}

/// Returns the port at which a server listens, and the option that sets it.
pub(super) fn find_port(words: &[String]) -> Option<(&'static str, u16)> {
    let server = find_server(words)?;
    let port = find_port_option(words, server.port_options).unwrap_or(server.port);
    Some((server.port_options.first()?, port))
}

fn find_port_option(words: &[String], options: &[&str]) -> Option<u16> {
    let words: Vec<&str> = words.iter().flat_map(|word| word.split_whitespace()).collect();
    // The last of an option counts.
    words.iter().enumerate().rev().find_map(|(at, word)| {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, value),
            None => (*word, *words.get(at + 1)?),
        };
        let value = value.trim_matches(['"', '\'']);
        options.contains(&name).then(|| value.parse().ok()).flatten()
    })
}

/// Returns the ports that a line publishes: on the host, in the container.
pub(super) fn published_ports(parts: &RecipeParts<'_>, line: &ContainerLine) -> Vec<(u16, u16)> {
    let pair = |word| {
        let literal = parts.literal(word);
        let bare = literal.split('/').next().unwrap_or_default();
        let mut numbers = bare.rsplit(':');
        let inside = numbers.next()?.parse().ok()?;
        let outside = numbers.next().and_then(|port| port.parse().ok());
        Some((outside.unwrap_or(inside), inside))
    };
    line.all_values("publish").filter_map(pair).collect()
}

/// Returns a command of the host as it is in the container: the ports of the host are those behind them.
pub(super) fn move_ports(text: &str, published: &[(u16, u16)]) -> String {
    let mut moved = text.to_owned();
    for (outside, inside) in published {
        for host in HOST_NAMES {
            let of_container = format!("localhost:{inside}");
            moved = moved.replace(&format!("{host}:{outside}"), &of_container);
        }
    }
    for (outside, inside) in published.iter().filter(|(outside, inside)| outside != inside) {
        for host in ["localhost", "127.0.0.1", "0.0.0.0"] {
            moved = moved.replace(&format!("{host}:{outside}"), &format!("{host}:{inside}"));
        }
        moved = moved.replace(&format!("--port {outside}"), &format!("--port {inside}"));
    }
    moved
}

/// Returns whether a command of the host asks a server.
pub(super) fn is_client(text: &str, published: &[(u16, u16)]) -> bool {
    let programs = [
        "bench",
        "curl",
        "genai-perf",
        "guidellm",
        "perf_analyzer",
        "locust",
        "aiperf",
        "lm_eval",
        "wrk",
        "llmperf",
    ];
    let asks =
        |port: &u16| text.contains(&format!(":{port}")) || text.contains(&format!("--port {port}"));
    let names_server = text.contains("localhost:")
        || text.contains("127.0.0.1:")
        || published.iter().any(|(outside, _)| asks(outside));
    names_server || programs.iter().any(|program| text.contains(program))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::docker_run::gpu_options::split_words;

    #[test]
    fn servers_are_known_by_their_words() {
        assert!(is_server(&split_words("bash -lc 'python3 -m sglang.launch_server --tp 8'")));
        assert!(is_server(&split_words("/usr/bin/tritonserver --model-repository=/models")));
        assert!(!is_server(&split_words("vllm bench serve --port 8000")));
        assert_eq!(find_port_option(&split_words("vllm serve m --port=81"), PORT), Some(81));
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
