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

/// A broken rule.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadFault {
    pub rule: LoadRule,
    /// What the output states.
    pub stated: String,
    /// What it should.
    pub required: String,
    /// Whether the result is invalid; else it is a warning on some of its figures.
    pub is_violation: bool,
}

impl LoadFault {
    fn violation(rule: LoadRule, stated: String, required: &str) -> Self {
        Self { rule, stated, required: required.to_owned(), is_violation: true }
    }
}

impl LoadPoint {
    /// Returns the rules that its numbers break; `asked_tokens` is the fixed number of each answer, if there is one.
    pub fn find_faults(&self, asked_tokens: Option<f64>) -> Vec<LoadFault> {
        if self.completed == 0.0 {
            let stated = format!("0 completed, {} failed", self.failed);
            return vec![LoadFault::violation(
                LoadRule::Answered,
                stated,
                "requests that complete",
            )];
        }
        let found = [
            self.check_answers(),
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

    fn check_answers(&self) -> Option<LoadFault> {
        let sum = self.completed + self.failed;
        let stated = format!("{} of {sum} requests failed", self.failed);
        (self.failed != 0.0).then(|| LoadFault::violation(LoadRule::Answered, stated, "none"))
    }

    fn check_account(&self) -> Option<LoadFault> {
        let (completed, failed) = (self.completed, self.failed);
        let differs = |asked: &f64| (asked - completed - failed).abs() >= 0.5;
        let requested = self.requested.filter(differs)?;
        let stated = format!("{requested} requested, {completed} completed, {failed} failed");
        Some(LoadFault::violation(
            LoadRule::Accounted,
            stated,
            "completed and failed requests are all",
        ))
    }

    fn check_lengths(&self, asked: Option<f64>) -> Option<LoadFault> {
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
        (!is_asked(shortest) || !is_asked(longest))
            .then(|| LoadFault::violation(LoadRule::Length, stated, &required))
    }

    /// Where most answers have the same, greatest length, a number of tokens was asked for.
    fn check_early_ends(&self) -> Option<LoadFault> {
        let AnswerLengths { shortest, median, longest } = self.answer_lengths?;
        let stated = format!("most answers have {longest} tokens, the shortest {shortest}");
        let required =
            format!("each as many, unless a model may end its answer: `output_tokens: {longest}`");
        let rule = LoadRule::Length;
        let ends_early = shortest > 0.0 && shortest < longest && longest - median < 0.5;
        ends_early.then_some(LoadFault { rule, stated, required, is_violation: false })
    }

    fn check_sum(&self) -> Option<LoadFault> {
        let (sum, total) = self.summed_tokens.zip(self.output_tokens)?;
        let stated = format!("{total} tokens in all, {sum} of single answers");
        let differs = differ(sum, total) > MAX_SUM_DIFFERENCE;
        differs.then(|| LoadFault::violation(LoadRule::Tokens, stated, "equal sums"))
    }

    fn check_rate(&self) -> Option<LoadFault> {
        let (rate, tokens) = self.output_rate.zip(self.output_tokens)?;
        let duration = self.duration?;
        let stated = format!("{rate} tokens/s, {tokens} tokens in {duration} s");
        let differs = differ(rate, tokens / duration) > MAX_RATE_DIFFERENCE;
        differs
            .then(|| LoadFault::violation(LoadRule::Tokens, stated, "the tokens by the duration"))
    }

    fn check_recount(&self) -> Option<LoadFault> {
        let (own, counted) = self.recounted_tokens.zip(self.output_tokens)?;
        let stated = format!("{counted} tokens counted, {own} in the texts");
        let differs = differ(counted, own) > MAX_RECOUNT_DIFFERENCE;
        differs.then(|| LoadFault::violation(LoadRule::Tokens, stated, "the tokens of the texts"))
    }

    fn check_miscounted(&self) -> Option<LoadFault> {
        let stated = format!("the server counts {} answers otherwise", self.miscounted);
        (self.miscounted != 0.0).then(|| {
            LoadFault::violation(LoadRule::Tokens, stated, "the same count of each answer")
        })
    }

    fn check_in_flight(&self) -> Option<LoadFault> {
        let (concurrency, duration) = self.concurrency.zip(self.duration)?;
        let busy = self.whole_answer? * self.completed / (duration * concurrency);
        let stated = format!("{:.1} requests in flight on average", busy * concurrency);
        let required = format!("{concurrency}, less a tenth at its end");
        (self.rounds() >= MIN_ROUNDS && !IN_FLIGHT.contains(&busy))
            .then(|| LoadFault::violation(LoadRule::InFlight, stated, &required))
    }

    fn check_first_tokens(&self) -> Option<LoadFault> {
        let (concurrency, duration) = self.concurrency.zip(self.duration)?;
        let (mean, median) = self.first_token?;
        let late = (mean - median) * self.completed / (duration * concurrency);
        let stated = format!(
            "mean {:.0} ms, median {:.0} ms: {:.0} % of the load waited for late first tokens",
            mean * 1e3,
            median * 1e3,
            late * 1e2
        );
        let required = "a server that is warm before the load";
        (self.rounds() >= MIN_ROUNDS && late > MAX_LATE_SHARE)
            .then(|| LoadFault::violation(LoadRule::Warm, stated, required))
    }

    /// The completed requests for each of those in flight; infinitely many without a concurrency.
    fn rounds(&self) -> f64 {
        self.concurrency.map_or(f64::INFINITY, |concurrency| self.completed / concurrency)
    }

    fn check_rounds(&self) -> Option<LoadFault> {
        let rounds = self.rounds();
        let stated = format!("{rounds:.1} requests for each of those in flight");
        let required = format!("{MIN_ROUNDS}, to tell a load from its beginning and its end");
        let rule = LoadRule::Rounds;
        (rounds < MIN_ROUNDS).then_some(LoadFault { rule, stated, required, is_violation: false })
    }

    fn check_uncounted(&self) -> Option<LoadFault> {
        let stated = format!("the server states no tokens of {} answers", self.uncounted);
        let required = "counted by the client's own tokenizer".to_owned();
        let rule = LoadRule::Tokens;
        (self.uncounted > 0.0).then_some(LoadFault { rule, stated, required, is_violation: false })
    }

    fn check_chunks(&self) -> Option<LoadFault> {
        let tokens = self.between_chunks? / self.per_token.filter(|time| *time > 0.0)?;
        let stated = format!("{tokens:.1} tokens in a chunk");
        let required = "one, for a time between tokens (itl)".to_owned();
        let rule = LoadRule::Chunks;
        (tokens > MAX_CHUNK_TOKENS).then_some(LoadFault {
            rule,
            stated,
            required,
            is_violation: false,
        })
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

    fn faults(output: &Value, asked: Option<f64>) -> Vec<LoadFault> {
        let loads = Client::Vllm.read_loads(&output.to_string()).unwrap();
        loads.iter().flat_map(|load| load.find_faults(asked)).collect()
    }

    #[test]
    fn a_clean_load_breaks_no_rule() {
        assert_eq!(faults(&output(), Some(32.0)), []);
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
        let named = found.iter().filter(|fault| fault.is_violation && fault.rule == rule);
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
            matches!(&found[..], [one] if one.stated == stated && !one.is_violation),
            "{found:?}"
        );
    }
}
