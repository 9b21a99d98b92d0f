//! The custom form of a declared op, according to its assembly format.
//!
//! Elements are read in order. Their contents are collected by the groups of the declaration:
//! operands as names, types as lists. Names are resolved to values once both are known: before the
//! first region, whose arguments have the types of operands, or at the end.
//!
//! In a program that omits chains, an op does so if there is no name in the place of a declared
//! chain, or the name of a value known not to be a chain.

use tfrt_ods::CHAIN_TYPE;
use tfrt_ods::format::{DictKeyword, Element, Format, Group};
use tfrt_ods::groups::Groups;
use tfrt_ods::{Arity, AttrKind, EnumDef, FunctionForm, OpDef, TypeConstraint};

use super::lexer::{Kind, Token};
use super::ops::enum_type;
use super::parse_type;
use super::parser::{Failure, Parse, Parser};
use super::values::Name;
use crate::attribute::{AttrId, Attribute};
use crate::module::{OpId, OpState, RegionId, ValueId};
use crate::types::TypeId;

/// The maximum number of results that a count may request.
const MAX_COUNTED_RESULTS: usize = 1 << 16;

/// A list of operands in the text.
struct OperandList<'s> {
    groups: Vec<usize>,
    names: Vec<Name<'s>>,
    offset: usize,
}

/// The parts of an op that have been read.
struct Partial<'s> {
    def: &'static OpDef,
    state: OpState,
    lists: Vec<OperandList<'s>>,
    operand_types: Vec<Option<Vec<TypeId>>>,
    result_types: Vec<Option<Vec<TypeId>>>,
    /// The names in each group of operands, once lists are divided.
    group_names: Vec<Vec<Name<'s>>>,
    /// The values in each group of operands, once they are known.
    values: Option<Vec<Vec<ValueId>>>,
    /// The regions, by function.
    regions: Vec<Option<RegionId>>,
    /// `true` if the declared chains are omitted, among operands and results.
    leaves_out_chains: bool,
    /// The attribute that determines the types of operands, if any.
    determining: Option<usize>,
}

impl Partial<'_> {
    /// Returns the groups of list number `list`, without omitted chains.
    fn groups(&self, list: usize) -> Vec<usize> {
        let groups = self.lists[list].groups.iter().copied();
        groups
            .filter(|&group| !self.leaves_out_chains || !is_single_chain(self.def, group))
            .collect()
    }
}

/// Returns the arity of the operand or result of a group.
fn arity(def: &OpDef, group: Group) -> Arity {
    match group {
        Group::Operand(operand) => def.operands[operand].arity,
        Group::Result(result) => def.results[result].arity,
    }
}

/// Returns `true` if a group of operands is a single chain.
fn is_single_chain(def: &OpDef, group: usize) -> bool {
    let operand = &def.operands[group];
    operand.arity == Arity::One && operand.ty.is_chain()
}

