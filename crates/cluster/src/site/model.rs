//! The content of a site file: types and keys in one declaration. Pure.

use std::time::Duration;

use retrial_document::{FieldType, Key, OrderedMap, declare_key, object};
use serde::{Deserialize, Serialize};

use super::formats;

const WORD: FieldType = FieldType::Text(formats::WORD);
const LINE: FieldType = FieldType::Text(formats::LINE);
const PATH: FieldType = FieldType::Text(formats::PATH);

/// Keys from which [`Site`] has nothing.
const FORMAT_KEYS: &[Key] =
    &[declare_key("schema", FieldType::Integer(1, 1), "The version of the format of sites: 1.")
        .required()];

object! {
    /// A cluster, and how jobs are submitted there.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct Site: "a site", first FORMAT_KEYS;
    keys {
        /// The scheduler.
        scheduler: Scheduler [required],
        /// One line for `retrial sites`.
        title: Option<String> = FieldType::Text(retrial_document::formats::LINE),
        /// The partition (`--partition`), or several: `a,b`.
        partition: Option<String> = WORD,
        /// The account that is charged (`--account`).
        account: Option<String> = WORD,
        /// The quality of service (`--qos`).
        qos: Option<String> = WORD,
        /// A reservation (`--reservation`).
        reservation: Option<String> = WORD,
        /// Required features of nodes (`--constraint`).
        constraint: Option<String> = LINE,
        /// The GPUs of a node, where the site asks for them by `--gres`: gpu:8, gpu:mi355x:8. By default none are asked for: an exclusive node has all of its own.
        gres: Option<String> = FieldType::Text(formats::GRES),
        /// The GPUs of a node, where the site asks for them by `--gpus-per-node`: 8, mi355x:8.
        gpus_per_node: Option<String> = FieldType::Text(formats::GPUS),
        /// Whether a job has its nodes for itself (`--exclusive`). Without it, Retrial uses the GPUs that Slurm assigned.
        exclusive: bool [default = "true"],
        /// The time limit of a job (`--time`). Default: one and a half times what the recipe expects, and an hour for downloads.
        time_limit: Option<Duration>,
        /// The most tasks of an array that run at once (`--array=0-99%N`): a batch is submitted as arrays. Default: as many as there are nodes.
        array_task_throttle: Option<u32> = FieldType::Integer(1, 10_000),
        /// More options of sbatch, one an entry: --mail-type=END.
        options: Vec<String> = FieldType::List(&FieldType::Text(formats::OPTION), 1),
        /// The directory for runs: the same on the login host and on all nodes. Default: that of `--home`.
        home: Option<String> = PATH,
        /// A directory on a node's own disk for files of a running step. Default: /tmp/retrial- and your user's id.
        scratch: Option<String> = PATH,
        /// Retrial's program on the nodes. Default: the path of the one that submits.
        retrial: Option<String> = PATH,
        /// The container engine of a node: unix:///run/docker.sock, or rootless Podman's socket unix:///run/user/UID/podman/podman.sock. Default: the one that `docker` would use there.
        engine: Option<String> = FieldType::Text(formats::ENDPOINT),
        /// Environment variables of the job, besides those that Slurm passes on.
        env: OrderedMap<String> = FieldType::Map(formats::VARIABLE, &LINE),
        /// Commands before Retrial starts on the first node, such as `module load`. One that fails ends the job.
        prolog: Option<String> = FieldType::Text(formats::COMMANDS),
    }
}

impl Site {
    /// Returns the keys that are options of sbatch with the same name, and their values.
    pub fn sbatch_keys(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let keys = [
            ("partition", &self.partition),
            ("account", &self.account),
            ("qos", &self.qos),
            ("reservation", &self.reservation),
            ("constraint", &self.constraint),
            ("gres", &self.gres),
            ("gpus_per_node", &self.gpus_per_node),
        ];
        keys.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?)))
    }
}

retrial_document::words! {
    /// What starts jobs on a site.
    pub enum Scheduler {
        /// Slurm: sbatch, squeue, sacct and scancel are called.
        Slurm = "slurm",
    }
}
