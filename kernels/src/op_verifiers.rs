//! Checks shared by the verifiers of several ops, in addition to those of [`tfrt::ods::verify`].
//!
//! Each op has its verifier next to its kernel. It runs only if the op matches its declaration: the
//! attributes exist and have their kinds, and the numbers of operands and regions are as declared.

use std::borrow::Cow;

use tfrt::ods::instance::{AttrInstance, OpInstance, Signature};
use tfrt::ods::verify::{Breach, region};

/// The terminator of every region.
pub(crate) const RETURN: &str = "tfrt.return";

/// Returns the function that `attribute` names, if there is one, for ops whose missing functions
/// are reported when the program is converted.
pub(crate) fn function_if_defined<'a>(
    op: &'a dyn OpInstance,
    attribute: &str,
) -> Option<Signature<'a>> {
    match op.attribute(attribute)? {
        AttrInstance::Symbol(name, false) => op.resolve(&name),
        _ => None,
    }
}

/// Checks that a loop returns the types of the values that it carries.
pub(crate) fn check_carried(
    carried: &[Cow<'_, str>],
    results: &[Cow<'_, str>],
    breaches: &mut Vec<Breach>,
) {
    if carried.len() != results.len() {
        breaches.push(Breach::op("incorrect number of operands"));
    } else if carried != results {
        breaches.push(Breach::op("operand/result type mismatch"));
    }
}

/// Checks that the only region of `op` takes `operands` and returns the results.
pub(crate) fn check_body(
    op: &dyn OpInstance,
    operands: &[Cow<'_, str>],
    breaches: &mut Vec<Breach>,
) {
    region::takes(op, 0, operands, "body", breaches);
    region::returns(op, 0, &op.result_types(), RETURN, breaches);
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use tfrt::ods::instance::RegionInstance;
    use tfrt::ods::verify::{BreachSite, OpVerifier};

    /// An op that exists only as far as rules look at it.
    #[derive(Default)]
    pub(crate) struct SampleOp {
        pub(crate) name: &'static str,
        pub(crate) operands: &'static [&'static str],
        pub(crate) results: &'static [&'static str],
        pub(crate) attributes: Vec<(&'static str, AttrInstance<'static>)>,
        pub(crate) regions: Vec<RegionInstance<'static>>,
        pub(crate) functions: Vec<(&'static str, Signature<'static>)>,
    }

    impl OpInstance for SampleOp {
        fn name(&self) -> &str {
            self.name
        }

        fn operand_types(&self) -> Vec<Cow<'_, str>> {
            types(self.operands)
        }

        fn result_types(&self) -> Vec<Cow<'_, str>> {
            types(self.results)
        }

        fn attribute_names(&self) -> Vec<Cow<'_, str>> {
            let names = self.attributes.iter();
            names.map(|(name, _)| Cow::Borrowed(*name)).collect()
        }

        fn attribute(&self, name: &str) -> Option<AttrInstance<'_>> {
            self.attributes
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| value.clone())
        }

        fn regions(&self) -> Vec<RegionInstance<'_>> {
            self.regions.clone()
        }

        fn resolve(&self, symbol: &str) -> Option<Signature<'_>> {
            self.functions
                .iter()
                .find(|(name, _)| *name == symbol)
                .map(|(_, signature)| signature.clone())
        }

        fn enclosing_function(&self) -> Option<Signature<'_>> {
            None
        }
    }

    fn types(spellings: &'static [&'static str]) -> Vec<Cow<'static, str>> {
        spellings.iter().copied().map(Cow::Borrowed).collect()
    }

    pub(crate) fn signature(
        arguments: &'static [&'static str],
        results: &'static [&'static str],
    ) -> Signature<'static> {
        Signature {
            arguments: types(arguments),
            results: types(results),
            is_sync: false,
        }
    }

    pub(crate) fn region(
        arguments: &'static [&'static str],
        returns: Option<&'static [&'static str]>,
    ) -> RegionInstance<'static> {
        RegionInstance {
            arguments: types(arguments),
            returns: returns.map(types),
        }
    }

    pub(crate) fn symbol(name: &'static str) -> AttrInstance<'static> {
        AttrInstance::Symbol(name.into(), false)
    }

    /// What `verifier` says of `op`, joined by `; `, with a mark on what it says of a return.
    pub(crate) fn verdict(verifier: OpVerifier, op: &SampleOp) -> String {
        let mut breaches = Vec::new();
        verifier(op, &mut breaches);
        let text = |breach: Breach| match breach.at {
            BreachSite::Op => breach.message,
            BreachSite::Return(region) => format!("return {region}: {}", breach.message),
        };
        breaches
            .into_iter()
            .map(text)
            .collect::<Vec<_>>()
            .join("; ")
    }
}
