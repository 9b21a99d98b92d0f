//! The table of a program: the ops of one function, whose attributes are the entries.

use std::collections::HashMap;

use tfrt_ir::{Attribute, Module, OpId, Type};
use tfrt_support::DType;
use tfrt_tensor::{DenseHostTensor, HostBuffer, Shape};

use super::{MARK, PACKED_MARK, PACKED_WEIGHT, TABLE, WeightFile, elements};
use crate::error::ImportError;
use crate::files::FolderFiles;
use crate::limits::{Limit, Limits};
use crate::malloc;
use crate::names::shown;
use crate::program::{Attr, spelled};
use crate::types::{InputDim, InputType, ListType};

/// The function of a program that is its table.
pub(super) struct Table<'m> {
    module: &'m Module,
    ops: &'m [OpId],
}

impl<'m> Table<'m> {
    /// Returns the table of a program, if it has one.
    pub(super) fn of(module: &'m Module) -> Result<Option<Self>, ImportError> {
        let Some(func) = module.lookup_symbol(module.root(), TABLE) else {
            return Ok(None);
        };
        let Some(block) = module.entry_block(func) else {
            return Ok(None);
        };
        let ops = module.block_ops(block);
        if ops.first().is_none_or(|&op| module.op_name(op) != MARK) {
            return Ok(None);
        }
        let Some((_, ops)) = ops.split_last() else {
            return Ok(None);
        };
        Ok(Some(Self { module, ops }))
    }

    /// Returns its entries, in order.
    pub(super) fn rows(&self) -> impl Iterator<Item = Row<'m>> {
        let module = self.module;
        self.ops.iter().map(move |&op| Row { module, op })
    }

    /// Returns the entries of packed weights by the numbers of the weights, or `None` if the
    /// program has none of this layout.
    pub(super) fn packed_weights(
        &self,
        layout: &str,
    ) -> Result<Option<HashMap<usize, Row<'m>>>, ImportError> {
        let Some(form) = self.rows().find(|row| row.op() == PACKED_MARK) else {
            return Ok(None);
        };
        let found = form.text("layout");
        if found.map_err(|error| error.within(form.place()))? != layout {
            return Ok(None);
        }
        let mut packed = HashMap::new();
        for row in self.rows().filter(|row| row.op() == PACKED_WEIGHT) {
            let index = row.size("weight");
            let index = index.map_err(|error| error.within(row.place()))?;
            // A larger number is that of no weight.
            let index = usize::try_from(index).unwrap_or(usize::MAX);
            if packed.insert(index, row).is_some() {
                let message = format!("weight {index} is packed twice");
                return Err(ImportError::new(message));
            }
        }
        Ok(Some(packed))
    }

    /// Checks the number of arguments and results of a function of the program.
    pub(super) fn check_function(
        &self,
        name: &str,
        num_arguments: usize,
        num_results: usize,
    ) -> Result<(), ImportError> {
        let func = self.module.lookup_symbol(self.module.root(), name);
        let signature = func.and_then(|func| self.module.signature(func));
        let Some((arguments, results)) = signature else {
            let message = format!("expected a function `{name}`, found none");
            return Err(ImportError::new(message));
        };
        let found = (arguments.len(), results.len());
        match found == (num_arguments, num_results) {
            true => Ok(()),
            false => Err(ImportError::new(format!(
                "the table has {num_arguments} arguments and {num_results} results, but \
                 `{name}` has {} and {}",
                found.0, found.1
            ))),
        }
    }
}

/// An entry of a table.
pub(super) struct Row<'m> {
    module: &'m Module,
    op: OpId,
}

