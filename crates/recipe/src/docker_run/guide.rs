//! A guide's block sorted: the one `docker run`, what is executed in the container, what the
//! shell was told before, and the rest.

use super::error::DockerRunError;
use super::flags::{Flag, Treatment, long};
use super::line::{Given, Line, line};
use super::secret;
use super::words::{Word, is_name};

/// A block of a guide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Guide {
    pub run: Line,
    /// `docker exec` lines.
    pub execs: Vec<Exec>,
    /// `docker pull` lines' images.
    pub pulls: Vec<Word>,
    /// Variables that were set before.
    pub variables: Vec<(String, Word)>,
    /// Everything else, as written.
    pub rest: Vec<String>,
}

/// A `docker exec`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Exec {
    pub flags: Vec<Given>,
    pub command: Vec<Word>,
}

/// Sorts the commands.
pub(super) fn guide(commands: Vec<Vec<Word>>) -> Result<Guide, Vec<DockerRunError>> {
    let mut sorter = Sorter::default();
    for command in commands {
        sorter.command(&command);
    }
    let mut problems = sorter.problems;
    let count = sorter.runs.len();
    match (sorter.runs.pop(), count) {
        (Some(run), 1) if problems.is_empty() => Ok(Guide {
            run,
            execs: sorter.execs,
            pulls: sorter.pulls,
            variables: sorter.variables,
            rest: sorter.rest,
        }),
        (_, 2..) => {
            problems.insert(0, DockerRunError::ManyRuns { count });
            Err(problems)
        }
        _ => {
            if problems.is_empty() {
                problems.push(DockerRunError::NoRun);
            }
            Err(problems)
        }
    }
}

#[derive(Default)]
struct Sorter {
    runs: Vec<Line>,
    execs: Vec<Exec>,
    pulls: Vec<Word>,
    variables: Vec<(String, Word)>,
    rest: Vec<String>,
    problems: Vec<DockerRunError>,
}

impl Sorter {
    fn command(&mut self, words: &[Word]) {
        let begin = start(words);
        let assigned: Vec<_> = words[..begin].iter().filter_map(assignment).collect();
        let plain: Vec<&str> = words[begin..]
            .iter()
            .map_while(Word::plain)
            .take(3)
            .collect();
        let after = |count: usize| &words[begin + count..];
        match plain.as_slice() {
            ["docker", "run", ..] => self.run(after(2)),
            ["docker", "container", "run", ..] => self.run(after(3)),
            ["docker", "exec", ..] => self.exec(after(2)),
            ["docker", "container", "exec"] => self.exec(after(3)),
            ["docker", "pull", ..] => self.pulls.extend(after(2).last().cloned()),
            ["docker", "image", "pull"] => self.pulls.extend(after(3).last().cloned()),
            ["export", ..] if after(1).iter().all(|word| assignment(word).is_some()) => {
                self.variables
                    .extend(after(1).iter().filter_map(assignment));
            }
            [] if begin == words.len() => {}
            _ => {
                self.rest.push(secret::shown(words));
            }
        }
        self.variables.extend(assigned);
    }

    fn run(&mut self, words: &[Word]) {
        match line(words) {
            Ok(line) => self.runs.push(line),
            Err(problems) => self.problems.extend(problems),
        }
    }

    fn exec(&mut self, words: &[Word]) {
        // Its flags are some of run's; what `run` has as its image is the container's name here.
        match line(words) {
            Ok(line) => self.execs.push(Exec {
                flags: line.flags,
                command: line.command,
            }),
            Err(problems) => self.problems.extend(problems),
        }
    }
}

/// Where a command begins, behind assignments, `sudo` and its switches.
fn start(words: &[Word]) -> usize {
    let mut at = 0;
    let mut sudo = false;
    for word in words {
        let plain = word.plain().unwrap_or_default();
        if plain == "sudo" {
            sudo = true;
        } else if assignment(word).is_none() && !(sudo && plain.starts_with('-')) {
            break;
        }
        at += 1;
    }
    at
}

fn assignment(word: &Word) -> Option<(String, Word)> {
    let (name, value) = word.split_once('=')?;
    let name = name.plain()?;
    is_name(name).then(|| (name.to_owned(), value))
}

/// What `docker exec` says of a flag, for a step.
pub(super) fn exec_key(flag: &Flag) -> Option<&'static str> {
    let key = match flag.name {
        "env" => "env",
        "workdir" => "workdir",
        "user" => "user",
        _ => return None,
    };
    long(key).filter(|flag| flag.treatment == Treatment::Key)?;
    Some(key)
}
