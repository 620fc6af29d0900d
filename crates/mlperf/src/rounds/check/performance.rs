//! The rules of a performance run.

use super::{Lookup, count, milliseconds, time};
use crate::check::RuleCheck;
use crate::loadgen::{RunSettings, Scenario};
use crate::rounds::Rules;

/// In the order in which the official checker asks.
pub(super) fn check(rules: &Rules, said: &RunSettings, figures: Lookup<'_>) -> Vec<RuleCheck> {
    let mut checks = vec![scenario(rules, said)];
    checks.extend(errors(said));
    checks.extend(equal_issue(rules, said));
    checks.push(performance_samples(rules, said));
    checks.extend(seeds(rules, said));
    checks.extend(queries(rules, said));
    checks.extend(query_latency(rules, said, figures));
    checks.extend(token_latencies(rules, said, figures));
    checks.extend(min_duration(rules, said));
    checks
}

/// The scenario that ran: a result may have been inferred from another scenario's log.
fn ran(rules: &Rules, said: &RunSettings) -> Scenario {
    said.scenario.unwrap_or(rules.scenario)
}

fn scenario(rules: &Rules, said: &RunSettings) -> RuleCheck {
    let asked = match rules.scenario {
        // LoadGen does not know it.
        Scenario::Interactive => Scenario::Server,
        other => other,
    };
    let kept = said.scenario.is_some_and(|found| rules.stands_for(found));
    let shown = said.scenario.map(|found| {
        if kept && found != asked && found != rules.scenario {
            format!("{found}, from which an edge system's {asked} may be inferred")
        } else {
            found.to_string()
        }
    });
    RuleCheck::of_logs("scenario", shown, asked.as_str(), kept)
}

/// VALID can stand beside errors; that any are there is told by LoadGen's own validity.
fn errors(said: &RunSettings) -> Option<RuleCheck> {
    let found = said.errors?;
    let check = RuleCheck::new("LoadGen's errors", count(found), "none", found == 0);
    Some(check.by_loadgen())
}

fn equal_issue(rules: &Rules, said: &RunSettings) -> Option<RuleCheck> {
    let found = said.settings.sample_concatenate_permutation;
    // Only a detail log tells.
    let is_told = said.has_detail && !rules.unlogged_issue;
    if !rules.equal_issue || found.is_none() && !is_told {
        return None;
    }
    let shown = found.map(|found| found.to_string());
    let rule = "sample_concatenate_permutation";
    let kept = found == Some(true);
    Some(RuleCheck::of_logs(rule, shown, "true", kept))
}

fn performance_samples(rules: &Rules, said: &RunSettings) -> RuleCheck {
    let found = said.settings.performance_sample_count;
    least("performance sample count", found, rules.performance_samples)
}

pub(super) fn seeds(rules: &Rules, said: &RunSettings) -> [RuleCheck; 3] {
    let (asked, found) = (rules.seeds, &said.settings);
    let seed = |rule: &str, found: Option<u64>, asked: u64| {
        let shown = found.map(|seed| seed.to_string());
        RuleCheck::of_logs(rule, shown, asked.to_string(), found == Some(asked))
    };
    [
        seed("qsl_rng_seed", found.qsl_rng_seed, asked.qsl),
        seed(
            "sample_index_rng_seed",
            found.sample_index_rng_seed,
            asked.sample_index,
        ),
        seed("schedule_rng_seed", found.schedule_rng_seed, asked.schedule),
    ]
}

/// How much was measured: in Offline the samples of its query, elsewhere early stopping.
fn queries(rules: &Rules, said: &RunSettings) -> Vec<RuleCheck> {
    let settings = &said.settings;
    if ran(rules, said) != Scenario::Offline {
        let asked = "satisfied";
        let met = said.constraints.early_stopping;
        let shown = met.map(|met| if met { asked } else { "not satisfied" }.to_owned());
        let check = RuleCheck::of_logs("early stopping", shown, asked, met == Some(true));
        return vec![check.by_loadgen()];
    }
    let mut checks = Vec::new();
    if let Some(asked) = rules.min_queries {
        checks.push(least("min_query_count", settings.min_query_count, asked));
    }
    if let Some(asked) = rules.min_samples_per_query {
        checks.push(least(
            "samples per query",
            settings.samples_per_query,
            asked,
        ));
    }
    checks
}

/// The 99th percentile of queries, and the target that early stopping held it against. Where token
/// latencies are measured `LoadGen` uses neither.
fn query_latency(rules: &Rules, said: &RunSettings, figures: Lookup<'_>) -> Vec<RuleCheck> {
    let Some(limit) = rules.latency.query_ns.filter(|_| !rules.token_latencies) else {
        return Vec::new();
    };
    let asked = format!("at most {}", time(to_f64(limit)));
    let target = said.settings.target_latency_ns;
    let p99 = figures("latency_p99_ns").map(|(value, _)| value);
    vec![
        RuleCheck::of_logs(
            "latency target",
            target.map(|target| time(to_f64(target))),
            asked.clone(),
            target.is_some_and(|target| target <= limit),
        ),
        RuleCheck::of_logs(
            "latency, 99th percentile",
            p99.map(time),
            asked,
            p99.is_some_and(|p99| p99 <= to_f64(limit)),
        ),
    ]
}

pub(super) fn token_latencies(
    rules: &Rules,
    said: &RunSettings,
    figures: Lookup<'_>,
) -> Vec<RuleCheck> {
    let mut checks = Vec::new();
    if rules.token_latencies {
        // The summary of such a run prints these limits in place of the query's.
        let measured = said.settings.use_token_latencies.or_else(|| {
            let limits = [said.settings.ttft_latency_ns, said.settings.tpot_latency_ns];
            limits.iter().any(Option::is_some).then_some(true)
        });
        let words = |measured| if measured { "measured" } else { "not measured" };
        let shown = measured.map(|measured| words(measured).to_owned());
        // Only a detail log tells that they are not.
        if measured.is_some() || said.has_detail {
            let kept = measured == Some(true);
            checks.push(RuleCheck::of_logs(
                "token latencies",
                shown,
                "measured",
                kept,
            ));
        }
    }
    let limits = [
        (
            "time to first token, 99th percentile",
            "ttft_p99_ns",
            rules.latency.ttft_ns,
        ),
        (
            "time per output token, 99th percentile",
            "tpot_p99_ns",
            rules.latency.tpot_ns,
        ),
    ];
    for (rule, name, limit) in limits {
        let Some(limit) = limit else { continue };
        let found = figures(name).map(|(value, _)| value);
        let asked = format!("below {}", time(to_f64(limit)));
        let kept = found.is_some_and(|found| found < to_f64(limit));
        checks.push(RuleCheck::of_logs(rule, found.map(time), asked, kept));
    }
    checks
}

pub(super) fn min_duration(rules: &Rules, said: &RunSettings) -> Option<RuleCheck> {
    let asked = rules.min_duration_ms?;
    let found = said.settings.min_duration_ms;
    let shown = found.map(milliseconds);
    let words = format!("at least {}", milliseconds(asked));
    let kept = found.is_some_and(|found| found >= asked);
    Some(RuleCheck::of_logs("min_duration", shown, words, kept))
}

fn least(rule: &str, found: Option<u64>, asked: u64) -> RuleCheck {
    let words = format!("at least {}", count(asked));
    let kept = found.is_some_and(|found| found >= asked);
    RuleCheck::of_logs(rule, found.map(count), words, kept)
}

fn to_f64(nanoseconds: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "limits of minutes are exact")]
    let nanoseconds = nanoseconds as f64;
    nanoseconds
}