impl<'m> Row<'m> {
    pub(super) fn op(&self) -> &'m str {
        self.module.op_name(self.op)
    }

    /// Names the entry, for errors.
    pub(super) fn place(&self) -> String {
        let name = self.text("name").or_else(|_| self.text("path"));
        match name {
            Ok(name) => format!("`{}` of `{}`", self.op(), shown(&name)),
            Err(_) => format!("`{}`", self.op()),
        }
    }

    fn attribute(&self, name: &str) -> Option<&'m Attribute> {
        let module = self.module;
        Some(module.attribute(module.attr(self.op, name)?))
    }

    fn needed<T>(&self, name: &str, found: Option<T>, what: &str) -> Result<T, ImportError> {
        found.ok_or_else(|| {
            let problem = match self.attribute(name) {
                Some(_) => "found another",
                None => "found none",
            };
            ImportError::new(format!("attribute `{name}`: expected {what}, {problem}"))
        })
    }

    fn text(&self, name: &str) -> Result<String, ImportError> {
        let text = match self.attribute(name) {
            Some(Attribute::String(bytes)) => String::from_utf8(bytes.to_vec()).ok(),
            _ => None,
        };
        self.needed(name, text, "a text")
    }

    pub(super) fn int(&self, name: &str) -> Result<i64, ImportError> {
        let number = match self.attribute(name) {
            Some(Attribute::Integer { value, .. }) => i64::try_from(*value).ok(),
            _ => None,
        };
        self.needed(name, number, "an integer of 64 bits")
    }

    fn size(&self, name: &str) -> Result<u64, ImportError> {
        let number = self.int(name)?;
        u64::try_from(number).map_err(|_| {
            ImportError::new(format!(
                "attribute `{name}`: expected at least 0, found {number}"
            ))
        })
    }

    pub(super) fn file(&self) -> Result<WeightFile, ImportError> {
        Ok(WeightFile {
            path: self.text("path")?,
            len_bytes: self.size("size")?,
            sha256: self.text("sha256")?,
        })
    }

    /// Returns the name and the type of a value.
    pub(super) fn value(
        &self,
        limits: &Limits,
    ) -> Result<(String, Option<InputType>), ImportError> {
        let name = self.text("name")?;
        let dtype = match self.attribute("type") {
            None => None,
            Some(_) => Some(self.dtype()?),
        };
        let dims = match self.attribute("rank") {
            None => None,
            Some(_) => Some(self.dims(limits)?),
        };
        let is_declared = dtype.is_some() || dims.is_some();
        Ok((name, is_declared.then_some(InputType { dtype, dims })))
    }

    /// Returns the type of a value that is a list or may be absent.
    pub(super) fn list(&self) -> Result<Option<ListType>, ImportError> {
        if self.attribute("form").is_none() {
            return Ok(None);
        }
        let dtype = match self.attribute("elements") {
            None => None,
            Some(_) => Some(self.dtype_of("elements")?),
        };
        let form = self.text("form")?;
        let list = ListType::of_form(&form, dtype);
        list.map(Some)
            .ok_or_else(|| ImportError::new(format!("unknown form `{}`", shown(&form))))
    }

    fn dtype(&self) -> Result<DType, ImportError> {
        self.dtype_of("type")
    }

    fn dtype_of(&self, name: &str) -> Result<DType, ImportError> {
        let found = match self.attribute(name) {
            Some(Attribute::Type(ty)) => {
                let spelling = self.module.type_spelling(*ty);
                let mut all = DType::ALL.into_iter();
                all.find(|&dtype| spelled(&Attr::Type(dtype)) == spelling)
            }
            _ => None,
        };
        self.needed(name, found, "an element type")
    }

    fn dims(&self, limits: &Limits) -> Result<Vec<InputDim>, ImportError> {
        let rank = self.size("rank")?;
        limits.check(Limit::Rank, rank)?;
        if rank == 0 {
            return Ok(Vec::new());
        }
        let array = |name: &str| match self.attribute(name) {
            Some(Attribute::Array(elements)) if elements.len() as u64 == rank => Some(elements),
            _ => None,
        };
        let module = self.module;
        let what = format!("{rank} integers from -1 on");
        let extents = self.needed("dims", array("dims"), &what)?;
        let symbols = match self.attribute("symbols") {
            None => None,
            Some(_) => Some(self.needed("symbols", array("symbols"), &format!("{rank} texts"))?),
        };
        let dims = extents.iter().enumerate().map(|(axis, &extent)| {
            let extent = module.attribute_int(extent).filter(|&extent| extent >= -1);
            let extent = self.needed("dims", extent, &what)?;
            if let Ok(extent) = u64::try_from(extent) {
                limits.check(Limit::Extent, extent)?;
                return Ok(InputDim::Fixed(extent as usize));
            }
            let symbol = symbols.and_then(|symbols| module.attribute_str(symbols[axis]));
            Ok(match symbol.filter(|symbol| !symbol.is_empty()) {
                Some(symbol) => InputDim::Symbol(symbol.to_owned()),
                None => InputDim::Unknown,
            })
        });
        dims.collect()
    }

    /// Returns a weight or a constant.
    pub(super) fn tensor(
        &self,
        limits: &Limits,
        files: &FolderFiles,
        known_files: &[String],
    ) -> Result<DenseHostTensor, ImportError> {
        let dtype = self.dtype()?;
        let extents = self.dims(limits)?.into_iter().map(|dim| match dim {
            InputDim::Fixed(extent) => Ok(extent),
            InputDim::Symbol(_) | InputDim::Unknown => {
                Err(ImportError::new("expected a shape that is known"))
            }
        });
        let extents = extents.collect::<Result<Vec<usize>, _>>()?;
        let failed = |error: tfrt_tensor::TensorError| ImportError::new(error.to_string());
        let shape = Shape::new(&extents).map_err(|error| ImportError::new(error.to_string()))?;
        if let Some(value) = self.attribute("value") {
            let element = match value {
                Attribute::Dense { ty, elements } => match self.module.ty(*ty) {
                    Type::Tensor { element, .. } => Some((element, elements)),
                    _ => None,
                },
                _ => None,
            };
            let (element, elements) = self.needed("value", element, "elements")?;
            let found = self.module.type_spelling(*element);
            if found != spelled(&Attr::Type(dtype)) {
                return Err(ImportError::new(format!(
                    "expected elements of {dtype}, found {found}"
                )));
            }
            return elements::read(dtype, shape, elements);
        }
        let (file, offset) = (self.size("file")?, self.size("offset")?);
        let path = usize::try_from(file)
            .ok()
            .and_then(|file| known_files.get(file));
        let path = path.ok_or_else(|| {
            ImportError::new(format!(
                "expected the number of one of {} files, found {file}",
                known_files.len()
            ))
        })?;
        let width = dtype
            .size_bytes()
            .ok_or_else(|| ImportError::new(format!("weights of {dtype} are not supported")))?;
        let len_bytes = (extents.iter()).try_fold(width as u64, |product, &extent| {
            product.checked_mul(extent as u64)
        });
        let len_bytes = len_bytes
            .ok_or_else(|| ImportError::new(format!("a weight of shape {shape} is too large")))?;
        let bytes = files.read(path, offset, len_bytes);
        let bytes = bytes.map_err(|error| error.within(format!("file `{}`", shown(path))))?;
        let align = dtype.align_bytes().unwrap_or(1);
        let bytes = match bytes.address().is_multiple_of(align) {
            true => bytes,
            false => {
                let read = bytes.read().map_err(failed)?;
                HostBuffer::copied(&malloc(), &read).map_err(failed)?
            }
        };
        DenseHostTensor::from_buffer(dtype, shape, bytes).map_err(failed)
    }
}
