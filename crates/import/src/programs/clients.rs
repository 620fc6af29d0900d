//! Programs that load an LLM server, whose figures a recipe has by `client`, and the options by which each saves them.

use std::ops::Range;

use super::roles::{interpreted_script, parse_script, program_words};
use super::words::program_name;
use crate::shell::{Item, Stage};
use retrial_serving::Client;

/// A client that saves its figures by options of its command line, of which the last counts.
struct SavingClient {
    /// The program or module, and the words behind it.
    words: &'static [&'static str],
    client: Client,
    /// `{}` is the directory.
    options: &'static str,
}

// A script of the name `benchmark_serving.py` is of InferenceX or of vLLM; guidellm and inference-perf save by a
// configuration.
const CLIENTS: [SavingClient; 3] = [
    SavingClient {
        words: &["vllm", "bench", "serve"],
        client: Client::Vllm,
        options: "--save-result --result-dir {} --result-filename result.json",
    },
    SavingClient {
        words: &["sglang.bench_serving"],
        client: Client::Sglang,
        options: "--output-file {}/result.jsonl",
    },
    SavingClient {
        words: &["aiperf", "profile"],
        client: Client::Aiperf,
        options: "--artifact-dir {}",
    },
];

/// A command that is a client.
pub struct ClientCommand {
    pub client: Client,
    /// `vllm bench serve`
    pub name: String,
    /// The options that were added to it.
    pub options: String,
    /// The script with them.
    pub run: String,
}

/// Returns a script in which one command is a client, with the options by which it saves its figures in a directory;
/// none if another program may read its output or its options.
pub fn save_figures_of_client(script: &str, directory: &str) -> Option<ClientCommand> {
    let (letters, items) = parse_script(script)?;
    let mut clients =
        items.iter().filter_map(|item| Some((item.range.clone(), find_client(item)?)));
    let (Range { end, .. }, found) = clients.next().filter(|_| clients.next().is_none())?;
    let [before, behind] = [&letters[..end], &letters[end..]].map(String::from_iter);
    let options = found.options.replace("{}", directory);
    Some(ClientCommand {
        client: found.client,
        name: found.words.join(" "),
        run: format!("mkdir -p {directory}\n{before} {options}{behind}"),
        options,
    })
}

/// Returns the client that a plain command is.
fn find_client(item: &Item) -> Option<&'static SavingClient> {
    let [Stage::Simple(simple)] = &item.stages[..] else { return None };
    if simple.here_document.is_some() {
        return None;
    }
    let words = simple.plain_words();
    let words = program_words(&words);
    let (program, arguments) = words.split_first()?;
    let script = interpreted_script(program, arguments);
    let is_same = |client: &&SavingClient| match script {
        Some(script) => client.words == [script],
        None => {
            program_name(program) == client.words[0]
                && arguments
                    .iter()
                    .zip(&client.words[1..])
                    .filter(|(own, word)| own == *word)
                    .count()
                    == client.words.len() - 1
        }
    };
    CLIENTS.iter().find(is_same)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(
        "vllm bench serve --model m",
        Some(
            "mkdir -p /r\nvllm bench serve --model m --save-result --result-dir /r --result-filename result.json"
        )
    )]
    #[case(
        "cd /x\nA=1 python3 -m sglang.bench_serving --port 1\nls\n",
        Some(
            "mkdir -p /r\ncd /x\nA=1 python3 -m sglang.bench_serving --port 1 --output-file /r/result.jsonl\nls\n"
        )
    )]
    #[case(
        "/opt/aiperf profile -m m >log",
        Some("mkdir -p /r\n/opt/aiperf profile -m m >log --artifact-dir /r")
    )]
    #[case("vllm bench serve --model m | tee log", None)]
    #[case("vllm bench throughput --model m", None)]
    #[case("vllm bench serve; vllm bench serve", None)]
    #[case("python3 benchmark_serving.py", None)]
    #[case("echo vllm bench serve", None)]
    fn a_plain_client_saves_its_figures(#[case] script: &str, #[case] expected: Option<&str>) {
        let found = save_figures_of_client(script, "/r");
        assert_eq!(found.map(|found| found.run).as_deref(), expected);
    }
}
