//! Removes prompts, and the output between commands with prompts.

use super::markdown::begins_as_command;
use super::text::Text;
use crate::shell::parse_commands;

/// The length of the prompt with which a line begins, in characters.
fn prompt_length(line: &str) -> Option<usize> {
    let indent = line.len() - line.trim_start().len();
    let mut rest = &line[indent..];
    // `(base) `
    if rest.starts_with('(')
        && let Some((_, behind)) = rest.split_once(") ")
    {
        rest = behind.trim_start();
    }
    // `user@host:~/path$ `
    let has_host = rest
        .split(['$', '#'])
        .next()
        .is_some_and(|start| start.contains('@') && !start.contains(' '));
    let mark = if has_host { rest.find(['$', '#'])? } else { 0 };
    let sign = rest[mark..].chars().next()?;
    let is_sign = sign == '$' || has_host && sign == '#';
    let behind = &rest[mark + sign.len_utf8().min(rest.len() - mark)..];
    let is_prompt = is_sign && (behind.starts_with(' ') || behind.is_empty());
    let blanks = behind.len() - behind.trim_start_matches(' ').len();
    let length = line.len() - behind.len() + blanks;
    is_prompt.then(|| line[..length].chars().count())
}

/// Removes the prompts of a block, and the lines between its commands that are output. Returns the output.
pub fn remove_prompts(text: &mut Text) -> Vec<String> {
    let lines = text.lines();
    let shown: Vec<String> = lines.iter().map(|range| text.slice(range.clone())).collect();
    if !shown.iter().any(|line| prompt_length(line).is_some()) {
        remove_root_prompts(text, &shown);
        return Vec::new();
    }
    let mut output = Vec::new();
    let mut removed = Vec::new();
    let mut command = String::new();
    let first = shown.iter().position(|line| prompt_length(line).is_some()).unwrap_or(0);
    for (range, line) in lines.iter().zip(&shown).skip(first) {
        let is_open = !command.is_empty() && !is_complete(&command);
        if let Some(length) = prompt_length(line).filter(|_| !is_open || !line.starts_with("$ ")) {
            removed.push(range.start..range.start + length);
            command = line.chars().skip(length).collect::<String>() + "\n";
        } else if is_open {
            let length = line.strip_prefix("> ").map_or(0, |_| 2);
            removed.push(range.start..range.start + length);
            command += line.get(length..).unwrap_or_default();
            command.push('\n');
        } else if line.trim().is_empty() || line.trim_start().starts_with('#') {
        } else if opens_container(&command) && begins_as_command(line.trim()) {
            command += line;
            command.push('\n');
        } else {
            output.push(line.clone());
            removed.push(range.clone());
        }
    }
    for range in removed.into_iter().rev() {
        text.remove(range);
    }
    output
}

/// `# docker run …` of a root's terminal, where no line without `#` is a command.
fn remove_root_prompts(text: &mut Text, lines: &[String]) {
    let starts = |line: &str| {
        let mut words = line.split_whitespace();
        matches!(words.next(), Some("docker" | "podman" | "nerdctl"))
            && matches!(words.next(), Some("run" | "exec" | "pull"))
    };
    let is_root = lines.iter().any(|line| line.strip_prefix("# ").is_some_and(starts));
    if !is_root || lines.iter().any(|line| starts(line)) {
        return;
    }
    for (range, line) in text.lines().into_iter().zip(lines).rev() {
        if line.starts_with("# ") {
            text.remove(range.start..range.start + 2);
        }
    }
}

fn is_complete(command: &str) -> bool {
    let letters: Vec<char> = command.chars().collect();
    !command.ends_with("\\\n") && parse_commands(&letters).is_ok()
}

/// Whether a command opens a shell in a container: what follows may be typed in it without a prompt.
fn opens_container(command: &str) -> bool {
    let mut words = command.split_whitespace();
    words.any(|word| matches!(word, "-it" | "-ti" | "--interactive" | "-i" | "--pty" | "-itd"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(text: &str) -> (String, Vec<String>) {
        let letters: Vec<(char, usize)> =
            text.char_indices().map(|(at, letter)| (letter, at)).collect();
        let (mut text, _) = Text::prepare(&letters);
        let output = remove_prompts(&mut text);
        (text.slice(0..text.letters.len()), output)
    }

    #[test]
    fn output_between_commands_is_dropped() {
        let (text, output) = commands("$ docker run x:1 \\\n>   ./bench\nlength (0): 1\n\n$ ls\n");
        assert_eq!(text, "docker run x:1 \\\n  ./bench\n\n\nls\n");
        assert_eq!(output, ["length (0): 1"]);
        let (text, _) = commands("root@a1:/work# python3 x.py\n(base) ann@host:~$ ls\n");
        assert_eq!(text, "python3 x.py\nls\n");
        let (text, output) = commands("docker run x:1\nls\n");
        assert_eq!((text.as_str(), output.len()), ("docker run x:1\nls\n", 0));
    }
}
