//! `retrial verify`: checks a bundle's signature and integrity, and judges its logs.

use std::fs::{self, File};
use std::io::{self, Seek};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use tempfile::TempDir;

use super::canonical::EvidenceFileError;
use super::{canonical, recipe, rules, unpack};
use crate::app::catalog;
use crate::app::failure::Failure;
use crate::app::opened_file::read_trusted_file;
use crate::app::options::VerifyRequest;
use retrial_bundle::allowed_signers::{AllowedSigners, KeyAuthorization};
use retrial_bundle::differences::BundleDifferences;
use retrial_bundle::hashing::{hash_reader, sha256_hex};
use retrial_bundle::signature::{self, SSH_NAMESPACE};
use retrial_bundle::statement::{Statement, StatementSources};
use retrial_bundle::verification::{
    PlanComparison, Rejudgement, SignatureState, Verification, VerifiedImage,
};
use retrial_bundle::{BundleError, BundleHead, BundleManifest, comparison, differences};
use retrial_document::ErrorText;
use retrial_plan::Plan;
use retrial_results::evidence::plan_source::plan_differences;
use retrial_results::verdict::{ExitCode, QualifierKind, Verdict};
use retrial_run::{RunError, judge_run};
use retrial_store::journal::{Event, Journal, JournalState};
use retrial_store::open::read_text_beneath;
use retrial_store::{RunDirectory, StoreError, UnpackLimit};

/// The largest text of a run that is read as a whole, bytes.
const MAX_TEXT_BYTES: u64 = 64 << 20;

/// The largest number of differences of a plan that are named.
const MAX_NAMED_DIFFERENCES: usize = 10;

/// The result of a verification, and the run that was unpacked for it.
pub struct VerifiedBundle {
    /// What was checked, and the problems that were found.
    pub verification: Verification,
    /// The run, unpacked below the directory; none if it was not unpacked.
    pub run: Option<RunDirectory>,
}

/// A directory to unpack into, which is removed with this value.
///
/// # Errors
/// If the disk takes no more.
pub fn create_temporary_directory() -> Result<TempDir, Failure> {
    let directory = tempfile::Builder::new().prefix("retrial-verify-").tempdir();
    directory.map_err(|error| {
        let temporary = std::env::temp_dir();
        Failure::host(format!("failed to create a directory in {}: {error}", temporary.display()))
            .with_help("choose another one: TMPDIR")
    })
}

/// Verifies a bundle, and unpacks it into `to`. Problems of the bundle are in the result; a failure is returned
/// only if it cannot be examined.
///
/// # Errors
/// If the file or the allowed signers cannot be read, or it does not even begin like a bundle.
pub fn verify_bundle(request: &VerifyRequest, to: &Path) -> Result<VerifiedBundle, Failure> {
    let path = &request.bundle;
    let signers = request.signers.as_deref().map(read_allowed_signers).transpose()?;
    let unreadable = |error: std::io::Error| {
        Failure::unreadable(None, path, &error).with_help(
            "name an archive of one run, packed by: retrial runs pack RUN --to FILE.tar.zst",
        )
    };
    let mut file = File::open(path).map_err(unreadable)?;
    if !file.metadata().map_err(unreadable)?.is_file() {
        return Err(Failure::usage(format!(
            "{} is not a file: verify checks an archive of runs pack",
            path.display()
        ))
        .with_help(format!("judge a directory: retrial judge {}", path.display())));
    }
    let mut verification = Verification {
        schema: 1,
        file: path.display().to_string(),
        sha256: hash_file(&mut file).map_err(unreadable)?,
        run: None,
        verified: false,
        problems: Vec::new(),
        differences: None,
        signature: SignatureState::Invalid,
        judged: None,
        exit_code: ExitCode::NotReproduced,
    };
    let identity = request.identity.as_deref();
    let run = match examine_bundle(file, signers.as_ref(), identity, to, &mut verification) {
        Ok(run) => {
            if let (Some(judged), []) = (&verification.judged, &verification.problems[..]) {
                let outcomes = [judged.by_bundle, judged.by_program];
                verification.exit_code = ExitCode::first_applicable(outcomes.map(ExitCode::from));
                verification.verified = true;
            }
            run
        }
        Err(BundleError::NotABundle(reason)) if !unpack::is_bundle(path) => {
            return Err(Failure::usage(format!("{} is not an archive that can be verified: {reason}", path.display())).with_help("create one: retrial runs pack RUN --to RUN.tar.zst    import other archives: retrial runs import"));
        }
        Err(error) if error.is_host_fault() => return Err(error.into()),
        Err(error) => {
            verification.problems.push(ErrorText::of(&error).to_string());
            verification.differences = find_differences(path);
            None
        }
    };
    Ok(VerifiedBundle { verification, run })
}

