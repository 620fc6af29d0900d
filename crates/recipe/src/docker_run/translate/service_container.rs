//! A server and its client in two containers: the client's becomes the recipe's, and the server's becomes that of a
//! service, which shares the network of the recipe's.

use itertools::Itertools as _;

use super::Translator;
use crate::docker_run::commands::GuideCommand;
use crate::docker_run::flags::FlagTreatment;
use crate::docker_run::gpus::add_gpus;
use crate::docker_run::line::{ContainerLine, FlagValue};
use crate::docker_run::parts::RecipeParts;
use crate::docker_run::program_words::is_known_server;
use crate::docker_run::servers::HOST_NAMES;
use crate::docker_run::values::Word;
use crate::writer::{map_node, text_node};

/// A server with a container of its own.
pub(super) struct ServerSide {
    /// The image, with the values that are known.
    pub image: String,
    /// The names of its container, which clients may use as host names.
    names: Vec<String>,
    /// Whether it uses the host's network.
    is_on_host: bool,
}

impl ServerSide {
    /// Returns whether a client reaches the server at the ports of the host.
    pub(super) fn shares_host_ports(&self, client: &ContainerLine) -> bool {
        let network = client.flag("network").map(|word| &*word.text);
        !self.is_on_host && matches!(network, None | Some("host" | "bridge"))
    }
}

impl Translator {
    /// Adds a further container: the client of a server, or one like the container that the recipe has.
    pub(super) fn add_further_run(
        &mut self,
        parts: &mut RecipeParts<'_>,
        line: &ContainerLine,
        command: &GuideCommand,
    ) {
        let of_recipe = self.line.clone();
        let needs_client = !parts.services.is_empty()
            && self.server_side.is_none()
            && parts.commands.len() == parts.commands_before_server;
        match of_recipe {
            Some(first) if needs_client && is_known_server(parts, line) => {
                self.add_further_server(parts, &first, line, command);
            }
            Some(server) if needs_client && parts.commands.is_empty() => {
                self.move_container_to_server(parts, &server);
                let client = self.without_network(parts, line);
                self.add_run(parts, client, command);
                self.name_server(parts);
            }
            Some(earlier) if self.commits.contains(&parts.literal(&line.image)) => {
                self.add_committed_run(parts, &earlier, line, command);
            }
            Some(earlier) if is_same_container(&earlier, line) => {
                parts.note("each `docker run` of the guide has a container of its own; here their commands run in one, one after another");
                self.add_run_command(parts, line, command);
            }
            _ => {
                let message = format!("{} `docker run` commands in it", self.runs);
                let help = "a recipe has one container, and one for each service: give the lines of the server and of its client, or of what is measured; run the others on the host before";
                let place = Word::new("", &command.span);
                parts.refuse(message, &place, help);
            }
        }
    }

    /// Moves the recipe's container to the server's service.
    fn move_container_to_server(&mut self, parts: &mut RecipeParts<'_>, line: &ContainerLine) {
        let words = parts.services.iter().map(|server| server.words.clone());
        add_gpus(parts, line, &words.collect::<Vec<_>>());
        let network = parts.remove_flag("network");
        let network = network.as_ref().and_then(|node| node.text());
        if let Some(network) = network.filter(|network| *network != "host") {
            note_network(parts, network);
        }
        let names = line.all_values("name").chain(line.all_values("network-alias"));
        let names = names.map(|word| parts.literal(word));
        let names = names.chain(std::mem::take(&mut self.further_names)).collect();
        self.server_side = Some(ServerSide {
            image: parts.literal(&line.image),
            names,
            is_on_host: network == Some("host"),
        });
        let image = text_node(std::mem::take(&mut parts.image));
        let keys = std::mem::take(&mut parts.container).into_values();
        let container = map_node([("image", image)].into_iter().chain(keys));
        if let Some(server) = parts.services.first_mut() {
            server.keys.push(("container", container));
        }
        self.line = None;
    }

