//! Checks of a load's numbers against each other.

use std::ops::RangeInclusive;

use crate::LoadPoint;
use crate::point::AnswerLengths;

/// Of sums that should be equal.
const MAX_SUM_DIFFERENCE: f64 = 0.001;
/// Of a rate and the tokens by the duration: a client may take either by a clock of its own.
const MAX_RATE_DIFFERENCE: f64 = 0.03;
/// Of the tokens that the client's own tokenizer finds.
const MAX_RECOUNT_DIFFERENCE: f64 = 0.01;
/// The requests in flight by Little's law, of those asked for: less shows that the load was another one. The end of a
/// load, where fewer are left, takes up to a tenth.
const IN_FLIGHT: RangeInclusive<f64> = 0.85..=1.02;
/// Requests for each of those in flight: in fewer rounds, the first, which waits for all prompts at once, and the last,
/// which is not full, are too large a part.
const MIN_ROUNDS: f64 = 5.0;
/// What first tokens take in all above their median, of the time of the load: where requests wait in a queue up to 0.1, on
/// a server that warms up during the load from 0.3 on.
const MAX_LATE_SHARE: f64 = 0.15;
/// Tokens per chunk up to which the time between chunks is one between tokens.
const MAX_CHUNK_TOKENS: f64 = 1.5;

retrial_document::words! {
    /// A rule of a load.
    pub enum LoadRule {
        /// Each request was answered.
        Answered = "requests answered",
        /// Requests are completed or failed.
        Accounted = "requests accounted for",
        /// Each answer has tokens, as many as were asked for.
        Length = "length of answers",
        /// The tokens of single answers, of all, and their rate agree.
        Tokens = "tokens counted",
        /// As many requests were in flight as asked for.
        InFlight = "requests in flight",
        /// The server was warm.
        Warm = "first tokens",
        /// There are several requests for each of those in flight.
        Rounds = "rounds of requests",
        /// A chunk has one token.
        Chunks = "tokens per chunk",
    }
}

/// A rule that was checked: the output states all that it takes.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadCheck {
    pub rule: LoadRule,
    /// What the output states.
    pub stated: String,
    /// What it should.
    pub required: String,
    pub outcome: LoadOutcome,
}

/// Whether a load keeps a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadOutcome {
    Kept,
    /// Some of its figures are of limited use.
    Warned,
    /// The result is invalid.
    Violated,
}

impl LoadCheck {
    /// Returns the check of a rule without which a result is invalid.
    fn of_validity(rule: LoadRule, is_kept: bool, stated: String, required: &str) -> Self {
        let outcome = if is_kept { LoadOutcome::Kept } else { LoadOutcome::Violated };
        Self { rule, stated, required: required.to_owned(), outcome }
    }

    /// Returns the check of a rule without which some figures are of limited use.
    fn of_use(rule: LoadRule, is_kept: bool, stated: String, required: String) -> Self {
        let outcome = if is_kept { LoadOutcome::Kept } else { LoadOutcome::Warned };
        Self { rule, stated, required, outcome }
    }
}

impl LoadPoint {
    /// Checks its numbers by the rules for which it states enough; `asked_tokens` is the fixed number of each answer, if
    /// there is one.
    pub fn check(&self, asked_tokens: Option<f64>) -> Vec<LoadCheck> {
        if self.completed == 0.0 {
            let (rule, required) = (LoadRule::Answered, "requests that complete");
            let stated = format!("0 completed, {} failed", self.failed);
            return vec![LoadCheck::of_validity(rule, false, stated, required)];
        }
        let found = [
            Some(self.check_answers()),
            self.check_account(),
            self.check_lengths(asked_tokens),
            self.check_early_ends().filter(|_| asked_tokens.is_none()),
            self.check_sum(),
            self.check_rate(),
            self.check_recount(),
            self.check_miscounted(),
            self.check_in_flight(),
            self.check_first_tokens(),
            self.check_rounds(),
            self.check_uncounted(),
            self.check_chunks(),
        ];
        found.into_iter().flatten().collect()
    }

