//! The verdict of a batch: what each cell gave, how it stands to its baseline, and what that says
//! of each claim. Pure: trials of finished runs in, [`BatchVerdict`] out.

mod model;

pub use model::{
    AskedOfPart, BatchAxis, BatchVerdict, CellDifference, CellRun, CellVerdict, ClaimOutcome,
    ClaimPart, ClaimVerdict, Gap, OtherVerdict, PartSide,
};
