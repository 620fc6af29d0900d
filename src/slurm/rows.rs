//! Rows of `squeue` and `sacct`: fixed fields between bars. Pure.

/// The fields of a row of squeue; the reason, which is free text, comes last. All tasks of an array have
/// its id.
pub const QUEUE_FIELDS: &str = "%F|%T|%P|%S|%N|%r";

/// The fields of a row of squeue for a task of an array.
pub const TASK_FIELDS: &str = "%F|%K|%T|%N";

/// The fields of a row of sacct for a task of an array.
pub const ACCOUNT_TASK_FIELDS: &str = "JobID,State,NodeList";

/// The fields of a row of sacct.
pub const ACCOUNT_FIELDS: &str = "JobIDRaw,State,ExitCode,ElapsedRaw,TimelimitRaw,NodeList";

/// Whether a job waits, runs or is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobPhase {
    /// It has no nodes yet.
    Waiting,
    /// It has nodes.
    Active,
    /// It is over.
    Over,
}

impl JobPhase {
    /// The phase of one of Slurm's states. A state that is not known is not taken for an end.
    #[must_use]
    pub fn of(state: &str) -> Self {
        match state {
            "PENDING" | "CONFIGURING" | "REQUEUED" | "REQUEUE_FED" | "REQUEUE_HOLD"
            | "RESV_DEL_HOLD" | "SPECIAL_EXIT" => Self::Waiting,
            "COMPLETED" | "CANCELLED" | "FAILED" | "TIMEOUT" | "NODE_FAIL" | "BOOT_FAIL"
            | "DEADLINE" | "OUT_OF_MEMORY" | "PREEMPTED" | "REVOKED" => Self::Over,
            _ => Self::Active,
        }
    }
}

/// A job of the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedJob {
    /// Its id.
    pub id: String,
    /// Slurm's word for its state.
    pub state: String,
    /// Its partition, or several of them.
    pub partition: String,
    /// When it starts, as far as Slurm has planned that; or when it started.
    pub start: Option<String>,
    /// Its nodes.
    pub nodes: String,
    /// Why it waits.
    pub reason: String,
}

impl QueuedJob {
    /// Its phase.
    #[must_use]
    pub fn phase(&self) -> JobPhase {
        JobPhase::of(&self.state)
    }

    /// Reads the rows of `QUEUE_FIELDS`; others are left out.
    #[must_use]
    pub fn read(text: &str) -> Vec<Self> {
        text.lines().filter_map(Self::of_row).collect()
    }

    fn of_row(row: &str) -> Option<Self> {
        let mut fields = row.splitn(6, '|').map(|field| field.trim().to_owned());
        let mut next = || fields.next();
        Some(Self {
            id: next().filter(|id| is_id(id))?,
            state: next()?,
            partition: next()?,
            start: next().map(|start| Some(start).filter(|start| start != "N/A"))?,
            nodes: next()?,
            reason: next()?,
        })
    }
}

/// A job of the accounting records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountedJob {
    /// Its id.
    pub id: String,
    /// Slurm's word for its state.
    pub state: String,
    /// The exit code and the signal of its script: `1:0`.
    pub exit: String,
    /// How long it ran, seconds.
    pub elapsed_s: Option<u64>,
    /// Its time limit, minutes.
    pub limit_min: Option<u64>,
    /// Its nodes.
    pub nodes: String,
}

impl AccountedJob {
    /// Its phase.
    #[must_use]
    pub fn phase(&self) -> JobPhase {
        JobPhase::of(&self.state)
    }

    /// Reads the rows of `ACCOUNT_FIELDS`; others are left out.
    #[must_use]
    pub fn read(text: &str) -> Vec<Self> {
        text.lines().filter_map(Self::of_row).collect()
    }

    fn of_row(row: &str) -> Option<Self> {
        let mut fields = row.split('|').map(str::trim);
        let mut next = || fields.next().map(str::to_owned);
        Some(Self {
            id: next().filter(|id| is_id(id))?,
            // `CANCELLED by 1000`
            state: next()?.split(' ').next()?.to_owned(),
            exit: next()?,
            elapsed_s: next()?.parse().ok(),
            limit_min: next()?.parse().ok(),
            nodes: next()?,
        })
    }

    /// Whether Slurm ended it since one of its nodes no longer answered.
    #[must_use]
    pub fn lost_a_node(&self) -> bool {
        self.state == "NODE_FAIL"
    }

    /// Whether it was ended by its time limit: it ran until the warning before it, which comes up to a
    /// minute early.
    #[must_use]
    pub fn reached_its_limit(&self, warning_s: u64) -> bool {
        let limit = self.limit_min.map(|minutes| minutes * 60);
        self.state == "TIMEOUT"
            || limit
                .zip(self.elapsed_s)
                .is_some_and(|(limit, elapsed)| elapsed + warning_s + 60 >= limit)
    }
}

/// A task of an array, in the queue or in the accounting records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrayTask {
    /// The id of its array.
    pub array: String,
    /// Its index in the array.
    pub index: u32,
    /// Slurm's word for its state.
    pub state: String,
    /// Its node; empty before it has one.
    pub node: String,
}

impl ArrayTask {
    /// Its phase.
    #[must_use]
    pub fn phase(&self) -> JobPhase {
        JobPhase::of(&self.state)
    }

