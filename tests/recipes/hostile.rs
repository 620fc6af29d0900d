//! Files that are too large, too deep, not text, or made to hurt: one clear error, at once.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::format_push_string,
    clippy::format_collect,
    reason = "tests"
)]

use std::time::{Duration, Instant};

use proptest::prelude::*;
use retrial::app::catalog;
use retrial_document::is_harmful;
use retrial_recipe::{
    Diagnostics, NoTemplates, RecipeFileKind, Source, check_source, resolve_recipe,
};

/// Checks a text and holds it to "at once", which is seconds in a debug build on a busy machine:
/// what grows with the square of the file takes minutes there.
fn problems(text: &str) -> Diagnostics {
    let source = Source::new("hostile.yaml", text);
    let begin = Instant::now();
    let problems = check_source(&source, RecipeFileKind::Recipe, &NoTemplates);
    let rendered = problems.render(true);
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
    assert!(rendered.len() < 1 << 20);
    problems
}

#[track_caller]
fn only(text: &str, code: &str) {
    let problems = problems(text);
    let codes: Vec<_> = problems.iter().map(|problem| problem.code).collect();
    assert_eq!(codes, [code], "{problems}");
}

#[test]
fn twenty_thousand_levels() {
    let levels = 20_000;
    only(&"[".repeat(levels), "too-deep");
    only(&"{a: ".repeat(levels), "too-deep");
    only(&format!("a: {}{}", "[".repeat(levels), "]".repeat(levels)), "too-deep");
    only(&"- ".repeat(levels), "too-deep");
    let stairs: String = (0..1_400).map(|level| format!("{}a:\n", " ".repeat(level))).collect();
    only(&stairs, "too-deep");
}

#[test]
fn depth_through_aliases() {
    let mut text = String::from("a0: &a0 x\n");
    for level in 1..2_000 {
        text += &format!("a{level}: &a{level} [*a{}]\n", level - 1);
    }
    assert!(problems(&text).iter().any(|problem| problem.code == "too-deep"));
}

#[test]
fn alias_bombs_are_refused() {
    let mut lists = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    let mut maps = String::from("a0: &a0 {k: v}\n");
    for level in 1..20 {
        let names = vec![format!("*a{}", level - 1); 9].join(", ");
        lists += &format!("a{level}: &a{level} [{names}]\n");
        maps += &format!(
            "a{level}: &a{level} {{<<: *a{0}, one: *a{0}, two: *a{0}, three: *a{0}}}\n",
            level - 1
        );
    }
    only(&lists, "too-many-values");
    assert!(problems(&maps).iter().any(|problem| problem.code == "too-many-values"));
    let long = format!("a: &a {}\nb: [{}]\n", "x".repeat(500_000), vec!["*a"; 1_000].join(", "));
    only(&long, "too-many-values");
    only("a: &a [*a]\n", "alias");
}

#[test]
fn large_and_wide_files_are_refused() {
    only(&"x: y\n".repeat(300_000), "too-large");
    let keys: String = (0..9_000).map(|key| format!("key{key}: x\n")).collect();
    let problems = problems(&format!("schema: 1\n{keys}"));
    assert!(problems.omitted_count() > 8_000);
    assert!(problems.render(false).contains("and "));
    let expressions = "${{ params.x }}".repeat(20_000);
    assert!(self::problems(&format!("schema: 1\ntitle: \"{expressions}\"\n")).has_errors());
}

#[test]
fn many_axes_do_not_multiply_the_checks() {
    let axis = |name: usize| {
        let values: Vec<_> = (0..30).map(|value| format!("v{value}: {{}}")).collect();
        format!("  a{name}: {{{}}}\n", values.join(", "))
    };
    let all: String = (0..20).map(axis).collect();
    assert!(problems(&format!("schema: 1\nvariants:\n{all}")).has_errors());
}

#[test]
fn binary_and_non_utf8_files_are_refused() {
    only("schema: 1\ntitle: a\0b\n", "nul");
    only("schema: 1\ntitle: \"a\\0b\"\n", "nul");
    let problems = Source::from_bytes("latin.yaml", b"schema: 1\ntitle: caf\xe9\n").unwrap_err();
    assert_eq!(problems.render(false).lines().nth(1), Some(" --> latin.yaml:2:11"));
}

