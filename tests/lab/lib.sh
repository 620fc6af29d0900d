# shellcheck shell=bash
# Shared by the scripts of tests/lab: where the lab lives, how its processes are remembered, and how to ask them.
# Sourced, never run.

HERE=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
export PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"
LAB=${RETRIAL_LAB:-/var/tmp/retrial-lab}
ENGINES=$LAB/engines
BASE_IMAGE=debian:bookworm-slim
# A password for tests on the loopback interface, the same in every lab: it protects nothing.
LAB_USER=retrial
LAB_PASSWORD=retrial-lab

# What was said last is what the lab is doing: `waits` shows it.
say() {
  printf 'lab: %s\n' "$*" >&2
  # Another user's lab keeps what its own user does.
  [ ! -w "$LAB" ] || printf '%s\n' "$*" 2>/dev/null >"$LAB/doing" || true
}
die() { say "$*"; exit 1; }

# --- one script at a time -------------------------------------------------------------------------

# Takes the lab's lock on descriptor 9 until the script ends. Whatever the scripts leave running closes it.
lock() {
  mkdir -p "$LAB" || die "cannot make $LAB: set RETRIAL_LAB to a directory that you may write"
  [ -n "${RETRIAL_LAB_LOCKED:-}" ] && return 0
  exec 9>"$LAB/lock" || die "cannot open $LAB/lock: it belongs to another user; set RETRIAL_LAB to a directory of your own"
  flock -n 9 || { say "waiting for another process that uses $LAB"; flock 9; }
  export RETRIAL_LAB_LOCKED=1
}

# --- processes ------------------------------------------------------------------------------------
# A pid file holds 'PID STARTTIME'. Pids are used again, so a process counts as ours only while both agree.

start_time() { # pid; nothing for a zombie
  sed 's/^.*) //' "/proc/$1/stat" 2>/dev/null | awk '$1 != "Z" && $1 != "X" { print $20 }'
}

alive() { # pid file
  local pid start
  [ -s "$1" ] && read -r pid start <"$1" && [ -n "$start" ] && [ "$(start_time "$pid")" = "$start" ]
}

spawn() { # pid file, log file, command...: starts it in a session of its own, so that it outlives terminal and caller
  local pid_file=$1 log=$2; shift 2
  (
    unset RETRIAL_LAB_LOCKED
    # Not only the lock: a pipe of the caller's, held open, would keep whoever reads it waiting.
    for descriptor in /proc/self/fd/*; do
      descriptor=${descriptor##*/}
      [ "$descriptor" -le 2 ] || eval "exec $descriptor>&-"
    done
    exec setsid "$@" </dev/null >>"$log" 2>&1
  ) &
  local pid=$!
  # The start time is that of the fork: exec does not change it, so it may be read at once.
  printf '%s %s\n' "$pid" "$(start_time "$pid")" >"$pid_file"
  disown "$pid" 2>/dev/null
}

stop_process() { # pid file, [signal, [seconds]]: stops it, and only it
  local pid tries=$((${3:-20} * 10))
  alive "$1" || { rm -f "$1"; return 0; }
  read -r pid _ <"$1"
  kill "-${2:-TERM}" "$pid" 2>/dev/null || true # it may have ended just now
  while [ $tries -gt 0 ] && alive "$1"; do sleep 0.1; tries=$((tries - 1)); done
  alive "$1" && kill -KILL "$pid" 2>/dev/null && sleep 0.2
  rm -f "$1"
}

wait_until() { # seconds, command...
  local tries=$(($1 * 10)); shift
  while ! "$@" >/dev/null 2>&1; do
    tries=$((tries - 1)); [ $tries -gt 0 ] || return 1
    sleep 0.1
  done
}

# --- packages -------------------------------------------------------------------------------------

declare -A PACKAGE_OF=(
  [docker]=docker.io [dockerd]=docker.io [containerd]=containerd [runc]=runc [iptables]=iptables [ip]=iproute2
  [chromium]=chromium [docker-registry]=docker-registry [debootstrap]=debootstrap [setsid]=util-linux [awk]=mawk
  [slurmctld]=slurm-wlm [slurmd]=slurm-wlm [sinfo]=slurm-wlm [slurmdbd]=slurmdbd [mariadbd]=mariadb-server-core [mariadb]=mariadb-client-core [munged]=munge
  [sshd]=openssh-server [ssh]=openssh-client [ssh-keygen]=openssh-client [ssh-agent]=openssh-client [zstd]=zstd [script]=bsdutils [setpriv]=util-linux
)

