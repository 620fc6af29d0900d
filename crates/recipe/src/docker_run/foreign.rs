//! Other programs that start containers, as the `docker run` that they come to: Slurm's srun with Pyxis, Apptainer.

use super::values::Word;
use crate::{Diagnostics, Span};

/// What an option comes to.
#[derive(Clone, Copy)]
enum Meaning {
    /// A flag of `docker run` with the same value.
    Flag(&'static str),
    /// A list of mounts.
    Mounts,
    /// The image.
    Image,
    /// The number of GPUs: `8`, `gpu:8`.
    Gpus,
    /// All GPUs of NVIDIA.
    Nvidia,
    /// All GPUs of AMD.
    Amd,
    /// The number of machines.
    Nodes,
    /// No effect on one machine.
    Value,
    /// As `Value`, without a value.
    Switch,
}

/// The options of srun that guides use; others with a value have it behind `=`.
const SRUN: &[(&str, Meaning)] = &[
    ("--container-image", Meaning::Image),
    ("--container-mounts", Meaning::Mounts),
    ("--container-workdir", Meaning::Flag("--workdir")),
    ("--gpus", Meaning::Gpus),
    ("-G", Meaning::Gpus),
    ("--gpus-per-node", Meaning::Gpus),
    ("--gres", Meaning::Gpus),
    ("--nodes", Meaning::Nodes),
    ("-N", Meaning::Nodes),
    ("--container-writable", Meaning::Switch),
    ("--container-remap-root", Meaning::Switch),
    ("--no-container-mount-home", Meaning::Switch),
    ("--no-container-remap-root", Meaning::Switch),
    ("--container-mount-home", Meaning::Switch),
    ("--no-container-entrypoint", Meaning::Switch),
    ("--exclusive", Meaning::Switch),
    ("--pty", Meaning::Switch),
    ("--label", Meaning::Switch),
    ("-l", Meaning::Switch),
    ("--unbuffered", Meaning::Switch),
    ("-u", Meaning::Switch),
    ("--overlap", Meaning::Switch),
    ("--verbose", Meaning::Switch),
    ("-v", Meaning::Switch),
];

/// The options of `apptainer exec`.
const APPTAINER: &[(&str, Meaning)] = &[
    ("--bind", Meaning::Mounts),
    ("-B", Meaning::Mounts),
    ("--pwd", Meaning::Flag("--workdir")),
    ("--cwd", Meaning::Flag("--workdir")),
    ("--env", Meaning::Flag("--env")),
    ("--env-file", Meaning::Flag("--env-file")),
    ("--nv", Meaning::Nvidia),
    ("--nvccli", Meaning::Nvidia),
    ("--rocm", Meaning::Amd),
    ("--home", Meaning::Value),
    ("-H", Meaning::Value),
    ("--cleanenv", Meaning::Switch),
    ("-e", Meaning::Switch),
    ("--contain", Meaning::Switch),
    ("-c", Meaning::Switch),
    ("--containall", Meaning::Switch),
    ("-C", Meaning::Switch),
    ("--no-home", Meaning::Switch),
    ("--writable-tmpfs", Meaning::Switch),
    ("--writable", Meaning::Switch),
    ("-w", Meaning::Switch),
    ("--fakeroot", Meaning::Switch),
    ("-f", Meaning::Switch),
];

/// Programs of other kinds of description, which a recipe is not made of.
const DESCRIPTIONS: [&str; 4] = ["docker-compose", "kubectl", "helm", "podman-compose"];

/// Returns whether a program starts containers, and is none of Docker's kind.
pub(super) fn is_foreign(name: &str) -> bool {
    ["srun", "apptainer", "singularity"].contains(&name) || DESCRIPTIONS.contains(&name)
}

/// Returns the words after `docker run` that a command comes to; nothing if a recipe cannot be made of it.
pub(super) fn to_docker_words(
    words: &[Word],
    place: &Span,
    problems: &mut Diagnostics,
) -> Option<Vec<Word>> {
    let (name, rest) = words.split_first()?;
    let mut reader = ForeignReader {
        problems,
        flags: Vec::new(),
        image: None,
    };
    let command = match &*name.text {
        "srun" => reader.read_options(rest, SRUN),
        "apptainer" | "singularity" => {
            let (verb, options) = rest.split_first()?;
            let rest = reader.read_options(options, APPTAINER);
            let (image, command) = rest.split_first()?;
            let runs = matches!(&*verb.text, "exec" | "run" | "shell");
            let Some(reference) = image.text.strip_prefix("docker://").filter(|_| runs) else {
                let message = format!("`{} {}` of `{}`", name.text, verb.text, image.text);
                let help = "a recipe needs the image as a registry has it: `apptainer exec docker://IMAGE …`, or a `docker run`";
                reader.problems.error("guide", message, &image.span, help);
                return None;
            };
            reader.image = Some(image.with_text(reference));
            command
        }
        other => {
            refuse(other, place, reader.problems);
            return None;
        }
    };
    let Some(image) = reader.image else {
        let help = "a recipe needs `--container-image` of Pyxis, or a `docker run`";
        reader
            .problems
            .error("guide", "srun without a container", place, help);
        return None;
    };
    let flags = reader.flags.into_iter();
    Some(
        flags
            .chain([image])
            .chain(command.iter().cloned())
            .collect(),
    )
}

/// Refuses a description of containers that is not a command line.
pub(super) fn refuse(name: &str, place: &Span, problems: &mut Diagnostics) {
    let help = "a recipe is made of a command line: give the `docker run` that it comes to, image, devices, mounts and command";
    problems.error(
        "guide",
        format!("`{name}` starts containers from a file"),
        place,
        help,
    );
}

/// Returns what a block without any command of a container is.
pub(super) fn describe_block(text: &str) -> Option<&'static str> {
    let begins = |start: &str| text.lines().any(|line| line.starts_with(start));
    if begins("services:") {
        Some("a compose file")
    } else if begins("apiVersion:") || begins("kind:") {
        Some("a Kubernetes manifest")
    } else if begins("Bootstrap:") || begins("%post") {
        Some("a definition of Apptainer (Singularity)")
    } else if begins("FROM ") {
        Some("a Dockerfile")
    } else {
        None
    }
}

