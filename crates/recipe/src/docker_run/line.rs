//! Parses the words of `docker run` into flags, image and command, by the rules of Docker's own parser (pflag).

use super::error::DockerRunError;
use super::flags::{DOCKER_RUN_FLAGS, DockerFlag, find_long_flag, find_short_flag};
use super::words::ShellWord;
use crate::find_nearest;

/// A flag of a command line with its value; a switch has `true`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlagValue {
    /// The flag of `docker run`, and what becomes of it.
    pub flag: &'static DockerFlag,
    /// The value; of a switch `true`.
    pub value: ShellWord,
}

impl FlagValue {
    /// Formats it as it would be written.
    pub fn to_shell_text(&self) -> String {
        if self.flag.takes_value {
            format!("--{} {}", self.flag.name, self.value.to_shell_text())
        } else {
            format!("--{}", self.flag.name)
        }
    }
}

/// A parsed `docker run` or `docker exec`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DockerRunCommand {
    /// The flags in their order, without switches that are set to false.
    pub flags: Vec<FlagValue>,
    /// The image's reference; of `docker exec` the container's name.
    pub image: ShellWord,
    /// The command and its arguments after the image.
    pub command: Vec<ShellWord>,
}

/// Parses the words after `docker run`.
///
/// # Errors
/// Returns every flag and value that Docker would reject.
pub fn parse_line(words: &[ShellWord]) -> Result<DockerRunCommand, Vec<DockerRunError>> {
    let mut flags = Vec::new();
    let mut problems = Vec::new();
    let mut rest = words.iter();
    let mut image = None;
    while let Some(word) = rest.next() {
        let Some(dashed) = word.strip_prefix("-") else {
            image = Some(word.clone());
            break;
        };
        match dashed.strip_prefix("-") {
            Some(after) if after.pieces.is_empty() => {
                image = rest.next().cloned();
                break;
            }
            Some(after) => read_long_flag(&after, &mut rest, &mut flags),
            None => read_short_flag(&dashed, &mut rest, &mut flags),
        }
        .unwrap_or_else(|error| problems.push(error));
    }
    if image.is_none() {
        problems.push(DockerRunError::NoImage);
    }
    match image {
        Some(image) if problems.is_empty() => Ok(DockerRunCommand {
            flags,
            image,
            command: rest.cloned().collect(),
        }),
        _ => Err(problems),
    }
}

type ShellWords<'a> = std::slice::Iter<'a, ShellWord>;

fn read_long_flag(
    word: &ShellWord,
    rest: &mut ShellWords<'_>,
    flags: &mut Vec<FlagValue>,
) -> Result<(), DockerRunError> {
    let (name, value) = match word.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (word.clone(), None),
    };
    let flag_name = name.to_shell_text();
    let Some(flag) = find_long_flag(&flag_name) else {
        return Err(DockerRunError::UnknownFlag {
            suggestion: find_nearest(&flag_name, DOCKER_RUN_FLAGS.iter().map(|flag| flag.name))
                .map(|near| format!("did you mean --{near}?")),
            flag: format!("--{flag_name}"),
        });
    };
    let value = match value {
        None if flag.takes_value => Some(next_value(&format!("--{flag_name}"), rest)?),
        value => value,
    };
    push_flag(flag, value, flags)
}

/// `-it`, `-itv /a:/b`, `-eNAME=value`, `-p=80:80`.
fn read_short_flag(
    word: &ShellWord,
    rest: &mut ShellWords<'_>,
    flags: &mut Vec<FlagValue>,
) -> Result<(), DockerRunError> {
    let mut unread = word.clone();
    loop {
        let shown = unread.to_shell_text();
        let Some(letter) = shown.chars().next() else {
            return Ok(());
        };
        let Some(flag) = find_short_flag(letter) else {
            return Err(DockerRunError::UnknownFlag {
                flag: format!("-{letter}"),
                suggestion: None,
            });
        };
        let after = unread.strip_prefix(&letter.to_string()).unwrap_or_default();
        let assigned = after.strip_prefix("=");
        if flag.takes_value {
            let value = match assigned {
                Some(value) => value,
                None if after.pieces.is_empty() => next_value(&format!("-{letter}"), rest)?,
                None => after,
            };
            return push_flag(flag, Some(value), flags);
        }
        if assigned.is_some() {
            return push_flag(flag, assigned, flags);
        }
        push_flag(flag, None, flags)?;
        unread = after;
    }
}

fn next_value(flag: &str, rest: &mut ShellWords<'_>) -> Result<ShellWord, DockerRunError> {
    rest.next().cloned().ok_or_else(|| DockerRunError::NoValue {
        flag: flag.to_owned(),
    })
}

fn push_flag(
    flag: &'static DockerFlag,
    value: Option<ShellWord>,
    flags: &mut Vec<FlagValue>,
) -> Result<(), DockerRunError> {
    if flag.takes_value {
        let flag_value = value.unwrap_or_default();
        flags.push(FlagValue {
            flag,
            value: flag_value,
        });
        return Ok(());
    }
    // The values that Go's strconv.ParseBool accepts.
    let written = value.map(|value| value.to_shell_text());
    match written.as_deref() {
        None | Some("1" | "t" | "T" | "true" | "TRUE" | "True") => flags.push(FlagValue {
            flag,
            value: ShellWord::new("true"),
        }),
        Some("0" | "f" | "F" | "false" | "FALSE" | "False") => {
            flags.retain(|other| other.flag.name != flag.name);
        }
        Some(other) => {
            return Err(DockerRunError::NoTruth {
                flag: format!("--{}", flag.name),
                value: other.to_owned(),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::docker_run::split_commands;
    use retrial_document::ErrorText;

    fn parse_to_texts(text: &str) -> Result<Vec<String>, Vec<DockerRunError>> {
        let words = split_commands(text).unwrap().remove(0);
        let line = parse_line(&words)?;
        let mut shown: Vec<String> = line.flags.iter().map(FlagValue::to_shell_text).collect();
        shown.push(line.image.to_shell_text());
        shown.extend(line.command.iter().map(ShellWord::to_shell_text));
        Ok(shown)
    }

    #[test]
    fn flags_are_read_in_every_spelling() {
        assert_eq!(
            parse_to_texts(
                "-itv /a:/b --net=host --ipc host -eX=1 -e=Y=2 -m=1g --rm=false --init=1 a:1 x -v y"
            )
            .unwrap(),
            [
                "--interactive",
                "--tty",
                "--volume /a:/b",
                "--network host",
                "--ipc host",
                "--env X=1",
                "--env Y=2",
                "--memory 1g",
                "--init",
                "a:1",
                "x",
                "-v",
                "y"
            ]
        );
        assert_eq!(
            parse_to_texts("--privileged -- a").unwrap(),
            ["--privileged", "a"]
        );
    }

    #[test]
    fn flags_that_docker_rejects_are_refused() {
        let problems = parse_to_texts("--devices /dev/kfd --rm=maybe -Z a").unwrap_err();
        let messages: Vec<String> = problems
            .iter()
            .map(|problem| ErrorText::of(problem).to_string())
            .collect();
        assert!(
            messages[0].starts_with("docker run has no --devices; help: did you mean --device?"),
            "{messages:?}"
        );
        assert!(
            parse_to_texts("--ipc").unwrap_err()[0]
                .to_string()
                .contains("--ipc needs a value")
        );
        assert_eq!(
            parse_to_texts("-it").unwrap_err(),
            [DockerRunError::NoImage]
        );
    }
}
