//! The command lines of a page in Markdown, such as a README: those in its code blocks of a shell.

use itertools::Itertools as _;

/// The languages of code blocks whose lines are commands.
const SHELL_LANGUAGES: [&str; 7] = ["", "sh", "bash", "shell", "zsh", "console", "shell-session"];
/// The programs that start a container: where one begins a line outside of all code blocks, the text is no Markdown.
const CONTAINER_PROGRAMS: [&str; 6] =
    ["docker", "podman", "nvidia-docker", "srun", "apptainer", "sudo"];

/// The position of a line in a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LinePosition {
    /// In a code block of a shell.
    Commands,
    /// In another code block, between them, or at their edge.
    Elsewhere,
}

/// Returns the position of each line, and whether the last code block is closed.
fn read_line_positions(text: &str) -> (Vec<LinePosition>, bool) {
    let mut block: Option<(&str, LinePosition)> = None;
    let mut places = Vec::new();
    for line in text.lines().map(str::trim_start) {
        let mut fences = ["```", "~~~"].into_iter();
        let fence = fences.find(|fence| line.starts_with(fence));
        let place = block.map_or(LinePosition::Elsewhere, |(_, place)| place);
        match (block, fence) {
            (None, Some(fence)) => {
                let language = line.trim_start_matches(&fence[..1]).trim().to_lowercase();
                let is_shell = SHELL_LANGUAGES.contains(&&*language);
                let inside =
                    if is_shell { LinePosition::Commands } else { LinePosition::Elsewhere };
                block = Some((fence, inside));
                places.push(LinePosition::Elsewhere);
            }
            (Some((opened, _)), Some(fence)) if opened == fence => {
                block = None;
                places.push(LinePosition::Elsewhere);
            }
            _ => places.push(place),
        }
    }
    (places, block.is_none())
}

/// Returns the blocks of commands of a page.
pub fn shell_blocks(markdown: &str) -> Vec<String> {
    let (places, is_complete) = read_line_positions(markdown);
    let lines: Vec<(&str, LinePosition)> = markdown.lines().zip(places).collect();
    let mut blocks: Vec<_> = lines.split(|(_, place)| *place == LinePosition::Elsewhere).collect();
    if !is_complete {
        blocks.pop();
    }
    let texts = blocks.iter().map(|lines| lines.iter().map(|(line, _)| *line).join("\n"));
    texts.filter(|text| !text.trim().is_empty()).collect()
}

/// Returns for each line whether it is a command line: all are, if the text is not Markdown.
pub(super) fn find_command_lines(text: &str) -> Vec<bool> {
    let starts_container = |line: &str| {
        let command = line.trim_start().trim_start_matches(['$', '#', ' ']);
        let program = command.split_whitespace().next().unwrap_or_default();
        CONTAINER_PROGRAMS.contains(&program)
    };
    let (places, is_complete) = read_line_positions(text);
    let mut others = text.lines().zip(&places);
    let is_other = |(line, place): (&str, &LinePosition)| {
        *place == LinePosition::Elsewhere && starts_container(line)
    };
    let is_page = is_complete && places.contains(&LinePosition::Commands) && !others.any(is_other);
    let is_command = |place: &LinePosition| !is_page || *place == LinePosition::Commands;
    places.iter().map(is_command).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(text: &str) -> String {
        let lines = text.lines().zip(find_command_lines(text));
        lines
            .filter(|(_, is_command)| *is_command)
            .map(|(line, _)| line)
            .collect::<Vec<_>>()
            .join("|")
    }

    #[test]
    fn commands_of_a_page_stand_in_its_code_blocks() {
        let page = "# Speed\n\nPull it:\n```bash\ndocker pull x:1\n```\nWe got 1 item/s:\n\n```text\nspeed: 1\n```\n   ~~~console\n   $ docker run x:1\n   ~~~\n";
        assert_eq!(commands(page), "docker pull x:1|   $ docker run x:1");
        assert_eq!(commands("docker run x:1 bench\n"), "docker run x:1 bench");
        let quoting = "docker run x:1 bench <<END\n```sh\nls\n```\nEND";
        assert_eq!(commands(quoting).matches('|').count(), 4, "a here-document may quote Markdown");
        assert_eq!(commands("```\ndocker run x:1"), "```|docker run x:1", "a block without an end");
    }
}
