//! Translates other programs that start containers to the flags of `docker run`: srun with Pyxis, Apptainer, enroot.

use std::collections::BTreeMap;

use itertools::Itertools as _;
use retrial_document::{Diagnostics, Span};
use retrial_recipe::model::GpuVendor;

use super::flags::{DOCKER, FlagTreatment, Meaning};
use super::line::{Arguments, ContainerLine, FlagValue, LineReader, TypedWords, arguments_from};
use super::tables::{APPTAINER, ENROOT, SRUN};
use crate::shell::{Part, Values, Word};

/// What the guide has done before a command of another program.
#[derive(Debug, Default, Clone)]
pub struct JobContext {
    /// The flags of `#SBATCH` lines and of `salloc`, which srun inherits.
    pub flags: Vec<FlagValue>,
    /// Files and names of containers that the guide makes of images.
    pub images: BTreeMap<String, Word>,
}

/// Returns the line that a command is equivalent to; none if it cannot be converted.
pub fn read_foreign(
    name: &str,
    words: &TypedWords,
    job: &mut JobContext,
    values: &mut Values,
    place: &Span,
    problems: &mut Diagnostics,
) -> Option<ContainerLine> {
    let before = problems.error_count();
    let mut line = Translation::new(Word::text("", place));
    if name == "srun" {
        let mut reader = LineReader::new(&SRUN, &words.words, problems);
        reader.read_flags();
        line.arguments = arguments_from(words, reader.position);
        let flags = job.flags.iter().cloned().chain(reader.flags).collect();
        line.translate(flags, values, problems);
        line.name_container(job, values);
    } else {
        let verb = words.words.first()?.sketch(values);
        let program = if name == "enroot" { &ENROOT } else { &APPTAINER };
        let rest = words.skip(1);
        let mut reader = LineReader::new(program, &rest.words, problems);
        reader.read_flags();
        line.image = reader.next_word().cloned();
        line.arguments = arguments_from(&rest, reader.position);
        let flags = reader.flags;
        if verb == "shell" || super::is_shell(&line.arguments.sketch(values)) {
            line.push("interactive", Word::text("true", place));
        }
        line.translate(flags, values, problems);
    }
    if line.image.is_none() && problems.error_count() == before {
        let help = "a recipe needs `--container-image` of Pyxis, `apptainer exec docker://IMAGE`, or a `docker run`";
        problems.error("guide", format!("{name} without a container"), place, help);
    }
    line.resolve_image(name, job, values);
    (problems.error_count() == before).then(|| line.finish(name, values))
}

