//! `${{ … }}` in a recipe's texts. Shell `$X`, `${X}` and `{{ }}` pass untouched.
//!
//! An expression is mostly a path (`params.results`, `models.llama-2.commit`), which is looked up
//! here, so that names may hold hyphens. Everything else (`gpus.count * 2`,
//! `'x' if variant.gpu == 'h200' else 'y'`) is minijinja's, strict: an undefined name is an error.

mod error;
mod evaluate;
mod scan;
mod scope;
mod template;

pub use error::{ExpressionError, ExpressionFault};
pub(crate) use evaluate::{evaluate_expression, referenced_names};
pub(crate) use scan::find_expressions;
pub use scope::{ExpressionScope, NodeScope, ParamValue};
pub use template::{MEASUREMENT_SCOPE, RUN_SCOPE, Template};

/// Returns the template with each expression replaced by its value. A word whose value is empty leaves no blanks
/// behind: `run ${{ params.options }}` is `run` without options. Expressions with names that are known only on the
/// machines stay as they are until `scope` has those values.
///
/// # Errors
/// An expression that is not closed, is not valid, or has a name that `scope` does not have.
pub fn render_template(
    template: &Template,
    scope: &ExpressionScope,
) -> Result<String, ExpressionError> {
    let text = &template.0;
    let expressions = find_expressions(text).map_err(|error| ExpressionError {
        expression: text[error.offset..].chars().take(40).collect(),
        fault: ExpressionFault::NotClosed,
    })?;
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for expression in expressions {
        out.push_str(&text[done..expression.outer.start]);
        let inner = &text[expression.inner.clone()];
        if needs_machine(inner, scope) {
            out.push_str(&text[expression.outer.clone()]);
            done = expression.outer.end;
            continue;
        }
        let value = evaluate_expression(inner, scope)
            .map_err(|fault| ExpressionError { expression: inner.trim().to_owned(), fault })?;
        out.push_str(&value.text);
        done = expression.outer.end;
        if value.text.is_empty() {
            done += remove_empty_word(&mut out, &text[done..]);
        }
    }
    out.push_str(&text[done..]);
    Ok(out)
}

/// Removes the blanks before an empty word, or returns the length of those after one that begins its line.
fn remove_empty_word(before: &mut String, after: &str) -> usize {
    const BLANKS: [char; 2] = [' ', '\t'];
    let rest = after.trim_start_matches(BLANKS);
    let blanks_after = after.len() - rest.len();
    if blanks_after == 0 && !rest.is_empty() && !rest.starts_with('\n') {
        return 0;
    }
    if before.is_empty() || before.ends_with('\n') {
        return blanks_after;
    }
    before.truncate(before.trim_end_matches(BLANKS).len());
    0
}

