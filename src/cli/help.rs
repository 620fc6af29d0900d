//! The texts of `--help`: commands by subject, examples of each command, and options of every command once.

use clap::builder::{StyledStr, UnknownArgumentValueParser};
use clap::{Arg, ArgAction, Command, CommandFactory as _};

use super::arguments::Arguments;
use super::completion::add_completers;

/// The commands by subject, in the order in which somebody meets them.
const SUBJECTS: [(&str, &[&str]); 5] = [
    ("Recipes", &["list", "show", "check", "new", "lock"]),
    (
        "Run",
        &[
            "doctor", "plan", "run", "batch", "bisect", "attach", "resume", "logs", "stop",
            "shell", "clean",
        ],
    ),
    ("Judge", &["judge", "compare", "verify"]),
    ("Results", &["runs", "report", "export"]),
    ("Setup", &["config", "sites", "mcp", "schema", "completions", "man"]),
];

/// Two or three command lines for each command.
const EXAMPLES: &[(&str, &[&str])] = &[
    (
        "list",
        &[
            "retrial list",
            "retrial list --gpu mi355x --round v6.0",
            "retrial list --published --gpu mi355x",
        ],
    ),
    ("show", &["retrial show v6.0/llama2-70b-mi355x", "retrial show ./mine.yaml --resolved"]),
    ("check", &["retrial check mine.yaml", "retrial check recipes/*.yaml"]),
    (
        "new",
        &[
            "retrial new mine.yaml",
            "retrial new mine.yaml --from 'docker run --device /dev/kfd rocm/vllm:latest ./bench.sh'",
        ],
    ),
    ("lock", &["retrial lock mine.yaml", "retrial lock mine.yaml --check"]),
    ("doctor", &["retrial doctor", "retrial doctor v6.0/llama2-70b-mi355x"]),
    (
        "plan",
        &[
            "retrial plan v6.0/llama2-70b-mi355x",
            "retrial plan mine.yaml --format shell",
            "retrial plan batch.yaml",
        ],
    ),
    (
        "run",
        &[
            "retrial run v6.0/llama2-70b-mi355x",
            "retrial run mine.yaml --trials 3 --set batch=64",
            "retrial run mine.yaml --smoke-test",
        ],
    ),
    (
        "batch",
        &[
            "retrial batch batch.yaml",
            "retrial batch mine.yaml --vary rocm=6.4.1,7.1.1 --claim 'rocm 7.1.1 is faster than 6.4.1'",
        ],
    ),
    (
        "bisect",
        &[
            "retrial bisect mine.yaml --along rocm",
            "retrial bisect mine.yaml --along rocm --values 6.2,6.3,6.4",
        ],
    ),
    ("attach", &["retrial attach", "retrial attach 20251128"]),
    ("resume", &["retrial resume last", "retrial resume 20251128"]),
    (
        "logs",
        &[
            "retrial logs last",
            "retrial logs last --follow",
            "retrial logs last offline-performance",
        ],
    ),
    ("stop", &["retrial stop last"]),
    ("shell", &["retrial shell last", "retrial shell last -- rocm-smi"]),
    ("clean", &["retrial clean", "retrial clean --cached"]),
    (
        "judge",
        &[
            "retrial judge last",
            "retrial judge ./results --recipe v6.0/llama2-70b-mi355x",
            "retrial judge ./inference_results_v6.0",
        ],
    ),
    (
        "compare",
        &["retrial compare last ./other-host", "retrial compare --by rocm --recipe llama2"],
    ),
    ("verify", &["retrial verify run.tar.zst --signers allowed_signers"]),
    (
        "runs",
        &[
            "retrial runs -n 5",
            "retrial runs --output json",
            "retrial runs remove --until 2025-01-01 --dry-run",
        ],
    ),
    (
        "report",
        &[
            "retrial report last",
            "retrial report last --output markdown",
            "retrial report --all --to site/",
        ],
    ),
    ("export", &["retrial export last --layout v6.0 --to submission"]),
    ("config", &["retrial config", "retrial config --output json"]),
    ("sites", &["retrial sites"]),
    ("mcp", &["retrial mcp"]),
    ("schema", &["retrial schema", "retrial schema verdict"]),
    ("completions", &["source <(retrial completions bash)", "retrial completions fish | source"]),
    ("man", &["retrial man | man -l -", "retrial man run | man -l -"]),
];

const OF_EVERY_COMMAND: &str =
    "Options of every command (--output json, -q, -v, --home, --engine, …): retrial --help";

/// Returns the command line with its texts and completion.
pub fn full_command() -> Command {
    add_texts(add_completers(Arguments::command()).arg(json_tip()))
}

/// Refuses the option by which many programs print JSON, and names ours.
fn json_tip() -> Arg {
    let refusal = UnknownArgumentValueParser::suggest_arg("--output json");
    let option = Arg::new("json").long("json").action(ArgAction::SetTrue);
    option.value_parser(refusal).global(true).hide(true)
}

