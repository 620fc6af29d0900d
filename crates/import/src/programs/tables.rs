//! The options of Slurm's srun with Pyxis, and of Apptainer, and their treatment in a recipe.

use super::flags::FlagTreatment::{Asked, Dropped, Refused, Translated};
use super::flags::{FlagGroup, Meaning, OUTPUT_REASON, Program};
use retrial_recipe::model::GpuVendor;

const JOB_REASON: &str = "a site states where and how long a job runs (`retrial run --site`)";
const BINDING_REASON: &str =
    "Slurm places the processes; a recipe has `container.cpuset_cpus`, or `numactl` in the command";
const LAUNCH_REASON: &str = "a recipe's command is started once, and not by Slurm";
const HOME_QUESTION: &str =
    "the home directory that it mounts, if the command reads it: `mounts: ['~:/home/NAME']`";
const HOME_REASON: &str = "a recipe's container has only the directories that the recipe names";
const USER_REASON: &str = "the container's user is the image's (`container.user`)";
const WRITABLE_REASON: &str = "a container's files can be written";

/// `srun` with the options of Pyxis; `salloc` and the `#SBATCH` lines of a script have the same.
pub static SRUN: Program = Program {
    name: "srun",
    groups: &[&[
        FlagGroup::of_values(Translated(Meaning::Image), "container-image"),
        FlagGroup::of_values(Translated(Meaning::Mounts), "container-mounts"),
        FlagGroup::of_values(Translated(Meaning::Flag("workdir")), "container-workdir"),
        FlagGroup::of_switches(Translated(Meaning::Flag("read-only")), "container-readonly"),
        FlagGroup::of_values(Translated(Meaning::Variables), "container-env"),
        FlagGroup::of_values(Translated(Meaning::Export), "export"),
        FlagGroup::of_values(Translated(Meaning::Gpus), "gpus/G gpus-per-node gres"),
        FlagGroup::of_values(Translated(Meaning::GpusPerTask), "gpus-per-task"),
        FlagGroup::of_values(Translated(Meaning::Nodes), "nodes/N"),
        FlagGroup::of_values(Translated(Meaning::Tasks), "ntasks/n ntasks-per-node"),
        FlagGroup::of_values(
            Dropped(JOB_REASON),
            "account/A array/a batch begin/b cluster-constraint clusters/M comment constraint/C cores-per-socket \
             cpus-per-gpu deadline delay-boot dependency/d exclude/x gres-flags job-name/J jobid licenses/L mail-type \
             mail-user mcs-label mem mem-per-cpu mem-per-gpu mincpus nodefile/F nodelist/w partition/p power priority \
             qos/q relative/r reservation signal sockets-per-node switches thread-spec threads-per-core time/t time-min \
             tmp wckey core-spec/S",
        )
        .with(
            "contiguous exact hold/H no-requeue overcommit/O overlap oversubscribe/s reboot requeue spread-job \
             use-min-nodes wait-all-nodes",
            "exclusive immediate/I nice no-kill/k",
        ),
        FlagGroup::of_values(
            Dropped(BINDING_REASON),
            "accel-bind cpu-bind cpu_bind cpus-per-task/c distribution/m extra-node-info/B gpu-bind hint mem-bind \
             ntasks-per-core ntasks-per-gpu ntasks-per-socket tres-bind",
        ),
        FlagGroup::of_values(
            Dropped(LAUNCH_REASON),
            "acctg-freq chdir/D kill-on-bad-exit/K mpi msg-timeout profile wait/W",
        )
        .with("disable-status/X no-allocate/Z preserve-env/E quit-on-interrupt", "propagate resv-ports send-libs x11"),
        FlagGroup::of_values(Dropped(OUTPUT_REASON), "error/e output/o slurmd-debug")
            .with("label/l quiet/Q unbuffered/u verbose/v", ""),
        FlagGroup::of_switches(Translated(Meaning::Flag("interactive")), "").with("", "pty"),
        FlagGroup::of_values(Dropped("Retrial names its containers"), "container-name"),
        FlagGroup::of_switches(Asked(HOME_QUESTION), "container-mount-home"),
        FlagGroup::of_switches(Dropped(HOME_REASON), "no-container-mount-home"),
        FlagGroup::of_switches(
            Dropped(USER_REASON),
            "container-remap-root no-container-remap-root",
        ),
        FlagGroup::of_switches(Dropped(WRITABLE_REASON), "container-writable"),
        FlagGroup::of_switches(
            Dropped("`entrypoint: image` lets the image's entrypoint run"),
            "container-entrypoint no-container-entrypoint container-entrypoint-log",
        ),
        FlagGroup::of_values(
            Refused,
            "bb bbf bcast-exclude container container-id container-save cpu-freq epilog export-file gpu-freq \
             environment gpus-per-socket het-group image input/i network prolog task-epilog task-prolog threads/T tres-per-task",
        )
        .with("multi-prog test-only", "bcast compress"),
    ]],
    aliases: &[],
};

