//! What is fuzzed: each reader of text that others wrote, and what must hold whatever the text is.
//!
//! Used by the fuzzer's programs and by `tests/recipes/fuzz_seeds.rs`, which runs every seed through its target. A target panics
//! where something does not hold.

mod bundles;
mod logs;
mod recipes;
mod results;

type Target = fn(&[u8]);

/// The targets by name; the seeds of each lie in `seeds/NAME`.
pub const TARGETS: &[(&str, Target)] = &[
    ("accuracy", results::accuracy),
    ("allowed_signers", bundles::allowed_signers),
    ("bundle", bundles::bundle),
    ("compliance", results::compliance),
    ("detail", logs::detail),
    ("docker_run", recipes::docker_run),
    ("endpoints", results::endpoints),
    ("expressions", recipes::expressions),
    ("journal", logs::journal),
    ("json", logs::json),
    ("lines", logs::lines),
    ("lock", recipes::lock),
    ("mllog", logs::mllog),
    ("patterns", logs::patterns),
    ("recipe", recipes::recipe),
    ("rows", logs::rows),
    ("rules", recipes::rules),
    ("submission", results::submission),
    ("summary", logs::summary),
    ("telemetry", results::telemetry),
    ("units", logs::units),
];

/// Runs one input through the target of this name.
pub fn run(name: &str, data: &[u8]) {
    let found = TARGETS.iter().find(|(known, _)| *known == name);
    let (_, target) = found.unwrap_or_else(|| panic!("there is no target {name}"));
    target(data);
}

/// The first line, as text, and what follows it: where a target needs two inputs.
fn first_line(data: &[u8]) -> Option<(&str, &[u8])> {
    let end = data.iter().position(|&byte| byte == b'\n')?;
    Some((str::from_utf8(&data[..end]).ok()?, &data[end + 1..]))
}

/// The bytes cut into pieces of lengths that they themselves give.
fn pieces(data: &[u8]) -> impl Iterator<Item = &[u8]> {
    let (mut rest, mut state) = (data, data.len());
    std::iter::from_fn(move || {
        let seed = usize::from(*rest.first()?);
        state = state.wrapping_mul(31).wrapping_add(seed);
        let (piece, after) = rest.split_at((state % 97 + 1).min(rest.len()));
        rest = after;
        Some(piece)
    })
}