/// The command line for manual pages, without `help`, which only repeats the others.
pub fn documented_command() -> Command {
    add_texts(without_help_command(Arguments::command()))
}

fn without_help_command(command: Command) -> Command {
    let command = command.disable_help_subcommand(true);
    command.mut_subcommands(without_help_command)
}

/// Adds the texts to the whole command line.
fn add_texts(command: Command) -> Command {
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}\n\nOptions:\n{{options}}{{after-help}}",
        list_by_subject(&command)
    );
    let mut command = command.help_template(StyledStr::from(template));
    // Only a built command has its global options in its subcommands.
    command.build();
    command.mut_subcommands(|subcommand| {
        let examples = examples_of(subcommand.get_name());
        let after = subcommand.get_after_help().map(ToString::to_string);
        let after: Vec<String> = after.into_iter().chain([OF_EVERY_COMMAND.to_owned()]).collect();
        let subcommand = hide_global_options(subcommand).after_help(after.join("\n\n"));
        if examples.is_empty() {
            return subcommand;
        }
        let examples = examples.iter().map(|line| format!("  {line}\n"));
        subcommand.help_template(StyledStr::from(format!(
            "{{about-with-newline}}\nExamples:\n{}\n{{usage-heading}} {{usage}}\n\n{{all-args}}{{after-help}}",
            examples.collect::<String>()
        )))
    })
}

fn hide_global_options(command: Command) -> Command {
    let hide = |argument: Arg| {
        let is_hidden = argument.is_global_set() || argument.is_hide_set();
        argument.hide(is_hidden)
    };
    command.mut_args(hide).mut_subcommands(hide_global_options)
}

fn examples_of(name: &str) -> &'static [&'static str] {
    let found = EXAMPLES.iter().find(|(command, _)| *command == name);
    found.map_or(&[], |(_, examples)| examples)
}

fn list_by_subject(command: &Command) -> String {
    let width = command.get_subcommands().map(|one| one.get_name().len()).max();
    let width = width.unwrap_or(0);
    let line = |name: &&str| {
        let about = command.find_subcommand(name)?.get_about()?;
        Some(format!("  {name:<width$}  {about}"))
    };
    let sections = SUBJECTS.map(|(subject, names)| {
        let lines: Vec<String> = names.iter().filter_map(line).collect();
        format!("{subject}:\n{}", lines.join("\n"))
    });
    sections.join("\n\n")
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    fn visible_commands() -> Vec<Command> {
        let command = Arguments::command();
        let all = command.get_subcommands();
        all.filter(|one| !one.is_hide_set()).cloned().collect()
    }

    #[test]
    fn each_command_has_one_subject_and_a_line_of_80_columns() {
        let text = list_by_subject(&Arguments::command());
        for command in visible_commands() {
            let name = command.get_name();
            let lines =
                text.lines().filter(|line| line.trim_start().split(' ').next() == Some(name));
            let lines: Vec<&str> = lines.collect();
            assert_eq!(lines.len(), 1, "{name}");
            assert!(lines[0].chars().count() <= 80, "{}", lines[0]);
        }
    }

    #[test]
    fn each_command_has_examples_that_its_arguments_accept() {
        for command in visible_commands() {
            let name = command.get_name();
            let examples = examples_of(name);
            assert!((1..=3).contains(&examples.len()), "{name}");
            for example in examples {
                let line = example.trim_start_matches("source <(").trim_end_matches(')');
                let line = line.split('|').next().unwrap();
                let words = shlex::split(line).unwrap();
                let parsed = Arguments::try_parse_from(words);
                assert!(parsed.is_ok(), "{example}: {}", parsed.unwrap_err());
            }
        }
    }

    #[test]
    fn an_option_of_every_command_stands_once() {
        let mut command = add_texts(Arguments::command());
        let whole = command.render_long_help().to_string();
        assert!(whole.contains("--home <DIR>"), "{whole}");
        let run = command.find_subcommand_mut("run").unwrap();
        let text = run.render_long_help().to_string();
        assert!(text.contains("Examples:\n  retrial run "), "{text}");
        assert!(!text.contains("--home <DIR>"), "{text}");
        assert!(text.contains(OF_EVERY_COMMAND), "{text}");
    }

    #[test]
    fn the_option_of_other_programs_for_json_leads_to_ours() {
        for line in [["retrial", "judge", "last", "--json"], ["retrial", "--json", "runs", "-q"]] {
            let refusal = full_command().try_get_matches_from(line).unwrap_err().to_string();
            assert!(refusal.contains("unexpected argument '--json'"), "{refusal}");
            assert!(refusal.contains("'--output json'"), "{refusal}");
        }
    }
}
