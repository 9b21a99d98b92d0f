//! The speeds of the devices of a function, and the costs of copies between them.
//!
//! Both are attributes of the function, so that the placement of a program is seen and tested as
//! text:
//!
//! ```text
//!  corert.links = [["CPU:0", "ACC:0", 1.5, 50000.0]]    from, to, microseconds, bytes per microsecond
//!  corert.device_speeds = [["ACC:0", 100.0]]            device, bytes per microsecond
//! ```
//!
//! A pair of devices that is not listed has the default link, and the speed of a device that is not
//! listed is unknown. An instance takes both from the devices of its context.

use std::collections::HashMap;

use tfrt_compiler::element_type::dtype_of;
use tfrt_host::device::{DeviceRef, LinkCost};
use tfrt_ir::{AttrId, Attribute, Module, OpId};
use tfrt_support::{DType, Diagnostic};

use crate::call::error_at;
use crate::names;

/// What copies and devices are assumed to cost. Devices are their positions among those of the
/// function.
#[derive(Debug, Default)]
pub(crate) struct Costs {
    /// The links that are not the default, by source and destination.
    links: HashMap<(usize, usize), LinkCost>,
    /// Bytes per microsecond.
    speeds: HashMap<usize, f64>,
}

impl Costs {
    /// Returns the cost of copies between two devices.
    pub(crate) fn link(&self, source: usize, destination: usize) -> LinkCost {
        let known = self.links.get(&(source, destination));
        known.copied().unwrap_or_default()
    }

    /// Returns the number of bytes that a device processes in a microsecond, if that is known.
    pub(crate) fn speed(&self, device: usize) -> Option<f64> {
        self.speeds.get(&device).copied()
    }

    /// Reads the attributes of a function with these devices. Returns what is wrong with them.
    pub(crate) fn read(module: &Module, func: OpId, devices: &[String]) -> (Self, Vec<Diagnostic>) {
        let (mut costs, mut findings) = (Self::default(), Vec::new());
        let mut refuse = |attribute: &str, message: String| {
            findings.push(error_at(module, func, format!("`{attribute}`: {message}")));
        };
        for entry in entries(module, func, names::LINKS) {
            let form = "expected [from, to, microseconds, bytes per microsecond]";
            let [source, destination, latency, rate] = entry[..] else {
                refuse(names::LINKS, form.to_owned());
                continue;
            };
            let latency = number(module, latency).filter(|latency| *latency >= 0.0);
            let rate = number(module, rate).filter(|rate| *rate > 0.0);
            let (Some(latency_microseconds), Some(bytes_per_microsecond)) = (latency, rate) else {
                refuse(names::LINKS, form.to_owned());
                continue;
            };
            let link = LinkCost {
                latency_microseconds,
                bytes_per_microsecond,
            };
            let source = device(module, source, devices);
            match source.and_then(|source| Ok((source, device(module, destination, devices)?))) {
                Ok(pair) => _ = costs.links.insert(pair, link),
                Err(message) => refuse(names::LINKS, message),
            }
        }
        for entry in entries(module, func, names::DEVICE_SPEEDS) {
            let speed = match entry[..] {
                [named, speed] => number(module, speed).map(|speed| (named, speed)),
                _ => None,
            };
            match speed.filter(|(_, speed)| *speed > 0.0) {
                Some((named, speed)) => match device(module, named, devices) {
                    Ok(device) => _ = costs.speeds.insert(device, speed),
                    Err(message) => refuse(names::DEVICE_SPEEDS, message),
                },
                None => {
                    let form = "expected [device, bytes per microsecond]";
                    refuse(names::DEVICE_SPEEDS, form.to_owned());
                }
            }
        }
        (costs, findings)
    }
}

/// What devices say of their links and speeds. It is part of what an instance is made for, so it is
/// compared by the bits of its numbers. Devices are their positions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Said {
    /// From, to, microseconds, bytes per microsecond: of links that are not the default.
    links: Vec<(usize, usize, [u64; 2])>,
    /// Bytes per microsecond.
    speeds: Vec<(usize, u64)>,
}