    fn check_answers(&self) -> LoadCheck {
        let sum = self.completed + self.failed;
        let stated = format!("{} of {sum} requests failed", self.failed);
        LoadCheck::of_validity(LoadRule::Answered, self.failed == 0.0, stated, "none")
    }

    fn check_account(&self) -> Option<LoadCheck> {
        let (requested, completed, failed) = (self.requested?, self.completed, self.failed);
        let are_all = (requested - completed - failed).abs() < 0.5;
        let stated = format!("{requested} requested, {completed} completed, {failed} failed");
        let required = "completed and failed requests are all";
        Some(LoadCheck::of_validity(LoadRule::Accounted, are_all, stated, required))
    }

    fn check_lengths(&self, asked: Option<f64>) -> Option<LoadCheck> {
        let mean = self.output_tokens.map(|tokens| tokens / self.completed);
        let stated = self.answer_lengths.map(|lengths| (lengths.shortest, lengths.longest));
        // Half a token of one answer.
        let tolerance = if stated.is_some() { 0.5 } else { 0.5 / self.completed };
        let (shortest, longest) = stated.or(mean.zip(mean))?;
        let is_asked = |length: f64| match asked {
            Some(tokens) => (length - tokens).abs() < tolerance,
            None => length >= 1.0,
        };
        let required = asked.map_or_else(
            || "a token or more each".to_owned(),
            |tokens| format!("{tokens} tokens each"),
        );
        let stated = if longest - shortest < 0.5 {
            format!("answers of {} tokens", round(longest))
        } else {
            format!("answers of {} to {} tokens", round(shortest), round(longest))
        };
        let are_asked = is_asked(shortest) && is_asked(longest);
        Some(LoadCheck::of_validity(LoadRule::Length, are_asked, stated, &required))
    }

    /// Where most answers have the same, greatest length, a number of tokens was asked for.
    fn check_early_ends(&self) -> Option<LoadCheck> {
        let AnswerLengths { shortest, median, longest } = self.answer_lengths?;
        let stated = format!("most answers have {longest} tokens, the shortest {shortest}");
        let required =
            format!("each as many, unless a model may end its answer: `output_tokens: {longest}`");
        let ends_early = shortest > 0.0 && shortest < longest && longest - median < 0.5;
        ends_early.then(|| LoadCheck::of_use(LoadRule::Length, false, stated, required))
    }

    fn check_sum(&self) -> Option<LoadCheck> {
        let (sum, total) = self.summed_tokens.zip(self.output_tokens)?;
        let stated = format!("{total} tokens in all, {sum} of single answers");
        let are_equal = differ(sum, total) <= MAX_SUM_DIFFERENCE;
        Some(LoadCheck::of_validity(LoadRule::Tokens, are_equal, stated, "equal sums"))
    }

    fn check_rate(&self) -> Option<LoadCheck> {
        let (rate, tokens) = self.output_rate.zip(self.output_tokens)?;
        let duration = self.duration?;
        let stated = format!("{rate} tokens/s, {tokens} tokens in {duration} s");
        let agrees = differ(rate, tokens / duration) <= MAX_RATE_DIFFERENCE;
        let required = "the tokens by the duration";
        Some(LoadCheck::of_validity(LoadRule::Tokens, agrees, stated, required))
    }

    fn check_recount(&self) -> Option<LoadCheck> {
        let (own, counted) = self.recounted_tokens.zip(self.output_tokens)?;
        let stated = format!("{counted} tokens counted, {own} in the texts");
        let agree = differ(counted, own) <= MAX_RECOUNT_DIFFERENCE;
        let required = "the tokens of the texts";
        Some(LoadCheck::of_validity(LoadRule::Tokens, agree, stated, required))
    }

