//! Fills a kept directory, unless an earlier run has: in a container of its own, so that the
//! measuring container is the same whether the run filled or found it, and what is kept depends
//! on nothing that only this run did.

use std::path::Path;

use super::container;
use super::error::RunError;
use super::follow::disk_full;
use super::kept::{image, interruptible, looked_at, mounts, place, tidy, wait_for};
use super::session::Session;
use super::{exec, host, seed};
use crate::plan::cached::{CachedDirectory, PopulateStep};
use crate::plan::options::Keep;
use crate::plan::step::{Action, Condition, Step};
use crate::store::cache::{CacheState, Manifest, Origin, Stage};
use crate::store::journal::{StepEnd, StepFault, What};
use retrial_container::Mount;
use retrial_engine::api::ExecSpec;
use retrial_recipe::model::Place;

/// Does the step; `again` if its command may be running since before a kill of the tool.
pub async fn fill(
    session: &Session,
    step: &Step,
    fill: &PopulateStep,
    again: bool,
) -> Result<StepEnd, RunError> {
    let image = match image(session).await? {
        Ok(image) => image,
        Err(end) => return Ok(end),
    };
    let kept = &fill.directory;
    let place = place(session, kept, &image);
    let Some(_lock) = wait_for(session, step, &place).await? else {
        return Ok(StepEnd::Stopped);
    };
    let stage = place.stage(session.run.id());
    match looked_at(session, &place, kept).await? {
        None => return Ok(StepEnd::Stopped),
        Some(CacheState::Valid(manifest)) => {
            discard(session, step, &stage).await?;
            let Origin { run, at, .. } = &manifest.origin;
            let size = size(&manifest);
            let decision = format!(
                "kept already as {}: {size}, by run {run}, {at}",
                place.label()
            );
            return decided(session, step, decision);
        }
        Some(CacheState::Invalid(because)) => {
            let text = format!(
                "{} is not whole: {because}; it is filled anew",
                place.label()
            );
            session.say(Some(step), What::Warning { text })?;
            place.set_aside()?;
        }
        Some(CacheState::Missing) => {}
    }
    let filling = Filling {
        session,
        step,
        fill,
        image: &image,
        stage: &stage,
    };
    let end = filling.run(again).await?;
    if !end.is_done() {
        if !(matches!(end, StepEnd::Failed { .. }) && keeps_what_failed(session)) {
            discard(session, step, &stage).await?;
        }
        return Ok(end);
    }
    let origin = Origin {
        recipe: session.plan.recipe.clone(),
        run: session.run.id().to_owned(),
        image,
        models: session.state().models,
        at: jiff::Timestamp::now().strftime("%Y-%m-%d").to_string(),
    };
    let line = "looking through what it gave".to_owned();
    session.show(step, What::Output { line });
    let content = stage.content();
    let made = interruptible(session, move |stop| Manifest::make(&content, origin, stop)).await?;
    let Some(manifest) = made else {
        return Ok(StepEnd::Stopped);
    };
    if let Some(because) = manifest.mismatch(&kept.files) {
        discard(session, step, &stage).await?;
        return Ok(StepEnd::failed(
            StepFault::Command,
            format!("what it gave is not what the recipe lists: {because}"),
            "nothing of it was kept; read its output, and `cache.files` in the recipe",
        ));
    }
    place.publish(&stage, &manifest)?;
    tidy(session, &place).await?;
    let size = size(&manifest);
    decided(session, step, format!("filled {}: {size}", place.label()))
}

struct Filling<'a> {
    session: &'a Session,
    step: &'a Step,
    fill: &'a PopulateStep,
    image: &'a str,
    stage: &'a Stage,
}

