//! From text to a [`Module`]: directives, variables and the heads of functions.
//!
//! Bodies are parsed once all heads and variables are known, because a function may call one that
//! is defined later.

use std::collections::HashMap;

use crate::error::ParseError;
use crate::lexer::tokens;
use crate::module::{Formal, Function, Module, Relocation, Variable};
use crate::types::{ScalarType, Space};

use body::Name;
use cursor::{Cursor, Literal};

mod cursor;

mod body;

mod instruction;

mod modifiers;

/// The largest block of parameters, of arguments, or of variables of a thread, in bytes.
const MAX_FRAME: usize = 1 << 20;

/// Parses a whole text.
pub(crate) fn module(text: &str) -> Result<Module, ParseError> {
    let tokens = tokens(text)?;
    let mut module = Module {
        source: text.to_owned(),
        version: (0, 0),
        target: String::new(),
        functions: Vec::new(),
        function_by_name: HashMap::new(),
        variables: Vec::new(),
        variable_by_name: HashMap::new(),
    };
    let mut cursor = Cursor::new(text, &tokens);
    let mut bodies = Vec::new();
    let mut is_extern = false;
    while !cursor.is_at_end() {
        if cursor.eat(b';') {
            continue;
        }
        let word = cursor.word("a directive")?;
        match word {
            ".version" => module.version = version(&mut cursor)?,
            ".target" => {
                module.target = cursor.word("an architecture")?.to_owned();
                while cursor.eat(b',') {
                    cursor.word("an option of the target")?;
                }
            }
            ".address_size" => {
                let size = cursor.word("`64`")?;
                if size != "64" {
                    return Err(cursor
                        .error_at_last(format!("expected an address size of 64, found `{size}`")));
                }
            }
            ".visible" | ".weak" | ".common" => {}
            ".extern" => is_extern = true,
            ".global" | ".const" | ".shared" => {
                let variable =
                    variable(&mut cursor, space_of(word), std::mem::take(&mut is_extern))?;
                define(&mut module, &cursor, variable)?;
            }
            ".entry" | ".func" => {
                is_extern = false;
                function(&mut module, &mut cursor, word == ".entry", &mut bodies)?;
            }
            ".section" => {
                cursor.word("a section's name")?;
                cursor.skip_braces()?;
            }
            ".pragma" | ".alias" => cursor.skip_statement()?,
            _ => return Err(cursor.error_at_last(format!("expected a directive, found `{word}`"))),
        }
    }
    for body in bodies {
        cursor.jump(body.start);
        body::parse(&mut module, &mut cursor, body.function, body.names)?;
    }
    Ok(module)
}

/// A body that is still to be parsed.
struct Body {
    function: u32,
    start: usize,
    names: HashMap<String, Name>,
}

fn version(cursor: &mut Cursor<'_>) -> Result<(u32, u32), ParseError> {
    let word = cursor.word("a version")?;
    let parts = word
        .split_once('.')
        .and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    parts.ok_or_else(|| {
        cursor.error_at_last(format!("expected a version such as `8.0`, found `{word}`"))
    })
}

fn space_of(directive: &str) -> Space {
    match directive {
        ".global" => Space::Global,
        ".const" => Space::Const,
        ".shared" => Space::Shared,
        _ => Space::Local,
    }
}

/// Adds a variable under its name.
fn define(module: &mut Module, cursor: &Cursor<'_>, variable: Variable) -> Result<u32, ParseError> {
    if let Some(&index) = module.variable_by_name.get(&variable.name) {
        let known = &mut module.variables[index as usize];
        return match (known.is_extern, variable.is_extern) {
            (_, true) => Ok(index),
            (true, false) => {
                *known = variable;
                Ok(index)
            }
            (false, false) => {
                Err(cursor.error_at_last(format!("variable `{}` is defined twice", variable.name)))
            }
        };
    }
    let index = module.variables.len() as u32;
    module.variable_by_name.insert(variable.name.clone(), index);
    module.variables.push(variable);
    Ok(index)
}

