//! The commands in the code blocks of a README. Pure.

use retrial_container::ImageRef;
use retrial_import::{Draft, NoCompanions, Selection, draft_from_guide};

/// The longest draft of a command, in lines: a longer text is a guide, not a command.
const MAX_COMMAND_LINES: usize = 60;
pub(super) fn starts_container(block: &str) -> bool {
    block.contains("docker run") || block.contains("docker container run")
}

/// Returns the container that a README's blocks start, and how many of them do. Of several, the first that
/// names one of the models, else the first; none if no block can be a recipe.
pub(super) fn draft_container(blocks: &[String], models: &[String]) -> Option<(Draft, usize)> {
    let starts: Vec<&String> = blocks.iter().filter(|block| starts_container(block)).collect();
    let drafts = starts
        .iter()
        .filter_map(|block| {
            Some((draft_from_guide("README", block, Selection::All, &NoCompanions).ok()?, *block))
        })
        // `docker run $OPTIONS …`: an image in a variable is not named by the README.
        .filter(|(draft, _)| ImageRef::parse(&draft.image).is_ok());
    let valid_drafts: Vec<(Draft, &String)> = drafts.collect();
    let names_model = |block: &str| {
        let lowercase_block = block.to_lowercase();
        let mut model_names = models.iter();
        model_names.any(|model| lowercase_block.contains(&model.to_lowercase()))
    };
    let named = valid_drafts.iter().find(|(_, block)| names_model(block));
    let (draft, _) = named.or(valid_drafts.first())?;
    Some((draft.clone(), starts.len()))
}

/// Returns the commands of a mode, without those that name the other mode. None if there are none, too
/// many, or some that a recipe would parse as an expression.
pub(super) fn extract_commands(blocks: &[String], own: &str, other: &str) -> Option<String> {
    let commands = blocks
        .iter()
        .filter(|block| !starts_container(block))
        .flat_map(|block| join_continued_lines(block));
    let mode_commands: Vec<String> = commands
        .filter(|command| {
            let lowercase_command = command.to_lowercase();
            lowercase_command.contains(own) || !lowercase_command.contains(other)
        })
        .collect();
    let mut text = mode_commands.join("\n");
    text.push('\n');
    let is_valid = !text.trim().is_empty() && text.lines().count() <= MAX_COMMAND_LINES;
    (is_valid && !text.contains("${{")).then_some(text)
}

/// The commands of a block: lines that end in a backslash are continued. Prompts and characters that YAML
/// does not allow are removed.
fn join_continued_lines(block: &str) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    let mut is_continued = false;
    for line in block.lines() {
        let printable = line.replace(char::is_control, " ");
        let line = printable.trim_end();
        if line.trim().is_empty() {
            is_continued = false;
            continue;
        }
        if let Some(last) = commands.last_mut().filter(|_| is_continued) {
            last.push('\n');
            last.push_str(line);
        } else {
            let command = line.trim_start();
            commands.push(command.strip_prefix("$ ").unwrap_or(command).to_owned());
        }
        is_continued = line.ends_with('\\');
    }
    commands
}

#[cfg(test)]
mod tests {
    use retrial_import::shell_blocks;

    use super::*;

    const README: &str = "To run:\n\n```\nmake generate\nmake run \\\n  --test_mode=AccuracyOnly\n\
        make run --test_mode=PerformanceOnly\n```\n```json\n{}\n```\n```bash\n\
        docker run --ipc host vendor/a:1 bash\n```\n ```sh\n docker run --ipc host vendor/mi355x:1 bash\n ```\n";

    #[test]
    fn commands_are_extracted_per_mode() {
        let blocks = shell_blocks(README);
        assert_eq!(blocks.len(), 3);
        assert_eq!(
            extract_commands(&blocks, "performance", "accuracy").unwrap(),
            "make generate\nmake run --test_mode=PerformanceOnly\n"
        );
        assert_eq!(
            extract_commands(&blocks, "accuracy", "performance").unwrap(),
            "make generate\nmake run \\\n  --test_mode=AccuracyOnly\n"
        );
        assert_eq!(extract_commands(&["echo ${{ x }}".to_owned()], "a", "b"), None);
    }

    #[test]
    fn the_container_for_the_gpu_model_is_found() {
        let blocks = shell_blocks(README);
        let (draft, count) = draft_container(&blocks, &["MI355X".to_owned()]).unwrap();
        assert_eq!((draft.image.as_str(), count), ("vendor/mi355x:1", 2), "{draft:?}");
        let (draft, _) = draft_container(&blocks, &[]).unwrap();
        assert_eq!(draft.image, "vendor/a:1");
    }
}
