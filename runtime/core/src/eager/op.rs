//! Ops that are looked up by name, and get their attributes.

use std::mem::ManuallyDrop;
use std::sync::{Arc, OnceLock};

use smol_str::SmolStr;
use tfrt_async::pool::Pooled;
use tfrt_attr::{OpAttrArgument, ToOpAttr};
use tfrt_ods::OpDef;
use tfrt_support::nearest::{did_you_mean, nearest};
use tfrt_support::{Error, ErrorCode};

use super::cache::OpCache;
use super::known::AttributeSet;
use super::ready::{Found, ReadyOp};
use super::{EagerContext, at_caller};
use crate::attrs::{Match, Matched, OpAttrs, OpAttrsRef};
use crate::device_op::Admitted;

/// An op whose attributes are being set.
///
/// ```
/// # mod linked {
/// #     use tfrt_core::{Implementation, OpCall, OpFlags, OpRegistration};
/// #     use tfrt_async::AnyRef;
/// #     use tfrt_support::Error;
/// #     use tfrt_tensor::DenseHostTensor;
/// #     fn count(call: &mut OpCall<'_>) -> Result<(), Error> {
/// #         let limit = call.attrs().get::<i64>("limit").unwrap_or(0);
/// #         call.set_result(0, AnyRef::available(DenseHostTensor::vector(&(0..limit).collect::<Vec<_>>())?));
/// #         Ok(())
/// #     }
/// #     tfrt_host::__private::submit! { OpRegistration {
/// #         flags: OpFlags::NO_SIDE_EFFECTS,
/// #         implementation: Implementation::Function(count),
/// #         ..OpRegistration::new("my.Count")
/// #     } }
/// # }
/// use tfrt_core::EagerContext;
/// use tfrt_host::HostContext;
///
/// let eager = EagerContext::builder(HostContext::builder().build()).build()?;
/// let count = eager.op("my.Count")?.attr("limit", 3_i64)?.ready()?;
/// assert_eq!(eager.to_vec::<i64>(&count.call(&[])?)?, [0, 1, 2]);
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Debug)]
pub struct Op {
    pub(super) eager: Arc<EagerContext>,
    pub(super) found: Found,
    given: Given,
    num_results: Option<usize>,
}

/// The attributes that were set.
#[derive(Debug)]
enum Given {
    /// Attributes of a set that the op keeps, or none.
    Kept { index: usize, matched: Matched },
    /// Attributes that no kept set has.
    Own(Pooled<OpAttrs>),
}

impl EagerContext {
    /// Looks up the op of this name.
    ///
    /// # Errors
    /// If none of the devices has this op.
    #[track_caller]
    pub fn op(self: &Arc<Self>, name: &str) -> Result<Op, Error> {
        self.find_op(name).map_err(at_caller())
    }

    fn find_op(self: &Arc<Self>, name: &str) -> Result<Op, Error> {
        let having = (0..self.devices.len())
            .find_map(|index| Some((index, self.made_op(index, name).ok()?)));
        let Some((device, known)) = having else {
            // An op whose registration does not allow its use reports that.
            for known in &self.devices {
                self.runtime.ops().get(known.device.0.device_type(), name)?;
            }
            return Err(self.no_such_op(name));
        };
        if known.is_refused {
            let device_type = self.devices[device].device.0.device_type();
            self.runtime.ops().get(device_type, name)?;
        }
        Ok(Op {
            eager: Arc::clone(self),
            num_results: known.facts.num_results,
            found: Found { device, known },
            given: Given::Kept {
                index: 0,
                matched: Matched::default(),
            },
        })
    }
}

impl Op {
    /// Sets an attribute.
    ///
    /// # Errors
    /// If the op has no attribute of this name, or it is set already.
    #[track_caller]
    pub fn attr(mut self, name: &str, value: impl ToOpAttr) -> Result<Self, Error> {
        self.set_attr(name, value).map_err(at_caller())?;
        Ok(self)
    }

    #[inline]
    pub(super) fn set_attr(&mut self, name: &str, value: impl ToOpAttr) -> Result<(), Error> {
        // Words, as nearly all are, own nothing, but the destructor is a call.
        let argument = ManuallyDrop::new(value.to_argument());
        let outcome = self.set_argument(name, &argument);
        if matches!(*argument, OpAttrArgument::Value(_)) {
            drop(ManuallyDrop::into_inner(argument));
        }
        outcome
    }

