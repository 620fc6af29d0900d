//! The verification of a bundle: who signed it, whether its files are those that were signed, and what its logs say.

use super::marks;
use crate::document::{
    Block, Conclusion, Document, Line, ListItem, Section, StatusMark, StyledText, Tone,
};
use retrial_bundle::verification::{
    BasisKind, PlanComparison, RecipeComparison, Rejudgement, RulesComparison, SignatureState,
    VerdictBasis, Verification,
};
use retrial_document::measures::format;
use retrial_results::verdict::ExitCode;

/// The largest number of differences of a plan that are shown.
const MAX_DIFFERENCES: usize = 10;
const OPEN: StatusMark = StatusMark::new(Tone::Open, "?");

pub fn verification_document(verification: &Verification) -> Document {
    let mut blocks = Vec::new();
    let judged = verification.judged.as_ref();
    let first = [archive_item(verification), signature_item(&verification.signature)].into_iter();
    let items = first.chain(judged.into_iter().flat_map(judged_items));
    blocks.extend(Block::list(items));
    if let Some(judged) = judged {
        let list = |kind| {
            let basis = judged.basis.iter().filter(|basis| basis.kind == kind);
            Block::list(basis.map(basis_item))
        };
        let declared = "declared by the machine that ran it, not checked";
        blocks.extend(Section::nonempty_block("judged again", list(BasisKind::Raw)));
        blocks.extend(Section::nonempty_block(declared, list(BasisKind::Declared)));
    }
    if let Some(differences) = &verification.differences {
        let lists = [
            ("changed", &differences.changed),
            ("missing", &differences.missing),
            ("extra", &differences.extra),
        ];
        let items = lists.into_iter().flat_map(|(word, paths)| {
            let paths = paths.iter();
            paths.map(move |path| ListItem::with_key(word, path).with_mark(marks::BAD))
        });
        blocks.extend(Section::nonempty_block("compared with the manifest", Block::list(items)));
    }
    blocks.push(Block::Conclusion(verification_conclusion(verification)));
    let notice = judged.and_then(|judged| judged.verdict.notice.as_ref());
    blocks.extend(notice.map(|notice| Block::Notice(notice.into())));
    Document::new(verification_title(verification), blocks)
}

/// Says first what a verification does not show.
fn verification_title(verification: &Verification) -> &'static str {
    match &verification.signature {
        SignatureState::Unsigned if verification.verified => {
            "verification of integrity only: nobody signed this archive"
        }
        SignatureState::NotChecked { .. } if verification.verified => {
            "verification of integrity only: the signer is not checked without --signers FILE"
        }
        _ => "verification",
    }
}

fn archive_item(verification: &Verification) -> ListItem {
    let run = verification.run.as_deref().unwrap_or("unknown");
    ListItem::with_key("run", run).with_details([("sha256", &verification.sha256)])
}

fn signature_item(state: &SignatureState) -> ListItem {
    let (mark, text) = match state {
        SignatureState::Unsigned => {
            let text =
                "unsigned: anyone could have created or changed it (--signers FILE refuses it)";
            (OPEN, text.to_owned())
        }
        SignatureState::Invalid => {
            (marks::BAD, "not checked: the archive is not intact".to_owned())
        }
        SignatureState::NotChecked { key } => {
            (OPEN, format!("by {key}; the key's owner was not checked (--signers FILE)"))
        }
        SignatureState::Allowed { key, principals } => {
            (marks::GOOD, format!("by {principals}, {key}"))
        }
        SignatureState::NotAllowed { key, reason } => (marks::BAD, format!("by {key}: {reason}")),
    };
    ListItem::with_key("signature", text).with_mark(mark)
}