/// Compares a bundle that somebody packed again with its manifest; none if they do not differ.
fn find_differences(path: &Path) -> Option<BundleDifferences> {
    let archive = File::open(path).ok()?;
    let limit = UnpackLimit::for_archive(archive.metadata().ok()?.len()).ok()?;
    differences::find_differences(archive, limit.bytes())
        .filter(|differences| !differences.is_empty())
}

fn read_allowed_signers(path: &Path) -> Result<AllowedSigners, Failure> {
    let missing = |error: io::Error| {
        Failure::unreadable(Some("--signers"), path, &error).with_help(format!(
            "write a line for each key that may sign: echo \"NAME namespaces=\\\"{SSH_NAMESPACE}\\\" $(cat KEY.pub)\" >{}",
            path.display()
        ))
    };
    // A stream is of this process's own.
    let text = if catalog::is_stream(path) {
        fs::read(path).map_err(missing)?
    } else {
        let read = read_trusted_file(path, "it names the keys that you trust")?;
        read.ok_or_else(|| missing(io::ErrorKind::NotFound.into()))?
    };
    Ok(AllowedSigners::parse(&text, &TimeZone::system()))
}

fn hash_file(file: &mut File) -> std::io::Result<String> {
    let sum = hash_reader(&mut *file)?;
    file.rewind()?;
    Ok(sum)
}

/// Examines a bundle. Nothing is unpacked before the signature and the sum of everything are as they must be.
fn examine_bundle(
    file: File,
    signers: Option<&AllowedSigners>,
    identity: Option<&str>,
    to: &Path,
    into: &mut Verification,
) -> Result<Option<RunDirectory>, BundleError> {
    let opened = unpack::open_bundle(file)?;
    let (head, manifest) = (opened.head.clone(), opened.manifest.clone());
    into.run = Some(manifest.run.clone());
    let statement = Statement::parse(&head.statement, &head.manifest)?;
    into.signature = check_signature(&head, signers, identity)?;
    match &into.signature {
        SignatureState::NotAllowed { key, reason } => {
            into.problems.push(format!("signed by {key}: {reason}"));
            return Ok(None);
        }
        SignatureState::Unsigned if signers.is_some() => {
            into.problems.push("it is unsigned".to_owned());
            return Ok(None);
        }
        _ => {}
    }
    let run = RunDirectory::from_path(opened.unpack(to)?);
    match judge_unpacked(&run, &manifest, &statement, &head) {
        Ok(judged) => {
            into.problems.extend(verification_problems(&judged));
            into.judged = Some(judged);
        }
        Err(error) => into.problems.push(error.to_string()),
    }
    Ok(Some(run))
}

fn check_signature(
    head: &BundleHead,
    signers: Option<&AllowedSigners>,
    identity: Option<&str>,
) -> Result<SignatureState, BundleError> {
    let Some(signatures) = &head.signatures else {
        return Ok(SignatureState::Unsigned);
    };
    let signed_by = signature::verify_statement(&head.statement, signatures)?;
    let key = signature::fingerprint(&signed_by);
    let Some(signers) = signers else {
        return Ok(SignatureState::NotChecked { key });
    };
    let answer = signers.authorize_key(&signed_by, SSH_NAMESPACE, identity, Timestamp::now());
    Ok(match answer {
        KeyAuthorization::Allowed(principals) => SignatureState::Allowed { key, principals },
        KeyAuthorization::Refused(reason) => SignatureState::NotAllowed { key, reason },
    })
}