impl Filling<'_> {
    /// Has the command done what it does; the stage is then marked.
    async fn run(&self, again: bool) -> Result<StepEnd, RunError> {
        let Self { session, step, .. } = self;
        if self.stage.is_populated() {
            container::remove(session).await?;
            return Ok(StepEnd::Done { exit_code: None });
        }
        if !again && let Err(end) = self.begin().await? {
            return Ok(end);
        }
        let command = &self.fill.command;
        let end = match self.fill.on {
            Place::Container => {
                let end = exec::run(session, step, command, again).await?;
                self.hand_over().await;
                end
            }
            Place::Host => {
                let mut command = command.clone();
                let content = self.stage.content().display().to_string();
                command.env.push(("RETRIAL_CACHE_PATH".to_owned(), content));
                let end = host::run(session, step, &command, again).await?;
                let content = self.stage.content();
                let mut chmod = tokio::process::Command::new("chmod");
                chmod
                    .args(["-R", rights(&self.fill.directory)])
                    .arg(content);
                let _ = chmod.stderr(std::process::Stdio::null()).status().await;
                end
            }
        };
        let end = disk_full_first(&self.stage.content(), end);
        if end.is_done() {
            self.stage.mark_populated()?;
            container::remove(session).await?;
        }
        Ok(end)
    }

    /// A new stage with what the image has, and the container to fill it in.
    async fn begin(&self) -> Result<Result<(), StepEnd>, RunError> {
        let Self { session, step, .. } = self;
        if let Err(error) = self.stage.begin() {
            return Ok(Err(StepEnd::failed(
                StepFault::Host,
                error.to_string(),
                "keep directories elsewhere: --cache DIR",
            )));
        }
        let content = self.stage.content();
        let path = &self.fill.directory.path;
        let owner = match self.fill.on {
            Place::Container => String::new(),
            Place::Host => owner(),
        };
        let seeded = seed::seed(session, step, self.image, path, &content, &owner).await?;
        if let Err(end) = seeded {
            return Ok(Err(end));
        }
        if self.fill.on == Place::Host {
            return Ok(Ok(()));
        }
        let mut kept = match mounts(session, step).await? {
            Ok(kept) => kept,
            Err(end) => return Ok(Err(end)),
        };
        kept.mounts.push(Mount {
            source: content.display().to_string(),
            target: path.clone(),
            read_only: false,
        });
        let end = container::create_with(session, step, "-fill", kept).await?;
        Ok(if end.is_done() { Ok(()) } else { Err(end) })
    }

    /// Gives what the container's users wrote to us, and to everybody to read. Following no link:
    /// they lead to places of the container. Where the image has no `chown`, what cannot be read
    /// is told when it is read.
    async fn hand_over(&self) {
        let session = self.session;
        let Some(container) = session.state().container else {
            return;
        };
        let kept = &self.fill.directory;
        let script = "chown -hR \"$1\" \"$3\"; chmod -R \"$2\" \"$3\"";
        let (owner, rights) = (owner(), rights(kept));
        let words = ["/bin/sh", "-c", script, "sh", &owner, rights, &kept.path];
        let spec = ExecSpec {
            command: words.map(str::to_owned).to_vec(),
            user: Some("0".to_owned()),
            ..Default::default()
        };
        let _ = session.engine.exec(&container, &spec).await;
    }
}

/// A full disk explains any failure.
fn disk_full_first(content: &Path, end: StepEnd) -> StepEnd {
    match end {
        StepEnd::Failed { last_lines, .. } if disk_full(content) => StepEnd::Failed {
            fault: StepFault::Host,
            because: format!("the disk of {} is full", content.display()),
            exit_code: None,
            last_lines,
            advice:
                "make room (list cached directories: retrial clean --cached), or cache elsewhere: --cache DIR"
                    .to_owned(),
        },
        end => end,
    }
}

/// Who we are, for `chown`.
fn owner() -> String {
    let (user, group) = (rustix::process::getuid(), rustix::process::getgid());
    format!("{}:{}", user.as_raw(), group.as_raw())
}

/// Rights that what is kept has, for `chmod`: everybody may read it.
fn rights(kept: &CachedDirectory) -> &'static str {
    if kept.writable {
        "a+rwX"
    } else {
        "u+rwX,go+rX,go-w"
    }
}

/// Takes the filling container away, and what it was filling.
async fn discard(session: &Session, step: &Step, stage: &Stage) -> Result<(), RunError> {
    if session.state().made_by == Some(step.number) {
        container::remove(session).await?;
    }
    // What is not ours to remove now is in nobody's way: `clean --cached` tells its size.
    let _ = stage.discard();
    Ok(())
}

fn decided(session: &Session, step: &Step, decision: String) -> Result<StepEnd, RunError> {
    session.say(Some(step), What::Decided { decision })?;
    Ok(StepEnd::Done { exit_code: None })
}

fn size(manifest: &Manifest) -> String {
    let bytes = crate::format::size(manifest.bytes());
    match manifest.files.len() {
        1 => format!("1 file, {bytes}"),
        count => format!("{count} files, {bytes}"),
    }
}

/// Whether `--keep` asks for what failed to stay.
fn keeps_what_failed(session: &Session) -> bool {
    let mut steps = session.plan.steps.iter();
    let keep = |step: &Step| match (&step.action, &step.when) {
        (Action::Remove, Condition::Unless { keep }) => *keep != Keep::Never,
        _ => false,
    };
    steps.any(keep)
}
