//! One TLS provider for the whole process.
//!
//! bollard and reqwest are both built without one of their own, so that only one comes into the
//! program; without any they panic at the first connection.

/// Makes ring the process's provider. Calling it again changes nothing.
pub fn provide() {
    // An error says that there is one already.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
