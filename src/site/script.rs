//! The script of a run's job, as `sbatch` gets it. Pure: `plan --format sbatch` prints the same text.

use std::fmt::Write as _;
use std::time::Duration;

use thiserror::Error;

use super::Site;
use super::time_limit::{as_slurm, warning_s};
use retrial_recipe::quote::quote;

/// Waits for Retrial, which ends the run when the job is to end. If it was killed, or a full disk takes no more
/// records, it leaves containers.
const WAIT: &str = "\
tool=$!
trap 'kill -TERM $tool 2>/dev/null' TERM
status=0
wait $tool || status=$?
while kill -0 $tool 2>/dev/null; do
  wait $tool && status=0 || status=$?
done
";

/// What a job executes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work<'a> {
    /// A run.
    Run {
        /// Its id.
        id: &'a str,
    },
    /// Tasks of a batch, each a task of an array.
    Array {
        /// The batch's id.
        batch: &'a str,
        /// Which of the batch's arrays, from 1.
        number: usize,
        /// How many tasks it has.
        tasks: usize,
        /// A node on which the tasks have failed.
        exclude: Option<&'a str>,
    },
}

impl<'a> Work<'a> {
    /// The id of the run or the batch.
    #[must_use]
    pub fn id(self) -> &'a str {
        match self {
            Self::Run { id } | Self::Array { batch: id, .. } => id,
        }
    }

    /// The name of its jobs, by which they are found again.
    #[must_use]
    pub fn job_name(self) -> String {
        match self {
            Self::Run { id } => format!("retrial-{id}"),
            Self::Array { batch, number, .. } => format!("retrial-{batch}-{number}"),
        }
    }
}

/// A job of a run, or an array of a batch.
#[derive(Debug, Clone)]
pub struct JobScript<'a> {
    /// What it executes.
    pub work: Work<'a>,
    /// The directory of the run or the array, in the shared home.
    pub directory: String,
    /// Retrial's program on the nodes, and its options.
    pub tool: Vec<String>,
    /// A directory on a node's own disk.
    pub scratch: String,
    /// How many nodes.
    pub nodes: u32,
    /// The time limit.
    pub time_limit: Duration,
    /// The site.
    pub site: &'a Site,
}

/// Why there is no script.
#[derive(Debug, Error)]
pub enum ScriptError {
    /// A value cannot stand on a line.
    #[error(
        "{what} has a line break or another control character, which no job script can have: {value:?}"
    )]
    Control {
        /// Which.
        what: &'static str,
        /// The value.
        value: String,
    },
}

impl JobScript<'_> {
    /// Renders the script.
    ///
    /// # Errors
    /// If a path has a line break.
    pub fn render(&self) -> Result<String, ScriptError> {
        self.check()?;
        let mut out = format!(
            "#!/bin/bash\n# A job of Retrial; `retrial resume {}` submits another one if it ends too early.\n",
            self.work.id()
        );
        for option in self.options() {
            let _ = writeln!(out, "#SBATCH {option}");
        }
        out.push('\n');
        out.push_str(&environment(self.site, &self.scratch));
        let site = self.site;
        let tool = command_line(&self.tool);
        let id = quote(self.work.id());
        let (array, clean) = match self.work {
            Work::Run { .. } => (String::new(), Some(id.clone())),
            // A node that others use has other tasks' containers, too.
            Work::Array { number, .. } => (
                format!(" --array {number}"),
                site.exclusive.then(|| "--all".to_owned()),
            ),
        };
        let _ = writeln!(out, "{tool} resume --in-job{array} {id} &");
        out.push_str(WAIT);
        if let Some(clean) = clean {
            let _ = writeln!(out, "[ $status = 0 ] || {tool} clean {clean} || true");
        }
        let _ = writeln!(out, "exit $status");
        Ok(out)
    }

    fn check(&self) -> Result<(), ScriptError> {
        let values = [
            ("the id", self.work.id()),
            ("the directory", &self.directory),
            ("the site's `scratch`", &self.scratch),
        ];
        let words = self.tool.iter();
        let words = words.map(|word| ("the command line", word.as_str()));
        let wrong = values
            .into_iter()
            .chain(words)
            .find(|(_, value)| value.chars().any(char::is_control));
        wrong.map_or(Ok(()), |(what, value)| {
            Err(ScriptError::Control {
                what,
                value: value.to_owned(),
            })
        })
    }

    /// The lines of `#SBATCH`, without that word.
    fn options(&self) -> Vec<String> {
        let site = self.site;
        let valued = |name: &str, value: &str| format!("--{name}={}", as_sbatch(value));
        // In the name of a file, sbatch replaces %j and its like.
        let directory = self.directory.replace('%', "%%");
        let output = match self.work {
            Work::Run { .. } => format!("{directory}/slurm-%j.out"),
            Work::Array { .. } => format!("{directory}/slurm-%A_%a.out"),
        };
        let mut options = vec![
            valued("job-name", &self.work.job_name()),
            valued("comment", &self.directory),
            valued("output", &output),
            format!("--signal=B:TERM@{}", warning_s(self.time_limit)),
            "--no-requeue".to_owned(),
            "--dependency=singleton".to_owned(),
        ];
        if let Work::Array { tasks, exclude, .. } = self.work {
            let throttle = site.array_task_throttle;
            let throttle = throttle.map_or_else(String::new, |most| format!("%{most}"));
            options.push(format!("--array=0-{}{throttle}", tasks.saturating_sub(1)));
            options.extend(exclude.map(|node| valued("exclude", node)));
        }
        let allocation = allocation(site, self.nodes, self.time_limit);
        options.extend(allocation.into_iter().map(|(name, value)| match value {
            Some(value) => format!("{name}={}", as_sbatch(&value)),
            None => name,
        }));
        options
    }
}

