//! A server as a service: its command, the sign that it is ready, and its container if it has one of its own.

use retrial_document::Node;
use retrial_recipe::model::SHARED_NETWORK_KEYS;
use retrial_recipe::writer::{map_node, plain_node, text_node};

use super::builder::Builder;
use super::flags::translate_flags;
use super::gpu_options::{Token, inner_words, options_of};
use super::gpus::{add_gpus, expand_tokens, gpu_tokens};
use super::images::image_text;
use super::keys::{ContainerKeys, WrittenKeys};
use super::missing::{MissingPlace, PLACEHOLDER_COMMAND, describe_entrypoint, shorten};
use super::scripts::with_secrets;
use super::session::{Entry, Session, ports_of};
use crate::programs::{ContainerLine, Role, find_server};
use crate::shell::ParamKind;

/// The longest that a server may take until it is ready: it loads a model.
const READY_TIMEOUT: &str = "1h";
/// Host names by which a container reaches the ports of its host.
const HOST_NAMES: [&str; 3] = ["host.docker.internal", "host.containers.internal", "172.17.0.1"];

/// A service of a recipe.
#[derive(Debug)]
pub struct Service {
    pub run: String,
    pub ready: Node,
    pub keys: WrittenKeys,
    /// The keys of a container of its own.
    pub container: Option<Node>,
}

impl Service {
    pub fn into_node(self) -> Node {
        let keys =
            [("run", text_node(self.run)), ("ready", self.ready)].into_iter().chain(self.keys);
        let container = self.container.map(|container| ("container", container));
        map_node(keys.chain(container))
    }
}

/// Returns the condition under which a server is ready: its own port follows its option. `keys` has the variables of its
/// container.
pub fn ready_of(
    builder: &mut Builder<'_>,
    session: &Session,
    entry: &Entry,
    keys: &ContainerKeys,
) -> Node {
    let tokens = inner_words(&expand_tokens(session, keys, entry), false);
    let words: Vec<String> = tokens.iter().map(|token| token.text.clone()).collect();
    let server = find_server(&words);
    let names = server.map_or(&["--port"][..], |server| server.port_options);
    let stated = options_of(&tokens).filter(|(name, _)| names.contains(&&**name)).last();
    let published = ports_of(builder, session).first().map(|(_, port)| *port);
    let port = match stated {
        Some((_, Token { param: Some(id), .. })) => {
            builder.values.param_mut(id).kind = ParamKind::Int;
            Some(builder.values.expression(id))
        }
        Some((_, Token { text, .. })) => text.parse::<u16>().ok().map(|port| port.to_string()),
        None => server.map(|server| server.port).or(published).map(|port| port.to_string()),
    };
    let timeout = ("timeout", text_node(READY_TIMEOUT));
    match (server, port) {
        (Some(server), Some(port)) => {
            let address = format!("http://localhost:{port}{}", server.health);
            map_node([("http", text_node(address)), timeout])
        }
        (None, Some(port)) => {
            let port = if port.contains("${{") { text_node(port) } else { plain_node(port) };
            map_node([("port", port), timeout])
        }
        (_, None) => {
            builder.ask(
                MissingPlace::Service("ready"),
                format!(
                    "when `{}` is ready, for example `{{ port: 8000 }}`",
                    shorten(&entry.run, 40)
                ),
            );
            map_node([("log", text_node("ready")), timeout])
        }
    }
}