impl Said {
    /// Asks these devices. Costs that are negative or not finite are left out.
    pub(crate) fn by<'a>(
        devices: impl IntoIterator<Item = &'a DeviceRef, IntoIter: Clone>,
    ) -> Self {
        let devices = devices.into_iter();
        let mut said = Self::default();
        // What a single device costs makes no difference.
        if devices.clone().nth(1).is_none() {
            return said;
        }
        for (to, destination) in devices.clone().enumerate() {
            let others = devices.clone().enumerate();
            let is_other = |source: &DeviceRef| source.0.name() != destination.0.name();
            for (from, source) in others.filter(|(_, source)| is_other(source)) {
                let link = destination.0.link_from(&*source.0);
                let LinkCost {
                    latency_microseconds: latency,
                    bytes_per_microsecond: rate,
                } = link;
                let is_cost =
                    latency.is_finite() && latency >= 0.0 && rate.is_finite() && rate > 0.0;
                if is_cost && link != LinkCost::default() {
                    let bits = [latency, rate].map(f64::to_bits);
                    said.links.push((from, to, bits));
                }
            }
            let speed = destination.0.bytes_per_microsecond();
            if let Some(speed) = speed.filter(|speed| speed.is_finite() && *speed > 0.0) {
                said.speeds.push((to, speed.to_bits()));
            }
        }
        said
    }

    /// Writes it to the attributes of a function, with the names of the devices.
    pub(crate) fn write(&self, module: &mut Module, func: OpId, devices: &[String]) {
        let (mut links, mut speeds) = (Vec::new(), Vec::new());
        for &(source, destination, bits) in &self.links {
            let [latency, rate] = bits.map(f64::from_bits);
            let entry = [
                module.string_attr(&devices[source]),
                module.string_attr(&devices[destination]),
                module.f64_attr(latency),
                module.f64_attr(rate),
            ];
            links.push(module.intern_attribute(Attribute::Array(entry.into())));
        }
        for &(device, bits) in &self.speeds {
            let entry = [
                module.string_attr(&devices[device]),
                module.f64_attr(f64::from_bits(bits)),
            ];
            speeds.push(module.intern_attribute(Attribute::Array(entry.into())));
        }
        for (name, entries) in [(names::LINKS, links), (names::DEVICE_SPEEDS, speeds)] {
            if !entries.is_empty() {
                let entries = module.intern_attribute(Attribute::Array(entries.into()));
                module.set_attr(func, name, entries);
            }
        }
    }
}

/// Returns the lists in an attribute. What is not a list is an empty one, which no reader accepts.
fn entries<'a>(module: &'a Module, func: OpId, name: &str) -> Vec<&'a [AttrId]> {
    let list = |attribute: AttrId| match module.attribute(attribute) {
        Attribute::Array(elements) => Some(&elements[..]),
        _ => None,
    };
    match module.attr(func, name).map(list) {
        None => Vec::new(),
        Some(None) => vec![&[]],
        Some(Some(elements)) => {
            let entries = elements
                .iter()
                .map(|&entry| list(entry).unwrap_or_default());
            entries.collect()
        }
    }
}

/// Returns the finite number that an attribute of type `f64` is.
fn number(module: &Module, attribute: AttrId) -> Option<f64> {
    match module.attribute(attribute) {
        Attribute::Float { bits, ty } if dtype_of(module, *ty) == Some(DType::F64) => {
            Some(f64::from_bits(*bits)).filter(|number| number.is_finite())
        }
        _ => None,
    }
}

/// Returns the position of the device that an attribute names.
fn device(module: &Module, attribute: AttrId, devices: &[String]) -> Result<usize, String> {
    let Some(name) = module.attribute_str(attribute) else {
        return Err("expected the name of a device".to_owned());
    };
    let position = devices.iter().position(|device| device == name);
    position.ok_or_else(|| {
        format!(
            "`{name}` is not among the devices of the function: {}",
            devices.join(", ")
        )
    })
}
