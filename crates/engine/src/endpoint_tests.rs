//! The order of choice, on planted directories.

use std::fs;
use std::path::Path;

use super::*;
use crate::error::with_remedy;

fn environment(root: &Path) -> EngineEnvironment {
    EngineEnvironment {
        configuration: root.join("docker"),
        root: root.to_owned(),
        ..EngineEnvironment::default()
    }
}

fn plant_context(configuration: &Path, name: &str, host: &str, tls: bool) {
    let id = configuration::context_directory_name(name);
    let meta = configuration.join("contexts/meta").join(&id);
    fs::create_dir_all(&meta).unwrap();
    let text = format!(
        r#"{{"Name":"{name}","Metadata":{{}},"Endpoints":{{"docker":{{"Host":"{host}","SkipTLSVerify":false}}}}}}"#
    );
    fs::write(meta.join("meta.json"), text).unwrap();
    if tls {
        let material = configuration.join("contexts/tls").join(&id).join("docker");
        fs::create_dir_all(&material).unwrap();
        for file in ["ca.pem", "cert.pem", "key.pem"] {
            fs::write(material.join(file), "").unwrap();
        }
    }
}

#[test]
fn precedence_is_command_line_environment_context() {
    let root = tempfile::tempdir().unwrap();
    let mut environment = environment(root.path());
    plant_context(&environment.configuration, "lab", "unix:///lab.sock", false);
    plant_context(&environment.configuration, "far", "tcp://far:2376", true);
    fs::write(environment.configuration.join("config.json"), r#"{"currentContext":"lab"}"#)
        .unwrap();

    let chosen = choose_endpoint(None, &environment).unwrap();
    assert_eq!((&*chosen.url, &*chosen.chosen_by), ("unix:///lab.sock", "context lab"));

    environment.docker_context = Some("far".into());
    let chosen = choose_endpoint(None, &environment).unwrap();
    assert_eq!(chosen.url, "tcp://far:2376");
    assert_eq!(chosen.chosen_by, "context far from DOCKER_CONTEXT");
    let certificates = chosen.certificates.unwrap();
    assert!(certificates.join("key.pem").is_file());
    assert!(certificates.ends_with("docker"));

    environment.docker_context = Some("default".into());
    assert_eq!(
        choose_endpoint(None, &environment).unwrap().chosen_by,
        "default socket",
        "the context named default is the default socket, whatever config.json says"
    );

    environment.docker_host = Some("tcp://near".into());
    assert_eq!(choose_endpoint(None, &environment).unwrap().url, "tcp://near:2375");

    let chosen = choose_endpoint(Some("/run/mine.sock"), &environment).unwrap();
    assert_eq!((&*chosen.url, &*chosen.chosen_by), ("unix:///run/mine.sock", "--engine"));
}

#[test]
fn tls_is_enabled_by_the_environment() {
    let mut environment = environment(Path::new("/nowhere"));
    environment.certificates = Some("/certificates".into());
    environment.docker_host = Some("tcp://far".into());
    let chosen = choose_endpoint(None, &environment).unwrap();
    assert_eq!(chosen.url, "tcp://far:2376");
    assert_eq!(chosen.certificates.unwrap(), Path::new("/certificates"));
}

#[test]
fn other_sockets_are_used_only_without_the_default() {
    let root = tempfile::tempdir().unwrap();
    let mut environment = environment(root.path());
    let runtime = root.path().join("run/user/1000");
    fs::create_dir_all(runtime.join("podman")).unwrap();
    environment.runtime_directory = Some(runtime.clone());

    let none = choose_endpoint(None, &environment).unwrap();
    assert!(none.url.ends_with("var/run/docker.sock"), "{none:?}");

    fs::write(runtime.join("podman/podman.sock"), "").unwrap();
    let podman = choose_endpoint(None, &environment).unwrap();
    assert_eq!(podman.chosen_by, "rootless Podman's socket");

    fs::write(runtime.join("docker.sock"), "").unwrap();
    let rootless = choose_endpoint(None, &environment).unwrap();
    assert_eq!(rootless.chosen_by, "rootless Docker's socket");

    fs::create_dir_all(root.path().join("var/run")).unwrap();
    fs::write(root.path().join("var/run/docker.sock"), "").unwrap();
    assert_eq!(choose_endpoint(None, &environment).unwrap().chosen_by, "default socket");
}

#[test]
fn unusable_endpoints_are_refused_with_the_reason() {
    let environment = environment(Path::new("/nowhere"));
    let cases = [
        ("ssh://user@host", "does not share this machine's files"),
        ("https://host", "DOCKER_CERT_PATH"),
        ("npipe:////./pipe/docker_engine", "unknown scheme `npipe`"),
        ("unix://relative.sock", "absolute path"),
        ("tcp://", "no host"),
    ];
    for (url, expected) in cases {
        let error = with_remedy(&choose_endpoint(Some(url), &environment).unwrap_err());
        assert!(error.contains(expected), "{url}: {error}");
        assert!(error.contains("--engine"), "{error}");
    }
}

#[test]
fn a_missing_context_is_reported() {
    let root = tempfile::tempdir().unwrap();
    let mut environment = environment(root.path());
    environment.docker_context = Some("gone".into());
    let error = with_remedy(&choose_endpoint(None, &environment).unwrap_err());
    assert!(error.contains("`gone`"), "{error}");
    assert!(error.contains("docker context ls"), "{error}");
}

#[test]
fn a_broken_configuration_is_an_error() {
    let root = tempfile::tempdir().unwrap();
    let environment = environment(root.path());
    fs::create_dir_all(&environment.configuration).unwrap();
    fs::write(environment.configuration.join("config.json"), "{").unwrap();
    let error = choose_endpoint(None, &environment).unwrap_err().to_string();
    assert!(error.contains("config.json"), "{error}");
}
