//! Reads a command of a program that starts containers.

use super::commands::{Action, UNSUPPORTED, is_tool};
use super::flags::{DOCKER, DOCKER_CLIENT, DOCKER_EXEC, PODMAN};
use super::foreign::{default_file, read_foreign};
use super::line::{ContainerLine, FlagValue, LineReader, TypedWords, parse_line};
use super::reader::Reader;
use super::tables::SRUN;
use crate::shell::{Item, Part, Simple, push_part};

/// Commands of an engine that are dropped, each with the reason.
const MANAGED: [(&[&str], &str); 4] = [
    (
        &["stop", "rm", "kill", "wait", "restart", "pause", "unpause", "container"],
        "Retrial stops and removes its containers",
    ),
    (&["login", "logout"], "log in before the run: the engine's credentials are used"),
    (
        &[
            "logs",
            "ps",
            "images",
            "inspect",
            "stats",
            "top",
            "info",
            "version",
            "port",
            "--version",
        ],
        "it only shows something",
    ),
    (
        &[
            "network", "volume", "system", "image", "rmi", "tag", "load", "save", "context",
            "buildx", "plugin",
        ],
        "if the benchmark needs it, run it on the host before",
    ),
];

impl Reader<'_> {
    pub(super) fn read_tool(
        &mut self,
        name: &str,
        words: &TypedWords,
        simple: &Simple,
        item: &Item,
    ) {
        let span = self.span(item.range.clone());
        if let Some((_, what)) = UNSUPPORTED.iter().find(|(program, _)| *program == name) {
            let help = "write the equivalent `docker run`, with image, devices, mounts and command";
            self.problems.error("guide", format!("`{name}` {what}"), &span, help);
            return;
        }
        if simple.reads_input {
            let help = "write the input into a file, or into `bash -c '… | …'` after the image";
            let shown = self.shown(item.range.clone());
            self.problems.error(
                "guide",
                format!("`{shown}`: a recipe's commands have no input"),
                &span,
                help,
            );
            return;
        }
        match name {
            "docker" | "podman" | "nvidia-docker" | "nerdctl" => {
                self.read_engine(name, words, simple, item);
            }
            "salloc" => {
                let mut reader = LineReader::new(&SRUN, &words.words, &mut self.problems);
                reader.read_flags();
                self.job.flags.extend(reader.flags);
            }
            "sbatch" => {
                let help = "give the script that it submits, with its `srun` lines";
                self.problems.error("guide", "`sbatch` starts a script".to_owned(), &span, help);
            }
            "srun" => self.read_job_step(words, simple, item),
            _ => self.read_image_tool(name, words, simple, item),
        }
    }

    /// Reads a `srun`; the first of a named container may only make it: `srun --container-name=job … true`.
    fn read_job_step(&mut self, words: &TypedWords, simple: &Simple, item: &Item) {
        if self.read_started_tool(words, simple, item) {
            return;
        }
        let span = self.span(item.range.clone());
        let line =
            read_foreign("srun", words, &mut self.job, &mut self.values, &span, &mut self.problems);
        let Some(mut line) = line else { return self.push(Action::Refused, item, None) };
        self.pass_exported(&mut line, simple);
        let arguments = line.arguments.sketch(&self.values);
        let only_makes = line.flag("container-name").is_some()
            && matches!(arguments.first().map(String::as_str), None | Some("true" | ":" | "echo"));
        if only_makes {
            let shown = self.shown(item.range.clone());
            return self.note(format!("`{shown}`: dropped, it only makes the container"));
        }
        self.push(Action::Start(line), item, Some(simple));
    }

    /// Reads a program that `srun` starts, and that starts the container: `srun --gpus=8 apptainer exec …`.
    fn read_started_tool(&mut self, words: &TypedWords, simple: &Simple, item: &Item) -> bool {
        let mut ignored = retrial_document::Diagnostics::default();
        let mut reader = LineReader::new(&SRUN, &words.words, &mut ignored);
        reader.read_flags();
        let (at, flags) = (reader.position, reader.flags);
        let name = words.words.get(at).map(|word| word.sketch(&self.values)).unwrap_or_default();
        if !is_tool(&name) {
            return false;
        }
        let shown = words.words[..at].iter().map(|word| word.written.as_str()).collect::<Vec<_>>();
        self.note(format!(
            "`srun {}` before `{name}`: a site states where a job runs (`retrial run --site`)",
            shown.join(" ")
        ));
        self.job.flags.extend(flags);
        self.read_tool(&name, &words.skip(at + 1), simple, item);
        true
    }

    /// Gives a container the variables that the guide exports: srun and Apptainer pass on those of the shell.
    fn pass_exported(&mut self, line: &mut ContainerLine, simple: &Simple) {
        let excludes = ["cleanenv", "containall"];
        if line.flags.iter().any(|one| excludes.contains(&one.flag.name)) {
            return;
        }
        let Some(flag) = DOCKER.find_long("env") else { return };
        let before = simple.assignments.iter().map(|assignment| assignment.name.clone());
        let exported: Vec<String> = self.values.exported.iter().cloned().chain(before).collect();
        for name in &exported {
            if self.values.value(name).is_none() {
                continue;
            }
            let value = line.image.with_text(name.trim_start_matches("APPTAINERENV_"));
            let parts = self.values.use_variable(name);
            let mut word = vec![Part::Text(format!("{}=", value.start()))];
            for part in parts {
                push_part(&mut word, part);
            }
            line.flags.push(FlagValue { flag, value: line.image.with_parts(word) });
        }
    }

    fn read_image_tool(&mut self, name: &str, words: &TypedWords, simple: &Simple, item: &Item) {
        let verb = words.words.first().map(|word| word.sketch(&self.values)).unwrap_or_default();
        match (name, &*verb) {
            ("enroot", "import") | ("apptainer" | "singularity", "pull" | "build") => {
                self.read_image_file(name, &words.skip(1));
            }
            ("enroot", "create") => self.read_created(&words.skip(1)),
            ("enroot", "start") | ("apptainer" | "singularity", "exec" | "run" | "shell") => {
                let span = self.span(item.range.clone());
                let line = read_foreign(
                    name,
                    words,
                    &mut self.job,
                    &mut self.values,
                    &span,
                    &mut self.problems,
                );
                let Some(mut line) = line else { return self.push(Action::Refused, item, None) };
                if name != "enroot" {
                    self.pass_exported(&mut line, simple);
                }
                self.push(Action::Start(line), item, Some(simple));
            }
            _ => self.push(Action::Manage("it starts no container"), item, None),
        }
    }

    /// Keeps the file to which an image is converted: `enroot import -o a.sqsh docker://IMAGE`.
    fn read_image_file(&mut self, program: &str, words: &TypedWords) {
        let mut file = None;
        let mut image = None;
        let mut rest = words.words.iter();
        while let Some(word) = rest.next() {
            let text = word.sketch(&self.values);
            if matches!(&*text, "-o" | "--output" | "-a" | "--arch") {
                let value = rest.next().map(|word| word.sketch(&self.values));
                file = if text.contains('o') { value } else { file };
            } else if let Some(output) = text.strip_prefix("--output=") {
                file = Some(output.to_owned());
            } else if text.starts_with("docker://") {
                image = Some(word.clone());
            } else if !text.starts_with('-') {
                file = Some(text);
            }
        }
        let Some(image) = image else { return };
        let file = file.unwrap_or_else(|| default_file(program, &image.sketch(&self.values)));
        self.job.images.insert(file.trim_start_matches("./").to_owned(), image);
    }

    /// Keeps the name of a root file system: `enroot create -n NAME FILE`.
    fn read_created(&mut self, words: &TypedWords) {
        let texts: Vec<String> = words.words.iter().map(|word| word.sketch(&self.values)).collect();
        let at = texts.iter().position(|text| matches!(&**text, "-n" | "--name"));
        let named = at.and_then(|at| texts.get(at + 1).cloned());
        let attached = texts.iter().find_map(|text| Some(text.strip_prefix("--name=")?.to_owned()));
        let Some(file) = texts.last().map(|file| file.trim_start_matches("./").to_owned()) else {
            return;
        };
        let stem = file.rsplit('/').next().unwrap_or(&file).trim_end_matches(".sqsh").to_owned();
        let name = named.or(attached).unwrap_or(stem);
        if let Some(image) = self.job.images.get(&file).cloned() {
            self.job.images.insert(name, image);
        }
    }

    fn read_engine(&mut self, name: &str, words: &TypedWords, simple: &Simple, item: &Item) {
        let skipped = self.skip_flags(&DOCKER_CLIENT, words);
        let mut words = words.skip(skipped);
        let mut verb =
            words.words.first().map(|word| word.sketch(&self.values)).unwrap_or_default();
        let second = words.words.get(1).map(|word| word.sketch(&self.values)).unwrap_or_default();
        let is_long = matches!(
            (&*verb, &*second),
            ("container", "run" | "exec" | "create" | "commit" | "cp")
                | ("image", "pull" | "build")
                | ("buildx", "build")
        );
        if is_long {
            words = words.skip(1);
            verb = second;
        }
        let rest = words.skip(1);
        let span = self.span(item.range.clone());
        match &*verb {
            "run" | "create" => {
                let program = if name == "podman" { &PODMAN } else { &DOCKER };
                let mut line = parse_line(program, &rest, &self.values, &span, &mut self.problems);
                // It passes on all GPUs without a flag.
                if let Some(line) = line.as_mut().filter(|_| name == "nvidia-docker")
                    && line.flag("gpus").is_none()
                {
                    let all = line.image.with_text("all");
                    line.flags.extend(
                        DOCKER.find_long("gpus").map(|flag| FlagValue { flag, value: all }),
                    );
                }
                let action = line.map_or(Action::Refused, Action::Start);
                self.push(action, item, Some(simple));
            }
            "exec" => {
                let line = parse_line(&DOCKER_EXEC, &rest, &self.values, &span, &mut self.problems);
                self.push(line.map_or(Action::Refused, Action::Exec), item, Some(simple));
            }
            "start" | "attach" if verb == "attach" || opens(&rest) => {
                self.push(Action::Attach, item, None);
            }
            "start" => self.push(Action::Manage("Retrial starts its container"), item, None),
            "pull" => {
                let image = rest.words.iter().find(|word| !word.start().starts_with('-')).cloned();
                self.push(
                    image.map_or(Action::Manage("it pulls nothing"), Action::Pull),
                    item,
                    None,
                );
            }
            "build" => self.push(Action::Build(rest.words), item, None),
            "cp" => {
                if let [.., source, target] = &rest.words[..] {
                    self.push(Action::Copy(source.clone(), target.clone()), item, None);
                }
            }
            "commit" => self.push(Action::Commit, item, None),
            "compose" | "stack" | "swarm" => {
                let help =
                    "write the equivalent `docker run`, with image, devices, mounts and command";
                self.problems.error(
                    "guide",
                    format!("`{name} {verb}` starts containers from a file"),
                    &span,
                    help,
                );
            }
            other => {
                let reason = MANAGED.iter().find(|(verbs, _)| verbs.contains(&other));
                let reason = reason.map_or("it starts no container", |(_, reason)| *reason);
                self.push(Action::Manage(reason), item, None);
            }
        }
    }
}

/// Whether `docker start` attaches a terminal: `docker start -ai NAME`.
fn opens(words: &TypedWords) -> bool {
    words.words.iter().any(|word| word.start().starts_with('-') && word.start().contains('i'))
}
