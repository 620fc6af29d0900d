//! Checks several machines: at least as many GPUs as machines, and no placement on one machine.

use super::CheckContext;

impl CheckContext<'_> {
    pub(super) fn check_nodes(&mut self) {
        let recipe = self.recipe;
        let Some(nodes) = recipe.get("nodes") else {
            return self.reject_placement();
        };
        let number = |key: &str| -> Option<u32> { nodes.text_at(key)?.parse().ok() };
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

    /// Rejects placements, which have no meaning on one machine.
    fn reject_placement(&mut self) {
        let services = self.recipe.entries_at("services");
        for entry in self.modes_and_commands().chain(services) {
            let help = "set their number at the top of the file: `nodes: {count: 2}`";
            self.report_misplaced(&entry.value, "on", "`on` needs several machines", help);
        }
    }
}