    fn set_argument(&mut self, name: &str, argument: &OpAttrArgument<'_>) -> Result<(), Error> {
        if let Given::Kept { index, matched } = &mut self.given {
            let known = &self.found.known;
            let current = known.set(*index);
            match current.map(|set| set.attrs.match_next(*matched, name, argument)) {
                Some(Match::Same(more)) => {
                    *matched = more;
                    return Ok(());
                }
                Some(Match::Twice) => return Err(self.set_twice(name)),
                Some(Match::Other) if known.match_others(index, matched, name, argument) => {
                    return Ok(());
                }
                Some(Match::Other) | None => {}
            }
        }
        self.set_own(name, argument)
    }

    /// Sets an attribute that no kept set has.
    #[cold]
    fn set_own(&mut self, name: &str, argument: &OpAttrArgument<'_>) -> Result<(), Error> {
        let key = match self.found.known.facts.declared {
            None => SmolStr::new(name),
            Some(declared) => {
                let mut names = declared.attributes.iter().map(|known| known.name);
                let known = names.find(|&known| known == name);
                SmolStr::new_static(known.ok_or_else(|| self.no_such_attribute(declared, name))?)
            }
        };
        if let Given::Kept { index, matched } = self.given {
            let kept = self.found.known.set(index);
            let part = kept.map_or_else(OpAttrs::new, |set| set.attrs.part(matched));
            self.given = Given::Own(Pooled::new(part));
        }
        let is_new = match &mut self.given {
            Given::Own(attrs) => attrs.set_argument(key, argument)?,
            Given::Kept { .. } => unreachable!("they were replaced above"),
        };
        match is_new {
            true => Ok(()),
            false => Err(self.set_twice(name)),
        }
    }

    #[cold]
    fn set_twice(&self, name: &str) -> Error {
        let op = &self.found.known.name;
        let message = format!("attribute `{name}` of `{op}` is set twice");
        Error::new(message).with_code(ErrorCode::AlreadyExists)
    }

    #[cold]
    fn no_such_attribute(&self, declared: &OpDef, name: &str) -> Error {
        let names = declared.attributes.iter().map(|known| known.name);
        let hint = did_you_mean(&nearest(name, names));
        let op = &self.found.known.name;
        let message = format!("`{op}`: unknown attribute `{name}`{hint}");
        Error::new(message).with_code(ErrorCode::InvalidArgument)
    }

    /// Sets the number of results, if the declaration of the op does not fix it. The default is
    /// one.
    #[must_use]
    pub fn results(mut self, num_results: usize) -> Self {
        self.num_results = Some(num_results);
        self
    }

    /// Returns the op with these attributes, ready for repeated calls.
    ///
    /// # Errors
    /// If an attribute is missing, or its type is not the one that the op declares.
    #[track_caller]
    pub fn ready(self) -> Result<ReadyOp, Error> {
        self.make_ready().map_err(at_caller())
    }

    fn make_ready(self) -> Result<ReadyOp, Error> {
        let known = &self.found.known;
        let set = match self.given {
            Given::Kept { index, matched } => match known.set(index) {
                Some(set) if set.attrs.len() == matched.len() => Arc::clone(set),
                set => {
                    let part = set.map_or_else(OpAttrs::new, |set| set.attrs.part(matched));
                    self.found.set_of(part, &self.eager.ops)?
                }
            },
            Given::Own(attrs) => self.found.set_of(attrs.into_inner(), &self.eager.ops)?,
        };
        let made: Box<[_]> = match self.eager.devices.len() {
            1 => Box::default(),
            several => (0..several).map(|_| OnceLock::new()).collect(),
        };
        let num_results = self.num_results.unwrap_or(1);
        let admitted = match num_results {
            1 if made.is_empty() => self.found.known.admitted,
            _ => Admitted::NONE,
        };
        Ok(ReadyOp {
            set,
            written: self.found.known.facts.written,
            found: self.found,
            num_results,
            admitted,
            made,
            eager: self.eager,
        })
    }

    /// Returns the set of the given attributes, if the op keeps it, and a call with one result that
    /// runs on the only device.
    #[inline]
    pub(super) fn set_of_only_device(&self) -> Option<&AttributeSet> {
        let Given::Kept { index, matched } = self.given else {
            return None;
        };
        let set = self.found.known.set(index)?;
        let is_usual = set.attrs.len() == matched.len()
            && self.num_results.is_none_or(|num_results| num_results == 1)
            && self.eager.devices.len() == 1;
        is_usual.then_some(set)
    }
}

