//! Follows a block as a shell does, without executing anything: assignments, `export`, `cd`, `alias` and functions have
//! their effect on what follows; commands of containers are kept, and everything else is noted.

use std::collections::{BTreeMap, BTreeSet};

use brush_parser::ast::{self, SourceLocation as _};

use super::block::Block;
use super::commands::{CommandKind, GuideCommand, changes_shell};
use super::foreign::JobContext;
use super::grammar::restore_here_documents;
use super::line::LineReader;
use super::programs::SRUN;
use super::shell_environment::ShellEnvironment;
use super::shown_text::show;
use super::syntax::parse_leniently;
use super::tree::{is_test, names_tool, reads_input};
use super::values::{Values, WORKING_DIRECTORY, Word};
use crate::{Diagnostics, Span};

/// A shell that follows a block.
pub(super) struct Shell<'a> {
    block: &'a Block,
    pub values: Values<'a>,
    /// Variables that the block assigns; arrays have several words.
    pub variables: BTreeMap<String, Vec<Word>>,
    pub aliases: BTreeMap<String, Vec<Word>>,
    pub functions: BTreeMap<String, ast::FunctionBody>,
    /// The names of variables that programs inherit.
    pub exported: BTreeSet<String>,
    /// The names of variables that the block uses itself.
    pub used: BTreeSet<String>,
    /// Texts of files that the block writes.
    pub files: BTreeMap<String, String>,
    /// The job's options and the image files that commands of Slurm and Apptainer use.
    pub job: JobContext,
    /// The arguments of the function that is called.
    pub arguments: Option<Vec<Word>>,
    /// The working directory, as text of the recipe.
    pub directory: String,
    pub call_depth: usize,
    /// The position of the word whose text is followed: its parts have no positions of their own.
    pub place: Option<Span>,
    /// What follows is typed in a container's shell.
    pub is_typing: bool,
    pub commands: Vec<GuideCommand>,
    pub notes: Vec<String>,
    pub problems: Diagnostics,
}

pub(super) fn follow<'a>(block: &'a Block, environment: &'a dyn ShellEnvironment) -> Shell<'a> {
    let (program, problems) = parse_leniently(block);
    let mut values = Values::new(environment);
    let here = values.variable("PWD");
    values.declare("PWD", "$(pwd)", here, None);
    let mut shell = Shell {
        block,
        values,
        variables: BTreeMap::new(),
        aliases: BTreeMap::new(),
        functions: BTreeMap::new(),
        exported: BTreeSet::new(),
        used: BTreeSet::new(),
        files: BTreeMap::new(),
        job: JobContext::default(),
        arguments: None,
        directory: WORKING_DIRECTORY.to_owned(),
        call_depth: 0,
        place: None,
        is_typing: false,
        commands: Vec::new(),
        notes: block.notes.clone(),
        problems,
    };
    shell.read_job_lines();
    for list in program.iter().flat_map(|program| &program.complete_commands) {
        shell.run_list(list);
    }
    shell
}

