//! The checks that `doctor` and a run make in a container of the recipe's image before any measurement.

use std::net::TcpListener;

use serde_json::Value;

use crate::lab::{Lab, case, image, recipe_with};

/// Only this machine's own network has it.
const LOCAL: &str = "127.0.0.77";

fn network(lab: &Lab) -> (String, String) {
    let done = lab.retrial(&["doctor", "./recipe.yaml", "--output", "json"]);
    let checks: Value = serde_json::from_str(&done.out).unwrap();
    let mut checks = checks["checks"].as_array().unwrap().iter();
    let network = checks.find(|check| check["name"] == "network").unwrap();
    let text = |key: &str| network[key].as_str().unwrap().to_owned();
    (text("state"), text("actual"))
}

#[test]
#[ignore = "needs root and the lab"]
fn hosts_are_checked_from_a_container_in_its_own_network() {
    let _listener = TcpListener::bind((LOCAL, 443)).expect("port 443 is root's");
    let needs = format!("download: {{ from: here, hosts: [{LOCAL}] }}");
    let recipe = |network: &str| {
        let container = format!("container: {{ network: {network} }}");
        let image = "image: debian:bookworm-slim";
        recipe_with(&format!("{image}\n{container}"), &case("main", "true", &needs))
    };
    let lab = Lab::new();
    let lab = lab.recipe(&recipe("host"));
    lab.run(&[]).expect_exit(0);
    let ours = network(&lab);
    assert_eq!(ours, ("ok".to_owned(), "all hosts answer from a container".to_owned()));

    let lab = lab.recipe(&recipe("bridge"));
    let (state, actual) = network(&lab);
    assert_eq!(state, "warning");
    assert_eq!(actual, format!("from a container: {LOCAL}: Connection refused"));
    lab.run(&[]).prints(&format!("from a container: {LOCAL}: Connection refused"));

    // Nobody approved the network of another container.
    let name = format!("flow-network-{}", std::process::id());
    let command = ["run", "-d", "--name", &name, "--network", "host"];
    lab.docker(&[&command[..], &[&image("busybox"), "sleep", "60"]].concat());
    let lab = lab.recipe(&recipe(&format!("'container:{name}'")));
    let found = network(&lab);
    lab.docker(&["rm", "-f", &name]);
    assert_eq!(found, ("warning".to_owned(), actual));
}

#[test]
#[ignore = "needs the lab"]
fn add_host_names_are_resolved_like_in_the_container() {
    let lab = Lab::new();
    let name = "data.example.invalid";
    let container = format!("container: {{ add_host: [\"{name}:127.0.0.1\"] }}");
    let needs = format!("download: {{ from: here, hosts: [{name}] }}");
    let lab = lab.recipe(&recipe_with(&container, &case("main", "true", &needs)));
    lab.run(&[]).expect_exit(0);
    let (_, actual) = network(&lab);
    assert_eq!(actual, format!("from a container: {name}: Connection refused"));
}
