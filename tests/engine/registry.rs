//! Pulls and builds on a real engine with real registries.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::support::lab::{LABEL, Lab, docker, inspect};
use crate::support::remedy::with_remedy;
use crate::support::wait::wait_until;
use retrial_engine::api::{BuildSpec, ImageInfo, ImageProgress, RegistryAuth};
use retrial_engine::docker::PullFailure;
use retrial_engine::{Engine, EngineError, credentials};
use tokio::sync::mpsc::unbounded_channel;

type Outcome = (Result<ImageInfo, EngineError>, Vec<ImageProgress>);

async fn pull(lab: &Lab, reference: &str, auth: Option<RegistryAuth>) -> Outcome {
    let (to, mut from) = unbounded_channel();
    let engine = lab.engine.clone().with_retry_delay(Duration::from_millis(5));
    let result = engine.pull_image(reference, auth, to).await;
    let mut steps = Vec::new();
    while let Ok(step) = from.try_recv() {
        steps.push(step);
    }
    (result, steps)
}

/// An image of its own in a registry and nowhere else; removed from the engine at the end.
struct Image(String);

impl Image {
    fn pushed(repository: &str, configuration: Option<&Path>) -> Self {
        let reference = format!("{repository}/retrial-test-{}:1", std::process::id());
        let directory = tempfile::tempdir().unwrap();
        let content = format!("{reference} {:?}", std::time::SystemTime::now());
        fs::write(directory.path().join("content"), content.repeat(20_000)).unwrap();
        let tar = directory.path().join("root.tar");
        let file = fs::File::create(&tar).unwrap();
        let mut builder = tar::Builder::new(file);
        builder.append_path_with_name(directory.path().join("content"), "content").unwrap();
        builder.finish().unwrap();
        docker(&["import", tar.to_str().unwrap(), &reference]);
        let config = configuration.map(|path| path.to_str().unwrap().to_owned());
        let mut arguments = Vec::new();
        if let Some(config) = &config {
            arguments.extend(["--config", config]);
        }
        arguments.extend(["push", "-q", &reference]);
        docker(&arguments);
        let image = Self(reference);
        image.remove();
        image
    }

    fn remove(&self) {
        docker(&["rmi", "-f", &self.0]);
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        let _ = Command::new("docker").args(["rmi", "-f", &self.0]).output();
    }
}

fn login(user: &str, password: &str) -> RegistryAuth {
    RegistryAuth {
        username: Some(user.into()),
        password: Some(password.into()),
        identity_token: None,
    }
}

#[tokio::test]
#[ignore = "needs the lab"]
async fn by_tag_and_by_digest_with_progress() {
    let lab = Lab::here().await;
    let image = Image::pushed(&format!("{}/retrial-test", lab.registry), None);
    assert!(lab.engine.find_image(&image.0).await.unwrap().is_none());

    let (pulled, steps) = pull(&lab, &image.0, None).await;
    let pulled = pulled.unwrap();
    let name = image.0.strip_suffix(":1").unwrap();
    assert!(pulled.id.starts_with("sha256:"));
    assert_eq!(pulled.repo_digests.len(), 1, "{pulled:?}");
    assert!(pulled.repo_digests[0].starts_with(&format!("{name}@sha256:")));
    assert!(pulled.size > 100_000);
    assert_eq!(lab.engine.find_image(&image.0).await.unwrap(), Some(pulled.clone()));

    let complete = |step: &ImageProgress| matches!(step, ImageProgress::Layer { status, .. } if status == "Pull complete");
    assert_eq!(steps.iter().filter(|step| complete(step)).count(), 1, "{steps:?}");
    let sized = |step: &ImageProgress| matches!(step, ImageProgress::Layer { current: Some(done), total: Some(all), .. } if done <= all && *all > 0);
    assert!(steps.iter().any(sized), "{steps:?}");
    assert!(
        matches!(&steps[0], ImageProgress::Line(line) if line.starts_with("Pulling from")),
        "{steps:?}"
    );

    // By digest, next to a tag that no longer matters.
    image.remove();
    let digest = pulled.repo_digests[0].split_once('@').unwrap().1;
    let pinned = format!("{name}:other@{digest}");
    let (again, _) = pull(&lab, &pinned, None).await;
    assert_eq!(again.unwrap().id, pulled.id);
    let image_by_digest = lab.engine.find_image(&pinned).await.unwrap().unwrap();
    assert_eq!(image_by_digest.id, pulled.id);
    assert!(lab.engine.find_image(&image.0).await.unwrap().is_none(), "the tag was not pulled");
    assert!(lab.engine.find_image(&pulled.id).await.unwrap().is_some());
    docker(&["rmi", "-f", &pulled.repo_digests[0]]);
}

