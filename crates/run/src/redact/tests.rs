use rstest::rstest;

use super::*;

const TOKEN: &str = "hf_0123456789abcdef";

fn redactor(value: &str) -> Redactor {
    let secrets = BTreeMap::from([("HF_TOKEN".to_owned(), value.to_owned())]);
    Redactor::new(&secrets).unwrap().unwrap()
}

#[test]
fn json_and_url_encoded_forms_are_replaced() {
    let text =
        "a hf_x/y\"z b\nurl=hf_x%2Fy%22z %2f: hf_x%2fy%22z\njson=\"hf_x/y\\\"z\"\nlast hf_x/y\"z";
    let clean =
        "a [HF_TOKEN] b\nurl=[HF_TOKEN] %2f: [HF_TOKEN]\njson=\"[HF_TOKEN]\"\nlast [HF_TOKEN]";
    assert_eq!(redactor("hf_x/y\"z").redact_text(text), clean);
}

#[rstest]
#[case::html("x=a&amp;b&lt;c&quot;&#39;d", "a&b<c\"'d", "x=[HF_TOKEN]")]
#[case::html_of_go("x=a&amp;b&#34;&#39;d", "a&b\"'d", "x=[HF_TOKEN]")]
#[case::html_of_mustache("x=a&amp;b&#x2F;&#x3D;d", "a&b/=d", "x=[HF_TOKEN]")]
#[case::html_by_numbers("x=a&#38;b&#60;d", "a&b<d", "x=[HF_TOKEN]")]
#[case::html_by_hex_numbers("x=a&#x26;b&#x3c;d", "a&b<d", "x=[HF_TOKEN]")]
#[case::json_of_go(r"x=a\u0026b\u003cc\u003e.", "a&b<c>.", "x=[HF_TOKEN]")]
#[case::reversed("fedcba9876543210_fh", TOKEN, "[HF_TOKEN]")]
#[case::hexadecimal("68665f30313233343536373839616263646566", TOKEN, "[HF_TOKEN]")]
#[case::base64("aGZfMDEyMzQ1Njc4OWFiY2RlZg==", TOKEN, "[HF_TOKEN]g==")]
#[case::basic_authorization("dXNlcjpoZl8wMTIzNDU2Nzg5YWJjZGVm", TOKEN, "dXNlcjp[HF_TOKEN]")]
#[case::wrapped("aGZfMDEyMzQ1\nNjc4OWFiY2Rl\nZg==", TOKEN, "[HF_TOKEN]g==")]
#[case::halves("one hf_012345\r\n6789abcdef two", TOKEN, "one [HF_TOKEN] two")]
#[case::short("ab\nc abc", "abc", "ab\nc [HF_TOKEN]")]
fn encoded_forms_are_replaced(#[case] text: &str, #[case] value: &str, #[case] clean: &str) {
    assert_eq!(redactor(value).redact_text(text), clean);
}

#[test]
fn a_secret_across_two_blocks_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("output.log");
    for shift in [0, 1, 7, 15, 16] {
        let before = "x".repeat(READ_BLOCK_BYTES - shift);
        fs::write(&path, format!("{before}{TOKEN};")).unwrap();
        redactor(TOKEN).redact_file(&path).unwrap();
        let clean = format!("{before}[HF_TOKEN];");
        assert_eq!(fs::read_to_string(&path).unwrap(), clean);
    }
}

#[test]
fn very_long_line_breaks_are_unchanged() {
    let breaks = "\n".repeat(3 * MAX_PENDING_BYTES);
    assert_eq!(redactor(TOKEN).redact_text(&breaks), breaks);
}

#[test]
fn names_and_compressed_files_are_searched() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    fs::create_dir(at(TOKEN)).unwrap();
    fs::write(at(TOKEN).join(TOKEN), "1").unwrap();
    fs::write(at(TOKEN).join(hex::encode(TOKEN)), "2").unwrap();
    let compressed = |text: &str| {
        let mut to = GzEncoder::new(Vec::new(), Compression::default());
        to.write_all(text.as_bytes()).unwrap();
        to.finish().unwrap()
    };
    fs::write(at("log.gz"), compressed(&format!("a {TOKEN} b"))).unwrap();
    let other = compressed("nothing");
    fs::write(at("other.gz"), &other[..other.len() - 9]).unwrap();
    redactor(TOKEN).redact_directory(directory.path()).unwrap();
    let mut text = String::new();
    let mut decoded = GzipDecoder::open(&at("log.gz")).unwrap();
    decoded.read_to_string(&mut text).unwrap();
    assert_eq!(text, "a [HF_TOKEN] b");
    assert_eq!(fs::read(at("other.gz")).unwrap(), other[..other.len() - 9]);
    let mut found = ["[HF_TOKEN]", "[HF_TOKEN].2"]
        .map(|name| fs::read_to_string(at("[HF_TOKEN]").join(name)).unwrap());
    found.sort();
    assert_eq!(found, ["1", "2"]);
}

#[test]
fn the_filter_receives_each_form_once() {
    let secrets = BTreeMap::from([("T".to_owned(), "plain".to_owned())]);
    let names = ["T".to_owned(), "ABSENT".to_owned()];
    let environment: BTreeMap<String, String> =
        redaction_environment(&names, &secrets).into_iter().collect();
    assert_eq!(environment["T"], "plain");
    assert_eq!(environment["RETRIAL_HIDDEN"], "0:T");
    assert_eq!(environment.len(), 3);
}
