//! The placement of ops on devices, and its explanation.

use std::fmt;

use smallvec::SmallVec;
use tfrt_host::device::DeviceRef;
use tfrt_support::TensorMetadata;
use tfrt_support::nearest::{did_you_mean, nearest};
use tfrt_support::{DType, Error, ErrorCode};

use super::{EagerContext, at_caller, scope};
use crate::attrs::OpAttrs;
use crate::device_name::{DevicePattern, no_such_device};
use crate::handle::{TensorHandle, same_device};

/// The reason for the placement of an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlacementRule {
    /// There is one device.
    OnlyDevice,
    /// An operand is a resource on this device.
    Resource,
    /// A [scope](EagerContext::device) names the device.
    DeviceScope,
    /// A scope names devices that cannot run the op, and soft placement is on.
    SoftPlacement,
    /// Operands and results are small integer tensors, such as shapes, and the operands are in host
    /// memory.
    SmallIntegers,
    /// Moving the operands costs least, together with the op, if there is an estimate of what the
    /// op costs on each device that has it; among equal costs, the first device wins.
    LeastCost,
}

impl PlacementRule {
    /// Returns the reason as text. `counts_op` says whether a comparison of costs has included the
    /// op itself: whether each device that it was chosen from has an estimate.
    ///
    /// ```
    /// use tfrt_core::PlacementRule;
    ///
    /// let least = PlacementRule::LeastCost;
    /// let [with_op, alone] = [true, false].map(|counts_op| least.text(counts_op));
    /// assert_eq!(with_op, "lowest cost of moving operands and of the op");
    /// assert_eq!(alone, "lowest cost of moving operands");
    /// ```
    #[must_use]
    pub fn text(self, counts_op: bool) -> &'static str {
        match self {
            Self::OnlyDevice => "the only device",
            Self::Resource => "the device of a resource operand",
            Self::DeviceScope => "selected by a device scope",
            Self::SoftPlacement => "no device of the device scope supports the op",
            Self::SmallIntegers => "operands and results are small integers in host memory",
            Self::LeastCost if counts_op => "lowest cost of moving operands and of the op",
            Self::LeastCost => "lowest cost of moving operands",
        }
    }
}

impl fmt::Display for PlacementRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text(false))
    }
}

/// The device of an op and the reason for it, as returned by [`EagerContext::explain`].
///
/// ```
/// # mod linked {
/// #     use tfrt_core::{Implementation, OpCall, OpRegistration};
/// #     fn nothing(_call: &mut OpCall<'_>) -> Result<(), tfrt_support::Error> { Ok(()) }
/// #     tfrt_host::__private::submit! { OpRegistration {
/// #         implementation: Implementation::Function(nothing),
/// #         ..OpRegistration::new("my.Nothing")
/// #     } }
/// # }
/// use std::sync::Arc;
/// use tfrt_core::EagerContext;
/// use tfrt_host::HostContext;
/// use tfrt_host::device::CpuDevice;
///
/// let host = HostContext::builder().build();
/// let eager = EagerContext::builder(host).device(Arc::new(CpuDevice::new("CPU:1"))).build()?;
/// let _scope = eager.device("CPU:1")?;
/// let placement = eager.explain("my.Nothing", &[])?;
/// assert_eq!(placement.device.0.name(), "CPU:1");
/// assert_eq!(
///     placement.to_string(),
///     "\
/// my.Nothing runs on CPU:1: selected by a device scope
///   device  has the op  cost of moving operands  cost of the op
///   CPU:0   yes         0.0 us                   0.0 us
///   CPU:1   yes         0.0 us                   0.0 us
/// ",
/// );
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Placement {
    /// The name of the op.
    pub op: String,
    /// The device.
    pub device: DeviceRef,
    /// The reason for the device.
    pub rule: PlacementRule,
    /// The facts about each device, in device order.
    pub candidates: Vec<Candidate>,
}

