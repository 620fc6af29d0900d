//! Sorts a guide's block: the one `docker run`, commands executed in the container, variables that are set before, and
//! the rest.

use super::error::DockerRunError;
use super::line::{DockerRunCommand, line};
use super::secret;
use super::words::{ShellWord, is_name};

/// The commands of a guide's block around its `docker run`.
#[derive(Debug, Default)]
pub(super) struct Guide {
    runs: Vec<DockerRunCommand>,
    /// `docker exec` commands; the container's name is in the place of `run`'s image.
    pub execs: Vec<DockerRunCommand>,
    /// Images of `docker pull` lines.
    pub pulls: Vec<ShellWord>,
    /// Variables that are assigned or exported before, by name.
    pub variables: Vec<(String, ShellWord)>,
    /// All other commands, as text without secrets.
    pub rest: Vec<String>,
    problems: Vec<DockerRunError>,
}

/// Sorts the commands into the one `docker run` and the others.
pub(super) fn guide(
    commands: &[Vec<ShellWord>],
) -> Result<(DockerRunCommand, Guide), Vec<DockerRunError>> {
    let mut guide = Guide::default();
    for command in commands {
        guide.command(command);
    }
    let mut problems = std::mem::take(&mut guide.problems);
    let count = guide.runs.len();
    if count > 1 {
        problems.insert(0, DockerRunError::ManyRuns { count });
    }
    match guide.runs.pop() {
        Some(run) if problems.is_empty() => Ok((run, guide)),
        None if problems.is_empty() => Err(vec![DockerRunError::NoRun]),
        _ => Err(problems),
    }
}

impl Guide {
    fn command(&mut self, words: &[ShellWord]) {
        let begin = start(words);
        let assigned: Vec<_> = words[..begin].iter().filter_map(assignment).collect();
        let words = &words[begin..];
        let plain: Vec<&str> = words.iter().map_while(ShellWord::plain).take(3).collect();
        match plain.as_slice() {
            ["docker", "run", ..] => self.line(&words[2..], |guide| &mut guide.runs),
            ["docker", "container", "run", ..] => self.line(&words[3..], |guide| &mut guide.runs),
            ["docker", "exec", ..] => self.line(&words[2..], |guide| &mut guide.execs),
            ["docker", "container", "exec"] => self.line(&words[3..], |guide| &mut guide.execs),
            ["docker", "pull", ..] => self.pulls.extend(words[2..].last().cloned()),
            ["docker", "image", "pull"] => self.pulls.extend(words[3..].last().cloned()),
            ["export", ..] if words[1..].iter().all(|word| assignment(word).is_some()) => {
                let exported = words[1..].iter().filter_map(assignment);
                self.variables.extend(exported);
            }
            [] if words.is_empty() => {}
            _ => self.rest.push(secret::shown(words)),
        }
        self.variables.extend(assigned);
    }

    fn line(&mut self, words: &[ShellWord], lines: fn(&mut Self) -> &mut Vec<DockerRunCommand>) {
        match line(words) {
            Ok(line) => lines(self).push(line),
            Err(problems) => self.problems.extend(problems),
        }
    }
}

/// Returns the index of the command's first word, after assignments, `sudo` and its switches.
fn start(words: &[ShellWord]) -> usize {
    let mut sudo = false;
    let is_command = |word: &ShellWord| {
        let plain = word.plain().unwrap_or_default();
        sudo |= plain == "sudo";
        plain != "sudo" && assignment(word).is_none() && !(sudo && plain.starts_with('-'))
    };
    words.iter().position(is_command).unwrap_or(words.len())
}

fn assignment(word: &ShellWord) -> Option<(String, ShellWord)> {
    let (name, value) = word.split_once('=')?;
    let name = name.plain()?;
    is_name(name).then(|| (name.to_owned(), value))
}
