//! The additional stats, of which a guide may print two blocks.

use retrial_readings::figure::Figures;

/// The blocks in order; a new one begins where a line comes a second time.
#[derive(Debug, Default)]
pub(super) struct StatsBlocks {
    blocks: Vec<Figures>,
}

impl StatsBlocks {
    /// Returns the block that a figure of this name goes into.
    pub(super) fn block_for(&mut self, name: &str) -> Option<&mut Figures> {
        if self.blocks.last().is_none_or(|block| block.contains_key(name)) {
            self.blocks.push(Figures::new());
        }
        self.blocks.last_mut()
    }

    /// Returns the block that belongs to the head.
    ///
    /// AMD's guide for v6.0 prints the stats of another run before those of the run itself. The
    /// block that has the head's figures is right; where none or several do, the last one counts.
    pub(super) fn block_of_head(self, head: &Figures) -> Figures {
        let agreement = |block: &Figures| {
            let shared = block.iter().filter_map(|(name, figure)| Some((figure, head.get(name)?)));
            shared.fold(0_i32, |score, (ours, theirs)| {
                let tolerance = ours.half_digit + theirs.half_digit + 2e-5 * theirs.value.abs();
                let agrees = (ours.value - theirs.value).abs() <= tolerance;
                score + if agrees { 1 } else { -1 }
            })
        };
        let best = self.blocks.into_iter().max_by_key(agreement);
        best.unwrap_or_default()
    }
}
