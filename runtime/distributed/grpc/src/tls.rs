//! Encrypted connections whose ends prove their identity.
//!
//! ```text
//!  client ──► TCP ──► TLS 1.3 ◄── accept ◄── TCP ◄── listener
//!             expects the certificate of the      any certificate of the authority
//!             task that it calls                   that names a task of the cluster
//! ```
//!
//! | module | contents |
//! |---|---|
//! | `identity` | the identity of a certificate's owner |
//! | `names` | the tasks of certificates that do not name them |
//! | `verify` | the verification of certificates |
//! | `connection` | opening and accepting connections |

mod connection;

mod identity;

mod names;

mod verify;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use tfrt_distributed::name::TaskName;
use tfrt_support::{Error, ErrorCode};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::version::TLS13;
use tokio_rustls::rustls::{self, ClientConfig, RootCertStore, ServerConfig};

use crate::data;

pub use names::TaskNames;

pub(crate) use connection::{Caller, Connector, accept};

use identity::{Identity, IdentityError};
use verify::{ClientVerifier, ServerVerifier};

/// The name of HTTP/2 in the protocol negotiation.
pub(crate) const HTTP_2: &[u8] = b"h2";

/// The certificate of a task, and the authority that signed those of all tasks of the cluster.
///
/// Connections use TLS 1.3, and both sides authenticate. A certificate names its task in a URI of
/// its subject alternative names, `tfrt://CLUSTER/job/JOB/task/N`: a task talks to tasks of its own
/// cluster alone, and only if the task at an address is the one that it expects there. Host names
/// do not count, unless [`TaskNames`] give them tasks. Cloning shares the certificate.
#[derive(Clone)]
pub struct Tls(Arc<Parts>);

/// How a task knows itself and others.
#[derive(Debug)]
struct Own {
    identity: Identity,
    names: TaskNames,
}

impl Own {
    /// Returns the task of a certificate.
    fn of(&self, certificate: &CertificateDer<'_>) -> Result<Identity, IdentityError> {
        identity::of(certificate, &self.names)
    }
}

struct Parts {
    own: Arc<Own>,
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    authorities: Arc<RootCertStore>,
    provider: Arc<rustls::crypto::CryptoProvider>,
    server: Arc<ServerConfig>,
}

impl Tls {
    /// Creates credentials from texts in the PEM format: the certificate of the task and
    /// intermediate certificates, its private key, and the certificates of trusted authorities.
    ///
    /// # Errors
    /// `InvalidArgument` if something is malformed or missing, or the certificate does not name a
    /// task.
    pub fn from_pem(certificate: &[u8], key: &[u8], authorities: &[u8]) -> Result<Self, Error> {
        Self::from_named_pem(certificate, key, authorities, TaskNames::default())
    }

