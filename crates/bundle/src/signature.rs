//! Signatures of a statement by an SSH key: an SSH signature, which `ssh-keygen -Y verify` checks, and the one
//! in the DSSE envelope. The caller provides the signer: a key from a file, or an agent.

use miette::Diagnostic;
use rsa::signature::Verifier;
use ssh_key::public::KeyData;
use ssh_key::{Algorithm, Fingerprint, HashAlg, LineEnding, Signature, SshSig};
use thiserror::Error;

use super::envelope;
use super::error::BundleError;
use super::head::{SIGNATURE_FILE, Signatures};

/// The namespace of the SSH signature: `ssh-keygen -Y verify -n retrial-evidence`.
pub const SSH_NAMESPACE: &str = "retrial-evidence";
/// Shorter RSA keys are refused, as OpenSSH refuses them for users.
const MIN_RSA_BITS: usize = 2048;

/// A key that signs: in a file, or in an agent.
pub trait Signer {
    /// Returns the public key that verifies the signatures.
    fn public_key(&self) -> &KeyData;

    /// Signs these bytes; an RSA key by PKCS #1 v1.5 with this hash.
    ///
    /// # Errors
    /// If the key or its agent refuses.
    fn sign(&mut self, bytes: &[u8], rsa_hash: HashAlg) -> Result<Signature, SigningError>;
}

#[derive(Debug, Error, Diagnostic)]
pub enum SigningError {
    /// The kind of the key is not supported.
    #[error(
        "{0}: a bundle is signed by an ed25519 or an RSA key (of at least {MIN_RSA_BITS} bits)"
    )]
    Kind(String),
    /// The key's numbers do not belong together.
    #[error("the key is damaged: {0}")]
    Damaged(String),
    /// The agent did not sign.
    #[error("the ssh-agent did not sign: {0}")]
    #[diagnostic(help("does it have the key? ssh-add -l"))]
    Agent(String),
    /// The key did not sign, or what it signed is not a signature.
    #[error("{0}")]
    Refused(String),
}

impl SigningError {
    /// The error of a library, for `map_err`.
    pub fn refused(error: impl std::fmt::Display) -> Self {
        Self::Refused(error.to_string())
    }
}

/// Signs a statement twice: as an SSH signature, and in a DSSE envelope.
///
/// # Errors
/// If the kind of the key is not supported, or its agent refuses.
pub fn sign_statement(
    statement: &[u8],
    signer: &mut dyn Signer,
) -> Result<Signatures, SigningError> {
    let key = signer.public_key().clone();
    check_key_kind(&key)?;
    // As ssh-keygen signs.
    let hash = HashAlg::Sha512;
    let bytes =
        SshSig::signed_data(SSH_NAMESPACE, hash, statement).map_err(SigningError::refused)?;
    let by_key = signer.sign(&bytes, hash)?;
    let ssh =
        SshSig::new(key.clone(), SSH_NAMESPACE, hash, by_key).map_err(SigningError::refused)?;
    let ssh = ssh.to_pem(LineEnding::LF).map_err(SigningError::refused)?;
    // The default hash of in-toto's tools for RSA keys.
    let bytes = envelope::signed_bytes(statement);
    let by_key = signer.sign(&bytes, HashAlg::Sha256)?;
    let envelope_text = envelope::encode_envelope(statement, &fingerprint(&key), by_key.as_bytes());
    let signatures = Signatures {
        ssh: ssh.into_bytes(),
        envelope: envelope_text.map_err(SigningError::refused)?.into_bytes(),
    };
    // An agent may return anything.
    verify_statement(statement, &signatures).map_err(SigningError::refused)?;
    Ok(signatures)
}

/// Checks both signatures of a statement; returns the key, which the caller must check.
///
/// # Errors
/// If one of them does not match the statement, or their keys differ.
pub fn verify_statement(statement: &[u8], signatures: &Signatures) -> Result<KeyData, BundleError> {
    let wrong = |reason: &str| BundleError::Malformed(format!("{SIGNATURE_FILE}: {reason}"));
    let ssh = SshSig::from_pem(&signatures.ssh)
        .map_err(|error| wrong(&format!("it is not an SSH signature: {error}")))?;
    let text = ssh.to_pem(LineEnding::LF);
    if text.ok().as_deref().map(str::as_bytes) != Some(&signatures.ssh) {
        return Err(wrong("it differs from what `runs pack` writes"));
    }
    if ssh.namespace() != SSH_NAMESPACE {
        let reason = format!("its namespace is {}", ssh.namespace());
        return Err(wrong(&reason));
    }
    if !ssh.reserved().is_empty() || ssh.version() != SshSig::VERSION {
        return Err(wrong("it has a later version"));
    }
    let key = ssh.public_key().clone();
    check_key_kind(&key).map_err(|kind| wrong(&format!("{kind} keys do not sign bundles")))?;
    let bytes = SshSig::signed_data(SSH_NAMESPACE, ssh.hash_alg(), statement)
        .map_err(|error| wrong(&error.to_string()))?;
    key.verify(&bytes, ssh.signature()).map_err(|_| wrong("it does not match this statement"))?;
    let keyid = fingerprint(&key);
    let signed = envelope::extract_signature(&signatures.envelope, statement, &keyid)?;
    let algorithm = match key.algorithm() {
        Algorithm::Rsa { .. } => Algorithm::Rsa { hash: Some(HashAlg::Sha256) },
        other => other,
    };
    let bytes = envelope::signed_bytes(statement);
    Signature::new(algorithm, signed)
        .ok()
        .and_then(|signed| key.verify(&bytes, &signed).ok())
        .ok_or_else(|| {
            BundleError::malformed(format!(
                "{}: its signature does not match this statement",
                super::head::ENVELOPE_FILE
            ))
        })?;
    Ok(key)
}

/// `SHA256:…`: the key's name in the envelope, and in messages.
pub fn fingerprint(key: &KeyData) -> String {
    Fingerprint::new(HashAlg::Sha256, key).to_string()
}

/// Returns the kind of a key that cannot sign bundles as an error.
fn check_key_kind(key: &KeyData) -> Result<(), SigningError> {
    match key {
        KeyData::Ed25519(_) => Ok(()),
        KeyData::Rsa(rsa) => {
            let bits = rsa.n.as_positive_bytes().map_or(0, <[u8]>::len) * 8;
            if bits < MIN_RSA_BITS {
                return Err(SigningError::Kind(format!("{bits}-bit RSA")));
            }
            Ok(())
        }
        other => Err(SigningError::Kind(other.algorithm().to_string())),
    }
}