    /// Reads the rows of `TASK_FIELDS`; others, such as one for all tasks that were cancelled before they
    /// started, are left out.
    #[must_use]
    pub fn read(text: &str) -> Vec<Self> {
        let row = |row: &str| {
            let mut fields = row.split('|').map(str::trim);
            Self::of(
                fields.next()?,
                fields.next()?,
                fields.next()?,
                fields.next()?,
            )
        };
        text.lines().filter_map(row).collect()
    }

    /// Reads the rows of `ACCOUNT_TASK_FIELDS`; others are left out.
    #[must_use]
    pub fn read_accounted(text: &str) -> Vec<Self> {
        let row = |row: &str| {
            let mut fields = row.split('|').map(str::trim);
            let (array, index) = fields.next()?.split_once('_')?;
            Self::of(array, index, fields.next()?, fields.next()?)
        };
        text.lines().filter_map(row).collect()
    }

    fn of(array: &str, index: &str, state: &str, node: &str) -> Option<Self> {
        // In the accounting, a task without a node has the words `None assigned`.
        let node = if node.contains(' ') { "" } else { node };
        Some(Self {
            array: Some(array).filter(|id| is_id(id))?.to_owned(),
            index: index.parse().ok()?,
            // `CANCELLED by 1000`
            state: state.split(' ').next()?.to_owned(),
            node: node.to_owned(),
        })
    }
}

/// The value of `MaxArraySize` among the lines of `scontrol show config`: one more than the highest index
/// that a task may have.
#[must_use]
pub fn max_array_size(printed: &str) -> Option<u32> {
    let line = |line: &str| {
        let (name, value) = line.split_once('=')?;
        (name.trim() == "MaxArraySize").then(|| value.trim().parse().ok())?
    };
    printed.lines().find_map(line)
}

/// The id that `sbatch --parsable` prints: `12`, or `12;cluster`.
#[must_use]
pub fn submitted_id(printed: &str) -> Option<String> {
    let id = printed.trim().split(';').next()?;
    is_id(id).then(|| id.to_owned())
}

fn is_id(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn rows_of_the_queue() {
        let text = "12|PENDING|gpu|N/A||Priority\n\
                    13|RUNNING|gpu,debug|2026-11-23T05:44:48|n[1-2]|None\n\
                    14|PENDING|gpu|N/A||(ReqNodeNotAvail, UnavailableNodes:n1|n2)\nslurm: noise\n";
        let jobs = QueuedJob::read(text);
        assert_eq!(jobs.len(), 3);
        assert_eq!(
            (jobs[0].phase(), &jobs[0].start),
            (JobPhase::Waiting, &None)
        );
        assert_eq!(
            (jobs[1].phase(), &*jobs[1].nodes),
            (JobPhase::Active, "n[1-2]")
        );
        assert_eq!(jobs[2].reason, "(ReqNodeNotAvail, UnavailableNodes:n1|n2)");
    }

    #[test]
    fn rows_of_the_accounting() {
        let text = "12|CANCELLED by 1000|0:15|31|240|n1\n13|COMPLETED|0:0|5|Partition_Limit|n2\n";
        let jobs = AccountedJob::read(text);
        assert_eq!(jobs[0].state, "CANCELLED");
        assert_eq!(
            (jobs[0].elapsed_s, jobs[0].limit_min),
            (Some(31), Some(240))
        );
        assert_eq!((jobs[1].phase(), jobs[1].limit_min), (JobPhase::Over, None));
    }

    #[test]
    fn rows_of_an_arrays_tasks() {
        let queued = "7|0|RUNNING|n1\n7|1|PENDING|\n7|N/A|CANCELLED|\n7|2-9%2|PENDING|\n";
        let tasks = ArrayTask::read(queued);
        let read = |task: &ArrayTask| (task.index, task.phase(), task.node.clone());
        assert_eq!(
            tasks.iter().map(read).collect::<Vec<_>>(),
            [
                (0, JobPhase::Active, "n1".to_owned()),
                (1, JobPhase::Waiting, String::new())
            ]
        );
        let accounted = "7_0|CANCELLED by 0|n1\n7_1|CANCELLED|None assigned\n7_[2-9%2]|PENDING|\n";
        let tasks = ArrayTask::read_accounted(accounted);
        assert_eq!(tasks.len(), 2);
        assert_eq!((&*tasks[0].state, &*tasks[0].node), ("CANCELLED", "n1"));
        assert_eq!(tasks[1].node, "");
    }

    #[test]
    fn the_size_of_arrays() {
        let printed =
            "Configuration data\nMailProg                = x\nMaxArraySize            = 1001\n";
        assert_eq!(max_array_size(printed), Some(1001));
        assert_eq!(max_array_size("slurm"), None);
    }

    #[rstest]
    #[case("FAILED|130:0|61|3", true)]
    #[case("FAILED|130:0|50|240", false)]
    #[case("TIMEOUT|0:0|50|240", true)]
    #[case("FAILED|130:0||", false)]
    fn a_job_reaches_its_limit_when_it_is_warned(#[case] row: &str, #[case] expected: bool) {
        let row = format!("12|{row}|n1\n");
        assert_eq!(AccountedJob::read(&row)[0].reached_its_limit(90), expected);
    }

    #[rstest]
    #[case("12\n", Some("12"))]
    #[case("12;east\n", Some("12"))]
    #[case("Submitted batch job 12\n", None)]
    #[case("", None)]
    fn what_sbatch_prints(#[case] printed: &str, #[case] id: Option<&str>) {
        assert_eq!(submitted_id(printed).as_deref(), id);
    }

    #[test]
    fn an_unknown_state_is_no_end() {
        assert_eq!(JobPhase::of("SOMETHING_NEW"), JobPhase::Active);
    }
}
