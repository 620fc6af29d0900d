//! Every flag of `docker run` has a key of the recipe, has no effect, or is refused by name.

use retrial_import::{FlagTreatment, docker_run_flags};

use super::recipe_from_block;

#[test]
fn every_flag_has_a_key_or_no_effect_or_is_refused() {
    for flag in docker_run_flags() {
        let value = if flag.takes_value() { "=1" } else { "" };
        let block = format!("docker run --{}{value} debian:12 true", flag.name);
        match (flag.treatment, recipe_from_block(&block)) {
            (FlagTreatment::Dropped, Ok(made)) => {
                let note = made.notes.first().map_or("", String::as_str);
                assert!(note.contains(&format!("--{}", flag.name)), "{}: {note}", flag.name);
            }
            // `1` is not a mount and no namespace.
            (FlagTreatment::Refused | FlagTreatment::Key, Err(problems)) => {
                let message = problems.to_string();
                assert!(message.contains(&format!("--{}", flag.name)), "{message}");
            }
            (FlagTreatment::Key, Ok(made)) => {
                let key = flag.name.replace('-', "_");
                let key = key.trim_end_matches('s');
                let is_written = made.recipe.lines().any(|line| line.trim_start().starts_with(key));
                let asked = made.incomplete.join("\n");
                let is_elsewhere = flag.name == "entrypoint" && made.recipe.contains("1 true")
                    || flag.name == "gpus" && made.recipe.contains("count: 1")
                    || flag.name == "env-file" && asked.contains("--env-file")
                    || asked.contains(&format!("--{}", flag.name));
                assert!(is_written || is_elsewhere, "{}: {}", flag.name, made.recipe);
            }
            (treatment, made) => panic!("{}: {treatment:?} {made:?}", flag.name),
        }
    }
}
