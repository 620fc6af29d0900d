//! The options of Slurm's srun with Pyxis, and of Apptainer, and their treatment in a recipe.

use super::flags::FlagTreatment::{Asked, Dropped, Refused, Translated};
use super::flags::{FlagGroup, Meaning, Program};
use retrial_recipe::model::GpuVendor;

const HOME_QUESTION: &str =
    "the home directory that it mounts, if the command reads it: `mounts: ['~:/home/NAME']`";

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
        // Where and how long a job runs, and where it places its processes, is a site's; a recipe's command is started
        // once, its output is followed, and its container has only the directories that the recipe names.
        FlagGroup::of_values(
            Dropped,
            "accel-bind account/A acctg-freq array/a batch begin/b chdir/D cluster-constraint clusters/M comment \
             constraint/C container-name core-spec/S cores-per-socket cpu-bind cpu_bind cpus-per-gpu cpus-per-task/c \
             deadline delay-boot dependency/d distribution/m error/e exclude/x extra-node-info/B gpu-bind gres-flags \
             hint job-name/J jobid kill-on-bad-exit/K licenses/L mail-type mail-user mcs-label mem mem-bind mem-per-cpu \
             mem-per-gpu mincpus mpi msg-timeout nodefile/F nodelist/w ntasks-per-core ntasks-per-gpu \
             ntasks-per-socket output/o partition/p power priority profile qos/q relative/r reservation signal \
             slurmd-debug sockets-per-node switches thread-spec threads-per-core time/t time-min tmp tres-bind wait/W \
             wckey",
        )
        .with(
            "container-remap-root container-writable contiguous \
             disable-status/X exact hold/H label/l no-allocate/Z no-container-entrypoint no-container-mount-home \
             no-container-remap-root no-requeue overcommit/O overlap oversubscribe/s preserve-env/E quiet/Q \
             quit-on-interrupt reboot requeue spread-job unbuffered/u use-min-nodes verbose/v wait-all-nodes",
            "exclusive immediate/I nice no-kill/k propagate resv-ports send-libs x11",
        ),
        FlagGroup::of_switches(Translated(Meaning::Flag("interactive")), "").with("", "pty"),
        FlagGroup::of_switches(Asked(HOME_QUESTION), "container-mount-home"),
        FlagGroup::of_switches(
            Asked("`entrypoint: image`, so that the image's entrypoint runs"),
            "container-entrypoint container-entrypoint-log",
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
        FlagGroup::of_switches(Dropped, "root/r rw/w"),
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
        // Users, variables and directories of the container are its own, its files can be written, and the engine keeps
        // images.
        FlagGroup::of_values(Dropped, "docker-host no-mount passphrase pem-path workdir/W").with(
            "cleanenv/e compat contain/c containall/C disable-cache docker-login fakeroot/f ipc/i keep-privs no-eval \
             no-home no-https no-init no-privs no-umask nohttps pid/p sharens unsquash userns/u uts writable/w \
             writable-tmpfs",
            "",
        ),
        FlagGroup::of_values(
            Refused,
            "add-caps app apply-cgroups blkio-weight blkio-weight-device cpu-shares drop-caps fusemount \
             memory-reservation memory-swap network network-args overlay/o scratch/S security shell/s",
        )
        .with("allow-setuid net/n oom-kill-disable vm", ""),
    ]],
    aliases: &[],
};