#[test]
fn a_hundred_megabytes_are_not_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("large.yaml");
    std::fs::File::create(&path).unwrap().set_len(100 << 20).unwrap();
    let begin = Instant::now();
    let error = catalog::open_path(&path).unwrap_err();
    assert!(error.to_string().contains("larger than 1024 KiB"), "{error}");
    assert!(begin.elapsed() < Duration::from_secs(1));
    let endless = catalog::open_recipe("/dev/zero").unwrap_err();
    assert!(endless.to_string().contains("larger than"), "{endless}");
}

/// Pieces of recipes, put together at random: nearer to the parser's corners than random bytes.
fn fragments() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "schema: 1\n",
        "title: x\n",
        "params:\n",
        "  a: {type: int, default: 1}\n",
        "  ",
        "\n",
        ": ",
        "- ",
        "[",
        "]",
        "{",
        "}",
        "${{",
        "}}",
        "${{ params.a }}",
        "'",
        "\"",
        "&a ",
        "*a",
        "<<: ",
        "|\n",
        ">-\n",
        "\t",
        "#",
        "!x ",
        "key+: ",
        "null",
        "~",
        "variants: {r: {\"1\": {}, \"2\": {}}}\n",
        "image: a:b\n",
        "scenarios: {offline: {performance: {run: x, results: /r}}}\n",
        "submission: {suite: s, benchmark: b}\n",
        "é",
        "\u{feff}",
        "\u{2028}",
        "---\n",
        "...\n",
        "%YAML 1.2\n",
        ",",
        "?",
        "0",
        "1e9",
        "-1",
        "\\",
        "🦀",
        "\r\n",
        "\u{85}",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// Values that are awkward to write as YAML.
fn awkward() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~]{0,40}",
        "[a-z:#\\-? \t\n'\"|>&*!%@`{}\\[\\],~=<+]{0,40}",
        "(true|false|null|yes|no|on|~|0x1f|1e3|\\.5|-|\\.\\.\\.|---|[0-9]{1,4}-[0-9]{2}-[0-9]{2}|0o7|\\.nan|<<|=)",
        "\\PC{0,20}",
        "(line\n|  indented\n|\n|\t|end){0,6}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(source) = Source::from_bytes("x", &bytes) {
            let _ = check_source(&source, RecipeFileKind::Template, &NoTemplates).render(true);
        }
    }

    #[test]
    fn fragments_never_panic(text in fragments()) {
        let source = Source::new("x", text);
        let _ = check_source(&source, RecipeFileKind::Recipe, &NoTemplates).render(true);
        let _ = resolve_recipe("x", &source, &NoTemplates, &[]);
    }

    /// A run's stored files must parse as what was executed, whatever they contain.
    #[test]
    fn resolved_text_preserves_any_value(value in awkward(), key in "[A-Za-z_][A-Za-z0-9_]{0,8}") {
        let quoted = serde_json::to_string(&value).unwrap();
        let text = format!("schema: 1\ntitle: x\nsubmission: {{suite: s, benchmark: b}}\nimage: a:b\ncontainer: {{env: {{\"{key}\": {quoted}}}}}\nscenarios: {{c: {{performance: {{run: x, results: /r}}}}}}\n");
        let first = match resolve_recipe("x", &Source::new("x", text), &NoTemplates, &[]) {
            Ok(first) => first,
            // Expressions and characters that move a cursor may be refused, but then for that alone.
            Err(problems) => {
                let is_refused = |letter: char| letter != '\n' && is_harmful(letter);
                prop_assert!(value.contains("${{") || value.contains(is_refused), "{problems}");
                return Ok(());
            }
        };
        prop_assert_eq!(&first.recipe.container.env[0].1.0, &value);
        let again = resolve_recipe("x", &Source::new("x", first.yaml.clone()), &NoTemplates, &[]);
        let again = again.map_err(|problems| TestCaseError::fail(format!("{problems}\n{}", first.yaml)))?;
        prop_assert_eq!(&again.recipe, &first.recipe, "{}", first.yaml);
        prop_assert_eq!(again.yaml, first.yaml);
    }
}
