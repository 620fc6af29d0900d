//! Translates other programs that start containers to `docker run`: Slurm's srun with Pyxis, Apptainer, enroot.

use std::collections::BTreeMap;

use itertools::Itertools as _;

use super::flags::{DOCKER, FlagTreatment, Meaning};
use super::line::{ContainerLine, FlagValue, LineReader};
use super::programs::{APPTAINER, ENROOT, SRUN};
use super::shells::is_shell;
use super::values::{Values, Word};
use crate::model::GpuVendor;
use crate::{Diagnostics, Span};

/// Programs that start containers and cannot be converted, each with the reason.
const UNSUPPORTED_PROGRAMS: [(&str, &str); 11] = [
    ("docker-compose", "starts containers from a file"),
    ("podman-compose", "starts containers from a file"),
    ("kubectl", "starts containers from a file"),
    ("helm", "starts containers from a file"),
    ("oc", "starts containers from a file"),
    ("ch-run", "is not supported"),
    ("shifter", "is not supported"),
    ("sarus", "is not supported"),
    ("udocker", "is not supported"),
    ("ctr", "is not supported"),
    ("crictl", "is not supported"),
];

/// What the block has done before a command of another program.
#[derive(Default)]
pub(super) struct JobContext {
    /// The flags of `#SBATCH` lines and of `salloc`, which srun inherits.
    pub flags: Vec<FlagValue>,
    /// Files that the block converts images to, with the images' references.
    pub image_files: BTreeMap<String, String>,
}

impl JobContext {
    /// Returns the number of GPUs of the job, if it is stated.
    pub(super) fn gpus(&self) -> Option<u32> {
        let is_gpus = |option: &&FlagValue| {
            option.flag.treatment == FlagTreatment::Translated(Meaning::Gpus)
                && (option.flag.name != "gres" || option.value.text.contains("gpu"))
        };
        let option = self.flags.iter().rev().find(is_gpus)?;
        option.value.text.rsplit(':').next()?.parse().ok()
    }
}

/// Returns whether a program starts containers, and is none of Docker's kind.
pub(super) fn is_foreign(name: &str) -> bool {
    ["srun", "salloc", "apptainer", "singularity", "enroot"].contains(&name)
        || find_unsupported_reason(name).is_some()
}

fn find_unsupported_reason(name: &str) -> Option<&'static str> {
    let entry = UNSUPPORTED_PROGRAMS.iter().find(|(program, _)| *program == name);
    entry.map(|(_, what)| *what)
}

/// Returns the `docker run` that a command is equivalent to, with the variables that it inherits; none if it cannot be
/// converted.
pub(super) fn read_foreign(
    words: &[Word],
    inherited: Vec<Word>,
    job: &JobContext,
    values: &Values<'_>,
    place: &Span,
    problems: &mut Diagnostics,
) -> Option<ContainerLine> {
    let before = problems.error_count();
    let (name, rest) = words.split_first()?;
    if let Some(what) = find_unsupported_reason(&name.text) {
        refuse(&name.text, what, place, problems);
        return None;
    }
    let mut line = Translation::new(name.with_text(""), inherited);
    if name.text == "srun" {
        let mut reader = LineReader::new(&SRUN, rest, problems);
        reader.read_flags();
        line.command = reader.rest.as_slice().to_vec();
        let flags = job.flags.iter().cloned().chain(reader.flags).collect();
        line.translate(flags, values, problems);
    } else {
        let (verb, options) = rest.split_first()?;
        let program = if name.text == "enroot" { &ENROOT } else { &APPTAINER };
        let mut reader = LineReader::new(program, options, problems);
        reader.read_flags();
        line.image = reader.rest.next().cloned();
        line.command = reader.rest.as_slice().to_vec();
        let flags = reader.flags;
        if verb.text == "shell" || is_shell(&line.command) {
            line.push("interactive", verb.with_text("true"));
        }
        line.translate(flags, values, problems);
        let runs = matches!(
            (&*name.text, &*verb.text),
            ("enroot", "start") | ("apptainer" | "singularity", "exec" | "run" | "shell")
        );
        if let Some(image) = line.image.as_ref().filter(|_| !runs) {
            let message = format!("`{} {}`", name.text, verb.text);
            let help = "give the line that runs the benchmark, `apptainer exec docker://IMAGE …`";
            problems.error("guide", message, &image.span, help);
        }
    }
    if line.image.is_none() && problems.error_count() == before {
        let help = "a recipe needs `--container-image` of Pyxis, `apptainer exec docker://IMAGE`, or a `docker run`";
        let message = format!("{} without a container", name.text);
        problems.error("guide", message, place, help);
    }
    line.resolve_image(&name.text, job, values, problems);
    (problems.error_count() == before).then(|| line.finish(&name.text))
}

