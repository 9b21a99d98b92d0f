//! The identity of a certificate's owner.

use std::error::Error;
use std::fmt;

use tfrt_distributed::name::TaskName;
use tokio_rustls::rustls::pki_types::CertificateDer;
use webpki::EndEntityCert;

use super::names::TaskNames;

/// The scheme of a URI that names a task.
const SCHEME: &str = "tfrt://";

/// A task of a cluster, as its certificate names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) cluster: String,
    pub(super) task: TaskName,
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (cluster, TaskName { job, task }) = (&self.cluster, &self.task);
        write!(f, "{SCHEME}{cluster}/job/{job}/task/{task}")
    }
}

impl Identity {
    /// Parses `tfrt://CLUSTER/job/JOB/task/N`.
    pub(super) fn parse(uri: &str) -> Option<Self> {
        let parts: Vec<&str> = uri.strip_prefix(SCHEME)?.split('/').collect();
        let [cluster, "job", job, "task", task] = parts[..] else {
            return None;
        };
        let identity = Self {
            cluster: cluster.to_owned(),
            task: TaskName::new(job, task.parse().ok()?),
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let is_job = job.starts_with(|c: char| c.is_ascii_alphabetic()) && job.chars().all(is_name);
        // One text for each task: no sign, and no zeros in front.
        (!cluster.is_empty() && is_job && identity.to_string() == uri).then_some(identity)
    }
}

/// The reasons why a certificate is not that of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum IdentityError {
    /// It is not a certificate of version 3.
    Malformed(String),
    /// It names no task.
    None,
    /// It names several.
    Many(usize),
    /// It names a task of another cluster.
    OtherCluster { found: Identity, expected: String },
    /// It names another task than the one that is called.
    OtherTask { found: Identity, expected: TaskName },
}

impl fmt::Display for IdentityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(cause) => write!(f, "malformed certificate: {cause}"),
            Self::None => f.write_str(
                "expected a certificate with a URI `tfrt://CLUSTER/job/JOB/task/N`, found none",
            ),
            Self::Many(count) => {
                write!(
                    f,
                    "expected a certificate of a single task, found {count} tasks"
                )
            }
            Self::OtherCluster { found, expected } => {
                write!(
                    f,
                    "expected a task of the cluster `{expected}`, found `{found}`"
                )
            }
            Self::OtherTask { found, expected } => {
                write!(f, "expected the task `{expected}`, found `{found}`")
            }
        }
    }
}

impl Error for IdentityError {}

/// Returns the task that a certificate names, itself or through one of `names`.
pub(super) fn of(
    certificate: &CertificateDer<'_>,
    names: &TaskNames,
) -> Result<Identity, IdentityError> {
    let certificate = EndEntityCert::try_from(certificate)
        .map_err(|error| IdentityError::Malformed(error.to_string()))?;
    let own = certificate.valid_uri_names().filter_map(Identity::parse);
    let all_names = certificate
        .valid_uri_names()
        .chain(certificate.valid_dns_names());
    let named = all_names.filter_map(|name| names.task_of(name).cloned());
    let mut found: Vec<Identity> = Vec::new();
    for identity in own.chain(named) {
        if !found.contains(&identity) {
            found.push(identity);
        }
    }
    match (found.pop(), found.len()) {
        (Some(identity), 0) => Ok(identity),
        (None, _) => Err(IdentityError::None),
        (Some(_), others) => Err(IdentityError::Many(others + 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_name_tasks() {
        let uri = "tfrt://blue/job/worker/task/12";
        let found = Identity::parse(uri).unwrap();
        assert_eq!(found.cluster, "blue");
        assert_eq!(found.task, TaskName::new("worker", 12));
        assert_eq!(found.to_string(), uri);
        for other in [
            "https://blue/job/worker/task/12",
            "tfrt:///job/worker/task/12",
            "tfrt://blue/job/worker/task/012",
            "tfrt://blue/job/worker/task/+1",
            "tfrt://blue/job/worker/task/-1/",
            "tfrt://blue/job/worker/task/12/device/CPU",
            "tfrt://blue/job//task/12",
            "tfrt://blue/job/9a/task/12",
            "tfrt://blue/job/a-b/task/12",
            "tfrt://blue/task/12",
        ] {
            assert_eq!(Identity::parse(other), None, "{other}");
        }
    }
}