    fn check_miscounted(&self) -> Option<LoadCheck> {
        let stated = format!("the server counts {} answers otherwise", self.miscounted);
        let required = "the same count of each answer";
        (self.miscounted != 0.0)
            .then(|| LoadCheck::of_validity(LoadRule::Tokens, false, stated, required))
    }

    fn check_in_flight(&self) -> Option<LoadCheck> {
        let (concurrency, duration) = self.concurrency.zip(self.duration)?;
        let busy = self.whole_answer? * self.completed / (duration * concurrency);
        let stated = format!("{:.1} requests in flight on average", busy * concurrency);
        let required = format!("{concurrency}, less a tenth at its end");
        let is_kept = IN_FLIGHT.contains(&busy);
        (self.rounds() >= MIN_ROUNDS)
            .then(|| LoadCheck::of_validity(LoadRule::InFlight, is_kept, stated, &required))
    }

    fn check_first_tokens(&self) -> Option<LoadCheck> {
        let (concurrency, duration) = self.concurrency.zip(self.duration)?;
        let (mean, median) = self.first_token?;
        let late = (mean - median) * self.completed / (duration * concurrency);
        let stated = format!(
            "mean {:.0} ms, median {:.0} ms: {:.0} % of the load waited for late first tokens",
            mean * 1e3,
            median * 1e3,
            late.max(0.0) * 1e2
        );
        let required = "a server that is warm before the load";
        let is_warm = late <= MAX_LATE_SHARE;
        (self.rounds() >= MIN_ROUNDS)
            .then(|| LoadCheck::of_validity(LoadRule::Warm, is_warm, stated, required))
    }

    /// The requests, answered or not, for each of those in flight; infinitely many without a concurrency.
    fn rounds(&self) -> f64 {
        let requests = self.completed + self.failed;
        self.concurrency.map_or(f64::INFINITY, |concurrency| requests / concurrency)
    }

    fn check_rounds(&self) -> Option<LoadCheck> {
        let rounds = self.rounds();
        let stated = format!("{rounds:.1} requests for each of those in flight");
        let required = format!("{MIN_ROUNDS}, to tell a load from its beginning and its end");
        (rounds < MIN_ROUNDS).then(|| LoadCheck::of_use(LoadRule::Rounds, false, stated, required))
    }

    fn check_uncounted(&self) -> Option<LoadCheck> {
        let stated = format!("the server states no tokens of {} answers", self.uncounted);
        let required = "counted by the client's own tokenizer".to_owned();
        (self.uncounted > 0.0).then(|| LoadCheck::of_use(LoadRule::Tokens, false, stated, required))
    }

    fn check_chunks(&self) -> Option<LoadCheck> {
        let tokens = self.between_chunks? / self.per_token.filter(|time| *time > 0.0)?;
        let stated = format!("{tokens:.1} tokens in a chunk");
        let required = "one, for a time between tokens (itl)".to_owned();
        let is_kept = tokens <= MAX_CHUNK_TOKENS;
        Some(LoadCheck::of_use(LoadRule::Chunks, is_kept, stated, required))
    }
}

/// `32`, or a mean to a tenth: `37.6`.
fn round(tokens: f64) -> String {
    if tokens.fract() == 0.0 { tokens.to_string() } else { format!("{tokens:.1}") }
}