/// `enroot start`.
pub static ENROOT: Program = Program {
    name: "enroot",
    groups: &[&[
        FlagGroup::of_values(Translated(Meaning::Mounts), "mount/m"),
        FlagGroup::of_values(Translated(Meaning::Flag("env")), "env/e"),
        FlagGroup::of_switches(Dropped(USER_REASON), "root/r"),
        FlagGroup::of_switches(Dropped(WRITABLE_REASON), "rw/w"),
        FlagGroup::of_values(Refused, "conf rc/c"),
    ]],
    aliases: &[],
};

/// `exec`, `run` and `shell` of Apptainer and Singularity.
pub static APPTAINER: Program = Program {
    name: "apptainer",
    groups: &[&[
        FlagGroup::of_values(Translated(Meaning::Mounts), "bind/B"),
        FlagGroup::of_values(Translated(Meaning::Flag("workdir")), "pwd cwd"),
        FlagGroup::of_values(Translated(Meaning::Variables), "env"),
        FlagGroup::of_values(Translated(Meaning::Flag("env-file")), "env-file"),
        FlagGroup::of_values(Translated(Meaning::Flag("mount")), "mount"),
        FlagGroup::of_values(Translated(Meaning::Flag("hostname")), "hostname"),
        FlagGroup::of_values(Translated(Meaning::Flag("dns")), "dns"),
        FlagGroup::of_values(Translated(Meaning::Flag("cpus")), "cpus"),
        FlagGroup::of_values(Translated(Meaning::Flag("cpuset-cpus")), "cpuset-cpus"),
        FlagGroup::of_values(Translated(Meaning::Flag("cpuset-mems")), "cpuset-mems"),
        FlagGroup::of_values(Translated(Meaning::Flag("memory")), "memory"),
        FlagGroup::of_values(Translated(Meaning::Flag("pids-limit")), "pids-limit"),
        FlagGroup::of_switches(Translated(Meaning::AllGpus(GpuVendor::Nvidia)), "nv nvccli"),
        FlagGroup::of_switches(Translated(Meaning::AllGpus(GpuVendor::Amd)), "rocm"),
        FlagGroup::of_values(Asked(HOME_QUESTION), "home/H"),
        FlagGroup::of_values(Dropped(HOME_REASON), "no-mount workdir/W")
            .with("contain/c containall/C no-home", ""),
        FlagGroup::of_switches(
            Dropped("a container's variables, processes and names are its own"),
            "cleanenv/e compat ipc/i no-eval no-init no-umask pid/p uts",
        ),
        FlagGroup::of_switches(Dropped(USER_REASON), "fakeroot/f keep-privs no-privs userns/u"),
        FlagGroup::of_switches(Dropped(WRITABLE_REASON), "writable/w writable-tmpfs"),
        FlagGroup::of_values(
            Dropped("how an image is pulled and kept is the engine's own setting"),
            "docker-host passphrase pem-path",
        )
        .with("disable-cache docker-login no-https nohttps sharens unsquash", ""),
        FlagGroup::of_values(
            Refused,
            "add-caps app apply-cgroups blkio-weight blkio-weight-device cpu-shares drop-caps fusemount \
             memory-reservation memory-swap network network-args overlay/o scratch/S security shell/s",
        )
        .with("allow-setuid net/n oom-kill-disable vm", ""),
    ]],
    aliases: &[],
};