#[tokio::test]
#[ignore = "needs the lab"]
async fn a_wrong_tag_or_name_is_not_retried() {
    let lab = Lab::here().await;
    let no = format!("sha256:{}", "0".repeat(64));
    let cases = [
        format!("{}/retrial-lab/busybox:no-such-tag", lab.registry),
        format!("{}/retrial-lab/no-such-image:1", lab.registry),
        format!("{}/retrial-lab/busybox@{no}", lab.registry),
    ];
    for reference in cases {
        let (result, steps) = pull(&lab, &reference, None).await;
        let error = result.unwrap_err();
        assert!(
            matches!(error, EngineError::Pull { failure: PullFailure::NotFound, .. }),
            "{error:?}"
        );
        assert!(with_remedy(&error).contains(&reference), "{error}");
        assert!(with_remedy(&error).contains("check the name and the tag"), "{error}");
        let retried = |step: &ImageProgress| matches!(step, ImageProgress::Retry { .. });
        assert!(!steps.iter().any(retried), "{steps:?}");
    }
    let (result, _) = pull(&lab, "Not/A reference", None).await;
    assert!(matches!(result.unwrap_err(), EngineError::Reference { .. }));
}

#[tokio::test]
#[ignore = "needs the lab"]
async fn an_unreachable_registry_is_tried_five_times() {
    let lab = Lab::here().await;
    let port = free_port();
    let reference = format!("127.0.0.1:{port}/a:1");
    let (result, steps) = pull(&lab, &reference, None).await;
    let error = result.unwrap_err();
    assert!(
        matches!(error, EngineError::Pull { failure: PullFailure::Transient, tries: 5, .. }),
        "{error:?}"
    );
    assert!(with_remedy(&error).contains("connection refused"), "{error}");
    let attempts: Vec<(u32, u64)> = steps
        .iter()
        .filter_map(|step| match step {
            ImageProgress::Retry { attempt, after_ms, .. } => Some((*attempt, *after_ms)),
            _ => None,
        })
        .collect();
    assert_eq!(attempts, [(2, 5), (3, 10), (4, 20), (5, 40)]);
}

#[tokio::test]
#[ignore = "needs the lab"]
async fn a_private_registry_requires_the_right_password() {
    let lab = Lab::here().await;
    let reference = format!("{}/retrial-lab/busybox:1", lab.private);
    for auth in [None, Some(login(&lab.user, "wrong"))] {
        let (result, steps) = pull(&lab, &reference, auth).await;
        let error = result.unwrap_err();
        assert!(
            matches!(error, EngineError::Pull { failure: PullFailure::Unauthorized, .. }),
            "{error:?}"
        );
        let advice = format!("docker login {}", lab.private);
        assert!(with_remedy(&error).contains(&advice), "{error}");
        assert!(!with_remedy(&error).contains("wrong"), "{error}");
        let retried = |step: &ImageProgress| matches!(step, ImageProgress::Retry { .. });
        assert!(!steps.iter().any(retried), "{steps:?}");
    }
    let (result, _) = pull(&lab, &reference, Some(login(&lab.user, &lab.password))).await;
    assert!(!result.unwrap().repo_digests.is_empty());
}

/// Its JSON has `+` and `/` in standard base64 however it is aligned (moby#33434).
const ODD_PASSWORD: &str = ">?~>>??~~a>?~";
const ODD_HASH: &str = "$2b$05$8yEm//XDQPN4X7JUFKARiuwlmf2HcYfpRit0utvHqeKvzwGcbv3.C";

struct Registry {
    process: Child,
    address: String,
    _directory: tempfile::TempDir,
}

