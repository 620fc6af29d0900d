//! DSSE: the envelope that in-toto's tools read, of the same statement by the same key.
//! (<https://github.com/secure-systems-lab/dsse/blob/v1.0.2/protocol.md>)

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::error::BundleError;
use super::head::ENVELOPE_FILE;

/// The type of in-toto statements.
pub const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";

/// A DSSE envelope: a statement and its signature in one JSON object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Envelope {
    /// The signed statement, base64.
    pub payload: String,
    /// The media type of the payload: [`PAYLOAD_TYPE`].
    pub payload_type: String,
    /// Exactly one signature, by the key of the SSH signature.
    pub signatures: Vec<EnvelopeSignature>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnvelopeSignature {
    /// The key's fingerprint, as `ssh-keygen -l` prints it.
    pub keyid: String,
    /// The signature of the payload and its type, in base64.
    pub sig: String,
}

/// The bytes that are signed: DSSE's pre-authentication encoding.
pub fn signed_bytes(statement: &[u8]) -> Vec<u8> {
    let mut bytes =
        format!("DSSEv1 {} {PAYLOAD_TYPE} {} ", PAYLOAD_TYPE.len(), statement.len()).into_bytes();
    bytes.extend(statement);
    bytes
}

/// The canonical text of an envelope.
///
/// # Errors
/// If it cannot be written as JSON.
pub fn encode_envelope(
    statement: &[u8],
    keyid: &str,
    signature: &[u8],
) -> Result<String, BundleError> {
    let envelope = Envelope {
        payload: STANDARD.encode(statement),
        payload_type: PAYLOAD_TYPE.to_owned(),
        signatures: vec![EnvelopeSignature {
            keyid: keyid.to_owned(),
            sig: STANDARD.encode(signature),
        }],
    };
    Ok(serde_json::to_string(&envelope)? + "\n")
}

/// Returns the signature of an envelope, which must be of this statement and name this key.
///
/// # Errors
/// If it is another envelope, or its text is not canonical.
pub fn extract_signature(
    envelope: &[u8],
    statement: &[u8],
    keyid: &str,
) -> Result<Vec<u8>, BundleError> {
    let wrong = |reason: &str| BundleError::Malformed(format!("{ENVELOPE_FILE}: {reason}"));
    let parsed: Envelope =
        serde_json::from_slice(envelope).map_err(|error| wrong(&error.to_string()))?;
    let [signature] = &parsed.signatures[..] else {
        return Err(wrong("it does not have exactly one signature"));
    };
    let signature = STANDARD.decode(&signature.sig).map_err(|error| wrong(&error.to_string()))?;
    if encode_envelope(statement, keyid, &signature)?.as_bytes() != envelope {
        return Err(wrong("it does not match this statement and key"));
    }
    Ok(signature)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signed_bytes_match_the_dsse_specification() {
        let expected = "DSSEv1 29 http://example.com/HelloWorld 11 hello world";
        let bytes = String::from_utf8(signed_bytes(b"hello world")).unwrap();
        assert_eq!(
            bytes,
            expected.replace("29 http://example.com/HelloWorld", "28 application/vnd.in-toto+json")
        );
    }
}
