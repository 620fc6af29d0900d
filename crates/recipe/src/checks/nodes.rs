//! Several machines: as many GPUs as machines at least, and no placement without them.

use super::Checks;
use retrial_document::Node;

impl Checks<'_> {
    pub(super) fn nodes(&mut self) {
        let recipe = self.recipe;
        let Some(nodes) = recipe.get("nodes") else {
            return self.no_placement();
        };
        let number = |key: &str| {
            nodes
                .get(key)
                .and_then(|node| node.text()?.parse::<u32>().ok())
        };
        let (count, gpus) = (number("count"), number("gpus"));
        if let (Some(count), Some(gpus), Some(entry)) = (count, gpus, nodes.entry("gpus"))
            && gpus < count
        {
            self.problems.error(
                "nodes",
                format!("{count} machines have at least {count} GPUs, not {gpus}"),
                &entry.value.span,
                "`gpus` counts those of all machines together",
            );
        }
    }

    /// A placement has no meaning on one machine.
    fn no_placement(&mut self) {
        let recipe = self.recipe;
        let scenarios = recipe.entries_at("scenarios").iter();
        let modes = scenarios.flat_map(|scenario| scenario.value.entries());
        let services = recipe.entries_at("services").iter();
        let commands = recipe.entries_at("commands").iter();
        let nodes: Vec<&Node> = modes
            .chain(services)
            .chain(commands)
            .map(|entry| &entry.value)
            .collect();
        for node in nodes {
            let help = "say how many at the top of the file: `nodes: {count: 2}`";
            self.misplaced(node, "on", "`on` needs several machines", help);
        }
    }
}
