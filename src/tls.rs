//! Which certificates are trusted over HTTPS, by calls and by fetches of documents alike.
//!
//! The system's roots, and those of one more file: an organization's own authority, or the self-signed
//! certificate of an API under development (one that is not marked as an authority itself). Names and
//! dates are always checked; there is no way to switch that off. The file is read at the start and
//! not followed.

use std::{fs, path::Path, sync::Arc};

use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring::default_provider,
    pki_types::{CertificateDer, pem::PemObject},
};

use crate::diagnostic::{Diagnostic, Position};

/// What is trusted beside the system's roots; nothing by default.
#[derive(Clone, Debug, Default)]
pub struct Roots(Arc<[CertificateDer<'static>]>);

impl Roots {
    /// The certificates of a PEM file, if one is named.
    ///
    /// # Errors
    /// When it cannot be read, or holds anything but certificates that can be trusted.
    pub fn read(file: Option<&Path>) -> Result<Self, Diagnostic> {
        let Some(path) = file else { return Ok(Self::default()) };
        let read = fs::read(path).map_err(|error| format!("cannot be read: {error}"));
        let parsed = read.and_then(|pem| certificates(&pem)).map_err(|words| {
            let help = "give a PEM file: `-----BEGIN CERTIFICATE-----`, as often as needed";
            Diagnostic::error(words).help(help).at(Position::whole(path.display().to_string()))
        });
        Ok(Self(parsed?.into()))
    }

    /// A client's side of TLS that trusts the system's roots and these.
    ///
    /// # Errors
    /// In words, when there is nothing to trust.
    pub(crate) fn client(&self) -> Result<ClientConfig, String> {
        let system = rustls_native_certs::load_native_certs();
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(system.certs.into_iter().chain(self.0.iter().cloned()));
        if roots.is_empty() {
            let why = system.errors.first().map(|error| format!(": {error}")).unwrap_or_default();
            return Err(format!("no root certificates on this machine{why}"));
        }
        Ok(trusting(roots))
    }

    /// A client's side of TLS that trusts nobody.
    pub(crate) fn nobody() -> ClientConfig {
        trusting(RootCertStore::empty())
    }
}

fn trusting(roots: RootCertStore) -> ClientConfig {
    ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .expect("ring has ciphers for the default versions")
        .with_root_certificates(roots)
        .with_no_client_auth()
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let certificates: Vec<_> = CertificateDer::pem_slice_iter(pem)
        .collect::<Result<_, _>>()
        .map_err(|error| format!("cannot be read as PEM: {error}"))?;
    let mut roots = RootCertStore::empty();
    for (n, certificate) in certificates.iter().enumerate() {
        let fault = |error| format!("the certificate number {} cannot be trusted: {error}", n + 1);
        roots.add(certificate.clone()).map_err(fault)?;
    }
    if certificates.is_empty() { Err("holds no certificate".to_owned()) } else { Ok(certificates) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ca.pem");
        fs::write(&path, text).unwrap();
        let fault = Roots::read(Some(&path)).unwrap_err().to_string();
        assert!(fault.contains(&format!("ca.pem: error: {expected}")), "{fault}");
    }

    #[test]
    fn what_is_no_certificate_is_refused_by_name() {
        check("", "holds no certificate; give a PEM file");
        check("hello", "holds no certificate");
        check(
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            "the certificate number 1 cannot be trusted",
        );
        check("-----BEGIN CERTIFICATE-----\nAAAA\n", "cannot be read as PEM");
        let missing = Roots::read(Some(Path::new("no/ca.pem"))).unwrap_err().to_string();
        assert!(missing.starts_with("no/ca.pem: error: cannot be read"), "{missing}");
        assert!(Roots::read(None).unwrap().0.is_empty());
    }
}