impl Found {
    /// Returns the set of these attributes: the one that the op keeps, or a new one, which the op
    /// keeps, at the expense of the cache, if the set is small.
    ///
    /// # Errors
    /// If an attribute is missing, or its type is not the one that the op declares.
    #[cold]
    fn set_of(&self, mut attrs: OpAttrs, cache: &OpCache) -> Result<Arc<AttributeSet>, Error> {
        if let Some(kept) = self.known.find_set(&attrs) {
            return Ok(Arc::clone(kept));
        }
        let attrs = match self.known.facts.declared {
            // An op without attributes needs no reference to them.
            Some(op) if op.attributes.is_empty() => OpAttrsRef::default(),
            declared => {
                if let Some(op) = declared {
                    attrs.bind_first(op).map_err(|error| {
                        missing_attribute(&self.known.name, op, &attrs).unwrap_or(error)
                    })?;
                }
                OpAttrsRef::of_one_op(Arc::new(attrs))
            }
        };
        let set = AttributeSet::new(attrs);
        if self.known.keep_set(&set) {
            cache.recount(self.device, &self.known);
        }
        Ok(set)
    }
}

/// Returns an error if an attribute is missing.
#[cold]
fn missing_attribute(name: &str, op: &OpDef, given: &OpAttrs) -> Option<Error> {
    let is_missing = |name: &str| !given.contains(name);
    let mut required = op.attributes.iter().filter(|known| known.default.is_none());
    let missing = required.find(|known| is_missing(known.name))?.name;
    let message = format!("`{name}`: the attribute `{missing}` is missing");
    Some(Error::new(message).with_code(ErrorCode::InvalidArgument))
}

#[cfg(test)]
mod tests {
    use tfrt_host::HostContext;
    use tfrt_host::device::CpuDevice;

    use super::*;
    use crate::op::{Implementation, OpCall, OpRegistration};

    fn nothing(_call: &mut OpCall<'_>) -> Result<(), Error> {
        Ok(())
    }

    tfrt_host::__private::submit! { OpRegistration {
        implementation: Implementation::Function(nothing),
        ..OpRegistration::new("op_test.Nothing")
    } }

    #[test]
    fn only_a_call_of_the_usual_form_uses_a_kept_set_directly() {
        let context = |devices: &[&str]| {
            let builder = EagerContext::builder(HostContext::builder().build());
            let builder = devices.iter().fold(builder, |builder, &name| {
                builder.device(Arc::new(CpuDevice::new(name)))
            });
            builder.build().unwrap()
        };
        let (one, two) = (context(&[]), context(&["CPU:1"]));
        let op = |eager: &Arc<EagerContext>| eager.op("op_test.Nothing").unwrap();
        let with_a = |eager: &Arc<EagerContext>| op(eager).attr("a", 1_i64).unwrap();
        assert!(with_a(&one).set_of_only_device().is_none(), "none is kept");
        let kept = with_a(&one).ready().unwrap().set;
        let with_kept = with_a(&one);
        let used = with_kept.set_of_only_device().unwrap();
        assert!(std::ptr::eq(used, &*kept));
        assert!(with_a(&one).results(1).set_of_only_device().is_some());
        assert!(with_a(&one).results(2).set_of_only_device().is_none());
        assert!(op(&one).set_of_only_device().is_none(), "not all of them");
        let more = with_a(&one).attr("b", 1_i64).unwrap();
        assert!(more.set_of_only_device().is_none());
        with_a(&two).ready().unwrap();
        assert!(with_a(&two).set_of_only_device().is_none(), "two devices");
    }

    #[test]
    fn attributes_in_any_order_are_those_of_a_kept_set() {
        let host = HostContext::builder().build();
        let eager = EagerContext::builder(host).build().unwrap();
        let op = |attributes: &[(&str, i64)]| {
            let mut op = eager.op("op_test.Nothing").unwrap();
            for &(name, value) in attributes {
                op = op.attr(name, value).unwrap();
            }
            op
        };
        let [a, b, c] = [("a", 1), ("b", 2), ("c", 3)];
        let kept = op(&[a, b, c]).ready().unwrap().set;
        for order in [
            [a, b, c],
            [a, c, b],
            [b, a, c],
            [b, c, a],
            [c, a, b],
            [c, b, a],
        ] {
            let again = op(&order);
            assert!(matches!(again.given, Given::Kept { .. }), "{order:?}");
            assert!(Arc::ptr_eq(&again.ready().unwrap().set, &kept));
        }
        let other = op(&[c, b, ("a", 2)]);
        assert!(matches!(other.given, Given::Own(_)));
        assert!(!Arc::ptr_eq(&other.ready().unwrap().set, &kept));
    }
}