/// Returns whether an expression has a name that is known only on the machines, and not in `scope`.
fn needs_machine(expression: &str, scope: &ExpressionScope) -> bool {
    referenced_names(expression)
        .is_ok_and(|names| names.iter().any(|name| scope.is_known_later(name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Mode;

    fn full_scope() -> ExpressionScope {
        ExpressionScope {
            params: [
                ("results".into(), ParamValue::Text("/r".into())),
                ("gpus".into(), ParamValue::Int(4)),
                ("with-hyphen".into(), ParamValue::Bool(true)),
                ("none".into(), ParamValue::Text(String::new())),
            ]
            .into(),
            variant: [("rocm".into(), "7.1.1".into())].into(),
            scenario: Some("Offline".into()),
            mode: Some(Mode::Accuracy),
            trial: Some(2),
            gpus: Some(8),
            models: [("llama-2".into(), "abc".into())].into(),
            models_later: [("qwen".into(), "…".into())].into(),
            node: None,
        }
    }

    fn render_text(text: &str) -> Result<String, String> {
        let rendered = render_template(&Template(text.into()), &full_scope());
        rendered.map_err(|error| error.fault.to_string())
    }

    #[test]
    fn paths_are_replaced_by_their_values() {
        let text = "${{ params.results }}/${{scenario}}/${{ mode }}/run_${{ trial }}/${{ models.llama-2.commit }}";
        assert_eq!(render_text(text).unwrap(), "/r/Offline/accuracy/run_2/abc");
        assert_eq!(render_text("${{ params.with-hyphen }}").unwrap(), "true");
    }

    #[test]
    fn an_unresolved_commit_cannot_be_sliced() {
        assert_eq!(render_text("at ${{ models.qwen.commit }}").unwrap(), "at …");
        assert!(render_text("${{ models.qwen.commit[:8] }}").is_err());
    }

    #[test]
    fn operators_conditions_and_filters_are_evaluated() {
        assert_eq!(render_text("${{ gpus.count * 2 }}").unwrap(), "16");
        assert_eq!(render_text("${{ gpus.count / 2 }}").unwrap(), "4");
        let choice = "${{ 'new' if variant.rocm == '7.1.1' else 'old' }}";
        assert_eq!(render_text(choice).unwrap(), "new");
        assert_eq!(render_text("${{ gpus.count > 4 }}").unwrap(), "true");
        assert_eq!(render_text("${{ '}}' }}").unwrap(), "}}");
        let rounded = "${{ 2.5 | round }} ${{ 2.9 | floor }} ${{ 2.1 | ceil }}";
        assert_eq!(render_text(rounded).unwrap(), "3 2 3");
    }

    #[test]
    fn node_expressions_are_rendered_once_nodes_are_known() {
        let text = "main.py port=${{ params.gpus }} at=${{ head.address }}:1 n=${{ nodes.count }}";
        let first = render_text(text).unwrap();
        assert_eq!(first, "main.py port=4 at=${{ head.address }}:1 n=${{ nodes.count }}");
        let rate = "${{ (nodes.gpus * 2.5 * 0.9) | round }}";
        assert_eq!(render_text(rate).unwrap(), rate);
        let mut scope = full_scope();
        scope.node = Some(NodeScope {
            name: "n3".into(),
            gpus: Some(7),
            head: "10.0.0.1".into(),
            count: 11,
            all_gpus: 87,
        });
        let later = |text: &str| render_template(&Template(text.into()), &scope).unwrap();
        assert_eq!(later(&first), "main.py port=4 at=10.0.0.1:1 n=11");
        assert_eq!(later(rate), "196");
        assert_eq!(later("${{ node.name }} ${{ node.gpus }}"), "n3 7");
    }

    #[test]
    fn an_empty_word_leaves_no_blanks_behind() {
        for (text, expected) in [
            ("run ${{ params.none }}", "run"),
            ("run ${{ params.none }} ${{ params.none }}\n", "run\n"),
            ("run ${{ params.none }} last", "run last"),
            ("cd /x\n${{ params.none }} run", "cd /x\nrun"),
            ("a=${{ params.none }} b", "a= b"),
            ("'${{ params.none }}' /${{ params.none }}/x", "'' //x"),
            ("${{ params.none }}", ""),
        ] {
            assert_eq!(render_text(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn an_unknown_number_of_gpus_stays_an_expression() {
        let mut scope = full_scope();
        scope.node = Some(NodeScope { gpus: None, ..NodeScope::for_two_nodes() });
        let text = "${{ nodes.gpus }} ${{node.gpus}} ${{ node.gpus * 2 }} ${{ node['gpus'] }}";
        assert_eq!(
            render_template(&Template(text.into()), &scope).unwrap(),
            text.replacen("${{ nodes.gpus }}", "16", 1)
        );
    }

    #[test]
    fn shell_syntax_is_unchanged() {
        for text in [
            "$X ${X} ${#list[@]} {{ .Id }} {% if %} {# x #} }} $${x}",
            "awk '{print $1}' <<EOF\n{\"a\": {\"b\": 1}}\nEOF\n",
            "trailing newline\n",
            "",
        ] {
            assert_eq!(render_text(text).unwrap(), text);
        }
    }

    #[test]
    fn undefined_names_and_bad_syntax_are_errors() {
        assert_eq!(
            render_text("${{ params.nothing }}").unwrap_err(),
            "`params.nothing` is not defined"
        );
        assert_eq!(render_text("${{ env.HOME }}").unwrap_err(), "`env.HOME` is not defined");
        assert!(render_text("${{ params.nothing ~ 'x' }}").unwrap_err().contains("undefined"));
        assert!(render_text("${{ params.results").unwrap_err().contains("never closed"));
        assert!(render_text("${{ }}").unwrap_err().contains("is empty"));
        assert!(render_text("${{ 1 + }}").is_err());
    }
}