struct ForeignReader<'a> {
    problems: &'a mut Diagnostics,
    flags: Vec<Word>,
    image: Option<Word>,
}

impl ForeignReader<'_> {
    /// Reads options, and returns the words after them.
    fn read_options<'w>(&mut self, words: &'w [Word], known: &[(&str, Meaning)]) -> &'w [Word] {
        let mut rest = words;
        while let Some((option, after)) = rest
            .split_first()
            .filter(|(word, _)| word.text.starts_with('-'))
        {
            rest = after;
            // `-N1` and `--ntasks=8` have their value with them; `-n 8` and `--ntasks 8` have it behind them.
            let is_long = option.text.starts_with("--");
            let (name, attached) =
                match (option.text.split_once('='), option.text.split_at_checked(2)) {
                    (Some((name, value)), _) if is_long => (name, Some(value)),
                    (_, Some((name, value))) if !is_long && !value.is_empty() => {
                        (name, Some(value))
                    }
                    _ => (&*option.text, None),
                };
            let attached = attached.map(|value| option.with_text(value));
            let meaning = known.iter().find(|(known, _)| *known == name);
            let meaning = meaning.map_or(Meaning::Value, |(_, meaning)| *meaning);
            let needs_value = !matches!(meaning, Meaning::Switch | Meaning::Nvidia | Meaning::Amd);
            let value = match attached {
                None if needs_value => {
                    let value = rest.first().cloned();
                    rest = rest.get(1..).unwrap_or_default();
                    value
                }
                attached => attached,
            };
            self.translate(
                option,
                meaning,
                &value.unwrap_or_else(|| option.with_text("")),
            );
        }
        rest
    }

    fn translate(&mut self, option: &Word, meaning: Meaning, value: &Word) {
        let mut flag = |text: String| self.flags.push(option.with_text(text));
        match meaning {
            Meaning::Flag(name) => flag(format!("{name}={}", value.text)),
            Meaning::Mounts => {
                for mount in value.text.split(',') {
                    // `/data` is mounted at the same path, as is a mount of Pyxis with flags behind a second colon.
                    let target = if mount.contains(':') { "" } else { mount };
                    let colon = if target.is_empty() { "" } else { ":" };
                    flag(format!("--volume={mount}{colon}{target}"));
                }
            }
            Meaning::Image => {
                let reference = value.text.trim_start_matches("docker://").replace('#', "/");
                self.image = Some(value.with_text(reference));
            }
            Meaning::Gpus => {
                let count = value.text.rsplit(':').next().unwrap_or_default();
                flag(format!("--gpus={count}"));
            }
            Meaning::Nvidia => flag("--gpus=all".to_owned()),
            Meaning::Amd => {
                flag("--device=/dev/kfd".to_owned());
                flag("--device=/dev/dri".to_owned());
            }
            Meaning::Nodes if value.text != "1" => {
                let message = format!("{} {}: several machines", option.text, value.text);
                let help = "a recipe of several machines has `nodes` and services on them: begin with the line of one machine";
                self.problems.error("guide", message, &option.span, help);
            }
            Meaning::Nodes | Meaning::Value | Meaning::Switch => {}
        }
    }
}
