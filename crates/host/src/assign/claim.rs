//! Claims: the GPUs that a running container of ours has, as its label says. Pure.

/// Returns whether two claims, each of addresses or `all`, name a GPU in common: a card is all of its partitions.
pub fn claims_overlap(claim: &str, other: &str) -> bool {
    let same = |gpu: &str, other_gpu: &str| {
        let (card, partition) = gpu.split_once('/').unwrap_or((gpu, ""));
        let (other_card, other_partition) = other_gpu.split_once('/').unwrap_or((other_gpu, ""));
        let parts =
            partition.is_empty() || other_partition.is_empty() || partition == other_partition;
        gpu == "all" || other_gpu == "all" || (card == other_card && parts)
    };
    claim.split(',').any(|gpu| other.split(',').any(|other_gpu| same(gpu, other_gpu)))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("0000:05:00.0,0000:15:00.0", "0000:15:00.0,0000:65:00.0", true)]
    #[case("0000:05:00.0", "0000:05:00.1", false)]
    #[case("all", "0000:05:00.0", true)]
    #[case("0000:05:00.0", "all", true)]
    #[case("0000:05:00.0/1", "0000:05:00.0/2", false)]
    #[case("0000:05:00.0/1", "0000:05:00.0/1", true)]
    #[case("0000:05:00.0/1", "0000:05:00.0", true)]
    fn claims_overlap_by_cards_and_their_partitions(
        #[case] first: &str,
        #[case] second: &str,
        #[case] expected: bool,
    ) {
        assert_eq!(claims_overlap(first, second), expected);
        assert_eq!(claims_overlap(second, first), expected);
    }
}
