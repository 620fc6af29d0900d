//! Checks that the machines have the same image: a tag may refer to different images, especially without a
//! pull.

use std::collections::BTreeMap;

use itertools::join;

use super::PeerNodes;
use crate::error::Halt;
use crate::step::StepSession;
use retrial_engine::api::ImageInfo;
use retrial_plan::step::Action;
use retrial_store::journal::{EventKind, ImageDifference, StepFault};

/// The image of a step that pulls one, as this machine's engine has it.
pub(super) async fn pulled_image(session: &StepSession<'_>) -> Option<ImageInfo> {
    let Action::Pull { reference, .. } = &session.step.action else {
        return None;
    };
    let image = session.with_engine(|engine| engine.find_image(reference));
    image.await.ok()?
}

/// Compares the image of a step on the other machines with this one's; with that of the first of them if this
/// machine has none.
///
/// # Errors
/// If they differ, unless that is allowed: then journal and verdict record it.
pub(crate) async fn compare_images(
    session: &StepSession<'_>,
    others: &PeerNodes,
) -> Result<(), Halt> {
    // Drains those of an earlier step.
    let remote = others.take_images();
    let Action::Pull { reference, .. } = &session.step.action else {
        return Ok(());
    };
    let here = if session.step.runs_on_head() {
        let here = pulled_image(session).await;
        here.map(|image| (session.run_session.node_name(), image))
    } else {
        None
    };
    let differences = find_image_differences(reference, here, remote);
    if differences.is_empty() {
        return Ok(());
    }
    if others.force {
        for difference in differences {
            session.record(EventKind::ImageDiffers(difference))?;
        }
        return Ok(());
    }
    let nodes = join(differences.iter().map(|difference| &difference.node), ", ");
    let advice = format!(
        "docker pull {reference} on {nodes}, or allow it with --force: the verdict is then marked 'modified'"
    );
    Err(Halt::failure(StepFault::Host, join(differences, "; "), advice))
}

fn find_image_differences(
    reference: &str,
    here: Option<(String, ImageInfo)>,
    others: BTreeMap<String, ImageInfo>,
) -> Vec<ImageDifference> {
    let mut all = here.into_iter().chain(others);
    let Some((first, image)) = all.next() else {
        return Vec::new();
    };
    all.filter(|(_, other)| !other.has_same_content(&image))
        .map(|(node, other)| ImageDifference {
            reference: reference.to_owned(),
            node,
            digest: other.content_id().to_owned(),
            first: first.clone(),
            first_digest: image.content_id().to_owned(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(id: &str, digests: &[&str]) -> ImageInfo {
        ImageInfo {
            id: id.to_owned(),
            repo_digests: digests.iter().map(|&digest| digest.to_owned()).collect(),
            size: 0,
            env: Vec::new(),
            entrypoint: Vec::new(),
            command: Vec::new(),
        }
    }

    #[test]
    fn images_are_compared_by_digest_or_else_by_id() {
        let head = ("n1".to_owned(), image("sha256:1", &["a@sha256:d"]));
        let others = [
            ("n2", image("sha256:1", &[])),
            ("n3", image("sha256:2", &["mirror/a@sha256:d"])),
            ("n4", image("sha256:2", &["a@sha256:e"])),
            ("n5", image("sha256:3", &[])),
        ];
        let others = others.map(|(name, image)| (name.to_owned(), image));
        let found = find_image_differences("a:1", Some(head), others.into());
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "n4 has a different image a:1 than n1: sha256:e, not sha256:d",
                "n5 has a different image a:1 than n1: sha256:3, not sha256:d",
            ]
        );
    }
}