impl Shell<'_> {
    pub(super) fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    pub(super) fn word_span(&self, word: &ast::Word) -> Span {
        self.span(word.location())
    }

    pub(super) fn span(&self, location: Option<brush_parser::SourceSpan>) -> Span {
        if let Some(place) = &self.place {
            return place.clone();
        }
        let range = location.map_or(0..0, |place| place.start.index..place.end.index);
        self.block.span(range)
    }

    pub(super) fn run_list(&mut self, list: &ast::CompoundList) {
        for ast::CompoundListItem(and_or, separator) in &list.0 {
            let is_background = matches!(separator, ast::SeparatorOperator::Async);
            self.run_and_or(and_or, is_background);
        }
    }

    fn run_and_or(&mut self, and_or: &ast::AndOrList, is_background: bool) {
        let is_test = and_or.first.seq.first().is_some_and(is_test);
        let others: Vec<_> = and_or.into_iter().skip(1).collect();
        let mut pipelines = and_or.into_iter();
        if self.is_typing && !pipelines.any(|(_, pipeline)| pipeline.seq.iter().any(names_tool)) {
            return self.type_commands(and_or, is_background);
        }
        if is_test && !others.iter().any(|(_, pipeline)| pipeline.seq.iter().any(names_tool)) {
            // `[ -z "$X" ] && X=1` may assign.
            let variables = self.variables.clone();
            for (_, pipeline) in others {
                self.run_pipeline(pipeline, is_background);
            }
            return self.forget_changes(variables, &show(and_or));
        }
        for (operator, pipeline) in and_or {
            match operator {
                ast::PipelineOperator::Or if !pipeline.seq.iter().any(names_tool) => {
                    let shown = show(pipeline);
                    self.note(format!("`|| {shown}`: dropped, a step that fails ends the run"));
                }
                _ => self.run_pipeline(pipeline, is_background),
            }
        }
    }

    /// Adds the commands that are typed in the container: `mkdir x && cd x` is two, since the second affects later
    /// commands.
    fn type_commands(&mut self, and_or: &ast::AndOrList, is_background: bool) {
        let has_effect = and_or.into_iter().any(|(_, pipeline)| changes_shell(pipeline));
        let is_sequence =
            and_or.into_iter().all(|(operator, _)| matches!(operator, ast::PipelineOperator::And));
        let is_test = and_or.first.seq.first().is_some_and(is_test);
        if has_effect && is_sequence && !is_test && !is_background {
            for (_, pipeline) in and_or {
                self.type_command(pipeline, false, changes_shell(pipeline));
            }
        } else {
            self.type_command(and_or, is_background, has_effect);
        }
    }

    fn type_command(
        &mut self,
        part: &(impl ToString + ast::SourceLocation),
        is_background: bool,
        changes_shell: bool,
    ) {
        let written = written_text(part);
        let span = self.span(part.location());
        if written == "exit" {
            self.is_typing = false;
            return;
        }
        let text = if written.contains("${{") {
            let message =
                format!("`${{{{` in `{}`: a recipe would read it as an expression", show(part));
            self.values.defer(
                &written,
                message,
                span.clone(),
                "write the command into a script next to the recipe",
            )
        } else {
            self.name_placeholders(&written)
        };
        self.commands.push(GuideCommand {
            is_background,
            ..GuideCommand::new(CommandKind::Typed { changes_shell }, text, &span)
        });
    }

    fn run_pipeline(&mut self, pipeline: &ast::Pipeline, is_background: bool) {
        let Some((first, rest)) = pipeline.seq.split_first() else {
            return;
        };
        if rest.iter().any(reads_input) {
            let shown = show(pipeline);
            let message = format!("`{shown}`: a recipe's commands have no input");
            let help = "write the input into a file, or into `bash -c '… | …'` after the image";
            self.problems.error("guide", message, &self.span(pipeline.location()), help);
            return;
        }
        let before = self.commands.len();
        self.run_command(first, is_background);
        if !rest.is_empty() {
            let filters = rest.iter().map(show).collect::<Vec<_>>().join(" | ");
            if self.commands[before..].iter().any(GuideCommand::is_in_container) {
                self.note(format!("`| {filters}`: dropped, Retrial keeps the whole output"));
            } else if let Some(last) = self.commands[before..].last_mut() {
                last.text = written_text(pipeline);
            }
        }
    }

    fn run_command(&mut self, command: &ast::Command, is_background: bool) {
        match command {
            ast::Command::Simple(simple) => self.run_simple(simple, is_background),
            ast::Command::Compound(compound, _) => self.run_compound(compound, command),
            ast::Command::Function(function) => {
                self.functions.insert(function.fname.value.clone(), function.body.clone());
            }
            ast::Command::ExtendedTest(..) => {}
        }
    }

    pub(super) fn run_compound(&mut self, compound: &ast::CompoundCommand, whole: &ast::Command) {
        use ast::CompoundCommand as C;
        match compound {
            C::BraceGroup(group) => self.run_list(&group.list),
            C::Subshell(subshell) => {
                let before = (self.variables.clone(), self.directory.clone());
                self.run_list(&subshell.list);
                (self.variables, self.directory) = before;
            }
            C::ForClause(clause) => self.run_branches("for", &[&clause.body.list], whole),
            C::ArithmeticForClause(clause) => self.run_branches("for", &[&clause.body.list], whole),
            C::WhileClause(clause) => {
                self.run_branches("while", &[&clause.0, &clause.1.list], whole);
            }
            C::UntilClause(clause) => {
                self.run_branches("until", &[&clause.0, &clause.1.list], whole);
            }
            C::IfClause(clause) => {
                let elses = clause.elses.iter().flatten().map(|branch| &branch.body);
                let lists: Vec<_> =
                    [&clause.condition, &clause.then].into_iter().chain(elses).collect();
                self.run_branches("if", &lists, whole);
            }
            C::CaseClause(clause) => {
                let lists: Vec<_> =
                    clause.cases.iter().filter_map(|case| case.cmd.as_ref()).collect();
                self.run_branches("case", &lists, whole);
            }
            C::Arithmetic(_) | C::Coprocess(_) => self.add_other(whole),
        }
    }

    /// Looks into commands that a shell executes as often as it finds: a container among them is refused, because nobody
    /// knows how often it runs.
    fn run_branches(&mut self, word: &str, lists: &[&ast::CompoundList], whole: &ast::Command) {
        let variables = self.variables.clone();
        let before = self.commands.len();
        for list in lists {
            self.run_list(list);
        }
        let is_changed = self.variables != variables;
        self.forget_changes(variables, &show(whole));
        let branch = self.commands.split_off(before);
        let inside: Vec<_> = branch.iter().filter(|command| command.is_in_container()).collect();
        match (word, inside.first()) {
            (_, Some(command)) => {
                let message = format!("`{word}` around a container's command");
                let help = "give the command of one pass: a batch (`retrial batch`) repeats a recipe over values";
                self.problems.error("guide", message, &command.span, help);
            }
            ("while" | "until", None) => {
                let shown = show(whole);
                self.note(format!("`{shown}`: dropped, a service is awaited by its `ready`"));
            }
            (_, None) if branch.is_empty() && is_changed => {}
            _ => self.add_other(whole),
        }
    }

    /// Forgets the variables that are assigned by commands that a shell may skip.
    fn forget_changes(&mut self, before: BTreeMap<String, Vec<Word>>, shown: &str) {
        let is_changed = |name: &&String| before.get(*name) != self.variables.get(*name);
        let names: Vec<String> = self.variables.keys().filter(is_changed).cloned().collect();
        self.variables = before;
        for name in &names {
            self.variables.remove(name);
        }
        if !names.is_empty() {
            let listed = names.join(", ");
            self.note(format!(
                "`{shown}`: only a shell can follow it; the recipe asks for the value of {listed} where it is used"
            ));
        }
    }

    /// Reads the options in the `#SBATCH` lines of a job's script that its commands inherit.
    fn read_job_lines(&mut self) {
        let mut at = 0;
        let mut words = Vec::new();
        let block = self.block;
        for line in block.text.split_inclusive('\n') {
            let mut start = at;
            for word in line.split(' ').take_while(|_| line.starts_with("#SBATCH ")) {
                let end = start + word.chars().count();
                let text = word.trim();
                if text.starts_with('#') && text != "#SBATCH" {
                    break;
                }
                if !text.is_empty() && text != "#SBATCH" {
                    words.push(Word::new(text, &block.span(start..end)));
                }
                start = end + 1;
            }
            at += line.chars().count();
        }
        // sbatch has a few options of its own.
        let mut ignored = Diagnostics::default();
        let mut reader = LineReader::new(&SRUN, &words, &mut ignored);
        reader.read_flags();
        self.job.flags = reader.flags;
    }

    fn add_other(&mut self, command: &ast::Command) {
        let span = self.span(command.location());
        self.commands.push(GuideCommand::new(CommandKind::Other, written_text(command), &span));
    }
}

/// Returns a part of the block as the shell reads it.
pub(super) fn written_text(part: &impl ToString) -> String {
    restore_here_documents(&part.to_string())
}
