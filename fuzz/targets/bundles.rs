//! Archives of runs that somebody else packed, and OpenSSH's file of who may sign them.

use retrial_bundle::allowed_signers::AllowedSigners;
use retrial_bundle::body;
use retrial_bundle::statement::Statement;
use retrial_bundle::{BundleHead, BundleManifest, signature};

use jiff::tz::TimeZone;

/// What is read of a bundle is written as it was.
pub fn bundle(data: &[u8]) {
    let mut rest = data;
    let Ok(head) = BundleHead::read(&mut rest) else {
        return;
    };
    let mut written = Vec::new();
    assert!(head.write(&mut written).is_ok());
    assert_eq!(&data[..data.len() - rest.len()], &written[..]);
    if let Some(signatures) = &head.signatures {
        let _ = signature::verify_statement(&head.statement, signatures);
    }
    let Ok(manifest) = BundleManifest::parse(&head.manifest) else {
        return;
    };
    let _ = Statement::parse(&head.statement, &head.manifest);
    if body::check_body_digest(rest, &manifest).is_ok() {
        let _ = body::unpack_body(rest, &manifest, |_| Ok(std::io::sink()));
    }
}

/// Lines of allowed signers.
pub fn allowed_signers(data: &[u8]) {
    let _ = AllowedSigners::parse(data, &TimeZone::UTC);
}
