//! Sorts a guide's block: the one `docker run`, commands executed in the container, variables that are set before, and
//! the rest.

use super::error::DockerRunError;
use super::line::{DockerRunCommand, parse_line};
use super::secret;
use super::words::{ShellWord, is_variable_name};

/// The commands of a guide's block around its `docker run`.
#[derive(Debug, Default)]
pub(super) struct Guide {
    run_lines: Vec<DockerRunCommand>,
    /// `docker exec` commands; the container's name is in the place of `run`'s image.
    pub exec_lines: Vec<DockerRunCommand>,
    /// Images of `docker pull` lines.
    pub pulls: Vec<ShellWord>,
    /// Variables that are assigned or exported before, by name.
    pub variables: Vec<(String, ShellWord)>,
    /// All other commands, as text without secrets.
    pub other_commands: Vec<String>,
    problems: Vec<DockerRunError>,
}

/// Sorts the commands into the one `docker run` and the others.
pub(super) fn sort_commands(
    commands: &[Vec<ShellWord>],
) -> Result<(DockerRunCommand, Guide), Vec<DockerRunError>> {
    let mut guide = Guide::default();
    for command in commands {
        guide.add_command(command);
    }
    let mut problems = std::mem::take(&mut guide.problems);
    let count = guide.run_lines.len();
    if count > 1 {
        problems.insert(0, DockerRunError::ManyRuns { count });
    }
    match guide.run_lines.pop() {
        Some(run) if problems.is_empty() => Ok((run, guide)),
        None if problems.is_empty() => Err(vec![DockerRunError::NoRun]),
        _ => Err(problems),
    }
}

impl Guide {
    fn add_command(&mut self, words: &[ShellWord]) {
        let begin = command_start(words);
        let assigned: Vec<_> = words[..begin].iter().filter_map(parse_assignment).collect();
        let words = &words[begin..];
        let plain: Vec<&str> = words
            .iter()
            .map_while(ShellWord::as_plain)
            .take(3)
            .collect();
        match plain.as_slice() {
            ["docker", "run", ..] => self.add_line(&words[2..], |guide| &mut guide.run_lines),
            ["docker", "container", "run", ..] => {
                self.add_line(&words[3..], |guide| &mut guide.run_lines);
            }
            ["docker", "exec", ..] => self.add_line(&words[2..], |guide| &mut guide.exec_lines),
            ["docker", "container", "exec"] => {
                self.add_line(&words[3..], |guide| &mut guide.exec_lines);
            }
            ["docker", "pull", ..] => self.pulls.extend(words[2..].last().cloned()),
            ["docker", "image", "pull"] => self.pulls.extend(words[3..].last().cloned()),
            ["export", ..]
                if words[1..]
                    .iter()
                    .all(|word| parse_assignment(word).is_some()) =>
            {
                let exported = words[1..].iter().filter_map(parse_assignment);
                self.variables.extend(exported);
            }
            [] if words.is_empty() => {}
            _ => self.other_commands.push(secret::redact_command(words)),
        }
        self.variables.extend(assigned);
    }

    fn add_line(
        &mut self,
        words: &[ShellWord],
        lines: fn(&mut Self) -> &mut Vec<DockerRunCommand>,
    ) {
        match parse_line(words) {
            Ok(line) => lines(self).push(line),
            Err(problems) => self.problems.extend(problems),
        }
    }
}

/// Returns the index of the command's first word, after assignments, `sudo` and its switches.
fn command_start(words: &[ShellWord]) -> usize {
    let mut sudo = false;
    let is_command = |word: &ShellWord| {
        let plain = word.as_plain().unwrap_or_default();
        sudo |= plain == "sudo";
        plain != "sudo" && parse_assignment(word).is_none() && !(sudo && plain.starts_with('-'))
    };
    words.iter().position(is_command).unwrap_or(words.len())
}

fn parse_assignment(word: &ShellWord) -> Option<(String, ShellWord)> {
    let (name, value) = word.split_once('=')?;
    let plain_name = name.as_plain()?;
    is_variable_name(plain_name).then(|| (plain_name.to_owned(), value))
}
