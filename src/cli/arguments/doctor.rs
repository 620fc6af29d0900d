//! Arguments of `doctor`.

use clap::Args;

use crate::app::options::RecipeSettings;
use retrial_cluster::nodes::allocation::{NodeAllocation, parse_nodes_option};

/// Which host or machines are checked, and for which recipe.
#[derive(Debug, Clone, Args)]
pub struct DoctorArguments {
    /// Check the requirements of this recipe
    pub recipe: Option<String>,
    /// Variants, params and images of the recipe.
    #[command(flatten)]
    pub settings: RecipeSettings,
    /// Check these GPUs: index (0,2 or 0-3), GPU-… or PCI address
    #[arg(long, value_name = "GPU", value_delimiter = ',', requires = "recipe")]
    pub gpus: Vec<String>,
    /// Check these machines, too, and compare them: ssh:n2,n3. All share the home
    #[arg(long, value_name = "ssh:NODE,…", value_parser = parse_nodes_option, requires = "recipe")]
    pub nodes: Option<NodeAllocation>,
    /// Check as many nodes of this site as the recipe needs, in a job of their own
    #[arg(long, value_name = "NAME", requires = "recipe", conflicts_with_all = ["nodes", "gpus"])]
    pub site: Option<String>,
}
