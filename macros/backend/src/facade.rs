//! The path by which an expansion refers to the facade, the crate `tfrt`, or to `tfrt-onnx`.
//!
//! An author may give it with `crate = path`. Otherwise it is the name of the dependency in the
//! manifest of the author's crate, so a renamed dependency needs no option.

use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::Path;
use syn::ext::IdentExt;
use syn::parse::Parser;

/// A crate whose items expansions name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Front {
    /// `tfrt`, the facade.
    Tfrt,
    /// `tfrt-onnx`, which the facade does not know.
    Onnx,
}

impl Front {
    /// Returns the name of the package, and that of the crate.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Tfrt => ("tfrt", "tfrt"),
            Self::Onnx => ("tfrt-onnx", "tfrt_onnx"),
        }
    }
}

/// The way to find the facade if the author does not give a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Facade {
    /// Under the name that `CARGO_MANIFEST_DIR/Cargo.toml` gives to its package.
    FromManifest,
    /// As `::tfrt` or `::tfrt_onnx`, regardless of the manifest.
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
        self.root_of(Front::Tfrt, crate_path)
    }

    /// Returns the path of a crate.
    ///
    /// # Errors
    /// The manifest was read, and the crate is not among its dependencies.
    pub(crate) fn root_of(
        self,
        front: Front,
        crate_path: Option<&Path>,
    ) -> syn::Result<TokenStream> {
        if let Some(path) = crate_path {
            return Ok(path.to_token_stream());
        }
        let name = self.name(front)?;
        Ok(quote!(::#name))
    }

    fn name(self, front: Front) -> syn::Result<Ident> {
        let (package, krate) = front.names();
        let found = match self {
            Self::FromManifest => crate_name(package),
            Self::Tfrt => Ok(FoundCrate::Itself),
        };
        match found {
            Ok(FoundCrate::Name(name)) => Ident::parse_any.parse_str(&name),
            Err(proc_macro_crate::Error::CrateNotFound { .. }) => Err(syn::Error::new(
                Span::call_site(),
                format!(
                    "this crate does not depend on `{package}`: run `cargo add {package}`, or name \
                     the crate that re-exports it with `crate = path::to::{krate}`"
                ),
            )),
            // The crate knows itself by its own name. And where there is no manifest to read,
            // because something other than cargo builds the crate, the compiler says whether there
            // is such a crate.
            Ok(FoundCrate::Itself) | Err(_) => Ok(Ident::new(krate, Span::call_site())),
        }
    }
}
