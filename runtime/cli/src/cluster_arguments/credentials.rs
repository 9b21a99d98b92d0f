//! The certificates and the token of a process.

use std::fs::File;
use std::path::{Path, PathBuf};

use clap::Args;
use tfrt_grpc::{GrpcOptions, TaskNames, Tls, Token};

use crate::failure::Failure;

/// What a process proves with that it belongs to the cluster.
#[derive(Args, Clone, Debug)]
pub(super) struct Credentials {
    /// The certificate of this task, in PEM format. Encrypts connections; both ends authenticate
    /// each other
    #[arg(long, value_name = "FILE", requires_all = ["tls_key", "tls_ca"])]
    tls_cert: Option<PathBuf>,

    /// The private key of the certificate, in PEM format
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    /// The certificates of the authorities that sign the certificates of tasks, in PEM format
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_ca: Option<PathBuf>,

    /// The tasks of certificates that do not name them: lines of a host name or URI of the
    /// certificate and `tfrt://CLUSTER/job/JOB/task/N`
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_names: Option<PathBuf>,

    /// A file with the shared secret that authenticates all tasks
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// Allow unencrypted connections from other machines
    #[arg(long)]
    insecure_network: bool,
}

impl Credentials {
    /// Returns the flags that were given.
    pub(super) fn given(&self) -> impl Iterator<Item = &'static str> {
        let flags = [
            ("--tls-cert", self.tls_cert.is_some()),
            ("--token-file", self.token_file.is_some()),
            ("--insecure-network", self.insecure_network),
        ];
        super::given(flags)
    }

    /// Returns the options of a network with these credentials.
    pub(super) fn options(&self) -> Result<GrpcOptions, Failure> {
        let wrong = |error: tfrt_support::Error| Failure::new(error.message());
        let files = (&self.tls_cert, &self.tls_key, &self.tls_ca);
        let tls = match files {
            (Some(certificate), Some(key), Some(authorities)) => {
                let names = self.tls_names.as_deref().map(TaskNames::from_file);
                let names = names.transpose().map_err(wrong)?.unwrap_or_default();
                let tls = Tls::from_named_files(certificate, key, authorities, names);
                Some(tls.map_err(wrong)?)
            }
            _ => None,
        };
        let token = self.token_file.as_deref().map(read_token).transpose()?;
        Ok(GrpcOptions {
            tls,
            token,
            allow_insecure_network: self.insecure_network,
            ..GrpcOptions::default()
        })
    }
}

fn read_token(path: &Path) -> Result<Token, Failure> {
    use std::io::Read;

    let name = path.display();
    // More than any token, so that a wrong file is not read as a whole.
    let mut text = String::new();
    File::open(path)
        .and_then(|file| file.take(1 << 16).read_to_string(&mut text))
        .map_err(|error| Failure::caused(format!("cannot read `{name}`"), error))?;
    Token::new(&text).map_err(|error| Failure::new(format!("`{name}`: {}", error.message())))
}
