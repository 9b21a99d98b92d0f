//! Doc comments as the documentation of a declaration.

use syn::{Attribute, Expr, Lit, Meta};

/// Returns the first paragraph as one line, and the rest as it is.
pub(crate) fn summary_and_description(attributes: &[Attribute]) -> (String, String) {
    let text = attributes
        .iter()
        .filter_map(line)
        .collect::<Vec<_>>()
        .join("\n");
    let text = text.trim();
    let (summary, description) = text.split_once("\n\n").unwrap_or((text, ""));
    let summary = summary.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    (summary, description.trim().to_owned())
}

/// Returns the text of one `///`, without the leading blank.
fn line(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(meta) = &attribute.meta else {
        return None;
    };
    if !meta.path.is_ident("doc") {
        return None;
    }
    let Expr::Lit(literal) = &meta.value else {
        return None;
    };
    let Lit::Str(text) = &literal.lit else {
        return None;
    };
    let text = text.value();
    Some(
        text.lines()
            .map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end())
            .collect::<Vec<_>>()
            .join("\n"),
    )
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    #[test]
    fn the_first_paragraph_is_the_summary() {
        let function: syn::ItemFn = parse_quote! {
            /// Adds
            /// two numbers.
            ///
            /// # Errors
            ///   Never.
            #[inline]
            fn add() {}
        };
        let (summary, description) = summary_and_description(&function.attrs);
        assert_eq!(
            (summary.as_str(), description.as_str()),
            ("Adds two numbers.", "# Errors\n  Never.")
        );
    }
}
