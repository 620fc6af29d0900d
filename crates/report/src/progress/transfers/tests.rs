//! Pulls and downloads, message by message.

use super::*;

fn layer(id: &str, state: TransferState, current: Option<u64>, total: Option<u64>) -> Transfer {
    Transfer { unit: TransferUnit::Layer, part: id.to_owned(), state, current, total }
}

fn file(path: &str, state: TransferState, current: u64, total: u64) -> Transfer {
    Transfer { unit: TransferUnit::File, ..layer(path, state, Some(current), Some(total)) }
}

fn at(tenths: i64) -> Timestamp {
    Timestamp::from_millisecond(1_750_000_000_000 + tenths * 100).unwrap()
}

#[test]
fn bytes_speed_and_time_left() {
    let mut pull = Transfers::default();
    pull.record_transfer(at(0), &layer("a", TransferState::Cached, None, None));
    pull.record_transfer(at(0), &layer("b", TransferState::Waiting, None, None));
    pull.record_transfer(at(0), &layer("c", TransferState::Waiting, None, None));
    assert!(!pull.sum(at(0)).total_known);
    for step in 0..=40_u32 {
        pull.record_transfer(
            at(step.into()),
            &layer(
                "b",
                TransferState::Downloading,
                Some(u64::from(step) * 1_000_000),
                Some(100_000_000),
            ),
        );
    }
    let sum = pull.sum(at(40));
    assert_eq!(
        (sum.done, sum.total, sum.total_known, sum.remaining_s),
        (40_000_000, 100_000_000, false, None)
    );
    assert!((sum.rate.unwrap() - 1e7).abs() < 1e5, "{sum:?}");
    pull.record_transfer(
        at(41),
        &layer("c", TransferState::Downloading, Some(0), Some(10_000_000)),
    );
    let sum = pull.sum(at(41));
    assert!((sum.remaining_s.unwrap() - 7.0).abs() < 0.3, "{sum:?}");
    assert_eq!(
        pull.active_parts().map(|layer| layer.part.as_str()).collect::<Vec<_>>(),
        ["b", "c"]
    );
    assert_eq!((sum.done_parts, sum.parts), (1, 3));
}

#[test]
fn a_download_that_stalls_slows_down() {
    let mut pull = Transfers::default();
    for step in 0..=40_u32 {
        pull.record_transfer(
            at(step.into()),
            &layer(
                "b",
                TransferState::Downloading,
                Some(u64::from(step) * 1_000_000),
                Some(100_000_000),
            ),
        );
    }
    assert!(pull.sum(at(80)).rate.unwrap() < 6e6);
    assert!(pull.sum(at(1000)).rate.unwrap() < 1e5);
}

#[test]
fn extraction_is_a_separate_phase() {
    let mut pull = Transfers::default();
    pull.record_transfer(at(0), &layer("b", TransferState::Downloading, Some(10), Some(100)));
    pull.record_transfer(at(1), &layer("b", TransferState::Downloaded, None, None));
    assert_eq!((pull.sum(at(1)).is_extracting, pull.sum(at(1)).done), (true, 0));
    pull.record_transfer(at(2), &layer("b", TransferState::Extracting, Some(60), Some(100)));
    assert_eq!((pull.sum(at(2)).done, pull.sum(at(2)).total), (60, 100));
    // The containerd store: seconds, not bytes.
    pull.record_transfer(at(3), &layer("b", TransferState::Extracting, Some(3), None));
    assert_eq!(pull.sum(at(3)).done, 0);
    pull.record_transfer(at(4), &layer("b", TransferState::Done, None, None));
    let sum = pull.sum(at(4));
    assert_eq!((sum.done, sum.done_parts, sum.total_known), (100, 1, true));
}

#[test]
fn an_empty_pull_has_no_rate_or_estimate() {
    let sum = Transfers::default().sum(at(0));
    assert_eq!((sum.done, sum.total, sum.rate, sum.remaining_s), (0, 0, None, None));
}

#[test]
fn files_are_hashed_and_never_unpacked() {
    let mut pull = Transfers::default();
    pull.record_transfer(at(0), &file("a", TransferState::Waiting, 0, 100));
    pull.record_transfer(at(0), &file("b", TransferState::Waiting, 0, 50));
    pull.record_transfer(at(0), &file("c", TransferState::Verifying, 20, 60));
    pull.record_transfer(at(1), &file("a", TransferState::Downloading, 40, 100));
    let sum = pull.sum(at(1));
    assert_eq!((sum.done, sum.total, sum.total_known), (60, 210, true));
    assert_eq!((sum.parts, sum.done_parts, sum.unit), (3, 0, TransferUnit::File));
    // What was there need not come: it is in no sum.
    pull.record_transfer(at(2), &file("c", TransferState::Cached, 60, 60));
    pull.record_transfer(at(2), &file("a", TransferState::Done, 100, 100));
    pull.record_transfer(at(2), &file("b", TransferState::Done, 50, 50));
    let sum = pull.sum(at(2));
    assert_eq!((sum.done, sum.total, sum.done_parts), (150, 150, 3));
    assert!(!sum.is_extracting);
    assert_eq!(pull.active_parts().count(), 0);
}
