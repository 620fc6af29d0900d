//! A sweep: a scenario for each point, with a server of its own where the recipe says so.

use super::{ASK, HTTP, SERVER, service, services};
use crate::lab::Lab;

/// A measurement at the points 1, 2 and 3, whose figure grows with them; further commands before it.
fn swept(scope: &str, commands: &str) -> String {
    swept_with(&format!("scope: {scope}"), commands)
}

fn swept_with(keys: &str, commands: &str) -> String {
    let server = service("server", SERVER, &format!("{HTTP}\n{keys}"));
    let measurement = format!(
        "  serving:
    performance:
      needs: [server]
      sweep: {{ users: [1, 2, 3] }}
      trials: 2
      run: |
        {ASK}
        {commands}
        echo \"rate: $((${{{{ sweep.users * 1000 }}}} + ${{{{ trial }}}})) MB/s\"
      figures: {{ rate: {{ pattern: 'rate: ${{number}}', unit: MB/s, better: higher, noise: 1% }} }}
      expect:
        rate: {{ at: {{ 1: 1000, 3: 4000 }}, kind: official, source: here }}
"
    );
    services(&server, &measurement)
}

fn outcomes(lab: &Lab) -> Vec<(String, String)> {
    let verdict = lab.verdict();
    let results = verdict["results"].as_array().unwrap().iter();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    results.map(|result| (text(&result["scenario"]), text(&result["outcome"]))).collect()
}

fn named(points: &[(&str, &str)]) -> Vec<(String, String)> {
    points.iter().map(|(scenario, word)| ((*scenario).to_owned(), (*word).to_owned())).collect()
}

#[test]
#[ignore = "needs the lab"]
fn each_point_is_measured_and_judged_by_itself() {
    let lab = Lab::new().recipe(&swept("point", ""));
    lab.run(&[]).expect_exit(1).prints("serving-3: 3,001.5 MB/s, 75.0 % of the published");
    let judged =
        [("serving-1", "reproduced"), ("serving-2", "measured"), ("serving-3", "not reproduced")];
    assert_eq!(outcomes(&lab), named(&judged));
    for point in [1, 2, 3] {
        let start = format!("serving-{point}-performance-start-server");
        assert_eq!(lab.count(&start, "step_started"), 1, "one server for the trials of a point");
        let stop = format!("serving-{point}-performance-stop-server");
        assert_eq!(lab.count(&stop, "service_ended"), 1, "{point}");
    }
    assert_eq!(lab.containers(), [""; 0]);
}

#[test]
#[ignore = "needs the lab"]
fn a_server_whose_settings_name_the_point_is_one_of_each() {
    let keys = "scope: point\nenv: { USERS: '${{ sweep.users }}' }";
    let process = "$(grep -ls perl /proc/[0-9]*/comm | cut -d/ -f3 | head -n 1)";
    let found =
        format!("tr '\\0' '\\n' </proc/{process}/environ | grep -x USERS=${{{{ sweep.users }}}}");
    let lab = Lab::new().recipe(&swept_with(keys, &found));
    lab.run(&["--point", "1,2"]).expect_exit(0);
    assert_eq!(outcomes(&lab), named(&[("serving-1", "reproduced"), ("serving-2", "measured")]));
    for point in [1, 2] {
        let start = format!("serving-{point}-performance-start-server-{point}");
        assert_eq!(lab.count(&start, "step_started"), 1, "{point}");
    }
}

#[test]
#[ignore = "needs the lab"]
fn points_are_selected() {
    let lab = Lab::new().recipe(&swept("run", ""));
    lab.run(&["--point", "1,2", "--scenario", "serving"]).expect_exit(0).prints("reproduced");
    let qualifiers = lab.verdict()["qualifiers"].to_string();
    assert!(qualifiers.contains("without serving-3 performance"), "{qualifiers}");
    assert_eq!(outcomes(&lab), named(&[("serving-1", "reproduced"), ("serving-2", "measured")]));
    assert_eq!(lab.count("start-server", "step_started"), 1, "one server for all points");
    lab.run(&["--point", "4"]).expect_exit(2).prints("no such point").prints("1, 2, 3");
}

#[test]
#[ignore = "needs the lab"]
fn a_point_that_fails_leaves_the_others() {
    let lab = Lab::new().recipe(&swept("point", "test ${{ sweep.users }} != 2"));
    lab.run(&[]).expect_exit(4).prints("1 of 3 results failed, 1 is not reproduced.");
    let judged =
        [("serving-1", "reproduced"), ("serving-2", "failed"), ("serving-3", "not reproduced")];
    assert_eq!(outcomes(&lab), named(&judged));
    assert_eq!(lab.containers(), [""; 0]);
}

#[test]
#[ignore = "needs the lab"]
fn the_death_of_a_server_is_the_failure_of_its_point() {
    let kill = "test ${{ sweep.users }} != 2 || { kill -9 $(grep -ls perl /proc/[0-9]*/comm | cut -d/ -f3); sleep 30; }";
    let lab = Lab::new().recipe(&swept("point", kill));
    lab.run(&[]).expect_exit(4).prints("server");
    let judged =
        [("serving-1", "reproduced"), ("serving-2", "failed"), ("serving-3", "not reproduced")];
    assert_eq!(outcomes(&lab), named(&judged));
    assert_eq!(lab.containers(), [""; 0]);
}
