//! The plan of a run as a guide: what it needs, how it deviates from the vendor's guide, and its commands, step by step.

use super::figures::NOTHING;
use crate::document::{Block, Column, Document, ListItem, Section, StyledText, Table};
use retrial_plan::download::LocalHubSettings;
use retrial_plan::measurement::MeasurementPlan;
use retrial_plan::shell::{RecipeFile, Script, ScriptStep, plan_script};
use retrial_plan::text::{
    PRIVILEGES_TITLE, describe_limits, downloads, requirement_rows, summary_rows,
};
use retrial_plan::{Action, Plan};

/// The plan, with its estimated time here, if known, and this machine's hub settings. `files` are those of a built-in
/// recipe.
pub fn plan_document(
    plan: &Plan,
    here: Option<&str>,
    hub: &LocalHubSettings,
    files: &[RecipeFile],
) -> Document {
    let plan = &plan.preview();
    let command = plan.run_command("retrial");
    let whole = StyledText::Code(command.as_str().into());
    let mut blocks = vec![
        Block::paragraph("The guide, as it will run here. One command does all of it:"),
        Block::Paragraph(whole),
    ];
    blocks.extend(list_rows(summary_rows(plan, here)));
    let script = plan_script(plan, files);
    let sections = [
        Section::nonempty_block("Sources", list_texts(&plan.submission.sources)),
        Section::nonempty_block("Requirements", requirement_blocks(plan, hub)),
        Section::nonempty_block("Deviations from the guide", list_texts(&plan.deviations)),
        Section::nonempty_block("Notes", list_texts(&plan.notes)),
        Section::nonempty_block("Before the first step", definition_blocks(&script)),
        Section::nonempty_block("Steps", script.steps.iter().map(|step| step_section(plan, step))),
    ];
    blocks.extend(sections.into_iter().flatten());
    Document::new(&plan.title, blocks)
}

fn list_rows(rows: Vec<(&'static str, String)>) -> Option<Block> {
    let items = rows.into_iter();
    Block::list(items.map(|(name, value)| ListItem::with_key(name, value)))
}

fn list_texts(texts: &[String]) -> Option<Block> {
    Block::list(texts.iter().map(ListItem::new))
}

fn requirement_blocks(plan: &Plan, hub: &LocalHubSettings) -> Vec<Block> {
    let rows = requirement_rows(&plan.requires).into_iter();
    let rows = rows.map(|(name, value)| ListItem::with_key(name, value));
    let secrets = plan.secrets.iter();
    let secrets = secrets.map(|name| ListItem::with_key("secret", name));
    let unmet = plan.unmet.iter();
    let unmet = unmet.map(|check| ListItem::with_key("unmet here", check.to_string()));
    let privileges = plan.privileges.iter().filter(|one| !one.is_secret());
    let privileges =
        privileges.map(|privilege| ListItem::with_key(&privilege.name, privilege.to_string()));
    let downloads = downloads::download_lines(plan, hub);
    let mut blocks = Vec::from_iter(Block::list(rows.chain(secrets).chain(unmet)));
    if let Some(list) = Block::list(privileges) {
        blocks.extend([Block::paragraph(PRIVILEGES_TITLE), list]);
    }
    if !downloads.is_empty() {
        let lines = downloads.iter().map(Into::into).collect();
        blocks.push(Block::Verbatim("Downloads".into(), lines));
    }
    blocks
}

/// The values of a machine, and the functions that the commands use.
fn definition_blocks(script: &Script) -> Vec<Block> {
    let values = script
        .node_variables
        .iter()
        .flat_map(|assignment| [Block::paragraph("On each machine:"), script_block(assignment)]);
    let mut blocks: Vec<Block> = values.collect();
    let definitions = script.definitions.trim();
    if !definitions.is_empty() {
        let whole =
            "In a shell of its own, in an empty directory: the commands of the steps use these.";
        blocks.extend([Block::paragraph(whole), script_block(definitions)]);
    }
    blocks
}

fn step_section(plan: &Plan, scripted: &ScriptStep) -> Block {
    let step = &scripted.step;
    let machines = step.describe_machines();
    let place = machines.map(|machines| format!(", {machines}"));
    let title = format!("{}. {}{}", step.number, step.name, place.unwrap_or_default());
    let condition = Some(step.when.to_string()).filter(|when| !when.is_empty());
    let condition = condition.map(|when| Block::paragraph(format!("Condition: {when}.")));
    let meeting = Block::paragraph("Start it once all machines have come to this step.");
    let meeting = scripted.machines_meet.then_some(meeting);
    let mut blocks: Vec<Block> = condition.into_iter().chain(meeting).collect();
    blocks.push(script_block(&scripted.commands));
    blocks.extend(describe_limits(step).map(Block::paragraph));
    if let Action::Exec(exec) = &step.action {
        let measured = plan.measurements.iter().enumerate();
        let own = measured.filter(|(index, _)| exec.purpose.measures(*index));
        blocks.extend(own.filter_map(|(_, measured)| published_table(measured)));
    }
    Section::new_block(title, blocks)
}

/// The figures that were published for a measurement; none if nothing was.
fn published_table(measured: &MeasurementPlan) -> Option<Block> {
    let published = measured.expect.iter();
    let rows = published.flat_map(|(figure, list)| list.iter().map(move |entry| (figure, entry)));
    let cells = rows.map(|(figure, entry)| {
        let source = entry.source.as_deref().unwrap_or(NOTHING);
        vec![
            figure.into(),
            entry.value.to_string().into(),
            entry.kind.label().into(),
            source.into(),
        ]
    });
    let rows: Vec<_> = cells.collect();
    let columns = vec![
        Column::head("figure"),
        Column::number("published"),
        Column::text("by"),
        Column::text("source"),
    ];
    let caption = format!("published for {} {}", measured.scenario, measured.mode);
    let mut table = Table::new(caption, columns, rows);
    table.titled = true;
    (!measured.expect.is_empty()).then_some(Block::Table(table))
}

fn script_block(text: &str) -> Block {
    Block::Verbatim("".into(), text.lines().map(Into::into).collect())
}
