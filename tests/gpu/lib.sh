# What the scripts of this directory share: the image, the recipes, headings. Sourced, with `here`, `retrial`, `out` and
# `work` set.
started=$SECONDS
section() { printf '\n==== %s (%d s)\n' "$*" $((SECONDS - started)); }

# The image: what docker import would make of a tar of nothing.
image() {
  local root=$out/rootfs
  mkdir -p "$root"/{usr,opt,etc,proc,sys,dev,tmp,run,root,home,var/tmp,workspace}
  chmod 1777 "$root/tmp"
  for name in bin lib lib64 sbin; do [ -e "/usr/$name" ] && ln -sfn "usr/$name" "$root/$name"; done
  tar -C "$root" --numeric-owner -cf "$out/rootfs.tar" .
  python3 - "$out/rootfs.tar" <<'PYTHON'
import http.client, os, socket, sys
class Engine(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock").removeprefix("unix://"))
with open(sys.argv[1], "rb") as archive:
    engine = Engine("engine", timeout=60)
    engine.request("POST", "/images/create?fromSrc=-&repo=retrial-gpu-host&tag=1", body=archive.read(), headers={"Content-Type": "application/x-tar"})
    answer = engine.getresponse()
    print(answer.status, answer.read().decode().strip().splitlines()[-1])
PYTHON
}

# Prints a recipe or template of this directory with only the devices that are there.
with_devices() { # file
  while IFS= read -r line; do
    case $line in
      *"- /dev/nvidia"*) [ -e "${line#*- }" ] || continue ;;
      *"- /etc:/etc:ro"*)
        # Mounts below these come along only where the engine takes them; the driver's folder is named in any case.
        printf '%s\n' "$line"
        [ ! -d /usr/local/nvidia ] || printf '%s- /usr/local/nvidia:/usr/local/nvidia:ro\n' "${line%%-*}"
        continue ;;
    esac
    printf '%s\n' "$line"
  done <"$1"
}

# The recipes: built-in ones, this directory's template, only the devices that are there.
recipes() {
  mkdir -p "$work/templates"
  cp -r "$here"/../../recipes/training-benchmarks/amd/mi350x/. "$work/"
  with_devices "$here/templates/training-benchmarks.yaml" >"$work/templates/training-benchmarks.yaml"
}
