//! Damage to files that knows where things are: most random damage dies at the frame of a section.
//!
//! A file is taken apart into sections, one thing in one of them is changed, and it is put together
//! again, with frames that fit.

use tfrt_bef::BefFile;
use tfrt_bef::format::SectionId;

/// Numbers that look random; the same ones for the same seed.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator with a seed of its own.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `limit`, which is not 0.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    /// A number that is likely to be just in range or just out of it.
    pub fn edge(&mut self, near: u64) -> u64 {
        const EDGES: [u64; 10] = [0, 1, 2, 3, 4, 8, 127, 128, u32::MAX as u64, u64::MAX];
        match self.below(4) {
            0 => near.wrapping_add(1),
            1 => near.wrapping_sub(1),
            2 => EDGES[self.below(EDGES.len())],
            _ => self.below(32) as u64,
        }
    }
}

/// The bytes with something changed.
#[must_use]
pub fn mutate(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let file = BefFile::from_bytes(&bytes);
    let Ok(sections) = file.sections() else {
        change_bytes(&mut bytes, random);
        return bytes;
    };
    let mut parts: Vec<(SectionId, Vec<u8>)> = SectionId::ALL
        .into_iter()
        .filter_map(|id| Some((id, sections.bytes(id)?.to_vec())))
        .collect();
    if parts.is_empty() || random.below(8) == 0 {
        change_bytes(&mut bytes, random);
        return bytes;
    }
    for _ in 0..=random.below(3) {
        let index = random.below(parts.len());
        match random.below(8) {
            0 => change_order(&mut parts, random),
            1 | 2 => change_bytes(&mut parts[index].1, random),
            3..=5 => change_integer(&mut parts[index].1, random),
            _ => {
                let of_functions = parts.iter_mut().find(|(id, _)| *id == SectionId::Functions);
                if let Some((_, functions)) = of_functions {
                    change_word(functions, random);
                }
            }
        }
    }
    assemble(&parts)
}

/// The mutator of a fuzzer: changes the first `size` bytes of `data`, which may grow to `max_size`,
/// and returns how many there are then. Half of the time it leaves that to `plainly`, which knows
/// what the fuzzer learnt.
pub fn in_place(
    data: &mut [u8],
    size: usize,
    max_size: usize,
    seed: u32,
    plainly: impl FnOnce(&mut [u8], usize, usize) -> usize,
) -> usize {
    in_place_by(mutate, data, size, max_size, seed, plainly)
}

/// As [`in_place`], for inputs that `mutate` knows.
pub fn in_place_by(
    mutate: impl FnOnce(&[u8], &mut Random) -> Vec<u8>,
    data: &mut [u8],
    size: usize,
    max_size: usize,
    seed: u32,
    plainly: impl FnOnce(&mut [u8], usize, usize) -> usize,
) -> usize {
    let mut random = Random::new(seed.into());
    if random.below(2) == 0 {
        return plainly(data, size, max_size);
    }
    let changed = mutate(&data[..size], &mut random);
    let len = changed.len().min(max_size).min(data.len());
    data[..len].copy_from_slice(&changed[..len]);
    len
}

/// A file of these sections, in this order.
fn assemble(parts: &[(SectionId, Vec<u8>)]) -> Vec<u8> {
    const ALIGNMENT: u8 = 8;
    let mut bytes = vec![0x0b, 0xef, 0];
    for (id, data) in parts {
        bytes.push(*id as u8);
        tfrt_attr::vbr::write(&mut bytes, (data.len() as u64) << 1 | 1);
        bytes.push(ALIGNMENT);
        bytes.resize(bytes.len().next_multiple_of(ALIGNMENT.into()), 0xcc);
        bytes.extend_from_slice(data);
    }
    bytes
}

fn change_bytes(bytes: &mut Vec<u8>, random: &mut Random) {
    if bytes.is_empty() {
        return;
    }
    for _ in 0..=random.below(3) {
        let (from, to) = (random.below(bytes.len()), random.below(bytes.len()));
        bytes[to] = match random.below(4) {
            0 => bytes[from],
            1 => bytes[to] ^ 1 << random.below(8),
            2 => [0, 1, 0x7f, 0x80, 0xff][random.below(5)],
            _ => random.below(256) as u8,
        };
    }
    if random.below(16) == 0 {
        bytes.truncate(random.below(bytes.len()));
    }
}

/// Replaces an integer of variable length; the bytes behind it move.
fn change_integer(bytes: &mut Vec<u8>, random: &mut Random) {
    if bytes.is_empty() {
        return;
    }
    let at = random.below(bytes.len());
    if let Ok((value, len)) = tfrt_attr::vbr::read(&bytes[at..]) {
        let mut integer = Vec::new();
        tfrt_attr::vbr::write(&mut integer, random.edge(value));
        bytes.splice(at..at + len, integer);
    }
}

/// Replaces a word of a kernel record, or of what looks like one.
fn change_word(functions: &mut [u8], random: &mut Random) {
    let (words, _) = functions.as_chunks_mut::<4>();
    if !words.is_empty() {
        let word = &mut words[random.below(words.len())];
        let near = u32::from_le_bytes(*word);
        *word = (random.edge(near.into()) as u32).to_le_bytes();
    }
}

/// Removes, doubles or moves a section.
fn change_order(parts: &mut Vec<(SectionId, Vec<u8>)>, random: &mut Random) {
    let (from, to) = (random.below(parts.len()), random.below(parts.len()));
    match random.below(3) {
        0 if parts.len() > 1 => {
            parts.remove(from);
        }
        1 => {
            let part = parts[from].clone();
            parts.insert(to, part);
        }
        _ => parts.swap(from, to),
    }
}