    /// Creates credentials likewise, for certificates whose tasks `names` knows.
    ///
    /// # Errors
    /// Those of [`from_pem`](Self::from_pem).
    pub fn from_named_pem(
        certificate: &[u8],
        key: &[u8],
        authorities: &[u8],
        names: TaskNames,
    ) -> Result<Self, Error> {
        let chain = certificates(certificate, "certificate")?;
        let first = chain.first();
        let first = first.ok_or_else(|| invalid("certificate: expected one, found none"))?;
        let identity = identity::of(first, &names);
        let identity = identity.map_err(|error| invalid(format!("certificate: {error}")))?;
        let own = Own { identity, names };
        // The parser's own errors quote the text, and so the key.
        let key = PrivateKeyDer::from_pem_slice(key)
            .map_err(|_| invalid("private key: expected a private key in the PEM format"))?;
        let mut roots = RootCertStore::empty();
        for authority in certificates(authorities, "authorities")? {
            roots
                .add(authority)
                .map_err(|error| invalid(format!("authorities: {error}")))?;
        }
        let (own, roots) = (Arc::new(own), Arc::new(roots));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let unusable = |error: rustls::Error| invalid(format!("certificate and key: {error}"));
        let verifier = ClientVerifier::new(Arc::clone(&roots), &provider, &own)
            .map_err(|error| invalid(format!("authorities: {error}")))?;
        let mut server = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&TLS13])
            .map_err(unusable)?
            .with_client_cert_verifier(Arc::new(verifier))
            .with_single_cert(chain.clone(), key.clone_key())
            .map_err(unusable)?;
        server.alpn_protocols = vec![HTTP_2.to_vec(), data::PROTOCOL.to_vec()];
        Ok(Self(Arc::new(Parts {
            own,
            chain,
            key,
            authorities: roots,
            provider,
            server: Arc::new(server),
        })))
    }

    /// Creates credentials from files in the PEM format.
    ///
    /// # Errors
    /// Those of [`from_pem`](Self::from_pem), with the names of the files; or if a file cannot be
    /// read.
    pub fn from_files(certificate: &Path, key: &Path, authorities: &Path) -> Result<Self, Error> {
        Self::from_named_files(certificate, key, authorities, TaskNames::default())
    }

    /// Creates credentials likewise, for certificates whose tasks `names` knows.
    ///
    /// # Errors
    /// Those of [`from_files`](Self::from_files).
    pub fn from_named_files(
        certificate: &Path,
        key: &Path,
        authorities: &Path,
        names: TaskNames,
    ) -> Result<Self, Error> {
        let read = |path: &Path| {
            std::fs::read(path).map_err(|error| {
                let message = format!("cannot read `{}`: {error}", path.display());
                Error::new(message).with_code(ErrorCode::NotFound)
            })
        };
        let texts = (read(certificate)?, read(key)?, read(authorities)?);
        let credentials = Self::from_named_pem(&texts.0, &texts.1, &texts.2, names);
        credentials.map_err(|error| {
            let files = [certificate, key, authorities].map(|path| path.display().to_string());
            invalid(format!("`{}`: {}", files.join("`, `"), error.message()))
        })
    }

    /// Returns the task that the certificate names.
    #[must_use]
    pub fn task(&self) -> &TaskName {
        &self.0.own.identity.task
    }

    /// Returns how connections are accepted.
    fn server(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.0.server)
    }

    /// Returns the TLS configuration for connections of a protocol to a task, or to any task of the
    /// cluster if the name is unknown.
    fn client(
        &self,
        task: Option<TaskName>,
        protocol: &[u8],
    ) -> Result<Arc<ClientConfig>, rustls::Error> {
        let Parts {
            own,
            chain,
            key,
            authorities,
            provider,
            ..
        } = &*self.0;
        let verifier = ServerVerifier::new(Arc::clone(authorities), provider, own, task);
        let mut client = ClientConfig::builder_with_provider(Arc::clone(provider))
            .with_protocol_versions(&[&TLS13])?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_client_auth_cert(chain.clone(), key.clone_key())?;
        client.alpn_protocols = vec![protocol.to_vec()];
        Ok(Arc::new(client))
    }
}

/// Describes an error between the two ends of a connection.
pub(crate) fn describe(error: &rustls::Error) -> String {
    match error {
        // Its own text shows the error for debugging.
        rustls::Error::InvalidCertificate(rustls::CertificateError::Other(error)) => {
            format!("invalid peer certificate: {}", error.0)
        }
        error => error.to_string(),
    }
}

fn certificates(pem: &[u8], what: &str) -> Result<Vec<CertificateDer<'static>>, Error> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let found = found.map_err(|error| invalid(format!("{what}: {error}")))?;
    match found.is_empty() {
        true => Err(invalid(format!(
            "{what}: expected a certificate in the PEM format, found none"
        ))),
        false => Ok(found),
    }
}

#[cold]
fn invalid(message: impl Into<String>) -> Error {
    Error::new(message).with_code(ErrorCode::InvalidArgument)
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the key.
        f.debug_struct("Tls")
            .field("own", &self.0.own.identity)
            .finish_non_exhaustive()
    }
}
