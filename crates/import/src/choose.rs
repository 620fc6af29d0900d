//! Which blocks of a page belong together: its sections are alternatives unless they share a container.

use crate::page::{Block, Page};
use crate::programs::{Action, Command, Role, read_blocks, role_of, role_of_line};
use crate::shell::Values;

/// A command of a page that a recipe can measure or serve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    pub line: usize,
    /// The headings above it, the outermost first.
    pub headings: Vec<String>,
    /// Its first words.
    pub shown: String,
    block: usize,
}

/// The command of a page that the user chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selection {
    /// None: the page has one.
    All,
    /// The command on this line of the page, from 1.
    Line(usize),
    /// The command of this number in the list, from 1.
    Step(usize),
}

/// What a block does.
#[derive(Debug, Default, Clone)]
struct Survey {
    starts: bool,
    serves: bool,
    measures: bool,
    /// The line of the command that counts, and its first words.
    main: Option<(usize, String)>,
}

/// Returns the blocks that are read.
///
/// # Errors
/// The page has several commands to choose from.
pub fn choose_blocks(page: &Page, selection: Selection) -> Result<Vec<usize>, Vec<Candidate>> {
    let surveys = survey_blocks(page);
    let candidates = list_candidates(page, &surveys);
    let all = || (0..page.blocks.len()).collect();
    match selection {
        Selection::All if page.blocks.len() < 2 => Ok(all()),
        Selection::All => {
            let count = |counts: fn(&Survey) -> bool| {
                surveys.iter().filter(|survey| counts(survey)).count()
            };
            let measured = count(|survey| survey.measures);
            let is_one = measured <= 1
                && count(|survey| survey.serves) <= 1
                && count(|survey| survey.starts && !survey.measures && !survey.serves) <= 1
                && (measured == 1 || count(|survey| survey.starts) <= 2);
            if is_one || candidates.len() < 2 { Ok(all()) } else { Err(candidates) }
        }
        Selection::Step(number) => {
            let chosen =
                number.checked_sub(1).and_then(|at| candidates.get(at)).map(|one| one.block);
            chosen.map(|block| blocks_of(page, &surveys, block)).ok_or(candidates)
        }
        Selection::Line(line) => {
            let is_in = |block: &Block| {
                let end = block.line + block.text.lines().len();
                (block.line..end.max(block.line + 1)).contains(&line)
            };
            let within = page.blocks.iter().position(is_in);
            let chosen = within.filter(|at| surveys[*at].main.is_some());
            let chosen = chosen.or_else(|| {
                let near = candidates.iter().find(|one| one.line >= line);
                near.map(|one| one.block)
            });
            chosen.map(|block| blocks_of(page, &surveys, block)).ok_or(candidates)
        }
    }
}

/// Returns the commands that serve or measure; if there is none, those that only open a container.
fn list_candidates(page: &Page, surveys: &[Survey]) -> Vec<Candidate> {
    let list = |counts: fn(&Survey) -> bool| -> Vec<Candidate> {
        let counted = surveys.iter().enumerate().filter(|(_, survey)| counts(survey));
        let candidate = |(block, survey): (usize, &Survey)| {
            let (line, shown) = survey.main.clone()?;
            let headings = page.blocks[block].headings.clone();
            Some(Candidate { line, headings, shown, block })
        };
        counted.filter_map(candidate).collect()
    };
    let used = list(|survey| survey.serves || survey.measures);
    if used.is_empty() { list(|survey| survey.starts) } else { used }
}

/// Returns the blocks that belong to a chosen one: its container, the preparation in its sections, and its server or client.
fn blocks_of(page: &Page, surveys: &[Survey], chosen: usize) -> Vec<usize> {
    let partner = find_partner(page, surveys, chosen);
    let first = partner.map_or(chosen, |partner| partner.min(chosen));
    let start = if surveys[first].starts {
        Some(first)
    } else {
        surveys[..first].iter().rposition(|survey| survey.starts)
    };
    let start = start.unwrap_or(0);
    let is_near = |block: usize| {
        let headings = &page.blocks[block].headings;
        let is_above = |of: usize| page.blocks[of].headings.starts_with(headings);
        is_above(chosen) || is_above(start)
    };
    let is_preparation = |block: usize| {
        let survey = &surveys[block];
        !survey.starts && !survey.serves && !survey.measures && is_near(block)
    };
    let last = chosen.max(first);
    let mut blocks: Vec<usize> = (0..=last).filter(|block| is_preparation(*block)).collect();
    blocks.extend([start, chosen].into_iter().chain(partner));
    blocks.sort_unstable();
    blocks.dedup();
    blocks
}

/// Returns the server of a client, or the client of a server: the nearest that names the same model, else the nearest.
fn find_partner(page: &Page, surveys: &[Survey], chosen: usize) -> Option<usize> {
    let survey = &surveys[chosen];
    if survey.serves == survey.measures {
        return None;
    }
    let names = model_names(&page.blocks[chosen]);
    let names_same =
        |block: &usize| model_names(&page.blocks[*block]).iter().any(|name| names.contains(name));
    if survey.measures {
        let own_start = survey.starts;
        let servers: Vec<usize> =
            (0..chosen).rev().filter(|block| surveys[*block].serves).collect();
        let same = servers.iter().copied().find(names_same);
        return same.or_else(|| servers.first().copied().filter(|_| !own_start));
    }
    let end =
        (chosen + 1..surveys.len()).find(|block| surveys[*block].serves).unwrap_or(surveys.len());
    let clients: Vec<usize> = (chosen + 1..end).filter(|block| surveys[*block].measures).collect();
    clients.iter().copied().find(names_same).or_else(|| clients.first().copied())
}

/// Returns the names of models in a block: `owner/name`.
fn model_names(block: &Block) -> Vec<String> {
    let text: String = block.text.letters.iter().collect();
    let is_break = |letter: char| letter.is_whitespace() || "\"'=,:{}".contains(letter);
    let names = text.split(is_break).filter(|word| {
        let mut parts = word.split('/');
        let is_name =
            |part: Option<&str>| part.is_some_and(|part| part.len() > 1 && !part.starts_with('.'));
        is_name(parts.next()) && is_name(parts.next()) && parts.next().is_none()
    });
    names.map(str::to_owned).collect()
}

/// Surveys the blocks by the commands of the whole page; what is wrong in them is reported when they are chosen.
fn survey_blocks(page: &Page) -> Vec<Survey> {
    let blocks: Vec<usize> = (0..page.blocks.len()).collect();
    let reading = read_blocks(page, &blocks);
    let mut surveys = vec![Survey::default(); blocks.len()];
    for command in &reading.commands {
        surveys[command.block].add(page, command, &reading.values);
    }
    surveys
}

impl Survey {
    fn add(&mut self, page: &Page, command: &Command, values: &Values) {
        let document = command.here_document.as_ref();
        let role = match &command.action {
            Action::Start(line) => role_of_line(line, document, values),
            Action::Exec(line) => Some(role_of(&line.arguments.sketch(values))),
            Action::Typed(Role::Measure) if command.is_background => Some(Role::Server),
            Action::Typed(role) | Action::Host(role) => Some(*role),
            Action::Refused => Some(Role::Measure),
            _ => return,
        };
        let starts = matches!(command.action, Action::Start(_) | Action::Refused);
        self.starts |= starts;
        match role {
            Some(Role::Server) => self.serves = true,
            Some(Role::Measure) => self.measures = true,
            _ if starts => {}
            _ => return,
        }
        if self.main.is_none() || self.measures {
            let line = page.line_of(command.block, command.range.start);
            self.main = Some((line, command.shown.clone()));
        }
    }
}