/// The options by which `sbatch` and `srun` allocate nodes, with their values.
#[must_use]
pub fn allocation(site: &Site, nodes: u32, time_limit: Duration) -> Vec<(String, Option<String>)> {
    let valued = |name: &str, value: String| (format!("--{name}"), Some(value));
    let mut options = vec![
        valued("nodes", nodes.to_string()),
        valued("ntasks-per-node", "1".to_owned()),
    ];
    if site.exclusive {
        options.push(("--exclusive".to_owned(), None));
    }
    options.push(valued("time", as_slurm(time_limit)));
    let given = site.sbatch_keys();
    options.extend(given.map(|(name, value)| valued(&name.replace('_', "-"), value.to_owned())));
    let more = site.options.iter().map(|option| {
        let (name, value) = option.split_once('=').unzip();
        (name.unwrap_or(option).to_owned(), value.map(str::to_owned))
    });
    options.extend(more);
    options
}

/// The lines of a shell that have to precede our program on a node.
#[must_use]
pub fn environment(site: &Site, scratch: &str) -> String {
    let engine = site.engine.as_ref();
    let engine = engine.map(|engine| ("DOCKER_HOST", engine));
    let scratch = scratch.to_owned();
    let variables = [("RETRIAL_SCRATCH", &scratch)].into_iter().chain(engine);
    let named = site.env.iter().map(|(name, value)| (name.as_str(), value));
    let mut out = "set -e\n".to_owned();
    for (name, value) in variables.chain(named) {
        let _ = writeln!(out, "export {name}={}", quote(value));
    }
    if let Some(prolog) = &site.prolog {
        let _ = writeln!(out, "{}", prolog.trim_end());
    }
    out
}

/// Words as a shell reads them.
#[must_use]
pub fn command_line(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quote(word)).collect();
    words.join(" ")
}

/// Quotes a value for a line of `#SBATCH`: as for a shell, but that a backslash is special between
/// single quotes too (tried with Slurm 22.05).
fn as_sbatch(value: &str) -> String {
    quote(&value.replace('\\', r"\\"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::read;
    use retrial_document::Source;

    fn site(text: &str) -> Site {
        let text = format!("schema: 1\nscheduler: slurm\n{text}");
        read(&Source::new("lab.yaml", text)).unwrap()
    }

    fn tool(home: &str) -> Vec<String> {
        let words = ["/shared/ann/bin/retrial", "--home", home];
        words.map(str::to_owned).into()
    }

    fn job(site: &Site) -> JobScript<'_> {
        JobScript {
            work: Work::Run {
                id: "20261123-032259-quickstart-e66e",
            },
            directory: "/shared/ann/retrial/runs/20261123-032259-quickstart-e66e".to_owned(),
            tool: tool("/shared/ann/retrial"),
            scratch: "/tmp/retrial-1000".to_owned(),
            nodes: 1,
            time_limit: Duration::from_hours(4),
            site,
        }
    }

    #[test]
    fn the_least_script() {
        insta::assert_snapshot!(job(&site("")).render().unwrap());
    }

    #[test]
    fn an_array_of_a_batch() {
        let site = site("array_task_throttle: 8\n");
        let script = JobScript {
            work: Work::Array {
                batch: "20261123-032259-speed-e66e",
                number: 2,
                tasks: 30,
                exclude: Some("n3"),
            },
            directory: "/shared/ann/retrial/batches/20261123-032259-speed-e66e/arrays/2".to_owned(),
            ..job(&site)
        };
        insta::assert_snapshot!(script.render().unwrap());
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
        insta::assert_snapshot!(job(&site).render().unwrap());
    }

    #[test]
    fn hostile_values_stay_values() {
        let site = site(
            "account: \"a'\\\\$(id)`id`#\"\nconstraint: 'x; #SBATCH --uid=0'\n\
             env: { A: \"'; touch /tmp/x; '$(id)\" }\n",
        );
        let script = JobScript {
            tool: tool("/shared/it's $HOME/100%j"),
            directory: "/shared/it's $HOME/100%j/runs/r".to_owned(),
            ..job(&site)
        };
        insta::assert_snapshot!(script.render().unwrap());
    }

    #[test]
    fn a_line_break_in_a_path_is_refused() {
        let site = site("");
        let script = JobScript {
            tool: tool("/shared/a\n#SBATCH --uid=0"),
            ..job(&site)
        };
        let error = script.render().unwrap_err().to_string();
        assert!(
            error.starts_with("the command line has a line break"),
            "{error}"
        );
    }
}