    /// Returns the client's line without the flags that connect it to the server.
    pub(super) fn without_network(
        &mut self,
        parts: &mut RecipeParts<'_>,
        line: &ContainerLine,
    ) -> ContainerLine {
        let mut client = line.clone();
        client.flags.clear();
        for option in &line.flags {
            let value = parts.literal(&option.value);
            match option.flag.name {
                "link" if self.adopt_link(&value) => note_network(parts, &value),
                "network" if !matches!(&*value, "host" | "bridge") => note_network(parts, &value),
                "network-alias" => {}
                "add-host" if HOST_NAMES.iter().any(|name| value.starts_with(name)) => {
                    parts.note(format!("--add-host {value}: dropped, the server is at localhost"));
                }
                _ => client.flags.push(option.clone()),
            }
        }
        client
    }

    /// Adds a `--link` alias to the server's names.
    fn adopt_link(&mut self, link: &str) -> bool {
        let (name, alias) = link.split_once(':').unwrap_or((link, link));
        let Some(server) = &mut self.server_side else {
            return false;
        };
        let is_server = server.names.iter().any(|own| own == name);
        if is_server && alias != name {
            server.names.push(alias.to_owned());
        }
        is_server
    }

    /// Gives the client's container the network of the server, and the host names that it uses for the server.
    fn name_server(&self, parts: &mut RecipeParts<'_>) {
        let Some(server) = &self.server_side else {
            return;
        };
        if server.is_on_host {
            let key = parts.set_flag("network", "host");
            debug_assert!(key.is_ok(), "the container has the key");
        }
        let commands = parts.commands.iter().map(|command| &*command.run).join("\n");
        for name in server.names.iter().filter(|name| is_host_in(&commands, name)) {
            let host = format!("{name}:127.0.0.1");
            let key = parts.set_flag("add-host", &host);
            debug_assert!(key.is_ok(), "the container has the key");
        }
    }

    /// Returns whether a name is that of the server's container, which is not the client's.
    pub(super) fn is_in_server(&self, name: &Word) -> bool {
        let names = self.server_side.as_ref().map(|server| &server.names);
        names.unwrap_or(&self.further_names).contains(&name.text)
    }
}

fn note_network(parts: &mut RecipeParts<'_>, network: &str) {
    parts.note(format!(
        "--network {network}: dropped, a service shares the network of the recipe's container"
    ));
}

/// Whether two lines start containers with the same image and flags.
fn is_same_container(one: &ContainerLine, other: &ContainerLine) -> bool {
    let is_key = |option: &&FlagValue| !matches!(option.flag.treatment, FlagTreatment::Dropped(_));
    let keys = |line: &ContainerLine| -> Vec<(&'static str, String)> {
        let of_container = line.flags.iter().filter(is_key);
        of_container.map(|option| (option.flag.name, option.value.text.clone())).sorted().collect()
    };
    one.image.text == other.image.text && keys(one) == keys(other)
}

/// Whether a text uses a name as a host name: `//name`, `name:8000`, `--host name`.
fn is_host_in(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = &text[..at];
        let after = text[at + name.len()..].chars().next();
        let option = before.trim_end_matches([' ', '=', '\'', '"']);
        let option = option.rsplit(char::is_whitespace).next().unwrap_or_default();
        let is_named = option.starts_with('-')
            && before.len() > option.len()
            && ["host", "url", "addr", "server", "ip", "endpoint"]
                .iter()
                .any(|part| option.contains(part));
        let is_whole =
            !after.is_some_and(|letter| letter.is_alphanumeric() || "-_.".contains(letter));
        is_whole && (before.ends_with("//") || after == Some(':') || is_named)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_named_as_a_host() {
        for (text, is_host) in [
            ("bench --url http://vllm:8000/v1", true),
            ("bench --host vllm --port 1", true),
            ("bench --server-url='vllm'", true),
            ("vllm bench serve --model vllm/x", false),
            ("bench --url http://vllm-2:8000", false),
        ] {
            assert_eq!(is_host_in(text, "vllm"), is_host, "{text}");
        }
    }
}
