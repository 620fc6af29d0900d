//! Runs that are compared as one side, each of which counts once.

use itertools::Itertools as _;

/// A run, or a folder of results, that is compared alone or pooled with others.
pub trait PooledRun {
    fn name(&self) -> &str;

    /// Returns what of it another one has, too.
    fn find_copy(&self, other: &Self) -> Option<String>;
}

/// One side of a comparison: a folder of results, a run, or several.
pub struct Pool<Run> {
    pub name: String,
    pub runs: Vec<Run>,
    /// Remarks on runs that it has several times, or that another side has.
    pub notes: Vec<String>,
}

impl<Run: PooledRun> Pool<Run> {
    pub fn new(name: impl Into<String>, runs: Vec<Run>) -> Self {
        Self { name: name.into(), runs, notes: Vec::new() }
    }

    /// Removes the runs that are in it already.
    fn reject_copies(&mut self) {
        let mut own: Vec<Run> = Vec::new();
        for run in self.runs.drain(..) {
            match own.iter().find_map(|earlier| run.find_copy(earlier)) {
                Some(copied) => {
                    self.notes.push(format!("{} pools {} once: {copied}", self.name, run.name()));
                }
                None => own.push(run),
            }
        }
        self.runs = own;
    }

    /// Notes that it has a run of another side: their difference is none.
    fn note_runs_of(&mut self, other: &Self) {
        let mut pairs = self.runs.iter().cartesian_product(&other.runs);
        let copied = pairs.find_map(|(run, earlier)| run.find_copy(earlier));
        self.notes.extend(copied.map(|copied| {
            format!("{} and {} have a measurement in common: {copied}", other.name, self.name)
        }));
    }
}

/// Counts each run once: one that a side has a second time adds nothing, and one that two sides have is noted.
pub fn count_runs_once<Run: PooledRun>(sides: &mut [Pool<Run>]) {
    for at in 0..sides.len() {
        let (before, rest) = sides.split_at_mut(at);
        rest[0].reject_copies();
        for earlier in &*before {
            rest[0].note_runs_of(earlier);
        }
    }
}
