//! Shell plans, run by a real shell in an empty directory, with a `docker`, an `hf` and others that write down
//! what they are given: so a mistake in quoting shows.
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// Writes its arguments down, and what `docker` would not find. No image is there unless `IMAGES` is set, and a
/// result is wherever it is looked for. A clone has what v4.1's guide builds its image with, and the
/// directory above SDXL's harness what v5.1's does.
const RECORDER: &str = r#"#!/bin/sh
{ printf '%s\0' "$(basename "$0")" "$@"; printf '\n\0'; } >>"$RECORD"
exists() { [ -e "$1" ] || echo "$1" >>"$RECORD.missing"; }
case "$(basename "$0") $1" in
"docker run")
  for word; do case $word in --volume=*) word=${word#--volume=}; exists "${word%%:*}" ;; esac; done ;;
"docker build")
  while [ $# -gt 1 ]; do [ "$1" != -f ] || exists "$2"; shift; done
  exists "$1" ;;
"docker image")
  case $3 in --format) echo 0123456789ab ;; *) [ -n "$IMAGES" ] || [ -e "$RECORD.built" ] || exit 1 ;; esac ;;
"git clone")
  cloned=$(basename "$2" .git)/blogs/artificial-intelligence/mlperf-inf-4-1/src/docker
  mkdir -p "$cloned"
  echo 'sh "$BUILDER" bash build_llama2.sh' >"$cloned/build_llama2.sh" ;;
"curl "*) echo PK ;;
"hf download")
  for word; do [ "$before" != --local-dir ] || mkdir -p "$word"
    [ "$before" != --cache-dir ] || mkdir -p "$word/models--$(echo "$2" | sed s,/,--,)"
    before=$word; done ;;
esac
"#;

/// A script that builds an image: the guides have several.
const BUILDER: &str = r#"printf '%s\0' "$@" >>"$RECORD"; printf '\n\0' >>"$RECORD"; touch "$RECORD.built"
"#;

/// An empty directory in which shell plans are run.
pub struct Recorder {
    directory: TempDir,
    /// Whether the engine has all images.
    pub has_images: bool,
}

impl Recorder {
    pub fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let bin = directory.path().join("bin");
        fs::create_dir(&bin).unwrap();
        for program in ["docker", "hf", "git", "curl", "retrial"] {
            executable(&bin.join(program), RECORDER);
        }
        fs::write(bin.join("builder"), BUILDER).unwrap();
        fs::create_dir(directory.path().join("of")).unwrap();
        for script in ["build_docker.sh", "build_docker_nogil.sh"] {
            let text = format!("#!/bin/sh\nsh \"$BUILDER\" ./{script}\n");
            executable(&directory.path().join("of").join(script), &text);
        }
        Self { directory, has_images: false }
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Runs the tool.
    pub fn retrial(&self, arguments: &[&str]) -> Output {
        let mut retrial = Command::new(env!("CARGO_BIN_EXE_retrial"));
        retrial.args(arguments).current_dir(self.path());
        retrial.env("RETRIAL_HOME", "/home/of/retrial");
        retrial.env("RETRIAL_CACHE", self.path().join("cache"));
        retrial.output().unwrap()
    }

    /// Runs the shell plan that the tool prints.
    pub fn run(&self, arguments: &[&str]) -> Output {
        let plan = self.retrial(&[&["plan", "--format", "shell"], arguments].concat());
        let problems = String::from_utf8_lossy(&plan.stderr);
        assert!(plan.status.success(), "{problems}");
        fs::create_dir(self.path().join("empty")).unwrap();
        fs::write(self.path().join("plan.sh"), plan.stdout).unwrap();
        let bin = self.path().join("bin");
        let mut script = Command::new("sh");
        script.arg("../plan.sh").current_dir(self.path().join("empty"));
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        script.env("PATH", path).env("RECORD", self.record());
        script.env("BUILDER", bin.join("builder"));
        script.env("IMAGES", if self.has_images { "all" } else { "" });
        script.output().unwrap()
    }

    fn record(&self) -> std::path::PathBuf {
        self.path().join("record")
    }

    /// The commands that were given, with paths below the directory as `/…`.
    pub fn commands(&self) -> Vec<Vec<String>> {
        let text = fs::read_to_string(self.record()).unwrap_or_default();
        let text = text.replace(self.path().to_str().unwrap(), "");
        let mut commands = vec![Vec::new()];
        for word in text.split_terminator('\0') {
            match word {
                "\n" => commands.push(Vec::new()),
                word => commands.last_mut().unwrap().push(word.to_owned()),
            }
        }
        commands.retain(|command| !command.is_empty());
        commands
    }

    /// Paths that did not exist when `docker` was to mount them or to build from them.
    pub fn missing(&self) -> String {
        fs::read_to_string(self.path().join("record.missing")).unwrap_or_default()
    }
}

pub fn executable(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}
