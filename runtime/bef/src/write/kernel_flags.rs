//! The KernelFlags section: properties of kernels that are not in their records. Empty if there are
//! none.

use tfrt_attr::vbr;

use super::{BefBuilder, push_id};
use crate::format::KernelFlags;

/// Encodes the section, which is empty if no kernel has a flag.
pub(super) fn encode(builder: &BefBuilder) -> Vec<u8> {
    let mut tables = Vec::new();
    let mut num_tables = 0;
    for (function, body) in builder.bodies() {
        let flagged: Vec<(u64, KernelFlags)> = (1..)
            .zip(&body.kernels)
            .map(|(number, kernel)| (number, kernel.flags))
            .filter(|&(_, flags)| flags != KernelFlags::NONE)
            .collect();
        if flagged.is_empty() {
            continue;
        }
        num_tables += 1;
        push_id(&mut tables, function);
        vbr::write(&mut tables, flagged.len() as u64);
        for (number, flags) in flagged {
            vbr::write(&mut tables, number);
            vbr::write(&mut tables, flags.bits());
        }
    }
    if num_tables == 0 {
        return Vec::new();
    }
    let mut bytes = Vec::new();
    vbr::write(&mut bytes, num_tables);
    bytes.extend_from_slice(&tables);
    bytes
}
