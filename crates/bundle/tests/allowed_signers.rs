//! Files of allowed signers, read here and by `ssh-keygen -Y verify`: a line that counts there counts here, and no
//! other. Needs ssh-keygen (OpenSSH 9.1 or later).
#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use fastrand::Rng;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use retrial_bundle::allowed_signers::{AllowedSigners, KeyAuthorization};
use ssh_key::PublicKey;
use tempfile::TempDir;

const NAMESPACE: &str = "retrial-evidence";
/// Zones without and with summer time, and names to sign by.
const ZONES: [&str; 3] = ["UTC", "Europe/Berlin", "America/New_York"];
const NAMES: [&str; 3] = ["alice", "alice@example.com", "bob"];

/// A key of ssh-keygen, and its signature of a text.
struct Signed {
    directory: TempDir,
    public: String,
}

impl Signed {
    fn new(kind: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        run(Command::new("ssh-keygen")
            .args(["-q", "-N", "", "-C", "", "-t", kind, "-f"])
            .arg(path("key")));
        fs::write(path("text"), "a statement\n").unwrap();
        run(Command::new("ssh-keygen")
            .args(["-q", "-Y", "sign", "-n", NAMESPACE, "-f"])
            .args([path("key"), path("text")]));
        let public = fs::read_to_string(path("key.pub")).unwrap();
        Self { public: public.trim().to_owned(), directory }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Whether ssh-keygen accepts the signature by a file of allowed signers.
    fn accepted_by_openssh(&self, file: &[u8], name: &str, zone: &str) -> bool {
        let allowed = self.path().join("allowed");
        fs::write(&allowed, file).unwrap();
        let text = fs::File::open(self.path().join("text")).unwrap();
        let output = Command::new("ssh-keygen")
            .args(["-q", "-Y", "verify", "-n", NAMESPACE, "-I", name, "-f"])
            .arg(&allowed)
            .arg("-s")
            .arg(self.path().join("text.sig"))
            .env("TZ", zone)
            .stdin(Stdio::from(text))
            .output();
        output.unwrap().status.success()
    }

    /// The same by this crate.
    fn accepted_here(&self, file: &[u8], name: &str, zone: &str) -> bool {
        let key: PublicKey = self.public.parse().unwrap();
        let signers = AllowedSigners::parse(file, &TimeZone::get(zone).unwrap());
        let answer = signers.authorize_key(key.key_data(), NAMESPACE, Some(name), Timestamp::now());
        matches!(answer, KeyAuthorization::Allowed(_))
    }

    fn compare(&self, file: &[u8], name: &str, zone: &str) -> bool {
        let expected = self.accepted_by_openssh(file, name, zone);
        let actual = self.accepted_here(file, name, zone);
        let text = String::from_utf8_lossy(file);
        assert_eq!(actual, expected, "as {name} in {zone}: {text:?}");
        expected
    }
}

fn run(command: &mut Command) {
    assert!(command.status().unwrap().success(), "{command:?}");
}

/// One of these.
fn one<'a>(random: &mut Rng, all: &[&'a str]) -> &'a str {
    all[random.usize(..all.len())]
}

fn principals(random: &mut Rng) -> String {
    let parts = [
        "alice",
        "alice@example.com",
        "*",
        "a?ice",
        "!bob",
        "!alice",
        "*@example.com",
        "",
        "ALICE",
        "bob",
    ];
    let count = random.usize(1..4);
    let list: Vec<&str> = (0..count).map(|_| one(random, &parts)).collect();
    let list = list.join(",");
    match random.u8(..12) {
        0 => format!("\"{list}\""),
        1 => format!("\"{list}"),
        2 => format!("ali\"ce\" {list}"),
        3 => format!("{}{list}", "x".repeat(1030)),
        4 => format!("{list},{}", "x".repeat(1030)),
        _ => list,
    }
}

fn time(random: &mut Rng) -> String {
    let times = [
        "20200101",
        "20990101",
        "202001010000",
        "20200101000000Z",
        "20990101UTC",
        "20200230",
        "20990231Z",
        "19700101Z",
        "19691231",
        "19700102",
        "soon",
        "",
        "2099 1 1",
        "20991301",
        "20990100",
        "2099010124",
        "209901012359",
        "20990101235961",
        "20200101z",
        "20200101utc",
        "Z",
        "+0990101",
        "20990101 ",
    ];
    one(random, &times).to_owned()
}

fn option(random: &mut Rng) -> String {
    let name = one(
        random,
        &[
            "namespaces",
            "NameSpaces",
            "valid-after",
            "valid-before",
            "VALID-BEFORE",
            "cert-authority",
            "never",
        ],
    );
    if name == "cert-authority" && random.bool() {
        return one(random, &[name, "Cert-Authority", "cert-authorityx"]).to_owned();
    }
    let value = if name.eq_ignore_ascii_case("namespaces") {
        let values = [
            "retrial-evidence",
            "git,retrial-*",
            "*",
            "git",
            "!git,*",
            "a\\\"b,*",
            "",
            "*,!retrial-evidence",
            "a b,*",
        ];
        one(random, &values).to_owned()
    } else {
        time(random)
    };
    match random.u8(..10) {
        0 => format!("{name}={value}"),
        1 => format!("{name}=\"{value}"),
        2 => format!("{name}=\"{value}\"x"),
        3 => format!("{name} =\"{value}\""),
        _ => format!("{name}=\"{value}\""),
    }
}

