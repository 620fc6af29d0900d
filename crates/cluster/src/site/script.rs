//! The script of a run's job, for `sbatch`. Pure: `plan --format sbatch` prints the same text.

use std::fmt::Write as _;
use std::time::Duration;

use itertools::join;
use thiserror::Error;

use super::Site;
use super::sbatch_option::SbatchOption;
use super::time_limit::{format_slurm_time, warning_time_s};
use retrial_recipe::quote::shell_quote;

/// Waits for Retrial, which ends the run when the job must end. If it was killed, or the disk is full, it
/// leaves containers.
const WAIT_SCRIPT: &str = "\
tool=$!
trap 'kill -TERM $tool 2>/dev/null' TERM
status=0
wait $tool || status=$?
while kill -0 $tool 2>/dev/null; do
  wait $tool && status=0 || status=$?
done
";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobWork<'a> {
    Run {
        id: &'a str,
    },
    /// Tasks of a batch, each a task of an array.
    Array {
        /// The id of the batch.
        batch: &'a str,
        /// The number of the batch's array, from 1.
        number: usize,
        tasks: usize,
        /// A node on which the tasks have failed.
        exclude: Option<&'a str>,
    },
}

impl<'a> JobWork<'a> {
    /// Returns the id of the run or the batch.
    pub fn id(self) -> &'a str {
        match self {
            Self::Run { id } | Self::Array { batch: id, .. } => id,
        }
    }

    /// Returns the name of its jobs, by which they are identified.
    pub fn job_name(self) -> String {
        match self {
            Self::Run { id } => format!("retrial-{id}"),
            Self::Array { batch, number, .. } => format!("retrial-{batch}-{number}"),
        }
    }
}

/// The options with which jobs are executed on the nodes of a site.
#[derive(Debug, Clone)]
pub struct JobOptions {
    /// Retrial's program on the nodes, and its options.
    pub tool: Vec<String>,
    /// A directory on a node's own disk.
    pub scratch: String,
    pub nodes: u32,
    /// The time limit of the job (`--time`).
    pub time_limit: Duration,
    /// The site file, which has the options of `sbatch`.
    pub site: Site,
}

/// A script that cannot be rendered.
#[derive(Debug, Error)]
pub enum ScriptError {
    /// A value has a control character.
    #[error(
        "{field} has a line break or another control character, which no job script can have: {value:?}"
    )]
    Control {
        /// The field as the message names it, for example "the site's scratch".
        field: &'static str,
        /// The value with the control character.
        value: String,
    },
}

impl JobOptions {
    /// Renders the script of a job of a run, or of an array of a batch; `directory` is that of the run or the
    /// array, in the shared home.
    ///
    /// # Errors
    /// If a path has a line break.
    pub fn render_script(&self, work: JobWork<'_>, directory: &str) -> Result<String, ScriptError> {
        self.check_values(work, directory)?;
        let mut out = format!(
            "#!/bin/bash\n# A job of Retrial; `retrial resume {}` submits another one if it ends too early.\n",
            work.id()
        );
        for option in self.sbatch_options(work, directory) {
            let _ = writeln!(out, "#SBATCH {option}");
        }
        out.push('\n');
        out.push_str(&self.export_lines());
        let tool = quote_words(&self.tool);
        let id = shell_quote(work.id());
        let (array, clean) = match work {
            JobWork::Run { .. } => (String::new(), Some(format!("--all {id}"))),
            // A shared node has other tasks' containers, too.
            JobWork::Array { number, .. } => {
                (format!(" --array {number}"), self.site.exclusive.then(|| "--all".to_owned()))
            }
        };
        let _ = writeln!(out, "{tool} resume --in-job{array} {id} &");
        out.push_str(WAIT_SCRIPT);
        if let Some(clean) = clean {
            let _ = writeln!(out, "[ $status = 0 ] || {tool} clean {clean} || true");
        }
        let _ = writeln!(out, "exit $status");
        Ok(out)
    }

    /// The options of srun, and its command line on each node, which checks nodes like those of a job.
    pub fn examination_command(&self, directory: &str, time_limit: Duration) -> [Vec<String>; 2] {
        let mut options = vec!["--job-name=retrial-doctor".to_owned()];
        options.extend(self.allocation_options(time_limit, str::to_owned));
        let script = format!(
            "{}exec {} examine {}",
            self.export_lines(),
            quote_words(&self.tool),
            shell_quote(directory)
        );
        [options, vec!["/bin/bash".to_owned(), "-c".to_owned(), script]]
    }

    fn check_values(&self, work: JobWork<'_>, directory: &str) -> Result<(), ScriptError> {
        let values = [
            ("the id", work.id()),
            ("the directory", directory),
            ("the site's `scratch`", &self.scratch),
        ];
        let tool_words = self.tool.iter();
        let words = tool_words.map(|word| ("the command line", word.as_str()));
        let mut all = values.into_iter().chain(words);
        let wrong = all.find(|(_, value)| value.contains(char::is_control));
        wrong.map_or(Ok(()), |(field, value)| {
            let owned_value = value.to_owned();
            Err(ScriptError::Control { field, value: owned_value })
        })
    }

