//! The commands of a container as entries: what its line runs in it, what is executed, and what is typed.

use retrial_document::Node;
use retrial_recipe::writer::{map_node, text_node};

use super::builder::Builder;
use super::flags::{read_env_file, read_variable};
use super::gpu_options::Token;
use super::keys::WrittenKeys;
use super::missing::MissingPlace;
use super::session::{Entry, Origin, Session};
use crate::page::Page;
use crate::programs::{
    Arguments, Command, ContainerLine, FlagTreatment, ImageArguments, Role, is_shell,
    read_image_arguments, role_of, role_of_script, script_before_idling, shell_script, split_words,
};
use crate::shell::{Word, unmark};

fn tokens_of(builder: &Builder<'_>, words: &[Word]) -> Vec<Token> {
    let token = |word: &Word| {
        let (text, param) = match word.split_once('=') {
            // `--tp=$TP`
            Some((name, value)) if value.only_param().is_some() => {
                (format!("{}=0", name.sketch(&builder.values)), value.only_param())
            }
            _ => (word.sketch(&builder.values), word.only_param()),
        };
        Token { text, param }
    };
    words.iter().map(token).collect()
}

fn plain_tokens(words: &[String]) -> Vec<Token> {
    words.iter().map(|text| Token { text: text.clone(), param: None }).collect()
}

/// Adds the command that a line runs in its container.
pub fn add_own_command(
    builder: &mut Builder<'_>,
    session: &mut Session,
    line: &ContainerLine,
    command: &Command,
) {
    let words = line.arguments.sketch(&builder.values);
    if refuses_document(builder, command)
        || add_script(builder, session, command, &words, Vec::new())
    {
        return;
    }
    let entrypoint = line.flag("entrypoint").cloned();
    if let Some(entrypoint) = entrypoint {
        if entrypoint.is_empty() && words.is_empty() {
            return;
        }
        let own = (!entrypoint.is_empty()).then_some(entrypoint);
        return add_arguments(
            builder,
            session,
            own.as_slice(),
            &line.arguments,
            command,
            Origin::Own,
            Vec::new(),
        );
    }
    let image = line.image.known(&builder.values).unwrap_or_default();
    match read_image_arguments(&image, &words) {
        ImageArguments::Command if words.is_empty() => {}
        ImageArguments::Command => {
            add_arguments(builder, session, &[], &line.arguments, command, Origin::Own, Vec::new());
        }
        ImageArguments::Of(entrypoint) => {
            let shown = entrypoint.join(" ");
            builder.note(format!("the image's entrypoint is written as `{shown}`; `docker inspect` shows that of another release"));
            add_entrypoint(builder, session, &entrypoint, line, command);
        }
        ImageArguments::OfUnknown => match builder.companions.image_program(&image) {
            Some(program) if !program.entrypoint.is_empty() => {
                let shown = program.entrypoint.join(" ");
                builder.note(format!("the image's entrypoint is written as `{shown}`, which this engine's {image} has"));
                let own = program.command.iter().filter(|_| words.is_empty());
                let all: Vec<String> = program.entrypoint.iter().chain(own).cloned().collect();
                add_entrypoint(builder, session, &all, line, command);
            }
            _ => {
                let arguments = builder.renderer().arguments(&line.arguments.raw, &command.span);
                session.unknown_entrypoint = arguments;
            }
        },
    }
}

fn add_entrypoint(
    builder: &mut Builder<'_>,
    session: &mut Session,
    entrypoint: &[String],
    line: &ContainerLine,
    command: &Command,
) {
    let words: Vec<Word> = entrypoint.iter().map(|word| Word::text(word, &command.span)).collect();
    add_arguments(builder, session, &words, &line.arguments, command, Origin::Own, Vec::new());
}

/// Adds the script that a shell reads from a here-document.
fn add_script(
    builder: &mut Builder<'_>,
    session: &mut Session,
    command: &Command,
    words: &[String],
    keys: WrittenKeys,
) -> bool {
    let Some(document) = command.here_document.as_ref().filter(|_| is_shell(words)) else {
        return false;
    };
    let Some(run) = builder.renderer().typed(&document.body, &command.span) else { return true };
    let role = role_of_script(&document.body);
    let tokens = plain_tokens(&split_words(&unmark(&document.body)));
    let mut entry = entry_of(command, Origin::Own, role, run, tokens);
    entry.keys = keys;
    session.entries.push(entry);
    true
}

/// Refuses a here-document in which the host's shell expands something.
fn refuses_document(builder: &mut Builder<'_>, command: &Command) -> bool {
    let document = command.here_document.as_ref();
    let expands = document
        .is_some_and(|document| document.expands && document.body.contains(['$', '`', '\\']));
    if expands {
        builder.refuse(
            "a here-document in which the host's shell expands variables",
            &command.span,
            "write its delimiter in quotes, `<<'EOF'`, and the values into the text",
        );
    }
    expands
}

fn entry_of(
    command: &Command,
    origin: Origin,
    role: Role,
    run: String,
    tokens: Vec<Token>,
) -> Entry {
    Entry {
        origin,
        role,
        run,
        tokens,
        keys: Vec::new(),
        is_background: command.is_background,
        shown: command.shown.clone(),
        place: (command.block, command.range.clone()),
        span: command.span.clone(),
    }
}