/// The facts about a device that decide a placement.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The device.
    pub device: DeviceRef,
    /// Whether the op can run there.
    pub has_op: bool,
    /// The assumed time in microseconds to move the operands there.
    pub cost_microseconds: f64,
    /// The assumed time in microseconds that the op takes there, if there is an estimate.
    pub op_microseconds: Option<f64>,
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            op,
            device,
            rule,
            candidates,
        } = self;
        let name = device.0.name();
        let mut choices = candidates.iter().filter(|known| known.has_op);
        let counts_op = choices.all(|known| known.op_microseconds.is_some());
        writeln!(f, "{op} runs on {name}: {}", rule.text(counts_op))?;
        let rows = candidates.iter().map(|candidate| PlacementRow {
            device: candidate.device.0.name(),
            has_op: candidate.has_op,
            cost_microseconds: candidate.cost_microseconds,
            op_microseconds: candidate.op_microseconds,
        });
        f.write_str(&placement_table(&rows.collect::<Vec<_>>()))
    }
}

/// A row of a [`placement_table`]: the facts about a device.
#[derive(Clone, Copy, Debug)]
pub struct PlacementRow<'a> {
    /// The name of the device.
    pub device: &'a str,
    /// Whether the op can run there.
    pub has_op: bool,
    /// The assumed time in microseconds to move the operands there.
    pub cost_microseconds: f64,
    /// The assumed time in microseconds that the op takes there, if there is an estimate.
    pub op_microseconds: Option<f64>,
}

