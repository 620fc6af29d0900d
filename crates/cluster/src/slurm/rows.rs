//! Rows of `squeue` and `sacct`: fixed fields between bars. Pure.

/// The fields of a row of squeue; the reason, which is free text, comes last. All tasks of an array have
/// its id.
pub const QUEUE_FIELDS: &str = "%F|%K|%T|%P|%S|%N|%r";

/// The fields of a row of sacct.
pub const ACCOUNT_FIELDS: &str = "JobID,State,ElapsedRaw,TimelimitRaw,NodeList,ExitCode";

/// Whether a job is pending, running or ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum JobPhase {
    /// It has no nodes yet.
    Pending,
    /// Its nodes are allocated: it runs, starts or completes.
    Running,
    /// It has ended, by itself or by Slurm.
    Ended,
}

impl JobPhase {
    /// The phase of one of Slurm's states. An unknown state does not count as ended.
    pub fn from_state(state: &str) -> Self {
        match state {
            "PENDING" | "CONFIGURING" | "REQUEUED" | "REQUEUE_FED" | "REQUEUE_HOLD"
            | "RESV_DEL_HOLD" | "SPECIAL_EXIT" => Self::Pending,
            "COMPLETED" | "CANCELLED" | "FAILED" | "TIMEOUT" | "NODE_FAIL" | "BOOT_FAIL"
            | "DEADLINE" | "OUT_OF_MEMORY" | "PREEMPTED" | "REVOKED" => Self::Ended,
            _ => Self::Running,
        }
    }
}

/// A job or an array task, from the queue or the accounting.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Job {
    /// The job's id; of an array task, that of its array.
    pub id: String,
    /// The index of a task in its array.
    pub index: Option<u32>,
    /// Its state, as Slurm writes it: `PENDING`.
    pub state: String,
    /// The job's nodes; empty before it has any.
    pub nodes: String,
    /// In the queue: its partition, or several of them.
    pub partition: String,
    /// In the queue: its start time, or the planned one, if any.
    pub start: Option<String>,
    /// In the queue: why it is pending.
    pub reason: String,
    /// In the accounting: how long it ran, seconds.
    pub elapsed_s: Option<u64>,
    /// In the accounting: its time limit, minutes.
    pub limit_min: Option<u64>,
    /// In the accounting: whether TERM ended its script, or a process of it.
    pub terminated: bool,
}

impl Job {
    /// Returns whether it is pending, running or ended, by its state.
    pub fn phase(&self) -> JobPhase {
        JobPhase::from_state(&self.state)
    }

    /// Reads a row of `QUEUE_FIELDS`. Tasks that were cancelled before they started share one without an
    /// index.
    pub fn from_queue_row(row: &str) -> Option<Self> {
        let mut fields = row.splitn(7, '|').map(|field| field.trim().to_owned());
        let mut next = || fields.next();
        Some(Self {
            id: next().filter(|id| is_job_id(id))?,
            index: next()?.parse().ok(),
            state: next()?,
            partition: next()?,
            start: Some(next()?).filter(|start| start != "N/A"),
            nodes: next()?,
            reason: next()?,
            ..Self::default()
        })
    }

    /// Reads a row of `ACCOUNT_FIELDS`.
    pub fn from_accounting_row(row: &str) -> Option<Self> {
        let mut fields = row.split('|').map(str::trim);
        let mut next = || fields.next();
        let id = next()?;
        let (id, index) = id.split_once('_').unwrap_or((id, ""));
        Some(Self {
            id: Some(id).filter(|id| is_job_id(id))?.to_owned(),
            index: index.parse().ok(),
            // `CANCELLED by 1000`
            state: next()?.split(' ').next()?.to_owned(),
            elapsed_s: next()?.parse().ok(),
            limit_min: next()?.parse().ok(),
            // Without a node, the words `None assigned`.
            nodes: Some(next()?)
                .filter(|nodes| !nodes.contains(' '))
                .unwrap_or_default()
                .to_owned(),
            // `exit code:signal`; sacct takes 128 off the code that a shell gives for a signal.
            terminated: next().is_some_and(|code| matches!(code, "15:0" | "0:15")),
            ..Self::default()
        })
    }

    /// Returns whether Slurm ended it because one of its nodes no longer responded.
    pub fn has_lost_node(&self) -> bool {
        self.state == "NODE_FAIL"
    }

    /// Returns whether its time limit ended it: it ran until the warning signal, which comes up to a minute early.
    pub fn has_reached_time_limit(&self, warning_s: u64) -> bool {
        let limit = self.limit_min.map(|minutes| minutes * 60);
        self.state == "TIMEOUT"
            || limit
                .zip(self.elapsed_s)
                .is_some_and(|(limit, elapsed)| elapsed + warning_s + 60 >= limit)
    }
}

/// The value of `MaxArraySize` among the lines of `scontrol show config`: one more than the highest index
/// that a task may have.
pub fn parse_max_array_size(printed: &str) -> Option<u32> {
    let line = |line: &str| {
        let (name, value) = line.split_once('=')?;
        (name.trim() == "MaxArraySize").then(|| value.trim().parse().ok())?
    };
    printed.lines().find_map(line)
}

