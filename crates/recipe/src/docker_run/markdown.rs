//! The command lines of a page in Markdown, such as a README: those in its code blocks of a shell.

/// The languages of code blocks whose lines are commands.
const SHELL_LANGUAGES: [&str; 7] = ["", "sh", "bash", "shell", "zsh", "console", "shell-session"];
/// The programs that start a container: where one begins a line outside of all code blocks, the text is no Markdown.
const CONTAINER_PROGRAMS: [&str; 6] = [
    "docker",
    "podman",
    "nvidia-docker",
    "srun",
    "apptainer",
    "sudo",
];

/// Returns for each line whether it is a command line: all are, if the text is not Markdown.
pub(super) fn find_command_lines(text: &str) -> Vec<bool> {
    let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
    let mut block: Option<(&str, bool)> = None;
    let mut commands = Vec::new();
    let mut has_blocks = false;
    for line in &lines {
        let fence = ["```", "~~~"]
            .into_iter()
            .find(|fence| line.starts_with(fence));
        let is_command = match (block, fence) {
            (None, Some(fence)) => {
                let language = line.trim_start_matches(&fence[..1]).trim().to_lowercase();
                block = Some((fence, SHELL_LANGUAGES.contains(&&*language)));
                has_blocks = true;
                false
            }
            (Some((opened, _)), Some(fence)) if opened == fence => {
                block = None;
                false
            }
            (Some((_, is_shell)), _) => is_shell,
            (None, None) => false,
        };
        commands.push(is_command);
    }
    let starts_container = |line: &str| {
        let command = line.trim_start_matches(['$', '#', ' ']);
        let program = command.split_whitespace().next().unwrap_or_default();
        CONTAINER_PROGRAMS.contains(&program)
    };
    let mut others = lines
        .iter()
        .zip(&commands)
        .filter(|(_, is_command)| !**is_command);
    if !has_blocks || block.is_some() || others.any(|(line, _)| starts_container(line)) {
        return vec![true; lines.len()];
    }
    commands
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
        assert_eq!(
            commands(quoting).matches('|').count(),
            4,
            "a here-document may quote Markdown"
        );
        assert_eq!(
            commands("```\ndocker run x:1"),
            "```|docker run x:1",
            "a block without an end"
        );
    }
}
