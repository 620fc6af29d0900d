//! Which blocks of a page belong together: its sections are alternatives unless they share a container.

use crate::page::{Block, Page};
use crate::programs::{
    Role, find_wrappers, is_shell, is_tool, names_tool, program_name, role_of, role_of_script,
};
use crate::shell::{Item, parse_commands, unmark};

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
    let surveys: Vec<Survey> =
        page.blocks.iter().enumerate().map(|(number, block)| survey(page, number, block)).collect();
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

fn survey(page: &Page, number: usize, block: &Block) -> Survey {
    let mut survey = Survey::default();
    let Ok(items) = parse_commands(&block.text.letters) else {
        let text: String = block.text.letters.iter().collect();
        let starts = text.lines().any(|line| line.split_whitespace().next().is_some_and(is_tool));
        survey.starts = starts;
        survey.measures = starts;
        survey.main = starts.then(|| (block.line, unmark(&shorten(&text))));
        return survey;
    };
    for item in &items {
        add_item(&mut survey, page, number, item);
    }
    survey
}

fn add_item(survey: &mut Survey, page: &Page, number: usize, item: &Item) {
    let text = unmark(&page.blocks[number].text.slice(item.range.clone()));
    let words: Vec<String> = item
        .simple()
        .map_or(Vec::new(), |simple| simple.words.iter().map(|word| unmark(&word.text)).collect());
    let set_main = |survey: &Survey| {
        let line = page.line_of(number, item.range.start);
        (survey.main.is_none() || survey.measures).then(|| (line, shorten(&text)))
    };
    if names_tool(item) {
        let Some(role) = role_of_tool(&words) else { return };
        survey.starts |= role.0;
        match role.1 {
            Some(Role::Server) => survey.serves = true,
            Some(Role::Measure) => survey.measures = true,
            _ => {}
        }
        let main = set_main(survey);
        survey.main = main.or(survey.main.take());
        return;
    }
    let role = if words.is_empty() { role_of_script(&text) } else { role_of(&words) };
    match role {
        Role::Server => survey.serves = true,
        Role::Measure if !words.is_empty() || text.contains("bench") => survey.measures = true,
        _ => return,
    }
    let main = set_main(survey);
    survey.main = main.or(survey.main.take());
}

/// Returns whether a program's command starts a container, and the role of the command in it.
fn role_of_tool(words: &[String]) -> Option<(bool, Option<Role>)> {
    let words = &words[find_wrappers(words).count.min(words.len())..];
    let name = program_name(words.first()?);
    let verbs = ["run", "exec", "start", "shell"];
    let at = match name {
        "srun" => 0,
        _ => words.iter().position(|word| verbs.contains(&&**word))?,
    };
    let starts = words.get(at).is_none_or(|word| {
        name == "srun" || word != "exec" || name.starts_with("apptainer") || name == "singularity"
    });
    let is_open = words.iter().any(|word| {
        matches!(
            word.as_str(),
            "-it" | "-ti" | "-i" | "-itd" | "-dit" | "-d" | "--pty" | "--interactive"
        )
    });
    let tail: Vec<String> = words.iter().rev().take(1).cloned().collect();
    if crate::programs::find_server(words).is_some() {
        return Some((starts, Some(Role::Server)));
    }
    let is_idle = is_shell(&tail)
        || tail.iter().any(|word| matches!(word.as_str(), "infinity" | "/dev/null"));
    let has_server_image =
        ["vllm-openai", "text-generation-inference", "llama.cpp:server", "/nim/"]
            .iter()
            .any(|name| words.iter().any(|word| word.contains(name)));
    let role = match () {
        () if is_idle => None,
        () if has_server_image => Some(Role::Server),
        () if is_open && is_only_image(words) => None,
        () => Some(Role::Measure),
    };
    Some((starts, role))
}

/// Whether a line ends with its image: its last word is the value of no flag, and looks like an image.
fn is_only_image(words: &[String]) -> bool {
    let last = words.last().map_or("", String::as_str);
    let before = words.len().checked_sub(2).map_or("", |at| words[at].as_str());
    crate::programs::is_image_reference(last)
        && (!before.starts_with('-') || matches!(before, "-it" | "--rm" | "-d" | "-i" | "-t"))
        || last.contains('$')
}

fn shorten(text: &str) -> String {
    let line = text.split_whitespace().filter(|word| *word != "\\").collect::<Vec<_>>().join(" ");
    let masked = crate::shell::mask_secrets(&line);
    if masked.chars().count() <= 60 {
        return masked;
    }
    let start: String = masked.chars().take(58).collect();
    format!("{}…", start.trim_end())
}
