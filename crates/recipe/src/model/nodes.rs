//! Several machines: how many a recipe needs, and on which of them a command runs.

use retrial_document::{FieldType as T, object, words};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

object! {
    /// The machines of a submission.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub struct Nodes: "nodes";
    keys {
        /// How many machines; the first is the head.
        count: u32 [required] = T::Integer(1, 100_000),
        /// GPUs of all machines together, where that is not `count` times `requires.gpus.count`.
        gpus: Option<u32> = T::Integer(1, 10_000_000),
    }
}

words! {
    /// The machines on which a command runs.
    #[derive(Default, JsonSchema)]
    pub enum Placement {
        /// The first machine.
        #[default]
        Head = "head",
        /// Every machine.
        All = "all",
        /// Every machine but the first.
        Others = "others",
    }
}

impl Placement {
    /// Returns whether the first machine is included.
    pub fn includes_head(self) -> bool {
        self != Self::Others
    }

    /// Returns whether machines besides the first are included.
    pub fn includes_others(self) -> bool {
        self != Self::Head
    }
}
