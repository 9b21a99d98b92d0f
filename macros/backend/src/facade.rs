//! The path by which an expansion refers to the facade, the crate `tfrt`.
//!
//! An author may give it with `crate = path`. Otherwise it is the name of the dependency in the
//! manifest of the author's crate, so a renamed dependency needs no option.

use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::Path;
use syn::ext::IdentExt;
use syn::parse::Parser;

/// The package that holds the facade.
const PACKAGE: &str = "tfrt";

/// The way to find the facade if the author does not give a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Facade {
    /// Under the name that `CARGO_MANIFEST_DIR/Cargo.toml` gives to the package `tfrt`.
    FromManifest,
    /// As `::tfrt`, regardless of the manifest.
    Tfrt,
}

impl Facade {
    /// Returns the module whose items expansions name.
    ///
    /// # Errors
    /// The manifest was read, and `tfrt` is not among its dependencies.
    pub(crate) fn private_module(self, crate_path: Option<&Path>) -> syn::Result<TokenStream> {
        let root = self.root(crate_path)?;
        Ok(quote!(#root::__private))
    }

    /// Returns the facade itself.
    ///
    /// # Errors
    /// The manifest was read, and `tfrt` is not among its dependencies.
    pub(crate) fn root(self, crate_path: Option<&Path>) -> syn::Result<TokenStream> {
        if let Some(path) = crate_path {
            return Ok(path.to_token_stream());
        }
        let name = self.name()?;
        Ok(quote!(::#name))
    }

    fn name(self) -> syn::Result<Ident> {
        let found = match self {
            Self::FromManifest => crate_name(PACKAGE),
            Self::Tfrt => Ok(FoundCrate::Itself),
        };
        match found {
            Ok(FoundCrate::Name(name)) => Ident::parse_any.parse_str(&name),
            Err(proc_macro_crate::Error::CrateNotFound { .. }) => Err(syn::Error::new(
                Span::call_site(),
                "this crate does not depend on `tfrt`: run `cargo add tfrt`, or name the crate \
                 that re-exports it with `crate = path::to::tfrt`",
            )),
            // The facade knows itself by its own name. And where there is no manifest to read,
            // because something other than cargo builds the crate, the compiler says whether there
            // is such a crate.
            Ok(FoundCrate::Itself) | Err(_) => Ok(Ident::new(PACKAGE, Span::call_site())),
        }
    }
}
