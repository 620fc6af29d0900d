//! The Python part of the ONNX Runtime images: it installs next to a distribution's own packages, and its pins exist for the
//! Python of the base images.
//!
//! Ubuntu's base images and AMD's wheels are not at hand here. A directory stands in for the root of the image, and an
//! environment with packages that have no list of their files, as Debian's and Ubuntu's, for the system's Python.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::needs::find_python;
use rstest::rstest;

const IMAGE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/recipes/mlperf-inference-reference/onnxruntime/image");

/// The Python of Ubuntu 24.04, for which AMD builds its wheels, too.
const PYTHON_OF_UBUNTU: &str = "3.12";

fn read(name: &str) -> String {
    std::fs::read_to_string(Path::new(IMAGE).join(name)).unwrap()
}

fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}: {text}");
    output
}

/// The instructions of a Dockerfile, each in one line.
fn instructions(dockerfile: &str) -> Vec<(String, String)> {
    let lines = dockerfile.lines().filter(|line| !line.starts_with('#'));
    let joined = lines.collect::<Vec<_>>().join("\n").replace("\\\n", " ");
    let words = joined.lines().filter_map(|line| line.split_once(' '));
    words.map(|(name, rest)| (name.to_owned(), rest.trim().to_owned())).collect()
}

/// A root directory for the instructions of a Dockerfile, with a Python in its `PATH`.
struct Root {
    directory: tempfile::TempDir,
    variables: HashMap<String, String>,
}

impl Root {
    /// With the system's Python, whose packages are of the given names.
    fn new(packages: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let system = directory.path().join("usr");
        run(Command::new(find_python(&[])).args(["-m", "venv"]).arg(&system));
        let script = "import sysconfig; print(sysconfig.get_path('purelib'), end='')";
        let output = run(Command::new(system.join("bin/python3")).args(["-c", script]));
        let library = PathBuf::from(String::from_utf8(output.stdout).unwrap());
        for name in packages {
            let information = library.join(format!("{name}-0.42.0.dist-info"));
            std::fs::create_dir(&information).unwrap();
            let metadata = format!("Metadata-Version: 2.1\nName: {name}\nVersion: 0.42.0\n");
            std::fs::write(information.join("METADATA"), metadata).unwrap();
            std::fs::write(information.join("INSTALLER"), "debian\n").unwrap();
        }
        let path = format!("{}:/usr/bin:/bin", system.join("bin").display());
        Self { directory, variables: HashMap::from([("PATH".to_owned(), path)]) }
    }

    /// The image's directories, beneath this one.
    fn beneath(&self, text: &str) -> String {
        let root = self.directory.path().display();
        ["/opt/", "/build/"].iter().fold(text.to_owned(), |text, directory| {
            text.replace(directory, &format!("{root}{directory}"))
        })
    }

    fn set(&mut self, words: &str) {
        for word in words.split_whitespace() {
            let (name, value) = word.split_once('=').unwrap();
            let mut value = self.beneath(value);
            for (known, its) in &self.variables {
                value = value.replace(&format!("${{{known}}}"), its);
            }
            self.variables.insert(name.to_owned(), value);
        }
    }

    fn execute(&self, command: &str) -> Output {
        Command::new("sh")
            .args(["-c", &self.beneath(command)])
            .env_clear()
            .envs(
                std::env::vars()
                    .filter(|(name, _)| name.starts_with("PIP_") || name.ends_with("_proxy")),
            )
            .envs(&self.variables)
            .output()
            .unwrap()
    }
}

/// With the system's pip: 'Cannot uninstall wheel 0.42.0, RECORD file not found'.
#[rstest]
#[ignore = "needs the lab"]
fn the_packages_install_next_to_those_of_the_distribution(
    #[values("rocm.Dockerfile", "cuda.Dockerfile")] dockerfile: &str,
) {
    // Those that Ubuntu 24.04 has for its pip; the others only take longer.
    let packages = ["wheel", "setuptools", "packaging"];
    let pins = read("requirements.txt");
    let of_ubuntu = |pin: &&str| packages.iter().any(|name| pin.starts_with(name));
    let pins: Vec<&str> = pins.lines().filter(of_ubuntu).collect();
    assert_eq!(pins.len(), packages.len());

    let mut root = Root::new(&packages);
    let context = root.directory.path().join("build");
    std::fs::create_dir(&context).unwrap();
    std::fs::write(context.join("requirements.txt"), pins.join("\n")).unwrap();
    let mut installed = false;
    for (name, rest) in instructions(&read(dockerfile)) {
        match name.as_str() {
            "ENV" => root.set(&rest),
            "RUN" if rest.contains("apt-get") => {}
            "RUN" => {
                let output = root.execute(&rest);
                let problem = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{rest}: {problem}");
                installed = rest.contains("requirements.txt");
            }
            _ => {}
        }
        if installed {
            break;
        }
    }
    assert!(installed, "{dockerfile} installs no requirements.txt");

    let listed = root.execute("python3 -m pip freeze --all");
    let listed = String::from_utf8(listed.stdout).unwrap();
    for pin in pins {
        assert!(listed.lines().any(|line| line == pin), "{pin}: {listed}");
    }
}

#[test]
#[ignore = "needs the lab"]
fn the_pins_exist_for_the_python_of_the_image() {
    let template = concat!(env!("CARGO_MANIFEST_DIR"), "/templates/onnxruntime-nvidia.yaml");
    let template = std::fs::read_to_string(template).unwrap();
    let mut lines = template.lines();
    let version = lines.find_map(|line| line.trim().strip_prefix("ONNXRUNTIME: "));
    let runtime = format!("onnxruntime-gpu=={}", version.unwrap().trim_matches('"'));
    let directory = tempfile::tempdir().unwrap();
    let mut pip = Command::new(find_python(&[]));
    pip.args(["-m", "pip", "--disable-pip-version-check", "install"])
        .args(["--quiet", "--dry-run", "--ignore-installed", "--target"])
        .arg(directory.path())
        .args(["--only-binary=:all:", "--python-version", PYTHON_OF_UBUNTU]);
    for platform in ["manylinux_2_28_x86_64", "manylinux2014_x86_64"] {
        pip.args(["--platform", platform]);
    }
    // With its dependencies: those that the image leaves out are pinned.
    pip.arg(&runtime).arg("--requirement");
    run(pip.arg(Path::new(IMAGE).join("requirements.txt")));
}