/// Returns the name that a program gives an image's file by default.
pub fn default_file(program: &str, reference: &str) -> String {
    let reference = reference.trim_start_matches("docker://");
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

/// A line that is being translated.
struct Translation {
    start: Word,
    flags: Vec<FlagValue>,
    image: Option<Word>,
    arguments: Arguments,
    container_name: Option<Word>,
    gpus: Option<Word>,
    gpus_per_task: Option<Word>,
    tasks: Option<Word>,
    nodes: Option<Word>,
}

impl Translation {
    fn new(start: Word) -> Self {
        Self {
            start,
            flags: Vec::new(),
            image: None,
            arguments: Arguments::default(),
            container_name: None,
            gpus: None,
            gpus_per_task: None,
            tasks: None,
            nodes: None,
        }
    }

    /// Adds a flag of `docker run`.
    fn push(&mut self, name: &str, value: Word) {
        let flag = DOCKER.find_long(name);
        self.flags.extend(flag.map(|flag| FlagValue { flag, value }));
    }

    fn translate(&mut self, flags: Vec<FlagValue>, values: &Values, problems: &mut Diagnostics) {
        for option in flags {
            if option.flag.name == "container-name" {
                self.container_name = Some(option.value.clone());
            }
            let FlagTreatment::Translated(meaning) = option.flag.treatment else {
                self.flags.push(option);
                continue;
            };
            let is_gpus = option.value.sketch(values).contains("gpu");
            let value = option.value;
            match meaning {
                Meaning::Flag(name) => self.push(name, value),
                Meaning::Mounts => self.push_mounts(&value, values),
                Meaning::Variables => self.push_variables(&value, values, |_| true),
                Meaning::Export => {
                    let is_variable = |name: &str| !matches!(name, "ALL" | "NONE" | "NIL");
                    self.push_variables(&value, values, is_variable);
                }
                Meaning::Image => self.image = Some(value),
                // `--gres=nic:1` is no GPU.
                Meaning::Gpus if option.flag.name == "gres" && !is_gpus => {}
                Meaning::Gpus => self.gpus = Some(value),
                Meaning::GpusPerTask => self.gpus_per_task = Some(value),
                Meaning::Tasks => self.tasks = Some(value),
                Meaning::Nodes => self.nodes = Some(value),
                Meaning::AllGpus(vendor) => self.push_all_gpus(vendor, &value),
            }
        }
        let several =
            self.nodes.as_ref().filter(|nodes| nodes.known(values).as_deref() != Some("1"));
        if let Some(nodes) = several {
            let message = format!("--nodes {}: several machines", nodes.sketch(values));
            let help = "convert the command line of one machine, then add `nodes` to the recipe";
            problems.error("guide", message, &nodes.span, help);
        }
    }

    fn push_all_gpus(&mut self, vendor: GpuVendor, value: &Word) {
        if vendor == GpuVendor::Amd {
            self.push("device", value.with_text("/dev/kfd"));
            self.push("device", value.with_text("/dev/dri"));
        } else {
            self.push("gpus", value.with_text("all"));
        }
    }

    fn push_mounts(&mut self, value: &Word, values: &Values) {
        for mount in value.split(',', values).into_iter().filter(|mount| !mount.is_empty()) {
            // `/data` is mounted at the same path.
            let mut parts = mount.parts.clone();
            if mount.split(':', values).len() == 1 {
                parts.push(crate::shell::Part::Text(":".to_owned()));
                parts.extend(mount.parts.clone());
            }
            self.push("volume", mount.with_parts(parts));
        }
    }

    fn push_variables(
        &mut self,
        value: &Word,
        values: &Values,
        is_variable: impl Fn(&str) -> bool,
    ) {
        for variable in value.split(',', values) {
            if !variable.is_empty() && is_variable(variable.start()) {
                self.push("env", variable);
            }
        }
    }

    /// Gives a name to the container of an image, or finds the image of a name: `--container-name`.
    fn name_container(&mut self, job: &mut JobContext, values: &Values) {
        let Some(name) = &self.container_name else { return };
        let name = name.sketch(values);
        match &self.image {
            Some(image) => drop(job.images.insert(name, image.clone())),
            None => self.image = job.images.get(&name).cloned(),
        }
    }

    /// Replaces an image's file by the image from which the guide makes it.
    fn resolve_image(&mut self, program: &str, job: &JobContext, values: &mut Values) {
        let Some(image) = &mut self.image else { return };
        let text = image.sketch(values);
        let made = job.images.get(text.trim_start_matches("./"));
        let is_made = made.is_some();
        if let Some(made) = made {
            *image = made.clone();
        }
        let text = image.sketch(values);
        let ends_as_file =
            [".sif", ".sqsh", ".img", ".simg"].iter().any(|ending| text.ends_with(ending));
        let is_other = text.contains("://") && !text.starts_with("docker://");
        let needs_scheme = program != "srun" && !text.starts_with("docker://") && !is_made;
        if ends_as_file || is_other || needs_scheme && image.known(values).is_some() {
            let question = format!("the image of a registry from which `{text}` was made");
            let id = values.add_param("image", &image.written, None, Some(question));
            *image = image.with_parts(vec![Part::Param(id)]);
        }
        if let Some(known) = image.known(values) {
            let reference = known.trim_start_matches("docker://").replace('#', "/");
            if reference != known {
                *image = image.with_text(reference);
            }
        }
    }

    /// Adds all GPUs of the host: Pyxis and enroot pass them on by a hook, without a flag.
    fn push_gpus_of_image(&mut self, name: &str, values: &Values) {
        let Some(image) = self.image.clone() else { return };
        let reference = image.sketch(values).to_lowercase();
        let names = |parts: &[&str]| parts.iter().any(|part| reference.contains(part));
        if names(&["rocm", "amd"]) {
            self.push_all_gpus(GpuVendor::Amd, &image);
        } else if name == "enroot" || names(&["nvcr.io", "nvidia", "cuda"]) {
            self.push_all_gpus(GpuVendor::Nvidia, &image);
        }
    }

    fn finish(mut self, name: &str, values: &Values) -> ContainerLine {
        let remarks = vec![describe_default_access(name, &self.flags)];
        let tasks = self.tasks.take();
        let last = |word: &Word| word.split(':', values).pop().unwrap_or_else(|| word.clone());
        let count = |word: &Word| last(word).known(values)?.parse::<u32>().ok();
        let of_tasks = self.gpus_per_task.as_ref().and_then(|word| {
            let tasks = tasks.as_ref().map_or(Some(1), count)?;
            Some(word.with_text(count(word)?.checked_mul(tasks)?.to_string()))
        });
        // `--gres=gpu` is one.
        let of_node = self.gpus.as_ref().map(|word| match last(word) {
            last if last.plain() == Some("gpu") => last.with_text("1"),
            last => last,
        });
        if let Some(gpus) = of_node.or(of_tasks) {
            self.push("gpus", gpus);
        } else if let Some(word) = self.gpus_per_task.take() {
            self.push("gpus", word.with_text("all"));
        } else if matches!(name, "srun" | "enroot") {
            self.push_gpus_of_image(name, values);
        }
        ContainerLine {
            flags: self.flags,
            unknown_flags: Vec::new(),
            image: self.image.unwrap_or(self.start),
            arguments: self.arguments,
            remarks,
            processes: tasks.filter(|tasks| tasks.known(values).as_deref() != Some("1")),
        }
    }
}

/// Returns a note on what a program mounts and shares by default, without what the flags exclude.
fn describe_default_access(name: &str, flags: &[FlagValue]) -> String {
    let has = |names: &[&str]| flags.iter().any(|one| names.contains(&one.flag.name));
    let is_contained = has(&["contain", "containall"]);
    let is_apptainer = matches!(name, "apptainer" | "singularity");
    let gifts = [
        (is_apptainer && !is_contained, "this directory, in which the command starts"),
        (is_apptainer && !is_contained && !has(&["no-home"]), "$HOME"),
        (is_apptainer && !is_contained, "/tmp"),
        (!has(&["cleanenv", "containall"]), "the variables of the shell"),
        (true, "the host's network, processes and /dev/shm"),
    ];
    let listed = gifts.iter().filter(|(is_given, _)| *is_given).map(|(_, what)| *what).join("; ");
    format!(
        "{name} also gives its container: {listed}; a recipe's has only what it states (`mounts`, `workdir`, `env`, `network: host`, `ipc: host`)"
    )
}