# Installs Debian's packages for the programs that are lacking, and says so first. Nothing that is there is touched.
require() { # program...
  local program packages=()
  for program in "$@"; do
    command -v "$program" >/dev/null || [[ " ${packages[*]} " == *" ${PACKAGE_OF[$program]} "* ]] || packages+=("${PACKAGE_OF[$program]}")
  done
  [ ${#packages[@]} -eq 0 ] && return 0
  [ "$(id -u)" = 0 ] || die "lacking: ${packages[*]}. Run this as root, or install them yourself (apt-get install ${packages[*]})"
  command -v apt-get >/dev/null || die "lacking: ${packages[*]}, and there is no apt-get: install them yourself"
  say "installing Debian packages: ${packages[*]}"
  # RUNLEVEL=1 keeps the packages from starting services of their own where there is no systemd.
  local apt=(env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get -q -o DPkg::Lock::Timeout=300)
  { "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "${packages[@]}"; } >>"$LAB/apt.log" 2>&1 </dev/null 9>&- ||
    { tail -n 15 "$LAB/apt.log" >&2; die "could not install ${packages[*]} (the whole log: $LAB/apt.log)"; }
}

# --- the runtime of the lab's engines ---------------------------------------------------------------

missing_capabilities() {
  local names=(CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE
    NET_BIND_SERVICE NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE
    SYS_PACCT SYS_ADMIN SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL
    SETFCAP MAC_OVERRIDE MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE)
  local bounding last i
  bounding=$(awk '/^CapBnd/ { print $2 }' /proc/self/status)
  last=$(cat /proc/sys/kernel/cap_last_cap)
  for i in "${!names[@]}"; do
    [ "$i" -gt "$last" ] || [ $((0x$bounding >> i & 1)) = 1 ] || printf 'CAP_%s ' "${names[$i]}"
  done
}

# Prints dockerd's options for a machine that lacks a capability, and writes the runtime that they name.
runtime_options() { # runtime's path, without spaces
  local missing
  missing=$(missing_capabilities)
  [ -n "$missing" ] || return 0
  sed "s|@MISSING@|${missing% }|; s|@RUNC@|$(command -v runc)|" "$HERE/runc-lab" >"$1" && chmod 755 "$1"
  printf '%s\n' "--add-runtime lab=$1 --default-runtime lab"
}

# --- HTTP without curl ----------------------------------------------------------------------------

port_open() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

http_status() { # port, path, [header...]: prints the status code
  (
    port=$1 path=$2; shift 2
    exec 3<>"/dev/tcp/127.0.0.1/$port" || exit 1
    { printf 'GET %s HTTP/1.0\r\nHost: 127.0.0.1:%s\r\n' "$path" "$port"; [ $# -eq 0 ] || printf '%s\r\n' "$@"; printf '\r\n'; } >&3
    read -r -t 5 _ status _ <&3 && printf '%s\n' "$status"
  ) 2>/dev/null
}

authorization() { printf 'Authorization: Basic %s' "$(printf '%s:%s' "$LAB_USER" "$LAB_PASSWORD" | base64 -w0)"; }

# --- the engine in use ----------------------------------------------------------------------------
# $LAB/engine holds the socket URL of the engine that `up` decided on: the lab's own or the user's.

engine_url() { cat "$LAB/engine" 2>/dev/null; }
own_url() { printf 'unix://%s/main/docker.sock' "$ENGINES"; }

# The client without the user's contexts and credential helpers.
dk() { env -u DOCKER_CONTEXT -u DOCKER_HOST DOCKER_CONFIG="$LAB/docker-config" DOCKER_BUILDKIT=0 docker -H "$(engine_url)" "$@" 9>&-; }

engine_answers() { # URL
  [ -n "$1" ] && command -v docker >/dev/null && env -u DOCKER_CONTEXT -u DOCKER_HOST timeout 10 docker -H "$1" version --format '{{.Server.Version}}' >/dev/null 2>&1 9>&-
}

# The URL of the user's engine, if it is on this machine and answers.
users_engine() {
  command -v docker >/dev/null || return 1
  local url=${DOCKER_HOST:-}
  [ -n "$url" ] || url=$(docker context inspect --format '{{.Endpoints.docker.Host}}' 2>/dev/null)
  case $url in unix://"$ENGINES"/*) return 1 ;; unix://*) ;; *) return 1 ;; esac
  engine_answers "$url" && printf '%s\n' "$url"
}

in_registry() { # repository:tag
  [ "$(http_status "$(cat "$LAB/registry/port")" "/v2/${1%:*}/manifests/${1##*:}" \
    'Accept: application/vnd.docker.distribution.manifest.v2+json')" = 200 ]
}
