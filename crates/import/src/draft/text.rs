//! Writes a draft as a recipe.

use retrial_document::Node;
use retrial_recipe::quote::shell_quote;
use retrial_recipe::writer::{list_node, map_node, render_recipe, text_node};

use super::Draft;
use super::figures::MeasuredFigures;
use super::keys::WrittenKeys;
use super::missing::{Missing, MissingPlace, PLACEHOLDER_COMMAND, shorten};
use crate::programs::ClientCommand;

/// The directory of the results, if figures are in files.
const RESULTS: &str = "/tmp/results";
/// That of a client, whose output may be appended to.
pub(super) const CLIENT_RESULTS: &str = "/tmp/results/run_${{ trial }}";
/// The most columns of a line of comment.
const MAX_COLUMNS: usize = 116;

/// A recipe's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenRecipe {
    /// The text; it has the notes as comments.
    pub recipe: String,
    /// Differences from the guide, a line each.
    pub notes: Vec<String>,
    /// What the guide does not say, a line each, as `incomplete` has it.
    pub incomplete: Vec<String>,
}

impl Draft {
    /// Writes the recipe with these figures. `name` becomes its title.
    pub fn write(self, name: &str, figures: &MeasuredFigures) -> WrittenRecipe {
        let client = self.client_command(figures.command.as_deref());
        let client = client.filter(|_| figures.figures.is_empty());
        let mut notes = self.notes.clone();
        // The guide's command is its own until a figure of the client is asked for.
        notes.extend(
            client.as_ref().map(|client| describe_client(client, figures.states_published())),
        );
        let client = client.filter(|_| figures.states_published());
        let first = "From a guide's command lines, by `retrial new NAME --from`.".to_owned();
        let notes_as_items = notes.iter().map(|note| format!("- {note}"));
        let heading: Vec<String> = std::iter::once(first).chain(notes_as_items).collect();
        let missing = missing_lines(name, &self, figures, client.is_some());
        let keys = recipe_keys(name, self, figures, client, &missing);
        let recipe = render_recipe(&heading, keys.into_iter().collect());
        WrittenRecipe { recipe, notes, incomplete: missing }
    }
}

/// Returns what remains to be written, with an example each.
fn missing_lines(
    name: &str,
    draft: &Draft,
    figures: &MeasuredFigures,
    has_client: bool,
) -> Vec<String> {
    let run = MissingPlace::Measurement("run");
    let of_guide = draft.incomplete.iter();
    let mut missing: Vec<Missing> = of_guide
        .filter(|missing| figures.command.is_none() || missing.place != run)
        .cloned()
        .collect();
    let mut ask = |place: MissingPlace, text: &str| {
        missing.push(Missing { place, text: text.to_owned() });
    };
    if figures.figures.is_empty() && !has_client {
        ask(
            MissingPlace::Measurement("figures"),
            "how it is read, for example `speed: {pattern: 'speed: ${number}'}`",
        );
    }
    if !figures.states_published() {
        ask(
            MissingPlace::Measurement("expect"),
            "what was published; remove this line to only measure",
        );
        ask(
            MissingPlace::Submission,
            &format!("the suite and the benchmark, now `{name}`, and `sources`"),
        );
    }
    missing.iter().map(|missing| shorten(&missing.to_string(), MAX_COLUMNS - 8)).collect()
}

fn describe_client(command: &ClientCommand, is_written: bool) -> String {
    let ClientCommand { client, name, options, .. } = command;
    if is_written {
        format!(
            "`{options}` is added to `{name}`: `client: {client}` declares the figures that it saves, by name"
        )
    } else {
        format!(
            "`{name}` is a client whose figures have names: `--expect output_throughput=VALUE` adds `client: {client}`"
        )
    }
}

/// Copies the files in which figures are to the directory of the results, behind a command that succeeds.
fn collect_files(measured: &mut WrittenKeys, files: &[&str], container: Option<&Node>) {
    let run = measured.iter_mut().find(|(key, _)| *key == "run");
    let Some((_, run)) = run.filter(|_| !files.is_empty()) else { return };
    let text = run.text().unwrap_or_default().trim_end();
    let mounts = container.and_then(|container| container.get("mounts"));
    let mounts = mounts.map_or(&[][..], |mounts| mounts.items());
    let files: Vec<String> =
        files.iter().map(|file| shell_quote(&path_in_container(file, mounts))).collect();
    let copy = format!("mkdir -p {RESULTS} && cp {} {RESULTS}/", files.join(" "));
    *run = text_node(format!("{text}\n[ $? -eq 0 ] && {copy}\n"));
    measured.push(("results", text_node(RESULTS)));
}

/// Returns the path in the container of a file in a directory next to the guide that is mounted.
fn path_in_container(file: &str, mounts: &[Node]) -> String {
    let path = format!("./{}", file.trim_start_matches("./"));
    let mounted = mounts.iter().find_map(|mount| {
        let (source, target) = mount.text()?.split_once(':')?;
        // The whole directory may be mounted next to the one in which the command ends.
        let rest = path.strip_prefix(source).filter(|_| source != "./")?;
        let target = target.split(':').next().unwrap_or(target);
        rest.starts_with('/').then(|| format!("{target}{rest}"))
    });
    mounted.unwrap_or_else(|| file.to_owned())
}

fn recipe_keys(
    name: &str,
    draft: Draft,
    figures: &MeasuredFigures,
    client: Option<ClientCommand>,
    missing: &[String],
) -> WrittenKeys {
    let mut measured =
        draft.measured.unwrap_or_else(|| vec![("run", text_node(PLACEHOLDER_COMMAND))]);
    if let Some(command) = &figures.command {
        measured.retain(|(key, _)| *key != "run");
        measured.insert(0, ("run", text_node(command)));
    }
    let container = draft.keys.iter().find(|(key, _)| *key == "container").map(|(_, node)| node);
    collect_files(&mut measured, &figures.files(), container);
    match client {
        Some(ClientCommand { client, run, .. }) => {
            measured.retain(|(key, _)| *key != "run");
            measured.insert(0, ("run", text_node(run)));
            measured.push(("results", text_node(CLIENT_RESULTS)));
            measured.push(("client", text_node(client.word())));
        }
        None => measured.push(("figures", figures.figures_node())),
    }
    measured.extend(figures.expect_node().map(|expect| ("expect", expect)));
    let case = map_node([("performance", map_node(measured))]);
    let mut keys = vec![
        ("title", text_node(name)),
        ("submission", figures.submission_node(name)),
        ("image", draft.image_node),
        ("scenarios", map_node([("my-case", case)])),
    ];
    if !missing.is_empty() {
        let lines = missing.iter().map(text_node).collect();
        keys.push(("incomplete", list_node(lines)));
    }
    keys.extend(draft.requires.map(|node| ("requires", node)));
    keys.extend(draft.keys);
    keys
}