impl Registry {
    fn with_odd_password() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let address = format!("127.0.0.1:{}", free_port());
        fs::write(at("htpasswd"), format!("retrial:{ODD_HASH}\n")).unwrap();
        let config = format!(
            "version: 0.1\nlog: {{level: error}}\nstorage:\n  filesystem: {{rootdirectory: \"{}\"}}\nhttp: {{addr: \"{address}\", secret: retrial-test}}\nauth: {{htpasswd: {{realm: test, path: \"{}\"}}}}\n",
            at("data").display(),
            at("htpasswd").display()
        );
        fs::write(at("config.yml"), config).unwrap();
        let process = Command::new("docker-registry")
            .arg("serve")
            .arg(at("config.yml"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        wait_until("the registry listens", || std::net::TcpStream::connect(&address).is_ok());
        Self { process, address, _directory: directory }
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// The way a user goes: `docker login` writes config.json, and we read what it wrote.
#[tokio::test]
#[ignore = "needs the lab"]
async fn a_password_that_needs_url_safe_base64() {
    let lab = Lab::here().await;
    let registry = Registry::with_odd_password();
    let directory = tempfile::tempdir().unwrap();
    let config = directory.path().to_str().unwrap();
    docker(&["--config", config, "login", "-u", "retrial", "-p", ODD_PASSWORD, &registry.address]);
    let repository = format!("{}/odd", registry.address);
    let image = Image::pushed(&repository, Some(directory.path()));

    let none =
        credentials::find_image_credentials_in(&image.0, directory.path().join("no-such-file"));
    assert!(none.await.unwrap().is_none());
    let auth =
        credentials::find_image_credentials_in(&image.0, directory.path().join("config.json"));
    let auth = auth.await.unwrap();
    assert_eq!(auth.as_ref().unwrap().password.as_deref(), Some(ODD_PASSWORD));
    let (result, _) = pull(&lab, &image.0, auth).await;
    result.unwrap();
}

fn context(dockerfile: &str) -> (tempfile::TempDir, BuildSpec) {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("Dockerfile"), dockerfile).unwrap();
    fs::write(directory.path().join("sent"), "sent").unwrap();
    fs::write(directory.path().join("ignored"), "ignored").unwrap();
    fs::write(directory.path().join(".dockerignore"), "ignored\n").unwrap();
    std::os::unix::fs::symlink("sent", directory.path().join("link")).unwrap();
    let spec = BuildSpec {
        context: directory.path().to_owned(),
        dockerfile: "Dockerfile".into(),
        args: BTreeMap::from([("WORD".into(), "two words".into())]),
        tag: format!("retrial-test-build-{}:1", std::process::id()),
        labels: BTreeMap::from([(LABEL.into(), "build".into())]),
    };
    (directory, spec)
}

async fn build(lab: &Lab, spec: &BuildSpec) -> Outcome {
    let (to, mut from) = unbounded_channel();
    let result = lab.engine.build_image(spec, to).await;
    let mut steps = Vec::new();
    while let Ok(step) = from.try_recv() {
        steps.push(step);
    }
    (result, steps)
}

#[tokio::test]
#[ignore = "needs the lab"]
async fn a_build_with_its_log() {
    let lab = Lab::here().await;
    let text = format!(
        "FROM {}\nARG WORD\nENV WORD=$WORD\nCOPY . /context/\nRUN echo \"a word: $WORD\" && ls /context && test -L /context/link && test ! -e /context/ignored\nWORKDIR /context\nUSER 1000\nENTRYPOINT [\"/bin/cat\"]\n",
        lab.busybox()
    );
    let (_directory, spec) = context(&text);
    let (result, steps) = build(&lab, &spec).await;
    let built = result.unwrap();
    let _image = Image(spec.tag.clone());
    assert!(built.env.contains(&"WORD=two words".to_owned()), "{built:?}");
    let config = &inspect(&spec.tag)["Config"];
    assert_eq!(config["WorkingDir"], "/context");
    assert_eq!(config["User"], "1000");
    assert_eq!(config["Entrypoint"], serde_json::json!(["/bin/cat"]));
    assert!(built.repo_digests.is_empty());
    let line = |text: &str| steps.contains(&ImageProgress::Line(text.into()));
    assert!(line("a word: two words"), "{steps:?}");
    assert!(line("Step 2/8 : ARG WORD") || line("Step 2/9 : ARG WORD"), "{steps:?}");
    let label =
        docker(&["inspect", "-f", &format!("{{{{index .Config.Labels \"{LABEL}\"}}}}"), &spec.tag]);
    assert_eq!(label, "build");
    assert_eq!(lab.engine.find_image(&spec.tag).await.unwrap().unwrap().id, built.id);
}

#[tokio::test]
#[ignore = "needs the lab"]
async fn a_failing_build_reports_the_step() {
    let lab = Lab::here().await;
    let busybox = lab.busybox();
    let cases = [
        (
            format!("FROM {busybox}\nRUN echo before; echo broken >&2; exit 3\n"),
            ["Step 2/", "RUN echo before", "broken", "non-zero code: 3"],
        ),
        (
            format!("FROM {}/retrial-lab/no-such-image:1\n", lab.registry),
            ["Step 1/", "no-such-image", "not found", "check the image after FROM"],
        ),
        (
            format!("FROM {busybox}\nFLY away\n"),
            ["Dockerfile", "FLY", "unknown instruction", "to see more"],
        ),
        (
            format!("FROM {busybox}\nCOPY missing /\n"),
            ["Step 2/", "COPY missing", "missing", "to see more"],
        ),
    ];
    for (text, expected) in cases {
        let (_directory, spec) = context(&text);
        let (result, _) = build(&lab, &spec).await;
        let error = result.unwrap_err();
        assert!(matches!(error, EngineError::Build { .. }), "{error:?}");
        for part in expected {
            assert!(with_remedy(&error).contains(part), "{part} in {error}");
        }
    }
    let (directory, mut spec) = context("FROM scratch\n");
    spec.context = directory.path().join("no-such-directory");
    let error = build(&lab, &spec).await.0.unwrap_err();
    assert!(matches!(error, EngineError::BuildContext { .. }), "{error:?}");
}
