//! What a rule makes: the attributes and the constants of its replacement.

use tfrt_attr::{AttrValue, DenseAttr};
use tfrt_ir::AttrId;
use tfrt_support::DType;

use super::Match;

/// The attributes of the ops of a replacement, and its constants.
///
/// Ops go by their numbers in the order in which they are written.
#[derive(Debug, Default)]
pub struct Replacement {
    attributes: Vec<(usize, String, Attribute)>,
    constants: Vec<(&'static str, DenseAttr)>,
}

/// Where an attribute comes from.
#[derive(Clone, Debug)]
pub(crate) enum Attribute {
    Copied(AttrId),
    New(AttrValue),
}

impl Replacement {
    /// Sets an attribute of op number `op`.
    pub fn set(&mut self, op: usize, name: &str, value: AttrValue) {
        let attribute = (op, name.to_owned(), Attribute::New(value));
        self.attributes.push(attribute);
    }

    /// Sets an attribute of op number `op` to a list of texts.
    pub fn set_texts(&mut self, op: usize, name: &str, texts: &[&str]) {
        let texts = texts.iter().map(|text| AttrValue::string(text));
        self.set(op, name, AttrValue::Array(texts.collect()));
    }

    /// Gives op number `op` all attributes of op number `from` of the match.
    pub fn copy(&mut self, op: usize, found: &Match<'_>, from: usize) {
        for (name, value) in found.attributes(from) {
            self.attributes.push((op, name, Attribute::Copied(value)));
        }
    }

    /// Makes a constant that the replacement has by this name.
    pub fn constant(&mut self, name: &'static str, constant: DenseAttr) {
        self.constants.push((name, constant));
    }

    /// Makes a constant of one number of type `f32`.
    pub fn number(&mut self, name: &'static str, number: f32) {
        let constant = DenseAttr {
            dtype: DType::F32,
            dims: Vec::new(),
            data: number.to_le_bytes().to_vec(),
        };
        self.constant(name, constant);
    }

    /// Makes a constant that is a vector of numbers of type `i64`.
    pub fn integers(&mut self, name: &'static str, integers: &[i64]) {
        let data = integers.iter().flat_map(|number| number.to_le_bytes());
        let constant = DenseAttr {
            dtype: DType::I64,
            dims: vec![integers.len() as i64],
            data: data.collect(),
        };
        self.constant(name, constant);
    }

    /// Returns the attributes of op number `op`; the first of a name counts.
    pub(crate) fn attributes_of(&self, op: usize) -> Vec<(&str, &Attribute)> {
        let mut found: Vec<(&str, &Attribute)> = Vec::new();
        for (of, name, attribute) in &self.attributes {
            if *of == op && found.iter().all(|(known, _)| known != name) {
                found.push((name, attribute));
            }
        }
        found
    }

    pub(crate) fn constants(&self) -> &[(&'static str, DenseAttr)] {
        &self.constants
    }
}