/// Parses a variable behind its state space, up to the semicolon.
fn variable(
    cursor: &mut Cursor<'_>,
    space: Space,
    is_extern: bool,
) -> Result<Variable, ParseError> {
    let Declared { ty, align, vector } = declared_type(cursor)?;
    let name = cursor.name()?.to_owned();
    let element = ty.size() as u64 * vector;
    let mut count = Some(1u64);
    let mut is_unsized = false;
    while cursor.eat(b'[') {
        if cursor.eat(b']') {
            is_unsized = true;
        } else {
            let dimension = cursor.unsigned("a dimension")?;
            count = count.and_then(|count| count.checked_mul(dimension));
            cursor.expect(b']')?;
        }
    }
    let declared = count
        .and_then(|count| count.checked_mul(element))
        .filter(|&size| size <= i64::MAX as u64);
    let mut size =
        declared.ok_or_else(|| cursor.error_at_last("expected a size of less than 2^63 bytes"))?;
    if is_unsized {
        size = 0;
    }
    let (mut initial, mut relocations) = (Vec::new(), Vec::new());
    if cursor.eat(b'=') {
        if !matches!(space, Space::Global | Space::Const) {
            return Err(cursor.error_at_last(format!(
                "a variable in {} memory cannot have an initial value",
                space.name()
            )));
        }
        initialiser(cursor, ty, &mut initial, &mut relocations)?;
        if is_unsized {
            size = initial.len() as u64;
        } else if initial.len() as u64 > size {
            return Err(cursor.error_at_last(format!(
                "expected at most {size} bytes, found {}",
                initial.len()
            )));
        }
    }
    cursor.expect(b';')?;
    // An array of shared memory without a size is what a launch adds.
    let is_extern = is_extern || (is_unsized && initial.is_empty());
    Ok(Variable {
        name,
        space,
        align: align.unwrap_or(element).max(1),
        size,
        is_extern,
        initial,
        relocations,
    })
}

/// A type with what stands around it.
struct Declared {
    ty: ScalarType,
    align: Option<u64>,
    vector: u64,
}

fn declared_type(cursor: &mut Cursor<'_>) -> Result<Declared, ParseError> {
    let (mut align, mut vector) = (None, 1);
    loop {
        let word = cursor.word("a type")?;
        match word {
            ".align" => align = Some(alignment(cursor)?),
            ".v2" => vector = 2,
            ".v4" => vector = 4,
            ".v8" => vector = 8,
            ".attribute" => {
                cursor.expect(b'(')?;
                while !cursor.eat(b')') {
                    cursor.any()?;
                }
            }
            _ => match word.strip_prefix('.').and_then(ScalarType::parse) {
                Some(ty) => return Ok(Declared { ty, align, vector }),
                None => {
                    return Err(cursor.error_at_last(format!("expected a type, found `{word}`")));
                }
            },
        }
    }
}

fn alignment(cursor: &mut Cursor<'_>) -> Result<u64, ParseError> {
    let align = cursor.unsigned("an alignment")?;
    if !align.is_power_of_two() || align > 1 << 16 {
        return Err(cursor.error_at_last(format!(
            "expected a power of two up to 65536, found {align}"
        )));
    }
    Ok(align)
}

fn initialiser(
    cursor: &mut Cursor<'_>,
    ty: ScalarType,
    bytes: &mut Vec<u8>,
    relocations: &mut Vec<Relocation>,
) -> Result<(), ParseError> {
    let size = ty.size().min(8);
    let mut depth = 0usize;
    loop {
        if cursor.eat(b'{') {
            depth += 1;
        } else if depth > 0 && cursor.eat(b'}') {
            depth -= 1;
        } else if depth > 0 && cursor.eat(b',') {
            continue;
        } else {
            let is_negative = cursor.eat(b'-');
            let word = cursor.word("a value")?;
            if let Some(literal) = Literal::parse(word) {
                let bits = literal.bits(ty, is_negative).ok_or_else(|| {
                    cursor.error_at_last(format!("`{word}` is not a value of this type"))
                })?;
                bytes.extend_from_slice(&bits.to_le_bytes()[..size]);
            } else {
                let symbol = if word == "generic" && cursor.eat(b'(') {
                    let symbol = cursor.name()?;
                    cursor.expect(b')')?;
                    symbol
                } else {
                    word
                };
                let offset = if cursor.eat(b'+') {
                    cursor.unsigned("an offset")? as i64
                } else {
                    0
                };
                relocations.push(Relocation {
                    at: bytes.len(),
                    width: size,
                    symbol: symbol.to_owned(),
                    offset,
                });
                bytes.resize(bytes.len() + size, 0);
            }
        }
        if depth == 0 {
            return Ok(());
        }
    }
}