    /// Returns the options of the `#SBATCH` lines.
    fn sbatch_options(&self, work: JobWork<'_>, directory: &str) -> Vec<String> {
        let valued = |name: &str, value: &str| format!("--{name}={}", quote_for_sbatch(value));
        // In the name of a file, sbatch replaces %j and its like.
        let literal = directory.replace('%', "%%");
        let output = match work {
            JobWork::Run { .. } => format!("{literal}/slurm-%j.out"),
            JobWork::Array { .. } => format!("{literal}/slurm-%A_%a.out"),
        };
        let mut options = vec![
            valued("job-name", &work.job_name()),
            valued("comment", directory),
            valued("output", &output),
            format!("--signal=B:TERM@{}", warning_time_s(self.time_limit)),
            "--no-requeue".to_owned(),
            "--dependency=singleton".to_owned(),
        ];
        if let JobWork::Array { tasks, exclude, .. } = work {
            let max_tasks = self.site.array_task_throttle;
            let throttle = max_tasks.map_or_else(String::new, |most| format!("%{most}"));
            options.push(format!("--array=0-{}{throttle}", tasks.saturating_sub(1)));
            options.extend(exclude.map(|node| valued("exclude", node)));
        }
        options.extend(self.allocation_options(self.time_limit, quote_for_sbatch));
        options
    }

    /// The options by which `sbatch` and `srun` allocate nodes, their values quoted by `quoted`.
    fn allocation_options(&self, time_limit: Duration, quoted: fn(&str) -> String) -> Vec<String> {
        let site = &self.site;
        let valued = |name: &str, value: &str| format!("--{name}={}", quoted(value));
        let mut options =
            vec![valued("nodes", &self.nodes.to_string()), valued("ntasks-per-node", "1")];
        if site.exclusive {
            options.push("--exclusive".to_owned());
        }
        options.push(valued("time", &format_slurm_time(time_limit)));
        let keys = site.sbatch_keys();
        options.extend(keys.map(|(name, value)| valued(&name.replace('_', "-"), value)));
        let site_options = site.options.iter();
        let more = site_options.filter_map(|option| SbatchOption::parse(option).ok());
        options.extend(more.map(|option| option.to_word(quoted)));
        options
    }

    /// The shell lines that must precede our program on a node.
    fn export_lines(&self) -> String {
        let site = &self.site;
        let engine = site.engine.as_ref().map(|engine| ("DOCKER_HOST", engine));
        let own = [("RETRIAL_SCRATCH", &self.scratch)].into_iter().chain(engine);
        let named = site.env.iter().map(|(name, value)| (name.as_str(), value));
        let mut out = "set -e\n".to_owned();
        for (name, value) in own.chain(named) {
            let _ = writeln!(out, "export {name}={}", shell_quote(value));
        }
        if let Some(prolog) = &site.prolog {
            let _ = writeln!(out, "{}", prolog.trim_end());
        }
        out
    }
}

/// Quotes words for a shell.
fn quote_words(words: &[String]) -> String {
    join(words.iter().map(|word| shell_quote(word)), " ")
}

/// Quotes a value for a line of `#SBATCH`: as for a shell, except that a backslash is special between single
/// quotes too (tried with Slurm 22.05).
fn quote_for_sbatch(value: &str) -> String {
    shell_quote(&value.replace('\\', r"\\"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::read_site;
    use retrial_document::Source;

    fn site(text: &str) -> Site {
        let text = format!("schema: 1\nscheduler: slurm\n{text}");
        read_site(&Source::new("lab.yaml", text)).unwrap()
    }

    fn tool(home: &str) -> Vec<String> {
        let words = ["/shared/ann/bin/retrial", "--home", home];
        words.map(str::to_owned).into()
    }

    const RUN: JobWork<'_> = JobWork::Run { id: "20261123-032259-quickstart-e66e" };
    const DIRECTORY: &str = "/shared/ann/retrial/runs/20261123-032259-quickstart-e66e";

    fn job(site: Site) -> JobOptions {
        JobOptions {
            tool: tool("/shared/ann/retrial"),
            scratch: "/tmp/retrial-1000".to_owned(),
            nodes: 1,
            time_limit: Duration::from_hours(4),
            site,
        }
    }

    #[test]
    fn the_least_script() {
        insta::assert_snapshot!(job(site("")).render_script(RUN, DIRECTORY).unwrap());
    }

    #[test]
    fn an_array_of_a_batch() {
        let site = site("array_task_throttle: 8\n");
        let work = JobWork::Array {
            batch: "20261123-032259-speed-e66e",
            number: 2,
            tasks: 30,
            exclude: Some("n3"),
        };
        let directory = "/shared/ann/retrial/batches/20261123-032259-speed-e66e/arrays/2";
        insta::assert_snapshot!(job(site).render_script(work, directory).unwrap());
    }

    #[test]
    fn every_key_of_a_site() {
        let site = site(
            "partition: mi355x\naccount: bench\nqos: high\nreservation: acceptance\n\
             constraint: '[rack1|rack2]'\ngres: gpu:mi355x:8\nexclusive: false\n\
             options: [--mail-type=END, '--comment-like=a b', --hold]\n\
             engine: unix:///run/user/1000/podman/podman.sock\n\
             env: { HSA_XNACK: 1, NOTE: it's here }\n\
             prolog: |\n  module load docker\n  ulimit -l unlimited\n",
        );
        insta::assert_snapshot!(job(site).render_script(RUN, DIRECTORY).unwrap());
    }

    #[test]
    fn hostile_values_are_quoted() {
        let site = site(
            "account: \"a'\\\\$(id)`id`#\"\nconstraint: 'x; #SBATCH --uid=0'\n\
             env: { A: \"'; touch /tmp/x; '$(id)\" }\n",
        );
        let job = JobOptions { tool: tool("/shared/it's $HOME/100%j"), ..job(site) };
        let directory = "/shared/it's $HOME/100%j/runs/r";
        insta::assert_snapshot!(job.render_script(RUN, directory).unwrap());
    }

    #[test]
    fn a_line_break_in_a_path_is_refused() {
        let job = JobOptions { tool: tool("/shared/a\n#SBATCH --uid=0"), ..job(site("")) };
        let error = job.render_script(RUN, DIRECTORY).unwrap_err().to_string();
        assert!(error.starts_with("the command line has a line break"), "{error}");
    }
}