/// Adds the words behind an image, which the shell of a step reads as the guide has them.
fn add_arguments(
    builder: &mut Builder<'_>,
    session: &mut Session,
    before: &[Word],
    arguments: &Arguments,
    command: &Command,
    origin: Origin,
    keys: WrittenKeys,
) {
    let words: Vec<Word> = before.iter().chain(&arguments.words).cloned().collect();
    let sketch: Vec<String> = words.iter().map(|word| word.sketch(&builder.values)).collect();
    if let Some(ellipsis) = sketch.iter().find(|word| crate::shell::is_ellipsis(word)) {
        builder.ask(
            MissingPlace::Measurement("run"),
            format!("the words that the guide leaves out (`{ellipsis}`)"),
        );
        if sketch.len() == 1 {
            return;
        }
    }
    if arguments.raw.iter().any(|word| ["$@", "$*", "${@}"].contains(&word.text.trim_matches('"')))
    {
        builder.note("`$@`: the arguments of the guide's script, here none");
    }
    let start: Option<Vec<String>> = before
        .iter()
        .map(|word| {
            builder.take("the command", word).map(|text| retrial_recipe::quote::shell_quote(&text))
        })
        .collect();
    let rest = builder.renderer().arguments(&arguments.raw, &command.span);
    let (Some(mut start), Some(rest)) = (start, rest) else { return };
    start.extend((!rest.is_empty()).then_some(rest));
    let mut run = start.join(" ");
    if let Some(document) = &command.here_document {
        run = format!("{run} <<'END_OF_INPUT'\n{}END_OF_INPUT\n", unmark(&document.body));
    }
    let is_service = command.is_background && origin == Origin::Exec;
    let mut role = role_of(&sketch);
    if is_shell(&sketch) {
        return;
    }
    if matches!(role, Role::Idle | Role::Wait) {
        return drop_wait(builder, session, command, &run, &sketch);
    }
    if is_service && role == Role::Measure {
        role = Role::Server;
    }
    let tokens = tokens_of(builder, &words);
    let mut entry = entry_of(command, origin, role, run, tokens);
    entry.keys = keys;
    session.entries.push(entry);
}

/// A command that waits for ever keeps the container; what is before it in its script is preparation.
fn drop_wait(
    builder: &mut Builder<'_>,
    session: &mut Session,
    command: &Command,
    run: &str,
    words: &[String],
) {
    let before = shell_script(words).and_then(script_before_idling);
    if let Some(before) = before {
        builder.note(format!(
            "`{run}`: only waits at its end; what it does before is a step of the setup"
        ));
        let span = command.span.clone();
        if let Some(text) = builder.renderer().typed(&before, &span) {
            session.entries.push(entry_of(command, Origin::Own, Role::Prepare, text, Vec::new()));
        }
    } else {
        let shown: String = run.chars().take(60).collect();
        builder.note(format!("`{shown}`: dropped, Retrial keeps its container"));
    }
}

pub fn add_exec(
    builder: &mut Builder<'_>,
    session: &mut Session,
    line: &ContainerLine,
    command: &Command,
) {
    let mut keys = WrittenKeys::new();
    let mut env: Vec<(String, Node)> = Vec::new();
    for option in &line.flags {
        let flag = option.flag.name;
        match flag {
            "env" | "env-file" => {
                let variables = match flag {
                    "env" => {
                        read_variable(builder, &option.value).map(|one| one.into_iter().collect())
                    }
                    _ => read_env_file(builder, &option.value),
                };
                match variables {
                    Ok(variables) => env.extend(variables),
                    Err(reason) => builder.refuse_value(flag, &option.value, &reason),
                }
            }
            "workdir" | "user" => {
                let taken = builder.take(&format!("--{flag}"), &option.value);
                let key = if flag == "user" { "user" } else { "workdir" };
                keys.extend(taken.map(|text| (key, text_node(text))));
            }
            _ if option.flag.treatment != FlagTreatment::Refused => {}
            _ => builder.refuse(
                format!("docker exec --{flag}: a recipe cannot express this yet"),
                &option.value.span,
                "a recipe's steps run one after another, in the recipe's container",
            ),
        }
    }
    if !env.is_empty() {
        keys.push(("env", map_node(env)));
    }
    let words = line.arguments.sketch(&builder.values);
    if refuses_document(builder, command)
        || add_script(builder, session, command, &words, keys.clone())
    {
        return;
    }
    let is_detached = command.is_background || line.flag("detach").is_some();
    let command = Command { is_background: is_detached, ..command.clone() };
    add_arguments(builder, session, &[], &line.arguments, &command, Origin::Exec, keys);
}

pub fn typed_entry(
    builder: &mut Builder<'_>,
    page: &Page,
    command: &Command,
    role: Role,
) -> Option<Entry> {
    let source = page.blocks[command.block].text.slice(command.range.clone());
    let run = builder.renderer().typed(&source, &command.span)?;
    let role = match role {
        Role::Measure if command.is_background => Role::Server,
        Role::Idle => Role::Wait,
        role => role,
    };
    let tokens = plain_tokens(&split_words(&unmark(&source)));
    Some(entry_of(command, Origin::Typed, role, run, tokens))
}