fn options(random: &mut Rng) -> String {
    let count = random.usize(..4);
    let all: Vec<String> = (0..count).map(|_| option(random)).collect();
    let mut text = all.join(one(random, &[",", ",", ",", ",", ",,", ", "]));
    if random.u8(..20) == 0 {
        text.insert(0, ',');
    }
    if random.u8(..20) == 0 {
        text.push(',');
    }
    text
}

/// A line of which most parts are as people write them.
fn plain_line(random: &mut Rng, public: &str) -> String {
    let names =
        one(random, &["*", "alice,alice@example.com,bob", "\"alice*,bob\"", "alice", "a*,b?b,!al"]);
    let blank = one(random, &[" ", "  ", "\t"]);
    let options = match random.u8(..4) {
        0 => String::new(),
        1 => option(random) + blank,
        _ => {
            let all = [
                "namespaces=\"retrial-*\"",
                "NAMESPACES=\"git,retrial-evidence\",valid-before=\"20990101\"",
                "valid-after=\"20200101Z\"",
                "valid-after=\"202001010000\",Valid-Before=\"20990231UTC\"",
            ];
            one(random, &all).to_owned() + blank
        }
    };
    format!("{names}{blank}{options}{public}")
}

fn line(random: &mut Rng, public: &str) -> String {
    let blank =
        |random: &mut Rng| one(random, &[" ", " ", " ", "  ", "\t", " \t ", "\r"]).to_owned();
    let comment = one(random, &["", "", " a comment", "  # no comment", "\t\"quoted", " é"]);
    let key = match random.u8(..14) {
        0 => public.replacen(' ', "  ", 1),
        1 => public[..public.len() - 2].to_owned(),
        2 => public.replacen("ssh-", "SSH-", 1),
        3 => public.replacen("AAAA", "AAAB", 1),
        4 => public.split(' ').nth(1).unwrap().to_owned(),
        5 => public.replacen("ssh-rsa", "rsa-sha2-512", 1),
        _ => public.to_owned(),
    };
    let mut text = one(random, &["", "", "", "", " ", "\t", "#"]).to_owned();
    text += &principals(random);
    text += &blank(random);
    let options = options(random);
    if !options.is_empty() {
        text += &options;
        text += &blank(random);
    }
    text + &key + comment
}

/// Seeded, so that a failure can be repeated. Lines that only one of both accepts are named.
#[test]
fn generated_lines_count_as_for_ssh_keygen() {
    let mut accepted = 0;
    let mut count = 0;
    for (kind, seeds) in [("ed25519", 0..700), ("rsa", 700..1000)] {
        let signed = Signed::new(kind);
        for seed in seeds {
            let mut random = Rng::with_seed(seed);
            let lines = random.usize(1..3);
            let end = one(&mut random, &["\n", "\n", "\r\n"]);
            let lines: Vec<String> = (0..lines)
                .map(|_| {
                    let public = &signed.public;
                    if random.bool() {
                        plain_line(&mut random, public)
                    } else {
                        line(&mut random, public)
                    }
                })
                .collect();
            let mut file = lines.join(end);
            if random.bool() {
                file += end;
            }
            let name = one(&mut random, &NAMES);
            let zone = one(&mut random, &ZONES);
            accepted += usize::from(signed.compare(file.as_bytes(), name, zone));
            count += 1;
        }
    }
    // Enough of both kinds for the comparison to mean something.
    assert!(accepted > 100 && count - accepted > 100, "{accepted} of {count}");
}

/// Each as the issue or the manual names it.
#[test]
fn lines_of_every_kind_count_as_for_ssh_keygen() {
    let signed = Signed::new("ed25519");
    let key = &signed.public;
    let long = format!("{},alice", "x".repeat(1022));
    let longer = format!("alice,{}", "x".repeat(1023));
    for (file, is_accepted) in [
        (format!("alice {key}"), true),
        (format!("alice  {key}\n"), true),
        (format!("alice namespaces=\"retrial-evidence\" {key}"), true),
        (format!("alice\tnamespaces=\"retrial-evidence\"\t \t{key}\r\n"), true),
        (format!("alice valid-before=\"20990101\",valid-before=\"20980101\" {key}"), false),
        (format!("alice valid-before=20990101 {key}"), false),
        (format!("alice namespaces=retrial-evidence {key}"), false),
        (format!("alice namespaces=\"a\\\"b,retrial-evidence\" {key}"), true),
        (format!("alice VALID-BEFORE=\"20990101\" {key}"), true),
        (format!("alice cert-authority {key}"), false),
        (format!("# alice {key}"), false),
        (format!("alice,!alice {key}"), false),
        (format!("broken\nalice never {key}\nalice {key}"), true),
        (format!("{long} {key}"), true),
        (format!("{longer} {key}"), false),
        (format!("alice {key}\0 more"), true),
        (format!("alice\0 {key}"), false),
        (String::new(), false),
    ] {
        let accepted = signed.compare(file.as_bytes(), "alice", "UTC");
        assert_eq!(accepted, is_accepted, "{file:?}");
    }
    // Bytes that are no UTF-8, in a comment and in a name.
    let line = [b"alice ", key.as_bytes(), b" \xff\n"].concat();
    assert!(signed.compare(&line, "alice", "UTC"));
    let line = [b"\xff,ali?e ", key.as_bytes(), b"\n"].concat();
    assert!(signed.compare(&line, "alice", "UTC"));
}
