//! Blocks of guides as words.

use super::*;

fn split_to_texts(block: &str) -> Vec<Vec<String>> {
    let commands = split_commands(block).unwrap();
    let words = |words: &Vec<ShellWord>| words.iter().map(ShellWord::to_shell_text).collect();
    commands.iter().map(words).collect()
}

#[test]
fn a_guides_block_is_split_into_commands() {
    let block = "# pull first\n$ sudo docker pull a:1\n$ docker run -it \\\n>  -v \"$(pwd)/x y\":/x \\ \n  --name ${USER}-a a:1 bash -c 'echo $X; date' # then\n";
    assert_eq!(
        split_to_texts(block),
        [
            vec!["sudo", "docker", "pull", "a:1"],
            vec![
                "docker",
                "run",
                "-it",
                "-v",
                "$(pwd)/x y:/x",
                "--name",
                "${USER}-a",
                "a:1",
                "bash",
                "-c",
                "echo $X; date"
            ],
        ]
    );
}

#[test]
fn shell_variables_and_placeholders_are_parsed() {
    let words =
        &split_commands("a ${B:-/c d}/e ~/f `pwd` $PWD/g <host-dir>:/data '$H'").unwrap()[0];
    let variable = |name: &str, default: Option<&str>| ShellWordPart::Variable {
        name: name.into(),
        default: default.map(str::to_owned),
    };
    assert_eq!(
        words[1].pieces,
        [
            variable("B", Some("/c d")),
            ShellWordPart::Text("/e".into())
        ]
    );
    assert_eq!(
        words[2].pieces,
        [variable("HOME", None), ShellWordPart::Text("/f".into())]
    );
    assert_eq!(words[3].pieces, [ShellWordPart::WorkingDirectory]);
    assert_eq!(
        words[4].pieces,
        [
            ShellWordPart::WorkingDirectory,
            ShellWordPart::Text("/g".into())
        ]
    );
    assert_eq!(
        words[5].pieces,
        [
            variable("HOST_DIR", None),
            ShellWordPart::Text(":/data".into())
        ]
    );
    assert_eq!(words[6].as_plain(), Some("$H"));
}

#[test]
fn shell_only_syntax_is_refused() {
    for block in [
        "a $(id -u)",
        "a | b",
        "a > b",
        "a 'b",
        "a \"b",
        "a ${B%c}",
        "a &",
    ] {
        assert!(split_commands(block).is_err(), "{block}");
    }
}