fn judged_items(judged: &Rejudgement) -> Vec<ListItem> {
    let (files, bytes) =
        (format::format_count(judged.files, "file"), format::format_bytes(judged.bytes));
    let good = |key: &str, text: String| ListItem::with_key(key, text).with_mark(marks::GOOD);
    let open = |key: &str, text: String| ListItem::with_key(key, text).with_mark(OPEN);
    let bad = |key: &str, text: String| ListItem::with_key(key, text).with_mark(marks::BAD);
    let outcome = judged.verdict.qualified_outcome();
    let verdict = if judged.differences.is_empty() {
        let qualifiers = judged.verdict.qualifiers.iter();
        let qualifiers = qualifiers.map(|one| (one.kind.to_string(), &one.reason));
        good("verdict", format!("{outcome}, confirmed by its logs")).with_details(qualifiers)
    } else {
        let lines = judged.differences.iter().map(|line| ("differs", line));
        bad("verdict", format!("recorded as {}", judged.recorded)).with_details(lines)
    };
    let rules = match &judged.rules {
        RulesComparison::None => ListItem::with_key("rules", "not judged by a round's rules"),
        RulesComparison::Same { name } => {
            good("rules", format!("{name}: the same in the bundle and in this program"))
        }
        RulesComparison::Differ { name } => open(
            "rules",
            format!(
                "{name}: the bundle's differ from this program's; {} by the bundle's, {} by this program's",
                judged.by_bundle, judged.by_program
            ),
        ),
        RulesComparison::Unknown { name } => {
            open("rules", format!("{name}: unknown to this program"))
        }
    };
    let recipe = match &judged.recipe {
        recipe if judged.plan != PlanComparison::Derived => {
            plan_mismatch_item(recipe, &judged.plan)
        }
        RecipeComparison::Same { name } => good("recipe", format!("{name}: the built-in one")),
        RecipeComparison::NotBuiltIn { name } => {
            open("recipe", format!("{name}: not a built-in one"))
        }
        RecipeComparison::Differs { name, diff } => {
            let text = format!("{name}: not the built-in one of that name");
            open("recipe", text).with_details(diff.iter().map(|line| ("", line)))
        }
    };
    let image = &judged.image;
    let digests = image.digests.join(", ");
    let image = match (image.pinned, &*digests) {
        (_, "") => open("image", format!("{}: the evidence has no digest of it", image.name)),
        (true, digests) => good("image", format!("pinned; ran {digests}")),
        (false, digests) => open("image", format!("{} was not pinned; ran {digests}", image.name)),
    };
    let files = format!("{files} ({bytes}), all match the manifest");
    let mut items = vec![good("files", files), verdict, rules, recipe, image];
    if !judged.statement_differs.is_empty() {
        let parts = judged.statement_differs.join(", ");
        items.push(bad("statement", format!("does not match its files: {parts}")));
    }
    if !judged.missing.is_empty() {
        items.push(open("missing", judged.missing.join(", ")));
    }
    items
}

/// The recipe of a plan that does not follow from it: nothing that is known of the recipe holds for the run.
fn plan_mismatch_item(recipe: &RecipeComparison, plan: &PlanComparison) -> ListItem {
    let (RecipeComparison::Same { name }
    | RecipeComparison::Differs { name, .. }
    | RecipeComparison::NotBuiltIn { name }) = recipe;
    let item = |text: String| ListItem::with_key("recipe", text).with_mark(marks::BAD);
    match plan {
        PlanComparison::Derived => item(name.clone()),
        PlanComparison::Differs { differences } => {
            let lines = differences.iter().take(MAX_DIFFERENCES);
            item(format!("{name}: the plan does not follow from it"))
                .with_details(lines.map(|one| ("differs", one.to_string())))
        }
        PlanComparison::NotDerived { reason } => {
            item(format!("{name}: the plan cannot be derived again: {reason}"))
        }
    }
}

fn basis_item(basis: &VerdictBasis) -> ListItem {
    let text = format!(
        "{} ({}, {})",
        basis.what,
        format::format_count(basis.files, "file"),
        format::format_bytes(basis.bytes)
    );
    ListItem::with_key(&basis.path, StyledText::from(text))
}

fn verification_conclusion(verification: &Verification) -> Conclusion {
    let judged = verification.judged.as_ref();
    let alerts = verification.problems.iter().map(Line::from).collect();
    if !verification.verified {
        return Conclusion { alerts, ..Conclusion::new(marks::BAD, "not verified", "") };
    }
    let unsigned = verification.signature == SignatureState::Unsigned;
    let mark = match verification.exit_code {
        ExitCode::Success if unsigned => OPEN,
        ExitCode::Success => marks::GOOD,
        ExitCode::Inconclusive => OPEN,
        _ => marks::BAD,
    };
    let word = if unsigned { "unsigned" } else { "verified" };
    let sentence = judged.map_or_else(String::new, |judged| {
        let outcome = judged.verdict.qualified_outcome();
        format!("{outcome}: {}", judged.verdict.sentence())
    });
    Conclusion::new(mark, word, sentence)
}
