//! What benchmarks and runs leave behind.

use std::collections::BTreeMap;

use retrial_mlperf::Division;
use retrial_mlperf::loadgen::{LoadgenRun, detail, summary};
use retrial_mlperf::mllog::TrainingRunReader;
use retrial_mlperf::training::{LogReader, NamedLog};
use retrial_readings::accumulator::Accumulator;
use retrial_readings::lines::LineSplitter;
use retrial_readings::pattern::{MatchSelection, Pattern, PatternReader};
use retrial_readings::sanitize;
use retrial_readings::scan::Scanner;
use retrial_readings::{json as documents, rows as tables, units as conversion};
use retrial_recipe::model::CsvCell;
use retrial_store::journal::{Event, JournalState};

use super::{first_line, pieces};

/// LoadGen's summary; what is read can be judged.
pub fn summary(data: &[u8]) {
    let Ok(summary) = summary::parse_summary_bytes(data) else {
        return;
    };
    let run = LoadgenRun { summary: Some(summary), detail: None };
    judged(&run);
}

/// LoadGen's detail log: in pieces as at once; what is read can be judged.
pub fn detail(data: &[u8]) {
    let whole = detail::parse_detail_log(data);
    let mut parser = detail::DetailParser::new();
    pieces(data).for_each(|piece| parser.push(piece));
    assert_eq!(parser.finish(), whole);
    let run = LoadgenRun { summary: None, detail: Some(whole) };
    judged(&run);
}

fn judged(run: &LoadgenRun) {
    let validity = run.validity();
    assert!(validity.reasons.len() < 10_000);
    let _ = (run.figure_disagreements(), run.parameters(), run.early_stopping());
    for figure in run.figures().values() {
        assert!(figure.value.is_finite());
    }
}

/// MLPerf Training's log.
pub fn mllog(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let wanted = [
        ("eval_accuracy".to_owned(), MatchSelection::Last),
        ("tracked_stats.throughput".to_owned(), MatchSelection::Mean),
    ];
    for round in retrial_mlperf::training::built_in_training_rounds() {
        for benchmark in round.benchmark_names() {
            let Some(rules) = round.benchmark_rules(benchmark, Division::Closed) else {
                continue;
            };
            let mut reader = LogReader::new(&rules, "result_0.txt");
            text.lines().for_each(|line| reader.feed_line(line));
            let log = NamedLog { name: String::new(), log: reader.finish() };
            let _ = retrial_mlperf::training::check_result(&rules, &[log], None);
        }
    }
    let mut runs = TrainingRunReader::new(&wanted);
    text.lines().for_each(|line| runs.feed_line(line));
    let _ = runs.describe_keys();
    for run in runs.finish().unwrap_or_default() {
        let _ = (
            run.minutes_to_train(None),
            run.requested_accumulator(0).cloned().map(Accumulator::into_single_value),
            run.requested_accumulator(1).cloned().map(Accumulator::into_single_value),
            run.samples_to_converge(),
        );
    }
}

/// A pattern of a recipe (the first line) over an output (the rest): in blocks as line by line.
pub fn patterns(data: &[u8]) {
    let Some((written, output)) = first_line(data) else {
        return;
    };
    let Ok(pattern) = Pattern::new(written, MatchSelection::Sum, "tokens/s") else {
        return;
    };
    let mut reader = pattern.reader();
    let mut splitter = LineSplitter::new();
    splitter.push(output, |line| reader.feed_line(&line.text));
    splitter.finish(|line| reader.feed_line(&line.text));
    reader.finish_text();
    let mut scanner = Scanner::new(&pattern);
    pieces(output).for_each(|piece| scanner.push(piece));
    let values = |reader: PatternReader<'_>| {
        let entries = reader.into_entries().map(BTreeMap::into_values);
        entries.map(|entries| entries.map(Accumulator::into_values).collect::<Vec<_>>())
    };
    assert_eq!(values(scanner.finish()), values(reader));
}

/// Two units, a line each: there and back again is one.
pub fn units(data: &[u8]) {
    let Some((from, to)) = first_line(data) else {
        return;
    };
    let Ok(to) = str::from_utf8(to) else { return };
    let there = conversion::conversion_factor(from, to);
    if let (Some(there), Some(back)) = (there, conversion::conversion_factor(to, from)) {
        // A prefix alone (`k`) is read in the other's base, and is no unit on its own way back.
        let round_trip = there * back;
        assert!(round_trip.is_finite() && round_trip > 0.0, "{there} {back}");
    }
}

/// A path (the first line) into documents (the rest).
pub fn json(data: &[u8]) {
    let Some((path, text)) = first_line(data) else {
        return;
    };
    let by = ["name".to_owned()];
    for by in [&[][..], &by] {
        let Ok(mut reader) = documents::JsonReader::new(
            path,
            by,
            (!by.is_empty()).then_some("value"),
            Some(MatchSelection::Max),
        ) else {
            return;
        };
        reader.read_file(text);
        for line in String::from_utf8_lossy(text).lines() {
            reader.feed_line(line);
        }
        reader.finish_log();
        let _ = reader.into_entries();
    }
}

/// A column, a comma and the column that a row must have something in (the first line), and a table (the rest).
pub fn rows(data: &[u8]) {
    let Some((columns, table)) = first_line(data) else {
        return;
    };
    let (column, by) = columns.split_once(',').unwrap_or((columns, ""));
    let cell = CsvCell { column: column.to_owned(), ..CsvCell::default() };
    let by: Vec<String> =
        by.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let request = tables::TableRequest { cell: &cell, entry_columns: &by, unit: "ms" };
    let _ = tables::read_csv_entries(table, request, MatchSelection::Mean, 0);
}

/// Lines of an output, in pieces as at once, and harmless for a terminal.
pub fn lines(data: &[u8]) {
    let split = |pieces: &mut dyn Iterator<Item = &[u8]>| {
        let mut splitter = LineSplitter::with_limit(64);
        let mut lines = Vec::new();
        pieces.for_each(|piece| splitter.push(piece, |line| lines.push(line.text.into_owned())));
        splitter.finish(|line| lines.push(line.text.into_owned()));
        lines
    };
    let whole = split(&mut std::iter::once(data));
    assert_eq!(split(&mut pieces(data)), whole);
    for line in whole {
        let shown = sanitize(&line);
        assert!(!shown.contains(|letter: char| letter.is_control() && letter != '\t'), "{shown:?}");
        assert_eq!(sanitize(&shown), shown);
    }
}

/// A run's journal: what is read is written as it was, and gives a state.
pub fn journal(data: &[u8]) {
    let events: Vec<Event> = data
        .split(|&byte| byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect();
    for event in &events {
        let written = serde_json::to_string(event).unwrap_or_default();
        assert_eq!(serde_json::from_str::<Event>(&written).ok().as_ref(), Some(event), "{written}");
    }
    let _ = JournalState::from_events(&events).to_resumed();
}
