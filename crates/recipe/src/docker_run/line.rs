//! Parses the words of `docker run` into flags, image and command, by the rules of Docker's own parser (pflag).

use super::error::DockerRunError;
use super::flags::{DockerFlag, FLAGS, long, short};
use super::words::ShellWord;
use crate::nearest;

/// A flag of a command line with its value; a switch has `true`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlagValue {
    /// The flag's declaration.
    pub flag: &'static DockerFlag,
    /// The value; of a switch `true`.
    pub value: ShellWord,
}

impl FlagValue {
    /// Formats it as it would be written.
    pub fn shown(&self) -> String {
        if self.flag.takes_value {
            format!("--{} {}", self.flag.name, self.value.shown())
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
pub fn line(words: &[ShellWord]) -> Result<DockerRunCommand, Vec<DockerRunError>> {
    let mut flags = Vec::new();
    let mut problems = Vec::new();
    let mut rest = words.iter();
    let mut image = None;
    while let Some(word) = rest.next() {
        let Some(dashed) = word.strip("-") else {
            image = Some(word.clone());
            break;
        };
        match dashed.strip("-") {
            Some(after) if after.pieces.is_empty() => {
                image = rest.next().cloned();
                break;
            }
            Some(after) => read_long(&after, &mut rest, &mut flags),
            None => read_short(&dashed, &mut rest, &mut flags),
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

fn read_long(
    word: &ShellWord,
    rest: &mut ShellWords<'_>,
    flags: &mut Vec<FlagValue>,
) -> Result<(), DockerRunError> {
    let (name, value) = match word.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (word.clone(), None),
    };
    let name = name.shown();
    let Some(flag) = long(&name) else {
        return Err(DockerRunError::UnknownFlag {
            suggestion: nearest(&name, FLAGS.iter().map(|flag| flag.name))
                .map(|near| format!("did you mean --{near}?")),
            flag: format!("--{name}"),
        });
    };
    let value = match value {
        None if flag.takes_value => Some(following(&format!("--{name}"), rest)?),
        value => value,
    };
    push(flag, value, flags)
}

/// `-it`, `-itv /a:/b`, `-eNAME=value`, `-p=80:80`.
fn read_short(
    word: &ShellWord,
    rest: &mut ShellWords<'_>,
    flags: &mut Vec<FlagValue>,
) -> Result<(), DockerRunError> {
    let mut word = word.clone();
    loop {
        let shown = word.shown();
        let Some(letter) = shown.chars().next() else {
            return Ok(());
        };
        let Some(flag) = short(letter) else {
            return Err(DockerRunError::UnknownFlag {
                flag: format!("-{letter}"),
                suggestion: None,
            });
        };
        let after = word.strip(&letter.to_string()).unwrap_or_default();
        let assigned = after.strip("=");
        if flag.takes_value {
            let value = match assigned {
                Some(value) => value,
                None if after.pieces.is_empty() => following(&format!("-{letter}"), rest)?,
                None => after,
            };
            return push(flag, Some(value), flags);
        }
        if assigned.is_some() {
            return push(flag, assigned, flags);
        }
        push(flag, None, flags)?;
        word = after;
    }
}

fn following(flag: &str, rest: &mut ShellWords<'_>) -> Result<ShellWord, DockerRunError> {
    rest.next().cloned().ok_or_else(|| DockerRunError::NoValue {
        flag: flag.to_owned(),
    })
}

fn push(
    flag: &'static DockerFlag,
    value: Option<ShellWord>,
    flags: &mut Vec<FlagValue>,
) -> Result<(), DockerRunError> {
    if flag.takes_value {
        let value = value.unwrap_or_default();
        flags.push(FlagValue { flag, value });
        return Ok(());
    }
    // The values that Go's strconv.ParseBool accepts.
    let written = value.map(|value| value.shown());
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
    use crate::docker_run::commands;

    fn read(text: &str) -> Result<Vec<String>, Vec<DockerRunError>> {
        let words = commands(text).unwrap().remove(0);
        let line = line(&words)?;
        let mut shown: Vec<String> = line.flags.iter().map(FlagValue::shown).collect();
        shown.push(line.image.shown());
        shown.extend(line.command.iter().map(ShellWord::shown));
        Ok(shown)
    }

    #[test]
    fn flags_in_every_spelling() {
        assert_eq!(
            read(
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
        assert_eq!(read("--privileged -- a").unwrap(), ["--privileged", "a"]);
    }

    #[test]
    fn flags_that_docker_rejects_are_refused() {
        let problems = read("--devices /dev/kfd --rm=maybe -Z a").unwrap_err();
        let messages: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert!(
            messages[0].starts_with("docker run has no --devices\n  did you mean --device?"),
            "{messages:?}"
        );
        assert!(
            read("--ipc").unwrap_err()[0]
                .to_string()
                .contains("--ipc needs a value")
        );
        assert_eq!(read("-it").unwrap_err(), [DockerRunError::NoImage]);
    }
}
