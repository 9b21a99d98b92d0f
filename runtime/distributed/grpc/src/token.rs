//! A secret that all tasks of a cluster share.

use std::fmt;
use std::sync::Arc;

use http::HeaderMap;
use http::header::AUTHORIZATION;
use subtle::ConstantTimeEq;
use tfrt_support::{Error, ErrorCode};
use tonic::Status;
use tonic::metadata::{Ascii, MetadataMap, MetadataValue};

/// The prefix of a request's header with a token.
const SCHEME: &str = "Bearer ";

/// The fewest characters of a token.
const MIN_LEN: usize = 16;

/// A secret that every request must hold. Neither errors nor logs show it.
///
/// ```
/// use tfrt_grpc::Token;
///
/// let token = Token::new("correct-horse-battery-staple\n")?;
/// assert_eq!(format!("{token:?}"), "Token(..)");
/// assert!(Token::new("short").is_err());
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Clone)]
pub struct Token {
    /// `Bearer TOKEN`.
    header: Arc<str>,
    /// The same, for requests.
    value: MetadataValue<Ascii>,
}

impl Token {
    /// Creates a token of this text. White space around it does not count: files end with a new
    /// line.
    ///
    /// # Errors
    /// `InvalidArgument` if it has fewer than 16 characters, or others than visible ones of ASCII.
    pub fn new(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        let invalid = |message: String| Error::new(message).with_code(ErrorCode::InvalidArgument);
        if text.len() < MIN_LEN {
            let len = text.len();
            return Err(invalid(format!(
                "expected a token of at least {MIN_LEN} characters, found {len}"
            )));
        }
        let unusable = || {
            invalid(
                "expected a token of visible ASCII characters, found another character".to_owned(),
            )
        };
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(unusable());
        }
        let header = format!("{SCHEME}{text}");
        let value: Result<MetadataValue<Ascii>, _> = header.parse();
        let mut value = value.map_err(|_| unusable())?;
        // Kept out of tables of headers, and of what is printed for debugging.
        value.set_sensitive(true);
        Ok(Self {
            header: header.into(),
            value,
        })
    }

    /// Puts the token into a request.
    pub(crate) fn add_to(&self, metadata: &mut MetadataMap) {
        metadata.insert(AUTHORIZATION.as_str(), self.value.clone());
    }

    /// Checks that a request holds the token. How long that takes does not depend on how much of it
    /// is right.
    pub(crate) fn check(&self, headers: &HeaderMap) -> Result<(), Status> {
        let found = headers.get(AUTHORIZATION);
        self.check_secret(found.map_or(&[], |found| found.as_bytes()), found.is_some())
    }

    /// Returns what proves that a task has the token, without the headers of a request.
    pub(crate) fn secret(&self) -> &[u8] {
        self.header.as_bytes()
    }

    /// Checks what another task proves itself with, if it does.
    pub(crate) fn check_secret(&self, found: &[u8], is_there: bool) -> Result<(), Status> {
        if !is_there {
            return Err(Status::unauthenticated("the request has no token"));
        }
        match bool::from(found.ct_eq(self.header.as_bytes())) {
            true => Ok(()),
            false => Err(Status::unauthenticated("the token of the request is wrong")),
        }
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "0123456789abcdef";

    fn check(found: Option<&'static str>) -> Option<String> {
        let mut headers = HeaderMap::new();
        if let Some(found) = found {
            headers.insert(AUTHORIZATION, found.parse().unwrap());
        }
        let checked = Token::new(SECRET).unwrap().check(&headers);
        checked.err().map(|status| status.message().to_owned())
    }

    #[test]
    fn only_the_whole_token_is_accepted() {
        assert_eq!(check(Some("Bearer 0123456789abcdef")), None);
        assert_eq!(check(None).as_deref(), Some("the request has no token"));
        for wrong in [
            "",
            "Bearer ",
            "0123456789abcdef",
            "Bearer 0123456789abcde",
            "Bearer 0123456789abcdeg",
            "Bearer 0123456789abcdef0",
        ] {
            let refused = check(Some(wrong));
            assert_eq!(
                refused.as_deref(),
                Some("the token of the request is wrong")
            );
        }
    }

    #[test]
    fn tokens_are_not_shown() {
        let token = Token::new(SECRET).unwrap();
        let mut metadata = MetadataMap::new();
        token.add_to(&mut metadata);
        let shown = format!("{token:?} {metadata:?}");
        let shown = format!("{shown} {:?}", metadata.into_headers());
        assert!(!shown.contains("0123"), "{shown}");
    }

    #[test]
    fn unusable_tokens_are_refused_without_being_shown() {
        for (text, expected) in [
            (
                "fifteen letters",
                "expected a token of at least 16 characters, found 15",
            ),
            (
                "not visible \u{7} at all",
                "expected a token of visible ASCII characters, found another character",
            ),
            (
                "with blanks in the middle",
                "expected a token of visible ASCII characters, found another character",
            ),
        ] {
            assert_eq!(Token::new(text).unwrap_err().message(), expected);
        }
    }
}
