//! The log of a run's processes on other machines.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::fs;

use crate::nodes::{Head, RECIPE, status_and_text};

#[test]
#[ignore = "needs the lab"]
fn a_process_on_another_machine_logs_into_its_part_of_the_run() {
    let head = Head::new("logged");
    let path = head.directory.join("workers.yaml");
    let waits = "while [ ! -e /tmp/go ]; do sleep 0.2; done";
    fs::write(&path, RECIPE.replace(waits, ":")).unwrap();
    let home = head.directory.join("home");
    let words = ["run", path.to_str().unwrap(), "--nodes", "ssh:n2,n3"];
    let log_of =
        |node: &str| fs::read_to_string(head.run().join(format!("nodes/{node}/agent.log")));
    for (more, is_logged) in [(&[][..], false), (&["--log", "debug"], true)] {
        let mut command = head.command(&home, &[&words, more].concat());
        let (code, text) = status_and_text(&command.output().unwrap());
        assert_eq!(code, Some(0), "{text}");
        for node in ["n2", "n3"] {
            assert_eq!(log_of(node).is_ok(), is_logged, "{node}");
        }
    }
    for node in ["n2", "n3"] {
        let log = log_of(node).unwrap();
        assert!(log.contains("create_container{name="), "{log}");
        assert!(log.contains("request method=POST"), "{log}");
    }
    head.nothing_is_left();
}
