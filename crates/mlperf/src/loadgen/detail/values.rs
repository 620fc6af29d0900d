//! The values of entries, as they are stored.

use std::str::FromStr;

use serde_json::Value;

use super::LoadgenDetail;
use crate::loadgen::names;
use crate::power::parse_moment;
use retrial_readings::figure::Figure;

/// A text longer than this is shortened.
const MAX_TEXT_CHARS: usize = 4096;
const MAX_MESSAGE_CHARS: usize = 500;

/// Reads a text that is one of a type's words.
pub(super) fn parse_word<T: FromStr>(value: &Value) -> Option<T> {
    value.as_str()?.parse().ok()
}

/// Stores a value that was read; returns whether there is one.
pub(super) fn store<T>(place: &mut Option<T>, read: Option<T>) -> bool {
    *place = read;
    place.is_some()
}

pub(super) fn is_moment(value: &Value) -> bool {
    value.as_str().and_then(parse_moment).is_some()
}

/// Stores a figure, where a key is one's; returns whether its value could be read.
pub(super) fn store_figure(detail: &mut LoadgenDetail, key: &str, value: &Value) -> bool {
    let Some(named) = names::figure_of_detail_key(key) else {
        return true;
    };
    let Some(figure) = parse_logged_figure(value, named.unit) else {
        return false;
    };
    detail.figures.insert(named.name, figure.scale_to_unit(named.factor, named.unit));
    true
}

/// LoadGen logs whole numbers whole, and real ones with six significant digits.
pub(super) fn parse_logged_figure(value: &Value, unit: &'static str) -> Option<Figure> {
    let number = value.as_f64().filter(|number| number.is_finite())?;
    let half_digit = if value.is_u64() || value.is_i64() || number == 0.0 {
        0.5
    } else {
        0.5 * 10_f64.powf(number.abs().log10().floor() - 5.0)
    };
    Some(Figure { value: number, unit: unit.into(), half_digit })
}

/// MultiStream logs latencies per query and per sample; the summary's are per query.
pub(super) fn prefer_query_latencies(detail: &mut LoadgenDetail) {
    let names: Vec<String> = detail
        .figures
        .keys()
        .filter_map(|name| Some(name.strip_prefix("query_latency_")?.to_owned()))
        .collect();
    for name in names {
        for (from, to) in [("latency", "sample_latency"), ("query_latency", "latency")] {
            if let Some(figure) = detail.figures.remove(format!("{from}_{name}").as_str()) {
                let name = format!("{to}_{name}").into();
                detail.figures.insert(name, figure);
            }
        }
    }
}

pub(super) fn measured_ms(detail: &LoadgenDetail) -> Option<i64> {
    let time = |text: &Option<String>| parse_moment(text.as_deref()?);
    let span = time(&detail.power_end)?.duration_since(time(&detail.power_begin)?);
    i64::try_from(span.as_millis()).ok()
}

pub(super) fn error_message(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    text.chars().take(MAX_MESSAGE_CHARS).collect()
}

pub(super) fn truncate_text(text: &str) -> String {
    text.chars().take(MAX_TEXT_CHARS).collect()
}
