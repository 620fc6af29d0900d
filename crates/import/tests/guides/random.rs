//! Random command lines, converted to a recipe and back.

use proptest::prelude::*;
use retrial_import::FlagTreatment;

use super::{made, parse_line, recipe_from_block, script, spelled, split_commands};

/// Flags as somebody might write them, each with the spelling that the plan has.
fn flag() -> impl Strategy<Value = String> {
    let path = "/[a-z]{1,8}(/[a-z0-9._-]{1,8}){0,2}";
    let text = "[a-zA-Z0-9 $'\"#:=,.*~-]{1,12}";
    prop_oneof![
        Just("--privileged".to_owned()),
        Just("-it".to_owned()),
        Just("--rm".to_owned()),
        Just("--init=true".to_owned()),
        Just("--read-only".to_owned()),
        prop_oneof!["host", "private", "none"].prop_map(|ipc| format!("--ipc={ipc}")),
        prop_oneof![Just("SYS_ADMIN"), Just("CAP_SYS_PTRACE"), Just("ALL")]
            .prop_map(|cap| format!("--cap-drop {cap}")),
        path.prop_filter("a recipe takes no path that climbs", |path| !path
            .split('/')
            .any(|part| part == ".."))
            .prop_map(|path| format!("--device={path}")),
        "[a-z]{1,8}".prop_map(|group| format!("--group-add {group}")),
        (1_u32..500).prop_map(|size| format!("--shm-size {size}m")),
        (1_u32..500).prop_map(|size| format!("-m{size}G")),
        (-1_i64..9, 9_i64..99)
            .prop_map(|(soft, hard)| format!("--ulimit nofile={}:{hard}", soft.max(0))),
        (0_u32..64, 1_u32..10)
            .prop_map(|(cpu, part)| format!("--cpus {cpu}.{part} --cpuset-cpus={cpu}-70")),
        (1_i64..9999).prop_map(|limit| format!("--pids-limit {limit}")),
        ("[A-Z][A-Z0-9_]{0,6}X", text)
            .prop_map(|(name, value)| format!("-e {name}={}", quoted(&value))),
        "[a-z.]{1,10}[a-z]".prop_map(|name| format!("--sysctl {name}=1")),
        "/[a-z]{1,9}".prop_map(|path| format!("--tmpfs {path}:size=1g")),
        "[a-z]{1,9}".prop_map(|name| format!("-h {name} --add-host {name}:10.0.0.1")),
        "[0-9]{1,4}(:[0-9]{1,4})?".prop_map(|user| format!("-u {user}")),
    ]
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Docker takes the last of flags that come once, and each of the others.
fn settled(mut flags: Vec<(String, String)>, order: &str) -> Vec<(String, String)> {
    let many = ["volume", "device", "group-add", "cap-drop", "tmpfs", "add-host"];
    let line = parse_line(&split_commands(order)[0][2..]);
    flags.clear();
    let keys = line.flags.iter().filter(|(flag, _)| flag.treatment == FlagTreatment::Key);
    for (flag, value) in keys {
        let (name, value) = (flag.name.to_owned(), spelled(flag.name, value));
        let named = ["env", "sysctl", "ulimit"].contains(&name.as_str());
        let part = |value: &str| value.split('=').next().unwrap_or_default().to_owned();
        if !many.contains(&name.as_str()) {
            flags.retain(|(other, old)| *other != name || (named && part(old) != part(&value)));
        }
        flags.push((name, value));
    }
    flags.sort();
    // The same twice is one.
    flags.dedup();
    flags
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn flags_round_trip_through_recipe_and_plan(
        flags in proptest::collection::vec(flag(), 0..8),
        mounts in proptest::collection::btree_map("/t[a-z]{1,6}", "/s[a-z ]{0,6}[a-z]", 0..3),
        command in proptest::collection::vec(
            "[a-zA-Z0-9 $'\"#:=,.*~&|<>;\\\\-]{1,12}"
                .prop_filter("it is a placeholder", |word| !(word.contains('<') && word.contains('>'))),
            0..4,
        ),
    ) {
        let mut text = format!("docker run {}", flags.join(" "));
        for (target, source) in &mounts {
            text.extend([" -v ", &quoted(&format!("{source}:{target}"))]);
        }
        text += " debian:12 python3";
        for word in &command {
            text.extend([" ", &quoted(word)]);
        }
        let reading = recipe_from_block(&text).unwrap();
        let ((ours, image, _), executed) = made(&script(&reading.recipe, &[]));
        let theirs = settled(Vec::new(), &text);
        prop_assert_eq!(ours, theirs);
        prop_assert_eq!(image, "debian:12");
        prop_assert_eq!(&split_commands(&executed[0])[0][1..], &command[..]);
    }

    #[test]
    fn any_text_is_read_without_panic(text in "(docker run )?[ -~\n]{0,80}") {
        let _ = recipe_from_block(&text);
    }
}