/// Returns a readable table of the devices that a placement chose from. A column for the op itself
/// is only shown if there is an estimate.
///
/// ```
/// use tfrt_core::{PlacementRow, placement_table};
///
/// let row = PlacementRow {
///     device: "CPU:0",
///     has_op: true,
///     cost_microseconds: 12.5,
///     op_microseconds: None,
/// };
/// let table = placement_table(&[row]);
/// let lines: Vec<&str> = table.lines().collect();
/// assert_eq!(lines[0], "  device  has the op  cost of moving operands");
/// assert_eq!(lines[1], "  CPU:0   yes         12.5 us");
/// let estimated = PlacementRow { device: "CPU:1", op_microseconds: Some(3.0), ..row };
/// let table = placement_table(&[row, estimated]);
/// let lines: Vec<&str> = table.lines().collect();
/// assert_eq!(lines[0], "  device  has the op  cost of moving operands  cost of the op");
/// assert_eq!(lines[1], "  CPU:0   yes         12.5 us                  unknown");
/// assert_eq!(lines[2], "  CPU:1   yes         12.5 us                  3.0 us");
/// ```
#[must_use]
pub fn placement_table(rows: &[PlacementRow<'_>]) -> String {
    let names = rows.iter().map(|row| row.device.len());
    let width = names.max().unwrap_or(0).max("device".len());
    let has_estimates = rows.iter().any(|row| row.op_microseconds.is_some());
    let of_op = if has_estimates {
        "  cost of the op"
    } else {
        ""
    };
    let mut table = format!(
        "  {:width$}  has the op  cost of moving operands{of_op}\n",
        "device"
    );
    for row in rows {
        let name = row.device;
        let has_op = if row.has_op { "yes" } else { "no" };
        let moving = format!("{:.1} us", row.cost_microseconds);
        table += &match (has_estimates, row.op_microseconds) {
            (false, _) => format!("  {name:width$}  {has_op:10}  {moving}\n"),
            (true, Some(cost)) => {
                format!("  {name:width$}  {has_op:10}  {moving:23}  {cost:.1} us\n")
            }
            (true, None) => format!("  {name:width$}  {has_op:10}  {moving:23}  unknown\n"),
        };
    }
    table
}

/// Returns the first of these devices on which moving the operands and running the op cost least,
/// given both times in microseconds. Where the time of the op is not known for all of them, moving
/// decides alone: a device that states nothing is not the fastest.
///
/// The time of the op is found out only where it can make a difference.
///
/// ```
/// use tfrt_core::cheapest_device;
///
/// let moving = |device: usize| [0.0, 10.0][device];
/// let known = |device: usize| Some([50.0, 1.0][device]);
/// let partly_known = |device: usize| known(device).filter(|_| device == 1);
/// assert_eq!(cheapest_device(&[0, 1], moving, known), Some(1));
/// assert_eq!(cheapest_device(&[0, 1], moving, partly_known), Some(0));
/// assert_eq!(cheapest_device(&[], moving, known), None);
/// ```
pub fn cheapest_device(
    devices: &[usize],
    moving_cost: impl Fn(usize) -> f64,
    op_cost: impl Fn(usize) -> Option<f64>,
) -> Option<usize> {
    if let &[only] = devices {
        return Some(only);
    }
    let moving: SmallVec<[f64; 4]> = devices.iter().map(|&device| moving_cost(device)).collect();
    let nearest = first_of_least(&moving)?;
    let Some(of_nearest) = op_cost(devices[nearest]) else {
        return Some(devices[nearest]);
    };
    // Ops take time: a device that takes no less to move the operands to is not cheaper.
    let cost = moving[nearest] + of_nearest;
    let is_dearer = |(place, &moving): (usize, &f64)| {
        place == nearest || moving > cost || (moving == cost && place > nearest)
    };
    if moving.iter().enumerate().all(is_dearer) {
        return Some(devices[nearest]);
    }
    let total = |(place, &device): (usize, &usize)| {
        let of_op = match place == nearest {
            true => Some(of_nearest),
            false => op_cost(device),
        };
        of_op.map(|of_op| moving[place] + of_op)
    };
    let totals: Option<SmallVec<[f64; 4]>> = devices.iter().enumerate().map(total).collect();
    let cheapest = totals.as_deref().map_or(Some(nearest), first_of_least);
    cheapest.map(|place| devices[place])
}

/// Returns the position of the first of the least costs.
fn first_of_least(costs: &[f64]) -> Option<usize> {
    let costs = costs.iter().enumerate();
    let least = costs.min_by(|(_, a), (_, b)| a.total_cmp(b));
    least.map(|(place, _)| place)
}

impl EagerContext {
    /// Returns the device that an op on these operands would run on now, and the reason.
    ///
    /// # Errors
    /// If no device could run it.
    #[track_caller]
    pub fn explain(&self, op: &str, operands: &[&TensorHandle]) -> Result<Placement, Error> {
        let has_op = |index| self.has_op(index, op);
        let attrs = OpAttrs::new();
        let (index, rule) = self
            .place(op, operands, &attrs, has_op)
            .map_err(at_caller())?;
        let candidates = self
            .devices
            .iter()
            .enumerate()
            .map(|(index, known)| Candidate {
                device: known.device.clone(),
                has_op: self.has_op(index, op),
                cost_microseconds: self.moving_cost(index, op, operands),
                op_microseconds: self.op_cost(index, op, operands, &attrs),
            });
        Ok(Placement {
            op: op.to_owned(),
            device: self.devices[index].device.clone(),
            rule,
            candidates: candidates.collect(),
        })
    }

    /// Returns the device that an op on these operands runs on. `has_op` accepts this device.
    pub(super) fn place(
        &self,
        op: &str,
        operands: &[&TensorHandle],
        attrs: &OpAttrs,
        has_op: impl Fn(usize) -> bool,
    ) -> Result<(usize, PlacementRule), Error> {
        if self.devices.len() == 1 {
            return Ok((0, PlacementRule::OnlyDevice));
        }
        if let Some(index) = self.home_of_resources(op, operands)? {
            if has_op(index) {
                return Ok((index, PlacementRule::Resource));
            }
            return Err(self.not_on(op, &[index]));
        }
        let mut rule = PlacementRule::LeastCost;
        if let Some(wanted) = scope::devices(self) {
            let having: Vec<usize> = wanted
                .iter()
                .copied()
                .filter(|&index| has_op(index))
                .collect();
            if let Some(cheapest) = self.cheapest(&having, op, operands, attrs) {
                return Ok((cheapest, PlacementRule::DeviceScope));
            }
            if !self.settings.soft_placement {
                return Err(self.not_on(op, &wanted));
            }
            rule = PlacementRule::SoftPlacement;
        }
        let having: Vec<usize> = (0..self.devices.len())
            .filter(|&index| has_op(index))
            .collect();
        let host = self.runtime.host_device();
        let is_small = |operand: &&TensorHandle| {
            let on_host = operand
                .device()
                .is_some_and(|device| same_device(device, host));
            let metadata = operand.metadata();
            on_host && metadata.is_some_and(|metadata| self.is_small(&metadata))
        };
        if rule == PlacementRule::LeastCost
            && !operands.is_empty()
            && operands.iter().all(is_small)
            && having.contains(&0)
            && self.results_are_small(op, operands, attrs)
        {
            return Ok((0, PlacementRule::SmallIntegers));
        }
        match self.cheapest(&having, op, operands, attrs) {
            Some(cheapest) => Ok((cheapest, rule)),
            None => Err(self.no_such_op(op)),
        }
    }

    /// Returns the device of the operands that are resources, if there are any.
    fn home_of_resources(
        &self,
        op: &str,
        operands: &[&TensorHandle],
    ) -> Result<Option<usize>, Error> {
        let mut home: Option<(usize, &DeviceRef)> = None;
        for (index, operand) in operands.iter().enumerate() {
            let is_resource = operand.is_of(DType::Resource);
            let Some(device) = operand.device().filter(|_| is_resource) else {
                continue;
            };
            match home {
                Some((other, found)) if !same_device(found, device) => {
                    return Err(Error::new(format!(
                        "`{op}`: expected all resources on the same device, found operand {other} \
                         on {} and operand {index} on {}",
                        found.0.name(),
                        device.0.name()
                    ))
                    .with_code(ErrorCode::InvalidArgument));
                }
                Some(_) => {}
                None => home = Some((index, device)),
            }
        }
        let Some((_, device)) = home else {
            return Ok(None);
        };
        let known = self
            .devices
            .iter()
            .position(|known| same_device(&known.device, device));
        known
            .map(Some)
            .ok_or_else(|| self.no_such_device(device.0.name()))
    }

    /// Returns `true` if all results of an op on the host are known to be small integer tensors.
    fn results_are_small(&self, op: &str, operands: &[&TensorHandle], attrs: &OpAttrs) -> bool {
        let device_type = self.devices[0].device.0.device_type();
        let Ok(Some(registered)) = self.runtime.ops().get(device_type, op) else {
            return false;
        };
        let known: Option<Vec<TensorMetadata>> =
            operands.iter().map(|operand| operand.metadata()).collect();
        let told = known.and_then(|known| registered.result_metadata(&known, attrs).ok());
        told.is_some_and(|told| {
            !told.is_empty()
                && told
                    .iter()
                    .all(|result| result.as_ref().is_some_and(|told| self.is_small(told)))
        })
    }

    fn is_small(&self, metadata: &TensorMetadata) -> bool {
        let max_elements = self.settings.max_small_elements;
        let count = metadata.num_elements();
        is_integer(metadata.dtype) && count.is_some_and(|count| count <= max_elements)
    }

    pub(super) fn has_op(&self, device: usize, op: &str) -> bool {
        self.made_op(device, op).is_ok()
    }

    /// Returns the first of these devices on which moving the operands and running the op cost
    /// least.
    fn cheapest(
        &self,
        devices: &[usize],
        op: &str,
        operands: &[&TensorHandle],
        attrs: &OpAttrs,
    ) -> Option<usize> {
        cheapest_device(
            devices,
            |device| self.moving_cost(device, op, operands),
            |device| self.op_cost(device, op, operands, attrs),
        )
    }

    /// Returns the assumed time in microseconds to move the operands of an op from other devices to
    /// where it needs them if it runs on a device: there, or in host memory.
    fn moving_cost(&self, device: usize, op: &str, operands: &[&TensorHandle]) -> f64 {
        let device = &self.devices[device].device;
        let registered = self.runtime.ops().get(device.0.device_type(), op);
        let registered = registered.ok().flatten();
        let cost = operands.iter().enumerate().filter_map(|(index, operand)| {
            let is_on_host = registered.is_some_and(|op| op.takes_in_host_memory(index));
            let needed = match is_on_host {
                true => self.runtime.host_device(),
                false => device,
            };
            let found = operand
                .device()
                .filter(|found| !same_device(found, needed))?;
            let num_bytes = operand.metadata().and_then(|known| known.size_bytes());
            let link = needed.0.link_from(&*found.0);
            Some(link.microseconds(num_bytes.unwrap_or(0)))
        });
        cost.fold(0.0, |total, cost| total + cost)
    }

    /// Returns the assumed time in microseconds that an op takes on a device: the estimate of the
    /// op, or else that of the device. Returns `None` if neither has one, or too little is known of
    /// the operands.
    fn op_cost(
        &self,
        device: usize,
        op: &str,
        operands: &[&TensorHandle],
        attrs: &OpAttrs,
    ) -> Option<f64> {
        let device = &*self.devices[device].device.0;
        let registered = self.runtime.ops().get(device.device_type(), op).ok()??;
        let speed = device.bytes_per_microsecond().filter(|&speed| speed > 0.0);
        if !registered.has_cost() && speed.is_none() {
            return None;
        }
        let known = operands.iter().map(|operand| operand.metadata());
        let known: Vec<TensorMetadata> = known.collect::<Option<_>>()?;
        registered.cost_on(speed, &known, attrs)
    }

    /// Returns the device of this name.
    pub(super) fn find_device(&self, name: &str) -> Result<usize, Error> {
        match self.find_devices(name)?[..] {
            [device, ..] => Ok(device),
            [] => Err(self.no_such_device(name)),
        }
    }

    /// Returns the devices that match a name or a part of a name.
    pub(super) fn find_devices(&self, name: &str) -> Result<Vec<usize>, Error> {
        let found = DevicePattern::new(name).matching(self.device_names());
        if found.is_empty() {
            return Err(self.no_such_device(name));
        }
        Ok(found)
    }

    fn device_names(&self) -> impl Iterator<Item = &str> {
        self.devices.iter().map(|known| known.device.0.name())
    }

    fn names(&self, devices: impl Iterator<Item = usize>) -> String {
        let names: Vec<&str> = devices
            .map(|index| self.devices[index].device.0.name())
            .collect();
        names.join(", ")
    }

    #[cold]
    fn no_such_device(&self, name: &str) -> Error {
        Error::new(no_such_device(name, self.device_names())).with_code(ErrorCode::DeviceNotFound)
    }

    #[cold]
    fn not_on(&self, op: &str, wanted: &[usize]) -> Error {
        let having = (0..self.devices.len()).filter(|&index| self.has_op(index, op));
        let having = self.names(having);
        if having.is_empty() {
            return self.no_such_op(op);
        }
        let wanted = self.names(wanted.iter().copied());
        Error::new(format!(
            "op `{op}` is not available for {wanted}; available for: {having}"
        ))
        .with_code(ErrorCode::NotFound)
    }

    #[cold]
    pub(super) fn no_such_op(&self, op: &str) -> Error {
        let devices = self.names(0..self.devices.len());
        let known = self
            .devices
            .iter()
            .flat_map(|known| self.runtime.ops().names(known.device.0.device_type()));
        let mut known: Vec<&str> = known.collect();
        known.sort_unstable();
        let hint = did_you_mean(&nearest(op, known));
        Error::new(format!("op `{op}` is not available for {devices}{hint}"))
            .with_code(ErrorCode::NotFound)
    }
}

fn is_integer(dtype: DType) -> bool {
    matches!(
        dtype,
        DType::Ui8
            | DType::Ui16
            | DType::Ui32
            | DType::Ui64
            | DType::I8
            | DType::I16
            | DType::I32
            | DType::I64
    )
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// Compares the total costs of all devices.
    fn by_totals(moving: [f64; 3], of_op: [Option<f64>; 3]) -> Option<usize> {
        let is_known = of_op.iter().all(Option::is_some);
        let totals = [0, 1, 2].map(|device: usize| match of_op[device] {
            Some(of_op) if is_known => moving[device] + of_op,
            _ => moving[device],
        });
        first_of_least(&totals)
    }

    #[test]
    fn the_cheapest_device_is_that_of_the_least_total_and_the_first_of_equal_ones() {
        let moving = [0.0, 1.0, 2.0];
        let of_op = [None, Some(0.0), Some(1.0), Some(2.0)];
        let all =
            |index: usize, base: usize| [1, base, base * base].map(|unit| index / unit % base);
        for moving in (0..27).map(|index| all(index, 3).map(|choice| moving[choice])) {
            for of_op in (0..64).map(|index| all(index, 4).map(|choice| of_op[choice])) {
                let found =
                    cheapest_device(&[0, 1, 2], |device| moving[device], |device| of_op[device]);
                assert_eq!(found, by_totals(moving, of_op), "{moving:?} {of_op:?}");
            }
        }
    }

    #[test]
    fn the_time_of_an_op_is_asked_of_devices_that_may_be_cheaper() {
        let asked = RefCell::new(Vec::new());
        let of_op = |device| {
            asked.borrow_mut().push(device);
            Some(1.0)
        };
        let moving = |device: usize| [10.0, 0.0, 10.0][device];
        assert_eq!(cheapest_device(&[0, 1, 2], moving, of_op), Some(1));
        assert_eq!(cheapest_device(&[2], moving, of_op), Some(2));
        assert_eq!(*asked.borrow(), [1]);
    }
}