/// Returns the service of a server in a container of its own. Lines before the server are part of its command.
pub fn move_to_service(builder: &mut Builder<'_>, session: &Session) -> Service {
    let mut keys = ContainerKeys::default();
    translate_flags(builder, &session.line, &mut keys);
    let tokens = gpu_tokens(session, &keys);
    add_gpus(builder, &session.line, &mut keys, &tokens);
    let image = image_text(builder, &session.line.image);
    for key in SHARED_NETWORK_KEYS {
        let flag = if key == "add_host" { "add-host" } else { key };
        if let Some(node) = keys.remove(flag)
            && node.text().is_some_and(|text| text != "host")
        {
            builder.note(format!("--{flag} of the server: dropped, a service shares the network of the recipe's container"));
        }
    }
    let at = session.entries.iter().position(|entry| entry.role == Role::Server);
    let at = at.or_else(|| session.entries.iter().rposition(|entry| entry.role == Role::Measure));
    let ports = ports_of(builder, session);
    let Some(at) = at else {
        let arguments = session.unknown_entrypoint.clone().unwrap_or_default();
        let text = shorten(&describe_entrypoint(&arguments), 80) + " (docker inspect prints it)";
        builder.ask(MissingPlace::Service("run"), text);
        let port = ports.first().map_or(8000, |(_, port)| *port);
        let ready = map_node([
            ("port", plain_node(port.to_string())),
            ("timeout", text_node(READY_TIMEOUT)),
        ]);
        let image = [("image", text_node(image))].into_iter();
        return Service {
            run: PLACEHOLDER_COMMAND.to_owned(),
            ready,
            keys: Vec::new(),
            container: Some(map_node(image.chain(keys.into_keys()))),
        };
    };
    let server = &session.entries[at];
    let mut lines: Vec<String> = session.entries[..at]
        .iter()
        .filter(|entry| entry.role != Role::Wait)
        .map(|entry| entry.run.clone())
        .collect();
    lines.push(server.run.clone());
    let text = if lines.len() == 1 { lines.remove(0) } else { lines.join("\n") + "\n" };
    let run = with_secrets(builder, &text);
    let ready = ready_of(builder, session, server, &keys);
    let container = map_node([("image", text_node(image))].into_iter().chain(keys.into_keys()));
    Service { run, ready, keys: server.keys.clone(), container: Some(container) }
}

/// Returns the client's line without the flags that connect it to the server.
pub fn client_line(
    builder: &mut Builder<'_>,
    line: &ContainerLine,
    server: &Session,
) -> ContainerLine {
    let mut client = line.clone();
    let names = server_names(builder, server);
    client.flags.retain(|option| {
        let value = option.value.sketch(&builder.values);
        match option.flag.name {
            "link" => !names.iter().any(|name| value.split(':').next() == Some(name)),
            "network" => matches!(&*value, "host" | "bridge"),
            "network-alias" => false,
            "add-host" => !HOST_NAMES.iter().any(|name| value.starts_with(name)),
            _ => true,
        }
    });
    if client.flags.len() < line.flags.len() {
        builder.note("the network of the client: dropped, a service shares the network of the recipe's container");
    }
    client
}

fn server_names(builder: &Builder<'_>, server: &Session) -> Vec<String> {
    let line = &server.line;
    let names = line.all_values("name").chain(line.all_values("network-alias"));
    names.map(|word| word.sketch(&builder.values)).collect()
}

/// Gives the client's container the network of the server, and the host names that it uses for the server.
pub fn name_server(
    builder: &mut Builder<'_>,
    server: &Session,
    client: &Session,
    keys: &mut ContainerKeys,
) {
    let is_on_host = server.line.flag("network").is_some_and(|word| word.plain() == Some("host"));
    if is_on_host {
        let key = keys.set("network", "host");
        debug_assert!(key.is_ok(), "the container has the key");
    }
    let text: Vec<&str> = client.entries.iter().map(|entry| entry.run.as_str()).collect();
    let text = text.join("\n");
    for name in server_names(builder, server).iter().filter(|name| is_host_in(&text, name)) {
        let key = keys.set("add-host", &format!("{name}:127.0.0.1"));
        debug_assert!(key.is_ok(), "the container has the key");
    }
    let moved = ports_of(builder, server).into_iter().find(|(outside, inside)| {
        outside != inside && !is_on_host && text.contains(&outside.to_string())
    });
    if let Some((outside, inside)) = moved {
        builder.ask(
            MissingPlace::Measurement("run"),
            format!("the server is at localhost:{inside}; the guide's client asks the host's port {outside}"),
        );
    }
    let named = HOST_NAMES.iter().find(|name| text.contains(**name));
    if let Some(name) = named {
        builder.ask(
            MissingPlace::Measurement("run"),
            format!("the server is at localhost; the guide's client asks `{name}`"),
        );
    }
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

/// Asks for the client that a guide runs on the host.
pub fn ask_for_host_client(builder: &mut Builder<'_>, shown: &str) {
    builder.ask(
        MissingPlace::Measurement("run"),
        format!(
            "the guide runs `{}` on the host: the client, in an image that has it",
            shorten(shown, 50)
        ),
    );
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
