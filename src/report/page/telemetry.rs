//! What GPUs and container did meanwhile: a table, and charts over time.

use super::Subject;
use super::charts::drawn;
use super::frame::{Cell, Heading, part, table};
use crate::format;
use crate::report::charts::of_telemetry;
use crate::report::markup::Markup;
use crate::telemetry::Summary;
use crate::verdict::{ResultVerdict, number};

pub(super) fn section(
    main: &mut Markup,
    one: &Subject<'_>,
    heading: Heading,
    subject: usize,
    in_full: bool,
) {
    let results = &one.entry.verdict.results;
    let seen: Vec<(&ResultVerdict, &Summary)> = results
        .iter()
        .filter_map(|result| Some((result, result.telemetry.as_ref()?)))
        .collect();
    if seen.is_empty() && one.telemetry.is_empty() {
        return;
    }
    part(main, heading, "What GPUs and container did", |main| {
        if !seen.is_empty() {
            summary(main, &seen);
        }
        if in_full {
            let charts = of_telemetry(&one.telemetry);
            drawn(main, &charts, &format!("w{subject}"));
        }
    });
}

/// Only what somebody's sensor said.
fn summary(main: &mut Markup, seen: &[(&ResultVerdict, &Summary)]) {
    type Column = (&'static str, fn(&Summary) -> Option<String>);
    let columns: [Column; 11] = [
        ("GPUs", |one| (one.gpus > 0).then(|| one.gpus.to_string())),
        ("mean power", |one| {
            one.mean_power_w.map(|watts| rounded(watts, "W"))
        }),
        ("peak power", |one| {
            one.peak_power_w.map(|watts| rounded(watts, "W"))
        }),
        ("energy", |one| {
            one.energy_j.map(|joules| rounded(joules, "J"))
        }),
        ("per joule", |one| {
            let each = one.per_joule.as_ref()?;
            Some(number::figure(each.value, &each.unit))
        }),
        ("mean utilization", |one| {
            one.mean_utilization.map(|busy| rounded(busy, "%"))
        }),
        ("mean clock", |one| {
            one.mean_core_mhz.map(|clock| rounded(clock, "MHz"))
        }),
        ("peak temperature", |one| {
            one.peak_temperature_c.map(|heat| rounded(heat, "°C"))
        }),
        ("peak memory of one GPU", |one| {
            one.peak_vram.map(format::size)
        }),
        ("processors busy", |one| {
            one.mean_cpus.map(|busy| format!("{busy:.2}"))
        }),
        ("peak memory of the container", |one| {
            one.peak_memory.map(format::size)
        }),
    ];
    let known: Vec<&Column> = columns
        .iter()
        .filter(|(_, read)| seen.iter().any(|(_, one)| read(one).is_some()))
        .collect();
    let mut head = vec!["scenario", "looks over"];
    head.extend(known.iter().map(|(name, _)| *name));
    let rows = seen.iter().map(|(result, one)| {
        let mut cells = vec![
            Cell::Head(format!("{} {}", result.scenario, result.mode)),
            Cell::Number(format::duration(one.seconds)),
        ];
        let values = known.iter().map(|(_, read)| read(one));
        cells.extend(values.map(|value| Cell::Number(value.unwrap_or_else(|| "–".to_owned()))));
        cells
    });
    table(
        main,
        "While it was measured, all trials together",
        &head,
        rows,
    );
    for (result, one) in seen {
        let Some(throttled) = &one.throttled_s else {
            continue;
        };
        for (cause, seconds) in throttled.iter().filter(|(_, seconds)| **seconds > 0.0) {
            let said = format!(
                "{} {}: clocks were held down by {cause} for {}.",
                result.scenario,
                result.mode,
                format::duration(*seconds)
            );
            main.leaf("p", &[], &said);
        }
    }
}

fn rounded(value: f64, unit: &str) -> String {
    number::figure((value * 10.0).round() / 10.0, unit)
}
