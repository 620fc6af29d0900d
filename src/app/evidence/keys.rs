//! SSH keys that sign: from a private key's file, or in an agent, selected by the file of the public key.

use std::env;
use std::fs;
use std::os::unix::net::UnixStream;
use std::path::Path;

use rsa::BigUint;
use rsa::pkcs1v15::SigningKey;
use rsa::signature::{SignatureEncoding, Signer as _};
use ssh_agent_lib::blocking::Client;
use ssh_agent_lib::proto::SignRequest;
use ssh_agent_lib::proto::signature::{RSA_SHA2_256, RSA_SHA2_512};
use ssh_key::private::{KeypairData, RsaKeypair};
use ssh_key::public::KeyData;
use ssh_key::sha2::{Sha256, Sha512};
use ssh_key::{Algorithm, HashAlg, Mpint, PrivateKey, PublicKey, Signature};

use crate::app::failure::Failure;
use retrial_bundle::signature::{Signer, SigningError};

const AGENT_SOCKET_VARIABLE: &str = "SSH_AUTH_SOCK";
/// The first line of OpenSSH's private keys.
const PRIVATE_KEY_HEADER: &str = "-----BEGIN OPENSSH PRIVATE KEY-----";

/// Opens a key: a private one, prompting for its passphrase, or one in the agent by its public key.
pub fn open_key(path: &Path) -> Result<Box<dyn Signer>, Failure> {
    let refuse = |reason: &str| Failure::usage(format!("--sign {}: {reason}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| {
        let make_key =
            format!("name an SSH key, or make one: ssh-keygen -t ed25519 -f {}", path.display());
        Failure::unreadable(Some("--sign"), path, &error).with_help(make_key)
    })?;
    if text.starts_with(PRIVATE_KEY_HEADER) {
        let parse_result = PrivateKey::from_openssh(&text);
        let mut key =
            parse_result.map_err(|error| refuse(&format!("not a usable key: {error}")))?;
        if key.is_encrypted() {
            key = decrypt_key(&key, path)?;
        }
        return Ok(Box::new(FileSigner(key)));
    }
    if text.starts_with("-----BEGIN") {
        return Err(refuse("not an OpenSSH private key")
            .with_help("convert a copy of it: ssh-keygen -p -f COPY"));
    }
    let public_key = PublicKey::from_openssh(&text).map_err(|_| {
        refuse("neither an OpenSSH private key nor a public key")
            .with_help("make one: ssh-keygen -t ed25519 -f retrial-key")
    })?;
    let public = public_key.key_data().clone();
    let socket = env::var_os(AGENT_SOCKET_VARIABLE).ok_or_else(|| {
        refuse(&format!(
            "a public key: an ssh-agent must hold its private key, but {AGENT_SOCKET_VARIABLE} is not set"
        ))
        .with_help(
            "start one: eval \"$(ssh-agent)\"; ssh-add KEY    or name the private key's file",
        )
    })?;
    let stream = UnixStream::connect(&socket).map_err(|error| {
        refuse(&format!("no ssh-agent answers at {AGENT_SOCKET_VARIABLE}: {error}"))
    })?;
    Ok(Box::new(AgentSigner { public_key: public, agent: Client::new(stream) }))
}

fn decrypt_key(key: &PrivateKey, path: &Path) -> Result<PrivateKey, Failure> {
    let path = path.display();
    let prompt_result = rpassword::prompt_password(format!("Enter passphrase for {path}: "));
    let passphrase = prompt_result.map_err(|error| {
        Failure::usage(format!(
            "--sign {path}: it has a passphrase, and there is no terminal to ask for it: {error}"
        ))
        .with_help(format!(
            "add it to an agent and name the public key: ssh-add {path}; --sign {path}.pub"
        ))
    })?;
    let decrypted = key.decrypt(passphrase);
    decrypted.map_err(|_| Failure::usage(format!("--sign {path}: wrong passphrase")))
}

struct FileSigner(PrivateKey);

impl Signer for FileSigner {
    fn public_key(&self) -> &KeyData {
        self.0.public_key().key_data()
    }

    fn sign(&mut self, bytes: &[u8], rsa_hash: HashAlg) -> Result<Signature, SigningError> {
        match self.0.key_data() {
            KeypairData::Rsa(pair) => sign_rsa(pair, bytes, rsa_hash),
            _ => self.0.try_sign(bytes).map_err(SigningError::refused),
        }
    }
}

/// The crate ssh-key 0.6 makes an RSA key of its first prime twice, so that it cannot sign.
fn sign_rsa(pair: &RsaKeypair, bytes: &[u8], hash: HashAlg) -> Result<Signature, SigningError> {
    let number = |number: &Mpint| {
        let bytes = number.as_positive_bytes().unwrap_or_default();
        BigUint::from_bytes_be(bytes)
    };
    let (public, private) = (&pair.public, &pair.private);
    let key_result = rsa::RsaPrivateKey::from_components(
        number(&public.n),
        number(&public.e),
        number(&private.d),
        vec![number(&private.p), number(&private.q)],
    );
    let key = key_result.map_err(|error| SigningError::Damaged(error.to_string()))?;
    let signing_result = match hash {
        HashAlg::Sha256 => SigningKey::<Sha256>::new(key).try_sign(bytes),
        _ => SigningKey::<Sha512>::new(key).try_sign(bytes),
    };
    let signed = signing_result.map_err(SigningError::refused)?;
    Signature::new(Algorithm::Rsa { hash: Some(hash) }, signed.to_vec())
        .map_err(SigningError::refused)
}

struct AgentSigner {
    public_key: KeyData,
    agent: Client<UnixStream>,
}

impl Signer for AgentSigner {
    fn public_key(&self) -> &KeyData {
        &self.public_key
    }

    fn sign(&mut self, bytes: &[u8], rsa_hash: HashAlg) -> Result<Signature, SigningError> {
        let flags = match (&self.public_key, rsa_hash) {
            (KeyData::Rsa(_), HashAlg::Sha256) => RSA_SHA2_256,
            (KeyData::Rsa(_), _) => RSA_SHA2_512,
            _ => 0,
        };
        let request =
            SignRequest { credential: self.public_key.clone().into(), data: bytes.to_vec(), flags };
        self.agent.sign(request).map_err(|error| SigningError::Agent(error.to_string()))
    }
}