fn function(
    module: &mut Module,
    cursor: &mut Cursor<'_>,
    is_kernel: bool,
    bodies: &mut Vec<Body>,
) -> Result<(), ParseError> {
    let mut function = Function {
        is_kernel,
        ..Function::default()
    };
    let mut names = HashMap::new();
    let mut results = HashMap::new();
    let mut result_bytes = 0;
    // `.func .attribute(...)`, `.func .noreturn`.
    while cursor.peek_word().is_some_and(|word| word.starts_with('.')) {
        cursor.any()?;
        if cursor.eat(b'(') {
            while !cursor.eat(b')') {
                cursor.any()?;
            }
        }
    }
    if !is_kernel && cursor.is_sign(b'(') {
        function.results = formals(
            cursor,
            &mut result_bytes,
            &mut function.num_registers,
            &mut results,
        )?;
    }
    function.name = cursor.name()?.to_owned();
    let mut param_bytes = 0;
    if cursor.is_sign(b'(') {
        function.parameters = formals(
            cursor,
            &mut param_bytes,
            &mut function.num_registers,
            &mut names,
        )?;
    }
    // Results lie behind the parameters.
    let base = param_bytes.next_multiple_of(16);
    for formal in &mut function.results {
        formal.offset += base;
    }
    for (name, place) in results {
        let place = if let Name::Param(offset) = place {
            Name::Param(offset + base as u32)
        } else {
            place
        };
        names.insert(name, place);
    }
    function.param_bytes = (base + result_bytes).next_multiple_of(16);
    let id = match module.function_by_name.get(&function.name) {
        Some(&id) => id,
        None => {
            let id = module.functions.len() as u32;
            module.function_by_name.insert(function.name.clone(), id);
            module.functions.push(function.clone());
            id
        }
    };
    let known = &module.functions[id as usize];
    if known.is_kernel != is_kernel {
        return Err(cursor.error_at_last(format!(
            "`{}` is both a kernel and a function",
            function.name
        )));
    }
    while !cursor.is_sign(b'{') {
        if cursor.eat(b';') {
            return Ok(());
        }
        match cursor.word("a body or `;`")? {
            ".maxntid" | ".reqntid" => {
                let mut threads = 1u64;
                loop {
                    threads = threads.saturating_mul(cursor.unsigned("a number of threads")?);
                    if !cursor.eat(b',') {
                        break;
                    }
                }
                function.max_threads = Some(u32::try_from(threads).unwrap_or(u32::MAX));
            }
            ".minnctapersm" | ".maxnctapersm" | ".maxnreg" | ".maxclusterrank" => {
                cursor.unsigned("a number")?;
            }
            ".reqnctapercluster" => {
                cursor.unsigned("a number of blocks")?;
                while cursor.eat(b',') {
                    cursor.unsigned("a number of blocks")?;
                }
            }
            ".pragma" => cursor.skip_statement()?,
            ".noreturn" | ".explicitcluster" | ".blocksareclusters" | ".unified" => {}
            word => {
                return Err(cursor.error_at_last(format!(
                    "expected a body, `;` or a directive of a function, found `{word}`"
                )));
            }
        }
    }
    if module.functions[id as usize].is_defined {
        return Err(cursor.error(format!("function `{}` is defined twice", function.name)));
    }
    function.is_defined = true;
    module.functions[id as usize] = function;
    bodies.push(Body {
        function: id,
        start: cursor.position(),
        names,
    });
    cursor.skip_braces()
}

/// Parses parameters or results in parentheses, and lays those in memory out one after another.
fn formals(
    cursor: &mut Cursor<'_>,
    num_bytes: &mut usize,
    num_registers: &mut usize,
    names: &mut HashMap<String, Name>,
) -> Result<Vec<Formal>, ParseError> {
    let mut formals = Vec::new();
    cursor.expect(b'(')?;
    while !cursor.eat(b')') {
        let word = cursor.word("`.param` or `.reg`")?;
        if word != ".param" && word != ".reg" {
            return Err(
                cursor.error_at_last(format!("expected `.param` or `.reg`, found `{word}`"))
            );
        }
        let Declared { ty, align, .. } = declared_type(cursor)?;
        // Behind the type: what a pointer points to.
        while let Some(word @ (".ptr" | ".global" | ".const" | ".shared" | ".local" | ".align")) =
            cursor.peek_word()
        {
            cursor.any()?;
            if word == ".align" {
                alignment(cursor)?;
            }
        }
        let name = cursor.name()?;
        let mut size = ty.size();
        if cursor.eat(b'[') {
            // Without a size: the rest of a variable list of arguments.
            let count = if cursor.is_sign(b']') {
                0
            } else {
                cursor.unsigned("a size")?
            };
            size = usize::try_from(count)
                .ok()
                .and_then(|count| count.checked_mul(size))
                .unwrap_or(usize::MAX);
            cursor.expect(b']')?;
        }
        let align = align.unwrap_or(1).max(ty.size() as u64) as usize;
        let offset = num_bytes.next_multiple_of(align);
        let end = offset.checked_add(size).filter(|&end| end <= MAX_FRAME);
        *num_bytes = end.ok_or_else(|| {
            cursor.error_at_last(format!("expected at most {MAX_FRAME} bytes of parameters"))
        })?;
        let register = (word == ".reg").then(|| {
            *num_registers += 1;
            *num_registers as u32 - 1
        });
        let place = match register {
            Some(register) => Name::Register { register, ty },
            None => Name::Param(offset as u32),
        };
        if names.insert(name.to_owned(), place).is_some() {
            return Err(cursor.error_at_last(format!("parameter `{name}` is declared twice")));
        }
        formals.push(Formal {
            offset,
            size,
            register,
            ty,
        });
        if !cursor.eat(b',') && !cursor.is_sign(b')') {
            return Err(cursor.error("expected `,` or `)`"));
        }
    }
    Ok(formals)
}