impl<'s> Parser<'s, '_> {
    /// Parses an op whose name is `token`.
    pub(super) fn declared_op(
        &mut self,
        token: Token,
        def: &'static OpDef,
        format: &Format,
    ) -> Parse<OpId> {
        let location = self.location(token.start);
        let mut op = Partial {
            def,
            state: OpState::new(def.name, location),
            lists: Vec::new(),
            operand_types: vec![None; def.operands.len()],
            result_types: vec![None; def.results.len()],
            group_names: vec![Vec::new(); def.operands.len()],
            values: None,
            regions: vec![None; def.functions.len()],
            leaves_out_chains: false,
            determining: format.elements.iter().find_map(|element| match element {
                Element::KnownTypes { by, .. } => *by,
                _ => None,
            }),
        };
        self.elements(&mut op, &format.elements)?;
        self.resolve_operands(&mut op)?;
        op.state.operands = op.values.take().unwrap_or_default().concat();
        for result in 0..def.results.len() {
            let types = self.result_types(&op, result)?;
            op.state.result_types.extend(types);
        }
        op.state.regions = op.regions.iter().flatten().copied().collect();
        self.add_defaults(def, &mut op.state);
        Ok(self.module.create_op(op.state))
    }

    #[cold]
    fn custom_error(
        &mut self,
        def: &OpDef,
        offset: usize,
        message: impl std::fmt::Display,
    ) -> Failure {
        self.error_at(offset, format!("custom op '{}' {message}", def.name))
    }

    fn elements(&mut self, op: &mut Partial<'s>, elements: &[Element]) -> Parse<()> {
        elements
            .iter()
            .try_for_each(|element| self.element(op, element))
    }

    fn element(&mut self, op: &mut Partial<'s>, element: &Element) -> Parse<()> {
        match element {
            Element::Literal(text) => self.literal_text(op.def, text),
            Element::Operands(groups) => self.operands(op, groups),
            Element::TypedOperands(group) => self.typed_operands(op, *group),
            Element::Attribute {
                attribute,
                is_typed,
            } => self.attribute_value(op, *attribute, *is_typed),
            Element::Function(function) => self.function(op, *function),
            Element::AttrDict(keyword) => self.attr_dict(op, *keyword),
            Element::KeyValues(attributes) => self.key_values(op, attributes),
            Element::Pairs(attribute) => self.pairs(op, *attribute),
            Element::Types(lists) => self.types(op, lists),
            Element::FunctionType {
                inputs, results, ..
            } => self.signature(op, inputs, results),
            Element::ResultCount(result) => self.result_count(op, *result),
            Element::KnownTypes { operands, by } => self.known_types(op, operands, *by),
            Element::LastType(operands) => self.last_type(op, operands),
            Element::SharedType { attribute, result } => self.shared_type(op, *attribute, *result),
            Element::Region {
                function,
                arguments,
            } => self.shorthand_region(op, *function, arguments),
            Element::EmptyRegion {
                function,
                arguments,
                terminator,
            } => self.empty_region(op, *function, arguments, terminator),
            Element::Expect { operand, what } => {
                self.divide_operands(op)?;
                if op.group_names[*operand].is_empty() {
                    return Err(self.custom_error(
                        op.def,
                        self.token().start,
                        format!("expected {what}"),
                    ));
                }
                Ok(())
            }
            Element::WholeRegion(function) => self.whole_region(op, *function),
            Element::Blank { .. } => Ok(()),
            Element::Optional { elements, .. } => {
                if elements
                    .first()
                    .is_some_and(|first| self.starts(op.def, first))
                    || self.starts_with_unknown_keyword(op.def, elements)
                {
                    self.elements(op, elements)?;
                }
                Ok(())
            }
            Element::Either { first, second, .. } => {
                if first
                    .first()
                    .is_some_and(|element| self.starts(op.def, element))
                {
                    return self.elements(op, first);
                }
                if let (Some(Element::Literal(text)), [Element::EmptyRegion { .. }]) =
                    (first.first(), &second[..])
                    && !op.def.results.is_empty()
                    && self.has_results(op)?
                {
                    let message =
                        format!("expected '{text}' in '{}' with result values", op.def.name);
                    return Err(self.custom_error(op.def, self.token().start, message));
                }
                self.elements(op, second)
            }
        }
    }

    /// Returns `true` if the current token starts the element.
    fn starts(&self, def: &OpDef, element: &Element) -> bool {
        match element {
            Element::Literal(text) => self.is_literal(text),
            Element::Operands(_) | Element::TypedOperands(_) => self.is(Kind::Percent),
            Element::Region { .. } | Element::WholeRegion(_) | Element::Pairs(_) => {
                self.is(Kind::LBrace)
            }
            Element::Function(function) => match def.functions[*function].form {
                FunctionForm::SymbolList => self.is(Kind::LSquare),
                _ => self.is(Kind::At),
            },
            Element::Attribute { attribute, .. } => match def.attributes[*attribute].kind {
                AttrKind::String => self.is(Kind::String),
                AttrKind::Array(_) | AttrKind::Aggregate => self.is(Kind::LSquare),
                AttrKind::Dense => self.is_word("dense"),
                AttrKind::Enum(def) => {
                    self.is(Kind::Bare) && def.value_of(self.current()).is_some()
                        || self.is(Kind::Integer) && def.numbers.is_some()
                }
                AttrKind::Int { .. } | AttrKind::Float(_) => {
                    matches!(self.token().kind, Kind::Integer | Kind::Float | Kind::Minus)
                        || self.is_word("true")
                        || self.is_word("false")
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// Returns `true` if a word and a comma stand in the place of a keyword and a comma: the word
    /// is a misspelt keyword.
    fn starts_with_unknown_keyword(&self, def: &OpDef, elements: &[Element]) -> bool {
        let [
            Element::Attribute { attribute, .. },
            Element::Literal(separator),
            ..,
        ] = elements
        else {
            return false;
        };
        let mut lexer = self.lexer;
        matches!(def.attributes[*attribute].kind, AttrKind::Enum(_))
            && separator == ","
            && self.is(Kind::Bare)
            && lexer.next().kind == Kind::Comma
    }

    pub(super) fn is_literal(&self, text: &str) -> bool {
        self.current() == text
            && !matches!(self.token().kind, Kind::Eof | Kind::Error | Kind::String)
    }

    fn literal_text(&mut self, def: &OpDef, text: &str) -> Parse<()> {
        if self.is_literal(text) {
            self.advance();
            return Ok(());
        }
        let message = format!("expected '{text}'");
        if text.starts_with(|c: char| c.is_ascii_alphabetic()) {
            Err(self.custom_error(def, self.token().start, message))
        } else {
            Err(self.error(message))
        }
    }

    // Operands and types.

    fn operands(&mut self, op: &mut Partial<'s>, groups: &[usize]) -> Parse<()> {
        let offset = self.token().start;
        if groups.is_empty() {
            return Ok(());
        }
        let is_single = matches!(groups, [group] if op.def.operands[*group].arity == Arity::One);
        let names = if is_single {
            vec![self.value_name()?]
        } else {
            self.opt_value_names()?
        };
        op.lists.push(OperandList {
            groups: groups.to_vec(),
            names,
            offset,
        });
        Ok(())
    }

    /// `(value ':' type (',' value ':' type)*)?`
    fn typed_operands(&mut self, op: &mut Partial<'s>, group: usize) -> Parse<()> {
        let offset = self.token().start;
        let (mut names, mut types) = (Vec::new(), Vec::new());
        if self.is(Kind::Percent) {
            self.comma_list(|this| {
                names.push(this.value_name()?);
                this.expect(Kind::Colon, "expected ':'")?;
                types.push(this.ty()?);
                Ok(())
            })?;
        }
        op.lists.push(OperandList {
            groups: vec![group],
            names,
            offset,
        });
        op.operand_types[group] = Some(types);
        Ok(())
    }

    fn types(&mut self, op: &mut Partial<'s>, lists: &[Vec<Group>]) -> Parse<()> {
        self.divide_operands(op)?;
        let has_values = lists.iter().flatten().any(|group| match group {
            Group::Operand(operand) => !op.group_names[*operand].is_empty(),
            Group::Result(_) => true,
        });
        let is_single = matches!(lists, [groups] if matches!(groups[..], [group] if arity(op.def, group) == Arity::One));
        let types = if is_single {
            vec![self.ty()?]
        } else if has_values || self.starts_type() {
            self.type_list()?
        } else {
            Vec::new()
        };
        for groups in lists {
            self.bind_types(op, groups, &types);
        }
        Ok(())
    }

    /// Returns `true` if a type may start with the current token. Only a word that is a type by
    /// itself counts; any other may be an op.
    fn starts_type(&self) -> bool {
        match self.token().kind {
            Kind::LParen | Kind::Exclamation | Kind::IntType => true,
            Kind::Bare => {
                let word = self.current();
                crate::types::FloatType::from_spelling(word).is_some()
                    || matches!(
                        word,
                        "index" | "none" | "complex" | "tuple" | "tensor" | "vector" | "memref"
                    )
            }
            _ => false,
        }
    }

    /// Assigns these types to the groups in order.
    fn bind_types(&mut self, op: &mut Partial<'s>, groups: &[Group], types: &[TypeId]) {
        let divided = Groups::of(groups.iter().map(|group| arity(op.def, *group)));
        let mut bound: Vec<Vec<TypeId>> = vec![Vec::new(); groups.len()];
        for (index, &ty) in types.iter().enumerate() {
            // Excess types go to the last group, where their number is reported.
            let part = divided
                .part_of(index, types.len())
                .unwrap_or(groups.len() - 1);
            bound[part].push(ty);
        }
        for (group, types) in groups.iter().zip(bound) {
            match group {
                Group::Operand(operand) => op.operand_types[*operand] = Some(types),
                Group::Result(result) => op.result_types[*result] = Some(types),
            }
        }
    }

    fn signature(
        &mut self,
        op: &mut Partial<'s>,
        inputs: &[Group],
        results: &[Group],
    ) -> Parse<()> {
        let offset = self.token().start;
        if !self.is(Kind::LParen) {
            self.ty()?;
            return Err(self.custom_error(op.def, offset, "invalid kind of type specified"));
        }
        let input_types = self.type_list_parens()?;
        self.expect(Kind::Arrow, "expected '->' in function type")?;
        let result_types = self.function_result_types()?;
        self.bind_types(op, inputs, &input_types);
        self.bind_types(op, results, &result_types);
        Ok(())
    }

    fn result_count(&mut self, op: &mut Partial<'s>, result: usize) -> Parse<()> {
        let count = match self.current().parse::<usize>() {
            Ok(count) if self.is(Kind::Integer) && count <= MAX_COUNTED_RESULTS => count,
            _ => return Err(self.error("expected integer value")),
        };
        self.advance();
        if let TypeConstraint::Exact(spelling) = op.def.results[result].ty {
            let ty = self.declared_type(spelling)?;
            op.result_types[result] = Some(vec![ty; count]);
        }
        Ok(())
    }

    /// Uses the types of values written before the op, which an attribute may determine.
    fn known_types(
        &mut self,
        op: &mut Partial<'s>,
        operands: &[usize],
        by: Option<usize>,
    ) -> Parse<()> {
        self.divide_operands(op)?;
        let expected = match by {
            Some(attribute) => self.determined_types(op, attribute)?,
            None => None,
        };
        for &operand in operands {
            let mut types = Vec::new();
            for name in &op.group_names[operand] {
                if let Some(expected) = &expected {
                    let known = self.known_type_of(*name);
                    // A value of another type is reported where it is resolved.
                    let ty = known.filter(|ty| expected.contains(ty));
                    types.extend(ty.or(expected.last().copied()));
                    continue;
                }
                let Some(ty) = self.known_type_of(*name) else {
                    let message = format!("use of undeclared value '{}'", name.name);
                    return Err(self.custom_error(op.def, self.token().start, message));
                };
                types.push(ty);
            }
            op.operand_types[operand] = Some(types);
        }
        Ok(())
    }

    /// Returns the types that the case of an attribute determines for operands, or `None` without
    /// the attribute.
    fn determined_types(
        &mut self,
        op: &Partial<'s>,
        attribute: usize,
    ) -> Parse<Option<Vec<TypeId>>> {
        let def = &op.def.attributes[attribute];
        let mut written = op.state.attributes.iter();
        let (Some((_, value)), AttrKind::Enum(kind)) =
            (written.find(|(name, _)| name == def.name), &def.kind)
        else {
            return Ok(None);
        };
        let Attribute::Integer { value, .. } = *self.module.attribute(*value) else {
            return Ok(None);
        };
        let keyword = kind.keyword_of(value).unwrap_or_default();
        let Some(spellings) = kind.operand_types.and_then(|types| types.of(keyword)) else {
            let message = format!("could not infer type from {keyword}");
            return Err(self.custom_error(op.def, self.token().start, message));
        };
        let types = spellings
            .iter()
            .map(|spelling| self.declared_type(spelling));
        types.collect::<Parse<Vec<TypeId>>>().map(Some)
    }

    /// Parses the type of the last of some operands, or those of all.
    fn last_type(&mut self, op: &mut Partial<'s>, operands: &[usize]) -> Parse<()> {
        let offset = self.token().start;
        let types = self.type_list()?;
        let named = match types.len() {
            1 => &operands[operands.len() - 1..],
            count if count == operands.len() => operands,
            count => {
                let expected = operands.len();
                let message = format!("expected 1 or {expected} types, found {count}");
                return Err(self.custom_error(op.def, offset, message));
            }
        };
        for (&operand, &ty) in named.iter().zip(&types) {
            op.operand_types[operand] = Some(vec![ty]);
        }
        Ok(())
    }

    /// Parses a type shared by an attribute and a result.
    fn shared_type(&mut self, op: &mut Partial<'s>, attribute: usize, result: usize) -> Parse<()> {
        let offset = self.token().start;
        if !self.starts_type() {
            return Err(self.error("expected non-function type\nfailed to parse type"));
        }
        let ty = self.ty()?;
        let value = self.module.intern_attribute(Attribute::Type(ty));
        op.result_types[result] = Some(vec![ty]);
        self.push_attribute(op, offset, op.def.attributes[attribute].name, value)
    }

    /// Returns the type of a spelling in a declaration.
    fn declared_type(&mut self, spelling: &str) -> Parse<TypeId> {
        match parse_type(self.module, spelling) {
            Some(ty) => Ok(ty),
            None => Err(self.error(format!("expected a declared type, found '{spelling}'"))),
        }
    }

    /// Divides the operand lists among their groups. A list that is too short or too long is
    /// divided as far as possible, and reported once its types are known.
    fn divide_operands(&mut self, op: &mut Partial<'s>) -> Parse<()> {
        self.divide_among_groups(op);
        if self.module.leaves_out_chains() && !op.leaves_out_chains && self.lacks_chain(op) {
            op.leaves_out_chains = true;
            self.divide_among_groups(op);
        }
        Ok(())
    }

    fn divide_among_groups(&self, op: &mut Partial<'s>) {
        for names in &mut op.group_names {
            names.clear();
        }
        for list in 0..op.lists.len() {
            let groups = op.groups(list);
            let divided = Groups::of(groups.iter().map(|group| op.def.operands[*group].arity));
            let names = &op.lists[list].names;
            for (name, position) in names.iter().zip(divided.parts(names.len())) {
                op.group_names[groups[position]].push(*name);
            }
        }
    }

    /// Returns `true` if there is no name in the place of a declared chain, or that of a value that
    /// is not a chain.
    fn lacks_chain(&self, op: &Partial<'s>) -> bool {
        let is_chain = |ty| self.module.type_spelling(ty) == CHAIN_TYPE;
        let groups = op.lists.iter().flat_map(|list| &list.groups);
        groups
            .filter(|group| is_single_chain(op.def, **group))
            .any(|group| match op.group_names[*group].first() {
                Some(name) => self.known_type_of(*name).is_some_and(|ty| !is_chain(ty)),
                None => true,
            })
    }

    /// Returns the types of the operands of a group.
    fn operand_types(&mut self, op: &Partial<'s>, group: usize) -> Parse<Vec<TypeId>> {
        if let Some(types) = &op.operand_types[group] {
            return Ok(types.clone());
        }
        let def = &op.def.operands[group];
        let count = match def.arity {
            Arity::One => 1,
            Arity::Optional => op.group_names[group].len().min(1),
            Arity::Variadic => op.group_names[group].len(),
        };
        let ty = match def.ty {
            TypeConstraint::Exact(spelling) => self.declared_type(spelling)?,
            TypeConstraint::SameAs(name) => {
                match op
                    .def
                    .operands
                    .iter()
                    .position(|operand| operand.name == name)
                {
                    Some(other)
                        if other != group
                            && !matches!(op.def.operands[other].ty, TypeConstraint::SameAs(_)) =>
                    {
                        match self.operand_types(op, other)?.first() {
                            Some(&ty) => ty,
                            None => return Ok(Vec::new()),
                        }
                    }
                    _ => return Ok(Vec::new()),
                }
            }
            TypeConstraint::OneOf(_) | TypeConstraint::Any => return Ok(Vec::new()),
        };
        Ok(vec![ty; count])
    }

    fn result_types(&mut self, op: &Partial<'s>, result: usize) -> Parse<Vec<TypeId>> {
        if let Some(types) = &op.result_types[result] {
            return Ok(types.clone());
        }
        let def = &op.def.results[result];
        if def.arity != Arity::One || op.leaves_out_chains && def.ty.is_chain() {
            return Ok(Vec::new());
        }
        match def.ty {
            TypeConstraint::Exact(spelling) => Ok(vec![self.declared_type(spelling)?]),
            TypeConstraint::SameAs(name) => match op
                .def
                .operands
                .iter()
                .position(|operand| operand.name == name)
            {
                Some(operand) => Ok(self
                    .operand_types(op, operand)?
                    .into_iter()
                    .take(1)
                    .collect()),
                None => Ok(Vec::new()),
            },
            TypeConstraint::OneOf(_) | TypeConstraint::Any => Ok(Vec::new()),
        }
    }

    fn has_results(&mut self, op: &Partial<'s>) -> Parse<bool> {
        for result in 0..op.def.results.len() {
            if !self.result_types(op, result)?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Resolves the values of all operands read so far.
    fn resolve_operands(&mut self, op: &mut Partial<'s>) -> Parse<()> {
        if op.values.is_some() {
            return Ok(());
        }
        self.divide_operands(op)?;
        let mut values: Vec<Vec<ValueId>> = vec![Vec::new(); op.def.operands.len()];
        for index in 0..op.lists.len() {
            let mut types = Vec::new();
            let mut groups = Vec::new();
            for group in op.groups(index) {
                let group_types = self.operand_types(op, group)?;
                groups.extend(std::iter::repeat_n(group, group_types.len()));
                types.extend(group_types);
            }
            let OperandList { names, offset, .. } = &op.lists[index];
            if names.len() != types.len() {
                let message = format!(
                    "{} operands present, but expected {}",
                    names.len(),
                    types.len()
                );
                return Err(self.custom_error(op.def, *offset, message));
            }
            for ((name, ty), group) in names.iter().zip(types).zip(groups) {
                values[group].push(self.resolve_value(*name, ty)?);
            }
        }
        op.values = Some(values);
        Ok(())
    }

    // Attributes and functions.

    #[cold]
    fn duplicate_attribute(&mut self, offset: usize, name: &str) -> Failure {
        self.error_at(
            offset,
            format!("duplicate key '{name}' in dictionary attribute"),
        )
    }

    fn push_attribute(
        &mut self,
        op: &mut Partial<'s>,
        offset: usize,
        name: &str,
        value: AttrId,
    ) -> Parse<()> {
        if op.state.attributes.iter().any(|(other, _)| other == name) {
            return Err(self.duplicate_attribute(offset, name));
        }
        op.state.attributes.push((name.to_owned(), value));
        Ok(())
    }

    fn attribute_value(
        &mut self,
        op: &mut Partial<'s>,
        attribute: usize,
        is_typed: bool,
    ) -> Parse<()> {
        let def = &op.def.attributes[attribute];
        let ty = if is_typed {
            None
        } else {
            self.kind_type(&def.kind)
        };
        let offset = self.token().start;
        if let AttrKind::Enum(kind) = &def.kind
            && !is_typed
        {
            let is_determining = op.determining == Some(attribute);
            let value = self.keyword(op.def, kind, is_determining)?;
            return self.push_attribute(op, offset, def.name, value);
        }
        let value = self.attribute(ty)?;
        let is_fit = match (&def.kind, self.module.attribute(value)) {
            (AttrKind::String, value) => matches!(value, Attribute::String(_)),
            (AttrKind::Array(_) | AttrKind::Aggregate, value) => {
                matches!(value, Attribute::Array(_))
            }
            (AttrKind::Dense, value) => matches!(value, Attribute::Dense { .. }),
            (AttrKind::Shape, value) => matches!(value, Attribute::Shape { .. }),
            _ => true,
        };
        if !is_fit {
            return Err(self.custom_error(op.def, offset, "invalid kind of attribute specified"));
        }
        self.push_attribute(op, offset, def.name, value)
    }

    /// Parses the keyword of a case, or the number of a value without a keyword. It may determine
    /// the types of operands.
    fn keyword(
        &mut self,
        def: &OpDef,
        kind: &'static EnumDef,
        is_determining: bool,
    ) -> Parse<AttrId> {
        let value = match self.token().kind {
            Kind::Bare => kind.value_of(self.current()),
            Kind::Integer => {
                let number = self.current().parse().ok();
                let value = number.zip(kind.numbers);
                value.and_then(|(number, numbers)| numbers.value_of(number))
            }
            _ => None,
        };
        let Some(value) = value else {
            let mut message = kind.refusal(self.current());
            if let Some(types) = kind.operand_types.filter(|_| is_determining) {
                message = format!("{message}\n{}", types.refusal);
            }
            return Err(self.custom_error(def, self.token().start, message));
        };
        if !kind.has_room_for(value) {
            return Err(self.error("integer value too large"));
        }
        self.advance();
        let ty = self.module.intern_type(enum_type(kind));
        Ok(self
            .module
            .intern_attribute(Attribute::Integer { value, ty }))
    }

    fn function(&mut self, op: &mut Partial<'s>, function: usize) -> Parse<()> {
        let def = &op.def.functions[function];
        let offset = self.token().start;
        let value = self.attribute(None)?;
        let is_fit = match (def.form, self.module.attribute(value)) {
            (
                FunctionForm::Symbol | FunctionForm::OptionalSymbol,
                Attribute::SymbolRef { nested, .. },
            ) => nested.is_empty(),
            (FunctionForm::SymbolList, Attribute::Array(_)) => true,
            _ => false,
        };
        if !is_fit {
            return Err(self.custom_error(op.def, offset, "invalid kind of attribute specified"));
        }
        self.push_attribute(op, offset, def.name, value)
    }

    fn attr_dict(&mut self, op: &mut Partial<'s>, keyword: DictKeyword) -> Parse<()> {
        let is_there = match keyword {
            DictKeyword::No => self.is(Kind::LBrace),
            DictKeyword::Yes => self.opt_word("attributes"),
            DictKeyword::Either => {
                self.opt_word("attributes") || self.is(Kind::LBrace) && self.is_dictionary_ahead()
            }
        };
        if is_there {
            let offset = self.token().start;
            // The names in the dictionary are already distinct from each other.
            let written = op.state.attributes.len();
            for (name, value) in self.dictionary()? {
                let name = self.module.name(name).to_owned();
                if op.state.attributes[..written]
                    .iter()
                    .any(|(other, _)| *other == name)
                {
                    return Err(self.duplicate_attribute(offset, &name));
                }
                op.state.attributes.push((name, value));
            }
        }
        Ok(())
    }

    /// Returns `true` if the braces ahead contain attributes rather than the first region: then
    /// they are followed by something that cannot start an op.
    fn is_dictionary_ahead(&self) -> bool {
        let mut lexer = self.lexer;
        let mut depth = 1usize;
        while depth != 0 {
            match lexer.next().kind {
                Kind::LBrace => depth += 1,
                Kind::RBrace => depth -= 1,
                Kind::Eof | Kind::Error => return false,
                _ => {}
            }
        }
        matches!(lexer.next().kind, Kind::Colon | Kind::LBrace)
    }

    /// `word '=' number (',' word '=' number)*`
    fn key_values(&mut self, op: &mut Partial<'s>, attributes: &[usize]) -> Parse<()> {
        self.comma_list(|this| {
            let token = this.token();
            let name = this.spelling(token);
            let known = attributes
                .iter()
                .find(|attribute| op.def.attributes[**attribute].name == name);
            let Some(&attribute) = known.filter(|_| token.kind == Kind::Bare) else {
                let names: Vec<String> = attributes
                    .iter()
                    .map(|attribute| format!("'{}'", op.def.attributes[*attribute].name))
                    .collect();
                let message = format!("expected one of {}", names.join(", "));
                return Err(this.custom_error(op.def, token.start, message));
            };
            this.advance();
            this.expect(Kind::Equal, "expected '='")?;
            let ty = this.kind_type(&op.def.attributes[attribute].kind);
            let value = this.attribute(ty)?;
            this.push_attribute(op, token.start, name, value)
        })
    }

    /// Parses a dictionary into an array of pairs in the order written, which is empty if there is
    /// none.
    fn pairs(&mut self, op: &mut Partial<'s>, attribute: usize) -> Parse<()> {
        let offset = self.token().start;
        let mut pairs = Vec::new();
        if self.is(Kind::LBrace) {
            for (name, value) in self.dictionary()? {
                let name = self.module.name(name).to_owned();
                let name = self.module.string_attr(name);
                pairs.push(
                    self.module
                        .intern_attribute(Attribute::Array([name, value].into())),
                );
            }
        }
        let value = self.module.intern_attribute(Attribute::Array(pairs.into()));
        self.push_attribute(op, offset, op.def.attributes[attribute].name, value)
    }

    // Regions.

    /// Returns the names and types of the operands that the arguments of a region mirror.
    fn region_arguments(
        &mut self,
        op: &mut Partial<'s>,
        arguments: &[usize],
    ) -> Parse<Vec<(Name<'s>, TypeId)>> {
        self.resolve_operands(op)?;
        let mut named = Vec::new();
        for &group in arguments {
            let types = self.operand_types(op, group)?;
            named.extend(op.group_names[group].iter().copied().zip(types));
        }
        Ok(named)
    }

    fn shorthand_region(
        &mut self,
        op: &mut Partial<'s>,
        function: usize,
        arguments: &[usize],
    ) -> Parse<()> {
        let named = self.region_arguments(op, arguments)?;
        let region = self.module.create_region();
        op.regions[function] = Some(region);
        self.region(region, named, true)?;
        // A region without any text still has a block.
        if self.module.blocks(region).is_empty() {
            self.module.create_block(region, &[]);
        }
        Ok(())
    }

    /// Parses a region as in the generic form: the label of its first block declares its arguments.
    fn whole_region(&mut self, op: &mut Partial<'s>, function: usize) -> Parse<()> {
        self.resolve_operands(op)?;
        let region = self.module.create_region();
        op.regions[function] = Some(region);
        self.region(region, Vec::new(), true)
    }

    fn empty_region(
        &mut self,
        op: &mut Partial<'s>,
        function: usize,
        arguments: &[usize],
        terminator: &str,
    ) -> Parse<()> {
        let types: Vec<TypeId> = self
            .region_arguments(op, arguments)?
            .into_iter()
            .map(|(_, ty)| ty)
            .collect();
        let region = self.module.create_region();
        op.regions[function] = Some(region);
        let block = self.module.create_block(region, &types);
        let end = self
            .module
            .create_op(OpState::new(terminator, op.state.location));
        self.module.append_op(block, end);
        Ok(())
    }
}