/// The reason why an unpacked run cannot be judged again.
#[derive(Debug, thiserror::Error)]
enum RejudgementError {
    #[error("journal.jsonl: it is larger than that of any run")]
    JournalTooLarge,
    #[error("journal.jsonl: {}", .0.reason_without_path())]
    Journal(#[source] StoreError),
    #[error(transparent)]
    File(#[from] EvidenceFileError),
    #[error(transparent)]
    Run(#[from] RunError),
}

/// Judges an unpacked run again, and compares the verdict with the recorded one.
fn judge_unpacked(
    run: &RunDirectory,
    manifest: &BundleManifest,
    statement: &Statement,
    head: &BundleHead,
) -> Result<Rejudgement, RejudgementError> {
    let mut large = manifest.files.iter().filter(|file| file.bytes > MAX_TEXT_BYTES);
    if large.any(|file| file.path == "journal.jsonl") {
        return Err(RejudgementError::JournalTooLarge);
    }
    let recorded = canonical::read_canonical::<Verdict>(run, "verdict.json")?;
    let plan = canonical::read_canonical::<Plan>(run, "plan.json")?;
    let forms = [recorded.problem, plan.problem].into_iter().flatten();
    let (recorded, plan) = (recorded.value, plan.value);
    let read = Journal::read_damaged::<Event>(&run.journal_path());
    let events = read.map_err(RejudgementError::Journal)?.entries;
    let verdict = judge_run(run, false)?;
    let rules_comparison = comparison::compare_rules(&plan, catalog::built_in_rounds());
    let by_program = rules::judge_by_builtin_rules(run, &plan, &events).outcome;
    let mut differences: Vec<String> = forms.collect();
    differences.extend(comparison::verdict_differences(&recorded, &verdict));
    let text =
        read_text_beneath(run.path(), Path::new("recipe.yaml"), MAX_TEXT_BYTES).unwrap_or_default();
    if sha256_hex(text.as_bytes()) != plan.recipe_hash {
        differences.push("recipe.yaml is not the recipe of plan.json".to_owned());
    }
    let facts = StatementSources { plan: &plan, verdict: &recorded, events: &events };
    let state = JournalState::from_events(&events);
    let unpinned = |verdict: &Verdict| {
        let mut qualifiers = verdict.qualifiers.iter();
        qualifiers.any(|one| one.kind == QualifierKind::UnpinnedImage)
    };
    Ok(Rejudgement {
        files: manifest.files.len(),
        bytes: manifest.total_bytes().unwrap_or_default(),
        recorded: recorded.outcome,
        by_bundle: verdict.outcome,
        by_program,
        rules: rules_comparison,
        differences,
        plan: plan_source(run, &plan),
        recipe: recipe::compare_with_builtin(&plan, &text),
        statement_differs: comparison::statement_differences(
            statement,
            facts,
            manifest,
            &head.manifest,
        ),
        image: VerifiedImage {
            name: plan.image.clone(),
            pinned: !unpinned(&verdict),
            digests: state.digests.clone(),
        },
        basis: comparison::verdict_basis(manifest),
        missing: missing_files(&plan, manifest),
        tool: statement.predicate.run.tool.clone(),
        verdict,
    })
}

/// Derives the plan again from the recipe of the bundle: a plan that was written by hand can make any log pass.
fn plan_source(run: &RunDirectory, plan: &Plan) -> PlanComparison {
    match plan_differences(run, plan) {
        Ok(differences) if differences.is_empty() => PlanComparison::Derived,
        Ok(differences) => PlanComparison::Differs { differences },
        Err(error) => PlanComparison::NotDerived { reason: error.to_string() },
    }
}

/// The files that runs usually have and that this one does not have.
fn missing_files(plan: &Plan, manifest: &BundleManifest) -> Vec<String> {
    const EXPECTED_FILES: [&str; 6] = [
        "recipe.yaml",
        "plan.json",
        "journal.jsonl",
        "host.json",
        "packages.json",
        "telemetry.csv",
    ];
    let has = |path: &Path| {
        let mut files = manifest.files.iter();
        files.any(|file| Path::new(&file.path).starts_with(path))
    };
    let files = EXPECTED_FILES.map(PathBuf::from).into_iter();
    let with_logs = plan.measurements.iter().filter(|measured| measured.loadgen);
    let results = with_logs.map(|measured| {
        let first = measured.judged_trials().next().unwrap_or(1);
        PathBuf::from(measured.results_directory(first))
    });
    let missing = files.chain(results).filter(|path| !has(path));
    missing.map(|path| path.display().to_string()).collect()
}

/// The problems because of which a bundle is not verified.
fn verification_problems(judged: &Rejudgement) -> Vec<String> {
    let mut problems: Vec<String> = judged
        .differences
        .iter()
        .map(|difference| format!("its verdict does not match its logs: {difference}"))
        .collect();
    if let Some(difference) = comparison::describe_difference(judged.recorded, judged.by_program) {
        problems.push(format!("its verdict does not match the round's rules: {difference}"));
    }
    match &judged.plan {
        PlanComparison::Derived => {}
        PlanComparison::Differs { differences } => {
            let more = differences.len().saturating_sub(MAX_NAMED_DIFFERENCES);
            let named = differences.iter().take(MAX_NAMED_DIFFERENCES);
            problems.extend(
                named.map(|one| format!("its plan does not follow from its recipe: {one}")),
            );
            if more > 0 {
                problems.push(format!("its plan differs in {more} more values"));
            }
        }
        PlanComparison::NotDerived { reason } => {
            problems.push(format!("its plan cannot be derived again from its recipe: {reason}"));
        }
    }
    let made_by = &judged.tool.version;
    if judged.plan != PlanComparison::Derived && made_by != env!("CARGO_PKG_VERSION") {
        problems.push(format!(
            "it was packed by retrial {made_by}, whose plans may differ: verify it with that version"
        ));
    }
    if !judged.statement_differs.is_empty() {
        let parts = judged.statement_differs.join(", ");
        problems.push(format!("its statement does not match its files: {parts}"));
    }
    problems
}
