# shellcheck shell=bash
# The cluster's settings and configuration files. Sourced by `cluster` and `cluster-machine`, after lib.sh.

C=${RETRIAL_CLUSTER:-$LAB/cluster}
NODES=3 GPUS=8 GPUS_LAST='' HOSTS='' SHARED_SIZE='' EPILOG=no
NET=10.77.0 # the cluster's own: no other network is reached from it
CGROUP=retrial-cluster-$(printf %s "$C" | cksum | cut -d' ' -f1)

# Prints the directories below /tmp that nodes must see although their /tmp is their own: this checkout, and what cargo
# builds elsewhere.
needed_below_tmp() {
  local directory
  for directory in "$(readlink -f "$HERE/../..")" "$(readlink -m "${CARGO_TARGET_DIR:-/}")"; do
    case $directory/ in
    /tmp/*) printf '%s\n' "$directory" ;;
    /run/* | /dev/shm/*) die "$directory is not shared: nodes have /run and /dev/shm of their own" ;;
    esac
  done
}

write_files() {
  mkdir -p "$C/etc" "$C/shared" "$C/dev" "$C/ctl/state"
  chmod 755 "$C" "$C/etc"
  { echo "127.0.0.1 localhost"; echo "$NET.1 ctl"; for node in $(nodes); do echo "$(address_of "$node") $node"; done; } >"$C/etc/hosts"
  [ -s "$C/etc/munge.key" ] || head -c 1024 /dev/urandom >"$C/etc/munge.key"
  chmod 600 "$C/etc/munge.key"
  slurm_conf >"$C/etc/slurm.conf"
  gres_conf >"$C/etc/gres.conf"
  slurmdbd_conf >"$C/etc/slurmdbd.conf"
  chmod 600 "$C/etc/slurmdbd.conf"
  epilog >"$C/etc/epilog"
  chmod 755 "$C/etc/epilog"
  registry_yml >"$C/etc/registry.yml"
  ssh_files
}

# Small times, so that a test of a failure takes seconds; everything else as Slurm has it.
slurm_conf() {
  cat <<S
ClusterName=lab
SlurmctldHost=ctl($NET.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$C/ctl/munge.sock
StateSaveLocation=$C/ctl/state
SlurmdSpoolDir=$C/%n/slurmd
SlurmctldPidFile=$C/ctl/slurmctld.daemon
SlurmdPidFile=/run/slurmd.pid
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
MailProg=/bin/true
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=100
SchedulerParameters=sched_interval=2,bf_interval=2,default_queue_depth=1000
MaxJobCount=20000
KillWait=10
InactiveLimit=0
SlurmctldTimeout=30
SlurmdTimeout=30
JobAcctGatherType=jobacct_gather/linux
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=$NET.1
AccountingStoragePass=$C/ctl/munge.sock
AccountingStoreFlags=job_comment
S
  [ "$EPILOG" = no ] || echo "Epilog=$C/etc/epilog"
  [ "$GPUS" = 0 ] || printf 'GresTypes=gpu\nAccountingStorageTRES=gres/gpu\n'
  local node gres
  for node in $(nodes); do
    gres=$(gpus_of "$node")
    [ "$gres" = 0 ] && gres='' || gres="Gres=gpu:mi355x:$gres"
    echo "NodeName=$node NodeAddr=$(address_of "$node") CPUs=128 Boards=1 SocketsPerBoard=2 CoresPerSocket=64 ThreadsPerCore=1 RealMemory=20000 $gres State=UNKNOWN"
  done
  echo "PartitionName=gpu Nodes=n[1-$NODES] Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO"
}

# A GPU's file must be a device.
gres_conf() {
  local node gpu device last
  echo AutoDetect=off
  for gpu in $(seq 0 $((GPUS - 1))); do
    device=$C/dev/renderD$((128 + gpu))
    [ -c "$device" ] || mknod -m 666 "$device" c 1 3
  done
  for node in $(nodes); do
    last=$((127 + $(gpus_of "$node")))
    [ "$last" = 127 ] || echo "NodeName=$node Name=gpu Type=mi355x File=$C/dev/renderD[128-$last] Flags=amd_gpu_env"
  done
}

slurmdbd_conf() {
  cat <<S
AuthType=auth/munge
AuthInfo=socket=$C/ctl/munge.sock
DbdHost=ctl
DbdAddr=$NET.1
SlurmUser=root
PidFile=$C/ctl/slurmdbd.daemon
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StorageUser=slurm
StoragePass=lab
StorageLoc=slurm_acct_db
S
}

epilog() {
  cat <<'S'
#!/bin/sh
# Removes the containers of Retrial's runs from a node whose job has ended.
docker ps -aq --filter label=io.retrial.run | xargs -r docker rm -f >/dev/null
S
}

# The lab's registry, for machines that cannot reach this machine's loopback interface.
registry_yml() {
  printf 'version: 0.1\nlog: {level: warn}\nstorage:\n  filesystem: {rootdirectory: "%s/registry/data"}\n  delete: {enabled: true}\n' "$LAB"
  printf 'http: {addr: "%s.1:5000", secret: retrial-lab}\n' "$NET"
}

ssh_files() {
  local etc=$C/etc key
  for key in id_ed25519 host_ed25519; do
    [ -s "$etc/$key" ] || ssh-keygen -q -t ed25519 -N '' -C retrial-lab -f "$etc/$key"
  done
  cp "$etc/id_ed25519.pub" "$etc/authorized_keys"
  echo "* $(cut -d' ' -f1,2 "$etc/host_ed25519.pub")" >"$etc/known_hosts"
  cat >"$etc/sshd_config" <<S
HostKey $etc/host_ed25519
AuthorizedKeysFile $etc/authorized_keys
PidFile /run/sshd.pid
StrictModes no
PermitRootLogin prohibit-password
MaxStartups 100
S
  cat >"$etc/ssh_config" <<S
Host *
  User root
  IdentityFile $etc/id_ed25519
  IdentitiesOnly yes
  UserKnownHostsFile $etc/known_hosts
  GlobalKnownHostsFile /dev/null
  BatchMode yes
S
}