/// Returns the name that a program gives an image's file by default.
pub(super) fn default_file(program: &str, reference: &str) -> String {
    let (name, tag) = reference.rsplit_once(':').unwrap_or((reference, "latest"));
    let last = name.rsplit(['/', '#']).next().unwrap_or(name);
    match program {
        "enroot" => {
            let path = name.split_once('#').map_or(name, |(_, path)| path);
            format!("{}+{tag}.sqsh", path.replace('/', "+"))
        }
        _ => format!("{last}_{tag}.sif"),
    }
}

/// Refuses a program whose containers are not described by its command line.
pub(super) fn refuse(name: &str, what: &str, place: &Span, problems: &mut Diagnostics) {
    let help = "write the equivalent `docker run`, with image, devices, mounts and command";
    problems.error("guide", format!("`{name}` {what}"), place, help);
}

/// Returns what a block without any command of a container is.
pub(super) fn describe_block(text: &str) -> Option<&'static str> {
    const KINDS: [(&str, &str); 9] = [
        ("services:", "a compose file"),
        ("apiVersion:", "a Kubernetes manifest"),
        ("kind:", "a Kubernetes manifest"),
        ("Bootstrap:", "a definition of Apptainer (Singularity)"),
        ("%post", "a definition of Apptainer (Singularity)"),
        ("FROM ", "a Dockerfile"),
        ("make ", "calls of make"),
        ("madengine ", "calls of madengine, which starts the containers itself"),
        ("mlcr ", "calls of MLCommons' automation, which starts the containers itself"),
    ];
    let begins = |start: &str| text.lines().any(|line| line.starts_with(start));
    let kind = KINDS.iter().find(|(start, _)| begins(start));
    kind.map(|(_, what)| *what)
}

/// A line that is being translated.
struct Translation {
    start: Word,
    flags: Vec<FlagValue>,
    image: Option<Word>,
    command: Vec<Word>,
    gpus: Option<Word>,
    gpus_per_task: Option<Word>,
    tasks: Option<Word>,
    nodes: Option<Word>,
}

impl Translation {
    fn new(start: Word, inherited: Vec<Word>) -> Self {
        let mut line = Self {
            start,
            flags: Vec::new(),
            image: None,
            command: Vec::new(),
            gpus: None,
            gpus_per_task: None,
            tasks: None,
            nodes: None,
        };
        for variable in inherited {
            line.push("env", variable);
        }
        line
    }

    /// Adds a flag of `docker run`.
    fn push(&mut self, name: &str, value: Word) {
        let flag = DOCKER.find_long(name);
        self.flags.extend(flag.map(|flag| FlagValue { flag, value }));
    }

    fn translate(
        &mut self,
        flags: Vec<FlagValue>,
        values: &Values<'_>,
        problems: &mut Diagnostics,
    ) {
        for option in flags {
            let FlagTreatment::Translated(meaning) = option.flag.treatment else {
                self.flags.push(option);
                continue;
            };
            let value = match meaning {
                Meaning::Flag(_) | Meaning::Image => option.value,
                Meaning::Mounts | Meaning::Variables | Meaning::Export => {
                    option.value.with_text(values.with_lists(&option.value.text))
                }
                // A number: the value of a variable, not a param.
                _ => option.value.with_text(values.literal(&option.value.text)),
            };
            match meaning {
                Meaning::Flag(name) => self.push(name, value),
                Meaning::Mounts => self.push_mounts(&value),
                Meaning::Variables => self.push_variables(&value, |_| true),
                Meaning::Export => {
                    self.push_variables(&value, |name| !matches!(name, "ALL" | "NONE" | "NIL"));
                }
                Meaning::Image => self.image = Some(value),
                // `--gres=nic:1` is no GPU.
                Meaning::Gpus if option.flag.name == "gres" && !value.text.contains("gpu") => {}
                Meaning::Gpus => self.gpus = Some(value),
                Meaning::GpusPerTask => self.gpus_per_task = Some(value),
                Meaning::Tasks => self.tasks = Some(value),
                Meaning::Nodes => self.nodes = Some(value),
                Meaning::AllGpus(GpuVendor::Amd) => {
                    self.push("device", value.with_text("/dev/kfd"));
                    self.push("device", value.with_text("/dev/dri"));
                }
                Meaning::AllGpus(_) => self.push("gpus", value.with_text("all")),
            }
        }
        if let Some(nodes) = self.nodes.as_ref().filter(|nodes| nodes.text != "1") {
            let message = format!("--nodes {}: several machines", nodes.text);
            let help = "convert the command line of one machine, then add `nodes` to the recipe";
            problems.error("guide", message, &nodes.span, help);
        }
    }

