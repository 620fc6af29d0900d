//! Cells and their plan, for tests.

use crate::{BatchExecution, BatchPlan, Cell, NamedValues, RunOrder, Schedule};

/// A cell of a recipe without axes.
pub fn cell(name: &str, trials: u32) -> Cell {
    Cell {
        name: name.to_owned(),
        recipe: "r".to_owned(),
        path: "./r.yaml".to_owned(),
        named: NamedValues::default(),
        axes: NamedValues::default(),
        set: NamedValues::default(),
        scenarios: Vec::new(),
        modes: Vec::new(),
        trials,
        external: None,
        baseline: None,
    }
}

pub fn plan_of(cells: Vec<Cell>, order: RunOrder) -> BatchPlan {
    BatchPlan {
        schema: 1,
        file: None,
        title: String::new(),
        execution: BatchExecution::default(),
        axes: Vec::new(),
        schedule: Schedule::new(&cells, order),
        cells,
        external_cells: Vec::new(),
        excluded: Vec::new(),
        external_results: Vec::new(),
        claims: Vec::new(),
        joint_changes: Vec::new(),
        restated: false,
        search: None,
    }
}
