use rstest::rstest;

use super::*;

const KEY: &str =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti a key";

fn check_line(line: &str, name: Option<&str>) -> KeyAuthorization {
    check_file(&format!("# ours\n\n{line} {KEY}\n"), name)
}

fn check_file(text: &str, name: Option<&str>) -> KeyAuthorization {
    let signers = AllowedSigners::parse(text.as_bytes(), &TimeZone::UTC);
    let key: ssh_key::PublicKey = KEY.parse().unwrap();
    let now = "2026-04-01T06:00:00Z".parse().unwrap();
    signers.authorize_key(key.key_data(), "retrial-evidence", name, now)
}

#[rstest]
#[case("alice@example.com")]
#[case("\"alice@example.com,bob@example.com\"")]
#[case("*@example.com")]
#[case("alice@example.com namespaces=\"git,retrial-*\"")]
#[case("alice@example.com valid-after=\"20260401\",valid-before=\"20260402Z\"")]
#[case("alice@example.com namespaces=\"retrial-evidence\",valid-before=\"202604010600\"")]
#[case::spaces("\t alice@example.com \t NameSpaces=\"retrial-evidence\" \t")]
#[case::escape("alice@example.com namespaces=\"a\\\"b,retrial-evidence\"")]
#[case::beyond_its_month("alice@example.com valid-before=\"20260431\"")]
fn a_matching_line_allows_the_key(#[case] line: &str) {
    assert!(matches!(check_line(line, None), KeyAuthorization::Allowed(_)), "{line}");
    let name = Some("alice@example.com");
    assert!(matches!(check_line(line, name), KeyAuthorization::Allowed(_)), "{line}");
}

#[test]
fn neither_a_comment_nor_a_newline_is_needed() {
    let line = format!("alice {}", KEY.trim_end_matches(" a key"));
    for text in [line.clone(), format!("{line}\r\n"), format!("bad\n{line}")] {
        assert_eq!(
            check_file(&text, None),
            KeyAuthorization::Allowed("alice".to_owned()),
            "{text}"
        );
    }
}

#[rstest]
#[case("bob@example.com", "the key belongs to bob@example.com, not to alice@example.com")]
#[case("*,!alice@*", "the key belongs to *,!alice@*, not to alice@example.com")]
#[case(
    "alice@example.com namespaces=\"git\"",
    "the key is for the namespaces git, not for retrial-evidence"
)]
#[case(
    "alice@example.com valid-before=\"20260401055959\"",
    "the key has not been valid since 2026-04-01T05:59:59Z"
)]
#[case(
    "alice@example.com valid-after=\"20260402\"",
    "the key is not valid before 2026-04-02T00:00:00Z"
)]
#[case("alice@example.com cert-authority", "its key is not in the file")]
fn a_refusal_states_its_reason(#[case] line: &str, #[case] reason: &str) {
    let KeyAuthorization::Refused(actual) = check_line(line, Some("alice@example.com")) else {
        panic!("{line}")
    };
    assert!(actual.ends_with(reason), "{actual}");
}

#[rstest]
#[case("alice", "it has names, but no key")]
#[case("\"alice ssh-ed25519", "unclosed quote")]
#[case("alice valid-before=\"soon\" KEY", "\"soon\" is not a time")]
#[case("alice valid-before=\"20261301\" KEY", "\"20261301\" is not a time")]
#[case("alice never KEY", "unknown option \"never\"")]
#[case("alice valid-before=20270101 KEY", "the value of \"valid-before\" must be quoted")]
#[case(
    "alice valid-before=\"20270101\",valid-before=\"20280101\" KEY",
    "multiple \"valid-before\" options"
)]
#[case("alice namespaces=\"retrial-evidence\", KEY", "the options end with a comma")]
#[case(
    "alice valid-after=\"20260101\",valid-before=\"20260101\" KEY",
    "valid-before is not after valid-after"
)]
#[case("alice ssh-ed25519 AAAA", "unknown option \"ssh-ed25519\"")]
fn an_unreadable_line_is_reported_with_its_number(#[case] line: &str, #[case] reason: &str) {
    let answer = check_file(&line.replace("KEY", KEY), None);
    let KeyAuthorization::Refused(actual) = answer else { panic!("{line}") };
    assert!(actual.contains("line 1: ") && actual.contains(reason), "{actual}");
}

#[test]
fn local_times_are_standard_times_as_in_c() {
    let zone = TimeZone::get("Europe/Berlin").unwrap();
    let parse = |text: &str| time::parse_openssh_time(text.as_bytes(), &zone).unwrap().to_string();
    assert_eq!(parse("202601010000"), "2025-12-31T23:00:00Z");
    assert_eq!(parse("202607010000"), "2026-06-30T23:00:00Z");
    assert_eq!(parse("20260701UTC"), "2026-07-01T00:00:00Z");
}
