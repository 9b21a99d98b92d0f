//! Functions that CUDA's runtime has on a device: `printf` and `assert`.

use super::*;
use crate::instruction::Operand;

/// The longest text that a format or an argument may have.
const MAX_TEXT: usize = 1 << 16;

impl Machine<'_> {
    /// Calls a function without a body.
    pub(super) fn call_runtime(
        &mut self,
        thread: &mut Thread,
        name: &str,
        results: &[Operand],
        arguments: &[Operand],
    ) -> Result<(), Fault> {
        match name {
            "vprintf" => {
                let (format, values) = (
                    self.argument(thread, arguments, 0)?,
                    self.argument(thread, arguments, 1)?,
                );
                let text = self.format(thread, format, values)?;
                let room = MAX_PRINTED.saturating_sub(self.printed.len());
                let fitting = (0..=text.len().min(room))
                    .rev()
                    .find(|&len| text.is_char_boundary(len))
                    .unwrap_or(0);
                self.printed.push_str(&text[..fitting]);
                match results.first() {
                    Some(&Operand::Param(offset)) => self.write(
                        thread,
                        Space::Param,
                        offset.into(),
                        &0u32.to_le_bytes(),
                        true,
                    ),
                    _ => Ok(()),
                }
            }
            "__assertfail" => {
                let (condition, file) = (
                    self.argument(thread, arguments, 0)?,
                    self.argument(thread, arguments, 1)?,
                );
                let line = self.argument(thread, arguments, 2)? as u32;
                let (condition, file) = (self.text(thread, condition)?, self.text(thread, file)?);
                Err(self.fault(
                    thread,
                    FaultKind::Assertion,
                    format!("`{condition}` does not hold, {file}:{line}"),
                ))
            }
            _ => Err(self.fault(
                thread,
                FaultKind::InvalidCall,
                format!("function `{name}` has no body"),
            )),
        }
    }

    fn argument(
        &mut self,
        thread: &Thread,
        arguments: &[Operand],
        index: usize,
    ) -> Result<u64, Fault> {
        match arguments.get(index) {
            Some(&Operand::Param(offset)) => {
                // A parameter of four bytes may be the last one of the frame.
                let start = thread.frame.params + offset as usize;
                let known = thread.params.get(start..).unwrap_or_default();
                let mut bytes = [0; 8];
                let len = known.len().min(8);
                bytes[..len].copy_from_slice(&known[..len]);
                Ok(u64::from_le_bytes(bytes))
            }
            Some(other) => Ok(self.value(thread, other, ScalarType::B64)),
            None => Err(self.fault(
                thread,
                FaultKind::InvalidCall,
                format!("argument {index} is missing"),
            )),
        }
    }

    /// Returns the text at an address, up to its NUL.
    fn text(&mut self, thread: &Thread, mut address: u64) -> Result<String, Fault> {
        let mut bytes = Vec::new();
        while bytes.len() < MAX_TEXT {
            match self.read_integer(thread, Space::Generic, address, 1)? as u8 {
                0 => break,
                byte => bytes.push(byte),
            }
            address = address.wrapping_add(1);
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Fills in a format with the values that lie at `values`, each at a multiple of its size.
    fn format(&mut self, thread: &Thread, format: u64, mut values: u64) -> Result<String, Fault> {
        let format = self.text(thread, format)?;
        let mut printed = String::new();
        let mut rest = format.chars();
        while let Some(character) = rest.next() {
            if character != '%' {
                printed.push(character);
                continue;
            }
            let mut specification = Specification::default();
            let Some(conversion) = specification.parse(&mut rest) else {
                break;
            };
            if conversion == '%' {
                printed.push('%');
                continue;
            }
            let is_wide = specification.is_long
                || matches!(
                    conversion,
                    's' | 'p' | 'e' | 'f' | 'g' | 'a' | 'E' | 'F' | 'G' | 'A'
                );
            let size = if is_wide { 8 } else { 4 };
            values = values.wrapping_add(size - 1) & !(size - 1);
            let value = self.read_integer(thread, Space::Generic, values, size as usize)?;
            values = values.wrapping_add(size);
            let text = if conversion == 's' {
                self.text(thread, value)?
            } else {
                specification.number(conversion, value)
            };
            specification.pad(&text, &mut printed);
        }
        Ok(printed)
    }
}

/// The text between `%` and the letter.
#[derive(Default)]
struct Specification {
    is_left: bool,
    has_zeros: bool,
    has_sign: bool,
    is_alternate: bool,
    width: usize,
    precision: Option<usize>,
    is_long: bool,
}

impl Specification {
    fn parse(&mut self, rest: &mut std::str::Chars<'_>) -> Option<char> {
        for character in rest {
            match character {
                '-' => self.is_left = true,
                '+' => self.has_sign = true,
                '#' => self.is_alternate = true,
                '0' if self.width == 0 && self.precision.is_none() => self.has_zeros = true,
                '.' => self.precision = Some(0),
                'l' | 'j' | 'z' | 't' => self.is_long = true,
                'h' | ' ' | 'L' => {}
                _ => match (character.to_digit(10), &mut self.precision) {
                    (Some(digit), Some(precision)) => {
                        *precision = (*precision * 10 + digit as usize).min(100)
                    }
                    (Some(digit), None) => {
                        self.width = (self.width * 10 + digit as usize).min(1000)
                    }
                    (None, _) => return Some(character),
                },
            }
        }
        None
    }

    fn number(&self, conversion: char, value: u64) -> String {
        let signed = if self.is_long {
            value as i64
        } else {
            i64::from(value as i32)
        };
        let float = f64::from_bits(value);
        let precision = self.precision.unwrap_or(6);
        let text = match conversion {
            'd' | 'i' => signed.to_string(),
            'u' => value.to_string(),
            'x' if self.is_alternate => format!("{value:#x}"),
            'x' => format!("{value:x}"),
            'X' => format!("{value:X}"),
            'o' => format!("{value:o}"),
            'c' => char::from(value as u8).to_string(),
            'p' => format!("{value:#x}"),
            'e' | 'E' => exponential(float, precision),
            'g' | 'G' if float != 0.0 && !(1e-4..1e6).contains(&float.abs()) => {
                exponential(float, precision.saturating_sub(1))
            }
            'g' | 'G' => float.to_string(),
            _ => format!("{float:.precision$}"),
        };
        if self.has_sign
            && !text.starts_with('-')
            && matches!(conversion, 'd' | 'i' | 'e' | 'f' | 'g')
        {
            format!("+{text}")
        } else {
            text
        }
    }

    fn pad(&self, text: &str, printed: &mut String) {
        let missing = self.width.saturating_sub(text.chars().count());
        match (self.is_left, self.has_zeros) {
            (true, _) => printed.extend(text.chars().chain(std::iter::repeat_n(' ', missing))),
            (false, true) => {
                let (sign, digits) = text.split_at(usize::from(text.starts_with(['-', '+'])));
                printed.push_str(sign);
                printed.extend(std::iter::repeat_n('0', missing).chain(digits.chars()));
            }
            (false, false) => printed.extend(std::iter::repeat_n(' ', missing).chain(text.chars())),
        }
    }
}

/// As C writes it: at least two digits of exponent, with its sign.
fn exponential(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    match text.split_once('e') {
        Some((digits, exponent)) => {
            let (sign, exponent) = exponent
                .strip_prefix('-')
                .map_or(('+', exponent), |exponent| ('-', exponent));
            format!("{digits}e{sign}{exponent:0>2}")
        }
        None => text,
    }
}
