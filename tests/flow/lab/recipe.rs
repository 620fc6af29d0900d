//! Recipes of the tests.

/// A recipe around cases.
pub fn recipe(cases: &str) -> String {
    recipe_with("", cases)
}

/// A recipe with further keys, and cases.
pub fn recipe_with(keys: &str, cases: &str) -> String {
    let has = |key: &str| keys.lines().any(|line| line.starts_with(key));
    let image = if has("image:") { "" } else { "image: debian:bookworm-slim\n" };
    // As most published commands have it; a network of its own doubles what a container costs.
    let network =
        if has("container:") || has("services:") { "" } else { "container: { network: host }\n" };
    format!(
        "schema: 1\ntitle: Flow\nsubmission: {{ suite: flow, round: v1, division: open, submitter: nobody, system: any, benchmark: flow, sources: [here] }}\n{image}{network}{keys}\nscenarios:\n{cases}"
    )
}

/// One case of a recipe, which prints `speed: 42.5 MB/s` in the end; more keys of its mode.
pub fn case(name: &str, commands: &str, keys: &str) -> String {
    let indent = |text: &str, by: usize| {
        let lines = text.lines().map(|line| {
            " ".repeat(by)
                + line
                + "
"
        });
        lines.collect::<String>()
    };
    format!(
        "  {name}:\n    performance:\n      run: |\n{}        echo 'speed: 42.5 MB/s'\n{}      figures:\n        speed: {{ pattern: 'speed: ([0-9.]+)', unit: MB/s, better: higher, noise: 1% }}\n      expect:\n        speed: {{ value: 42, kind: official, source: here }}\n",
        indent(commands, 8),
        indent(keys, 6),
    )
}

/// An image of the lab.
pub fn image(name: &str) -> String {
    let registry =
        std::env::var("RETRIAL_LAB_REGISTRY").unwrap_or_else(|_| "127.0.0.1:5155".to_owned());
    format!("{registry}/retrial-lab/{name}:1")
}
