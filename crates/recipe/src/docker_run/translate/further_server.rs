//! A further server, in a container of its own: prefill and decode, or a model for answers and one for embeddings.

use std::collections::BTreeSet;

use itertools::Itertools as _;

use super::Translator;
use crate::docker_run::commands::GuideCommand;
use crate::docker_run::container::translate_flags;
use crate::docker_run::gpu_choices::chosen_gpus;
use crate::docker_run::images::add_image;
use crate::docker_run::line::ContainerLine;
use crate::docker_run::parts::{RecipeParts, set_variable};
use crate::docker_run::program_words::program_words;
use crate::docker_run::servers::{find_port, published_ports};
use crate::docker_run::values::Word;
use crate::writer::{map_node, text_node};

impl Translator {
    /// Adds the service of a further server. `first` is the line of the recipe's container, the first server's.
    pub(super) fn add_further_server(
        &mut self,
        parts: &mut RecipeParts<'_>,
        first: &ContainerLine,
        line: &ContainerLine,
        command: &GuideCommand,
    ) {
        let recipe_image = std::mem::take(&mut parts.image);
        let recipe_container = std::mem::take(&mut parts.container);
        let mut own = self.without_network(parts, line);
        let published = published_ports(parts, &own);
        let earlier = std::mem::replace(&mut self.published, published);
        self.move_port(parts, &mut own, &earlier);
        let chosen = chosen_gpus(parts, first).zip(chosen_gpus(parts, &own));
        add_image(parts, &own.image);
        translate_flags(parts, &own, &command.directory);
        if let Some(((variable, _), _)) = chosen {
            parts.remove_variable(variable);
        }
        parts.remove_flag("network");
        self.add_run_command(parts, &own, command);
        let image = text_node(std::mem::replace(&mut parts.image, recipe_image));
        let keys = std::mem::replace(&mut parts.container, recipe_container);
        let container = map_node([("image", image)].into_iter().chain(keys.into_values()));
        if let Some(server) = parts.services.last_mut() {
            server.keys.push(("container", container));
        }
        match chosen {
            Some(((variable, of_first), (_, of_own))) => {
                share_gpus(parts, variable, of_first, of_own);
            }
            None => self.add_gpu_flags(parts, &own),
        }
        let of_container = |word: &Word| parts.literal(word);
        self.further_names.extend(own.all_values("name").map(of_container));
        self.published.splice(0..0, earlier);
    }

    /// Adds the GPUs of a further server to those of the first one's line, since the recipe requires them all.
    fn add_gpu_flags(&mut self, parts: &RecipeParts<'_>, own: &ContainerLine) {
        let Some(line) = &mut self.line else { return };
        let count = |word: &Word| parts.literal(word).parse().unwrap_or(u32::MAX);
        for option in &own.flags {
            let present = line.flag(option.flag.name);
            let is_added = match option.flag.name {
                "device" => line.all_values("device").all(|word| word.text != option.value.text),
                "runtime" => present.is_none(),
                "gpus" => present.is_none_or(|word| count(word) < count(&option.value)),
                _ => false,
            };
            if is_added {
                line.flags.push(option.clone());
            }
        }
    }

    /// Moves a server to the port that its clients use if another server has its own port: services share a network.
    fn move_port(
        &mut self,
        parts: &mut RecipeParts<'_>,
        line: &mut ContainerLine,
        earlier: &[(u16, u16)],
    ) {
        let own_port = find_port(&program_words(parts, line));
        for (outside, inside) in &mut self.published {
            if !earlier.iter().any(|(_, other)| other == inside) {
                continue;
            }
            let option = own_port.filter(|(_, port)| port == inside && outside != inside);
            let Some((option, _)) = option else {
                let message = format!("two servers listen on port {inside}");
                let help = "services share the network of the recipe's container: give one of them another port";
                return parts.refuse(message, &line.image, help);
            };
            parts.note(format!(
                "{option} {outside}: added to the further server, since services share a network and {inside} is taken"
            ));
            let words = [option.to_owned(), outside.to_string()];
            let words = words.map(|word| line.image.with_text(word));
            line.command.extend(words);
            *inside = *outside;
        }
    }
}

/// Lets each of the servers choose its GPUs among those of the recipe, whose lines name them.
fn share_gpus(
    parts: &mut RecipeParts<'_>,
    variable: &'static str,
    of_first: Vec<u32>,
    of_own: Vec<u32>,
) {
    parts.remove_variable(variable);
    if let Some(server) = parts.services.first_mut() {
        server.gpus = of_first;
    }
    if let Some(server) = parts.services.last_mut() {
        server.gpus = of_own;
    }
    let of_servers = parts.services.iter().flat_map(|server| &server.gpus);
    let all: BTreeSet<u32> = of_servers.copied().collect();
    for server in &mut parts.services {
        let of_server = all.iter().enumerate();
        let of_server = of_server.filter(|(_, id)| server.gpus.contains(id));
        let positions = of_server.map(|(position, _)| position).join(",");
        if !positions.is_empty() {
            set_variable(&mut server.keys, variable, text_node(positions));
        }
    }
    parts.server_gpus = Some(all.iter().join(","));
}