/// The id that `sbatch --parsable` prints: `12`, or `12;cluster`.
pub fn parse_submitted_id(printed: &str) -> Option<String> {
    let id = printed.trim().split(';').next()?;
    is_job_id(id).then(|| id.to_owned())
}

fn is_job_id(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn queued(text: &str) -> Vec<Job> {
        text.lines().filter_map(Job::from_queue_row).collect()
    }

    fn accounted(text: &str) -> Vec<Job> {
        text.lines().filter_map(Job::from_accounting_row).collect()
    }

    #[test]
    fn queue_rows_are_parsed() {
        let jobs = queued(
            "12|N/A|PENDING|gpu|N/A||Priority\n\
             13|N/A|RUNNING|gpu,debug|2026-11-23T05:44:48|n[1-2]|None\n\
             14|N/A|PENDING|gpu|N/A||(ReqNodeNotAvail, UnavailableNodes:n1|n2)\nslurm: noise\n",
        );
        assert_eq!(jobs.len(), 3);
        assert_eq!((jobs[0].phase(), &jobs[0].start), (JobPhase::Pending, &None));
        assert_eq!((jobs[1].phase(), &*jobs[1].nodes), (JobPhase::Running, "n[1-2]"));
        assert_eq!(jobs[2].reason, "(ReqNodeNotAvail, UnavailableNodes:n1|n2)");
    }

    #[test]
    fn accounting_rows_are_parsed() {
        let jobs = accounted("12|CANCELLED by 1000|31|240|n1\n13|COMPLETED|5|Partition_Limit|n2\n");
        assert_eq!(jobs[0].state, "CANCELLED");
        assert_eq!((jobs[0].elapsed_s, jobs[0].limit_min), (Some(31), Some(240)));
        assert_eq!((jobs[1].phase(), jobs[1].limit_min), (JobPhase::Ended, None));
    }

    #[test]
    fn array_task_rows_are_parsed() {
        let tasks = queued(
            "7|0|RUNNING|gpu|N/A|n1|None\n7|1|PENDING|gpu|N/A||Priority\n\
             7|N/A|CANCELLED|gpu|N/A||None\n7|2-9%2|PENDING|gpu|N/A||None\n",
        );
        let read = |task: &Job| (task.index, task.phase(), task.nodes.clone());
        assert_eq!(
            tasks.iter().map(read).collect::<Vec<_>>(),
            [
                (Some(0), JobPhase::Running, "n1".to_owned()),
                (Some(1), JobPhase::Pending, String::new()),
                (None, JobPhase::Ended, String::new()),
                (None, JobPhase::Pending, String::new()),
            ]
        );
        let tasks = accounted(
            "7_0|CANCELLED by 0|1|60|n1\n7_1|CANCELLED|0|60|None assigned\n7_[2-9%2]|PENDING|0|60|\n",
        );
        let indices: Vec<Option<u32>> = tasks.iter().map(|task| task.index).collect();
        assert_eq!(indices, [Some(0), Some(1), None]);
        assert_eq!((&*tasks[0].state, &*tasks[0].nodes), ("CANCELLED", "n1"));
        assert_eq!(tasks[1].nodes, "");
    }

    #[test]
    fn the_maximum_array_size_is_parsed() {
        let printed =
            "Configuration data\nMailProg                = x\nMaxArraySize            = 1001\n";
        assert_eq!(parse_max_array_size(printed), Some(1001));
        assert_eq!(parse_max_array_size("slurm"), None);
    }

    #[rstest]
    #[case("FAILED|61|3", true)]
    #[case("FAILED|50|240", false)]
    #[case("TIMEOUT|50|240", true)]
    #[case("FAILED||", false)]
    fn a_job_at_its_time_limit_is_detected(#[case] row: &str, #[case] expected: bool) {
        let row = format!("12|{row}|n1\n");
        assert_eq!(accounted(&row)[0].has_reached_time_limit(90), expected);
    }

    #[rstest]
    #[case("FAILED|0|1|n3|15:0", true)]
    #[case("FAILED|0|1|n3|0:15", true)]
    #[case("FAILED|0|1|n3|2:0", false)]
    fn a_job_ended_by_term_is_detected(#[case] row: &str, #[case] expected: bool) {
        assert_eq!(accounted(&format!("12|{row}\n"))[0].terminated, expected);
    }

    #[rstest]
    #[case("12\n", Some("12"))]
    #[case("12;east\n", Some("12"))]
    #[case("Submitted batch job 12\n", None)]
    #[case("", None)]
    fn sbatch_output_is_parsed(#[case] printed: &str, #[case] id: Option<&str>) {
        assert_eq!(parse_submitted_id(printed).as_deref(), id);
    }

    #[test]
    fn an_unknown_state_is_active() {
        assert_eq!(JobPhase::from_state("SOMETHING_NEW"), JobPhase::Running);
    }
}
