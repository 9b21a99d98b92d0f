//! Damage to texts that knows tokens and lines: most random damage dies in the lexer.

use crate::mutate::Random;

/// Words that a text may not hold yet.
const WORDS: [&str; 64] = [
    "%0",
    "%1:2",
    "%arg0",
    "%a#1",
    "@f",
    "@\"a b\"",
    "^bb0",
    "^bb1:",
    "#loc0",
    "#x",
    "!tfrt.chain",
    "!tfrt.string",
    "!t.tensor",
    "!corert.tensorhandle",
    "i1",
    "i8",
    "i32",
    "i64",
    "si32",
    "ui8",
    "f16",
    "bf16",
    "f32",
    "f64",
    "index",
    "none",
    "complex<f32>",
    "tuple<i32, f32>",
    "vector<2xi32>",
    "tensor<2x?xf32>",
    "tensor<*xi8>",
    "memref<2xi32>",
    "0",
    "1",
    "-1",
    "0x7FC0",
    "1.5e3",
    "18446744073709551615",
    "-9223372036854775808",
    "true",
    "unit",
    "dense<[[1, 2], [3, 4]]>",
    "dense<\"0x01\">",
    "opaque<\"a\", \"0x00\">",
    "[]",
    "{}",
    "[1 : i32, \"a\", @f]",
    "{a = 1 : i32, b}",
    "\"\\00\\FF\\22\"",
    "\"é\"",
    "loc(unknown)",
    "loc(\"n\"(\"f\":1:2))",
    "loc(callsite(\"a\" at \"b\"))",
    "loc(fused[\"a\", \"b\"])",
    "attributes {tfrt.sync}",
    "attributes {tfrt.native}",
    "{bef.nonstrict}",
    "{_tfrt_cost = 3 : i64}",
    "private",
    "module",
    "func",
    "->",
    "({",
    "})",
];

/// The text with something changed, and with something of `other` now and then.
#[must_use]
pub fn mutate(text: &str, other: &str, random: &mut Random) -> String {
    let mut text = text.to_owned();
    for _ in 0..=random.below(3) {
        text = match random.below(16) {
            0 => change_characters(&text, random),
            1..=4 => change_lines(&text, other, random),
            _ => change_tokens(&text, other, random),
        };
    }
    text
}

/// The tokens of a text, roughly, with the blanks between them: together they are the text.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let len = match first {
            '"' => string_len(rest),
            '%' | '@' | '^' | '#' | '!' => 1 + run_len(&rest[1..], is_word),
            _ if is_word(first) => run_len(rest, is_word),
            _ if first.is_whitespace() => run_len(rest, char::is_whitespace),
            _ => first.len_utf8(),
        };
        let (token, after) = rest.split_at(len);
        tokens.push(token);
        rest = after;
    }
    tokens
}

fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '$' | '.')
}

fn run_len(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|character| !belongs(character))
        .unwrap_or(text.len())
}

/// The length of a string with its quotes; all of the line if it does not end there.
fn string_len(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            '\n' => return at,
            '"' if !is_escaped => return at + 1,
            _ => is_escaped = character == '\\' && !is_escaped,
        }
    }
    text.len()
}

fn change_tokens(text: &str, other: &str, random: &mut Random) -> String {
    let mut tokens = tokens(text);
    if tokens.is_empty() {
        return WORDS[random.below(WORDS.len())].to_owned();
    }
    let at = random.below(tokens.len());
    let number;
    match random.below(8) {
        0 => {
            tokens.remove(at);
        }
        1 => tokens.insert(at, tokens[random.below(tokens.len())]),
        2 => {
            let other = random.below(tokens.len());
            tokens.swap(at, other);
        }
        3 => tokens[at] = WORDS[random.below(WORDS.len())],
        4 => {
            number = number_near(&tokens, random);
            if let Some((at, text)) = &number {
                tokens[*at] = text;
            }
        }
        // Something of the same kind: likely to be a program still.
        _ => {
            let source = if random.below(4) == 0 {
                self::tokens(other)
            } else {
                tokens.clone()
            };
            let alike: Vec<&str> = source
                .into_iter()
                .filter(|token| kind(token) == kind(tokens[at]) && *token != tokens[at])
                .collect();
            if !alike.is_empty() {
                tokens[at] = alike[random.below(alike.len())];
            }
        }
    }
    tokens.concat()
}

/// Tokens that may stand for one another.
fn kind(token: &str) -> char {
    match token.chars().next() {
        Some(first) if first.is_ascii_digit() => '0',
        Some(first) if first.is_ascii_alphabetic() => 'a',
        Some(first) if first.is_whitespace() => ' ',
        Some(first) => first,
        None => ' ',
    }
}

/// Another number for one of the numbers.
fn number_near(tokens: &[&str], random: &mut Random) -> Option<(usize, String)> {
    let numbers: Vec<usize> = (0..tokens.len())
        .filter(|&at| kind(tokens[at]) == '0')
        .collect();
    let at = *numbers.get(random.below(numbers.len().max(1)))?;
    let near = tokens[at].parse::<u64>().unwrap_or(7);
    Some((at, random.edge(near).to_string()))
}

fn change_lines(text: &str, other: &str, random: &mut Random) -> String {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    if lines.is_empty() {
        return other.to_owned();
    }
    let (from, to) = (random.below(lines.len()), random.below(lines.len()));
    match random.below(5) {
        0 => {
            lines.remove(from);
        }
        1 => lines.insert(to, lines[from]),
        2 => lines.swap(from, to),
        3 => {
            let others: Vec<&str> = other.split_inclusive('\n').collect();
            if !others.is_empty() {
                lines.insert(to, others[random.below(others.len())]);
            }
        }
        _ => {
            let (from, to) = (from.min(to), from.max(to));
            lines.drain(from..to.min(from + 4));
        }
    }
    lines.concat()
}

fn change_characters(text: &str, random: &mut Random) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    if characters.is_empty() {
        return String::from("\0");
    }
    let at = random.below(characters.len());
    match random.below(5) {
        0 => {
            characters.remove(at);
        }
        1 => characters.insert(
            at,
            ['\0', '\n', '"', '\\', '<', '(', '{', 'é'][random.below(8)],
        ),
        2 => characters[at] = characters[random.below(characters.len())],
        3 => characters.truncate(at),
        // Nesting.
        _ => {
            let bracket = ['(', '[', '{', '<'][random.below(4)];
            let count = random.below(300);
            characters.splice(at..at, std::iter::repeat_n(bracket, count));
        }
    }
    characters.into_iter().collect()
}
