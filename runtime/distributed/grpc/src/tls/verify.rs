//! The verification of certificates.

use std::fmt;
use std::sync::Arc;

use tfrt_distributed::name::TaskName;
use tfrt_host::log;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::client::verify_server_cert_signed_by_trust_anchor;
use tokio_rustls::rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
};
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use tokio_rustls::rustls::server::{ParsedCertificate, VerifierBuilderError, WebPkiClientVerifier};
use tokio_rustls::rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, OtherError, RootCertStore,
    SignatureScheme,
};

use super::Own;
use super::identity::IdentityError;

/// Accepts certificates of tasks of one cluster.
pub(super) struct ClientVerifier {
    authorities: Arc<dyn ClientCertVerifier>,
    own: Arc<Own>,
}

impl ClientVerifier {
    pub(super) fn new(
        authorities: Arc<RootCertStore>,
        provider: &Arc<CryptoProvider>,
        own: &Arc<Own>,
    ) -> Result<Self, VerifierBuilderError> {
        let builder =
            WebPkiClientVerifier::builder_with_provider(authorities, Arc::clone(provider));
        Ok(Self {
            authorities: builder.build()?,
            own: Arc::clone(own),
        })
    }
}

impl ClientCertVerifier for ClientVerifier {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.authorities.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        let verified = self
            .authorities
            .verify_client_cert(end_entity, intermediates, now)
            .and_then(|verified| check(end_entity, &self.own, None).map(|()| verified));
        if let Err(error) = &verified {
            // The caller learns only the kind of the error.
            log::warning!("a connection was refused: {}", super::describe(error));
        }
        verified
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.authorities
            .verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.authorities
            .verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.authorities.supported_verify_schemes()
    }
}

/// Accepts the certificate of one task, or of any task of the cluster if that task is not known.
pub(super) struct ServerVerifier {
    authorities: Arc<RootCertStore>,
    algorithms: WebPkiSupportedAlgorithms,
    own: Arc<Own>,
    expected: Option<TaskName>,
}

impl ServerVerifier {
    pub(super) fn new(
        authorities: Arc<RootCertStore>,
        provider: &CryptoProvider,
        own: &Arc<Own>,
        expected: Option<TaskName>,
    ) -> Self {
        Self {
            authorities,
            algorithms: provider.signature_verification_algorithms,
            own: Arc::clone(own),
            expected,
        }
    }
}

impl ServerCertVerifier for ServerVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        // In place of a host name, the name of the task is checked.
        verify_server_cert_signed_by_trust_anchor(
            &ParsedCertificate::try_from(end_entity)?,
            &self.authorities,
            intermediates,
            now,
            self.algorithms.all,
        )?;
        check(end_entity, &self.own, self.expected.as_ref())?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// Checks that a certificate names a task of the own cluster, and the one that is expected.
fn check(
    certificate: &CertificateDer<'_>,
    own: &Own,
    expected: Option<&TaskName>,
) -> Result<(), Error> {
    let found = own.of(certificate).map_err(refused)?;
    if found.cluster != own.identity.cluster {
        return Err(refused(IdentityError::OtherCluster {
            found,
            expected: own.identity.cluster.clone(),
        }));
    }
    match expected {
        Some(expected) if *expected != found.task => Err(refused(IdentityError::OtherTask {
            found,
            expected: expected.clone(),
        })),
        _ => Ok(()),
    }
}

fn refused(error: IdentityError) -> Error {
    let error: Arc<dyn std::error::Error + Send + Sync> = Arc::new(error);
    Error::InvalidCertificate(CertificateError::Other(OtherError(error)))
}

impl fmt::Debug for ClientVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientVerifier")
            .field("own", &self.own)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ServerVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerVerifier")
            .field("own", &self.own)
            .field("expected", &self.expected)
            .finish_non_exhaustive()
    }
}