/// The difference of two values, as a share of the greater one.
fn differ(left: f64, right: f64) -> f64 {
    let most = left.abs().max(right.abs());
    if most > 0.0 { (left - right).abs() / most } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;
    use crate::Client;

    /// What `vllm bench serve` writes of 40 requests of 32 tokens, four at a time.
    fn output() -> Value {
        json!({
            "num_prompts": 40, "max_concurrency": 4, "duration": 4.0, "completed": 40, "failed": 0,
            "total_output_tokens": 1280, "output_throughput": 320.0, "total_token_throughput": 960.0,
            "mean_ttft_ms": 68.0, "median_ttft_ms": 69.0, "p99_ttft_ms": 74.0,
            "mean_tpot_ms": 10.5, "median_tpot_ms": 10.6, "p99_tpot_ms": 11.2,
            "mean_itl_ms": 10.2, "mean_e2el_ms": 394.0,
        })
    }

    fn faults(output: &Value, asked: Option<f64>) -> Vec<LoadCheck> {
        let loads = Client::Vllm.read_loads(&output.to_string()).unwrap();
        let checks = loads.iter().flat_map(|load| load.check(asked));
        checks.filter(|check| check.outcome != LoadOutcome::Kept).collect()
    }

    #[test]
    fn a_clean_load_breaks_no_rule() {
        use LoadRule::{Accounted, Answered, Chunks, InFlight, Length, Tokens, Warm};
        assert_eq!(faults(&output(), Some(32.0)), []);
        let load = Client::Vllm.read_loads(&output().to_string()).unwrap().remove(0);
        let rules: Vec<LoadRule> =
            load.check(Some(32.0)).into_iter().map(|check| check.rule).collect();
        assert_eq!(rules, [Answered, Accounted, Length, Tokens, InFlight, Warm, Chunks]);
    }

    #[rstest]
    #[case::failed(json!({"failed": 6, "completed": 34, "total_output_tokens": 1088, "output_throughput": 272.0}), LoadRule::Answered, "6 of 40 requests failed")]
    #[case::none(json!({"completed": 0, "failed": 40}), LoadRule::Answered, "0 completed, 40 failed")]
    #[case::lost(json!({"num_prompts": 50}), LoadRule::Accounted, "50 requested, 40 completed, 0 failed")]
    #[case::short(json!({"total_output_tokens": 1100, "output_throughput": 275.0}), LoadRule::Length, "answers of 27.5 tokens")]
    #[case::longer(json!({"total_output_tokens": 1920, "output_throughput": 480.0}), LoadRule::Length, "answers of 48 tokens")]
    #[case::empty(json!({"output_lens": [0, 33], "total_output_tokens": 33, "errors": ["", ""]}), LoadRule::Length, "answers of 0 to 33 tokens")]
    #[case::sum(json!({"output_lens": [32, 32], "errors": ["", ""]}), LoadRule::Tokens, "1280 tokens in all, 64 of single answers")]
    #[case::rate(json!({"output_throughput": 400.0}), LoadRule::Tokens, "400 tokens/s, 1280 tokens in 4 s")]
    #[case::idle(json!({"mean_e2el_ms": 300.0}), LoadRule::InFlight, "3.0 requests in flight on average")]
    #[case::impossible(json!({"mean_e2el_ms": 500.0}), LoadRule::InFlight, "5.0 requests in flight on average")]
    #[case::cold(json!({"mean_ttft_ms": 400.0}), LoadRule::Warm, "mean 400 ms, median 69 ms: 83 % of the load")]
    fn a_fault_is_named(#[case] change: Value, #[case] rule: LoadRule, #[case] stated: &str) {
        let mut output = output();
        output.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let found = faults(&output, Some(32.0));
        let named = found
            .iter()
            .filter(|fault| fault.outcome == LoadOutcome::Violated && fault.rule == rule);
        assert!(named.clone().any(|fault| fault.stated.starts_with(stated)), "{found:?}");
    }

    #[rstest]
    #[case::chunks(json!({"mean_itl_ms": 41.7}), "4.0 tokens in a chunk")]
    #[case::rounds(json!({"max_concurrency": 16}), "2.5 requests for each of those in flight")]
    #[case::early_ends(json!({"output_lens": [32, 32, 32, 5], "total_output_tokens": 101, "output_throughput": 25.25, "errors": ["", "", "", ""]}), "most answers have 32 tokens, the shortest 5")]
    fn what_limits_the_use_of_a_figure_is_a_warning(#[case] change: Value, #[case] stated: &str) {
        let mut output = output();
        output.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let found = faults(&output, None);
        assert!(
            matches!(&found[..], [one] if one.stated == stated && one.outcome == LoadOutcome::Warned),
            "{found:?}"
        );
    }
}