    fn push_mounts(&mut self, value: &Word) {
        for mount in value.text.split(',').filter(|mount| !mount.is_empty()) {
            // `/data` is mounted at the same path.
            let mount =
                if mount.contains(':') { mount.to_owned() } else { format!("{mount}:{mount}") };
            self.push("volume", value.with_text(mount));
        }
    }

    fn push_variables(&mut self, value: &Word, is_variable: impl Fn(&str) -> bool) {
        for variable in value.text.split(',').filter(|name| is_variable(name)) {
            self.push("env", value.with_text(variable));
        }
    }

    /// Replaces an image's file by the image from which the block makes it.
    fn resolve_image(
        &mut self,
        program: &str,
        job: &JobContext,
        values: &Values<'_>,
        problems: &mut Diagnostics,
    ) {
        let Some(image) = &mut self.image else { return };
        let file = values.literal(&image.text);
        let made = job.image_files.get(file.trim_start_matches("./"));
        let text = made.unwrap_or(&file);
        let reference = text.trim_start_matches("docker://").replace('#', "/");
        let is_file =
            [".sif", ".sqsh", ".img", ".simg"].iter().any(|ending| text.ends_with(ending));
        let is_other = text.contains("://") && !text.starts_with("docker://");
        let needs_scheme = program != "srun" && !text.starts_with("docker://") && made.is_none();
        if is_file || is_other || needs_scheme && !text.contains("${{") {
            let message = format!("`{text}` is not an image of a registry");
            let help = "write the image from which the file was made, as a registry has it: `docker://IMAGE`";
            problems.error("guide", message, &image.span, help);
        }
        if reference != file {
            *image = image.with_text(reference);
        }
    }

    /// Adds all GPUs of the job, which Pyxis passes on to an image that uses them.
    fn push_gpus_of_image(&mut self) {
        let Some(image) = self.image.clone() else {
            return;
        };
        let name = image.text.to_lowercase();
        let names = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
        if names(&["rocm", "amd"]) {
            self.push("device", image.with_text("/dev/kfd"));
            self.push("device", image.with_text("/dev/dri"));
        } else if names(&["nvcr.io", "nvidia", "cuda"]) {
            self.push("gpus", image.with_text("all"));
        }
    }

    fn finish(mut self, name: &str) -> ContainerLine {
        let remarks = vec![describe_default_access(name, &self.flags)];
        let tasks = self.tasks.take();
        let count = |word: &Word| word.text.rsplit(':').next()?.parse::<u32>().ok();
        let of_tasks = self.gpus_per_task.as_ref().and_then(|word| {
            let tasks = tasks.as_ref().map_or(Some(1), count)?;
            Some(word.with_text(count(word)?.checked_mul(tasks)?.to_string()))
        });
        let of_node = self.gpus.as_ref().map(|word| {
            let last = word.text.rsplit(':').next().unwrap_or_default();
            // `--gres=gpu` is one.
            word.with_text(if last == "gpu" { "1" } else { last })
        });
        if let Some(gpus) = of_node.or(of_tasks) {
            self.push("gpus", gpus);
        } else if let Some(word) = self.gpus_per_task.take() {
            self.push("gpus", word.with_text("all"));
        } else if matches!(name, "srun" | "enroot") {
            self.push_gpus_of_image();
        }
        ContainerLine {
            flags: self.flags,
            unknown_flags: Vec::new(),
            image: self.image.unwrap_or(self.start),
            command: self.command,
            remarks,
            processes: tasks.filter(|tasks| tasks.text != "1"),
        }
    }
}

/// Returns a note on what a program mounts and shares by default, without what the flags exclude.
fn describe_default_access(name: &str, flags: &[FlagValue]) -> String {
    let has = |names: &[&str]| flags.iter().any(|one| names.contains(&one.flag.name));
    let excludes = |what: &str| {
        let mut excluded = flags.iter().filter(|one| one.flag.name == "no-mount");
        excluded.any(|one| one.value.text.split(',').any(|part| part == what))
    };
    let is_contained = has(&["contain", "containall"]);
    let is_apptainer = matches!(name, "apptainer" | "singularity");
    let gifts = [
        (
            is_apptainer && !is_contained && !excludes("cwd"),
            if has(&["workdir"]) {
                "this directory"
            } else {
                "this directory, in which the command starts"
            },
        ),
        (is_apptainer && !is_contained && !has(&["no-home"]) && !excludes("home"), "$HOME"),
        (is_apptainer && !is_contained && !excludes("tmp"), "/tmp"),
        (!has(&["cleanenv", "containall"]), "the variables of the shell"),
        (true, "the host's network, processes and /dev/shm"),
    ];
    let gifts = gifts.iter().filter(|(is_given, _)| *is_given);
    let listed = gifts.map(|(_, what)| *what).join("; ");
    format!(
        "{name} also gives its container: {listed}; a recipe's has only what it states (`mounts`, `workdir`, `env`, `network: host`, `ipc: host`)"
    )
}
