//! Parses the file metadata at the end of a text: `{-# … #-}`.

use super::lexer::{Kind, hex_digit};
use super::parser::{Parse, Parser};
use crate::module::Resource;
use crate::module::resources::{DIALECT_RESOURCES, EXTERNAL_RESOURCES, ResourceValue};

impl Parser<'_, '_> {
    /// Parses `file-metadata ::= '{-#' (section (',' section)*)? '#-}'`,
    /// `section ::= word ':' '{' (owner (',' owner)*)? '}'`,
    /// `owner ::= name ':' '{' (entry (',' entry)*)? '}'`
    pub(super) fn file_metadata(&mut self) -> Parse<()> {
        self.advance();
        if self.opt(Kind::MetadataEnd) {
            return Ok(());
        }
        self.comma_list(|this| {
            let section = match this.current() {
                DIALECT_RESOURCES => DIALECT_RESOURCES,
                EXTERNAL_RESOURCES => EXTERNAL_RESOURCES,
                other => {
                    let message = format!("unknown key '{other}' in file metadata dictionary");
                    return Err(this.error(message));
                }
            };
            this.advance();
            this.expect(Kind::Colon, "expected ':'")?;
            this.delimited((Kind::LBrace, Kind::RBrace), " in file metadata", |this| {
                let owner = this.resource_name()?;
                this.expect(Kind::Colon, "expected ':'")?;
                this.delimited((Kind::LBrace, Kind::RBrace), " in file metadata", |this| {
                    this.resource(section, &owner)
                })
            })
        })?;
        self.expect(Kind::MetadataEnd, "expected '#-}' to end file metadata")?;
        Ok(())
    }

    /// Parses `entry ::= name ':' (string | 'true' | 'false')`.
    fn resource(&mut self, section: &'static str, owner: &str) -> Parse<()> {
        let key = self.resource_name()?;
        self.expect(Kind::Colon, "expected ':'")?;
        let token = self.token();
        let value = match token.kind {
            Kind::String => {
                self.advance();
                let text = self.string_bytes(token);
                match text.strip_prefix(b"0x") {
                    Some(digits) => ResourceValue::Blob(self.blob(digits, token.start)?),
                    None => ResourceValue::Text(text.into()),
                }
            }
            Kind::Bare if matches!(self.current(), "true" | "false") => {
                let is_true = self.current() == "true";
                self.advance();
                ResourceValue::Bool(is_true)
            }
            _ => return Err(self.error("expected the value of a resource")),
        };
        self.module.add_resource(Resource {
            section,
            owner: owner.into(),
            key: key.into(),
            value,
        });
        Ok(())
    }

    /// Decodes the bytes of a blob. The first four are its alignment.
    fn blob(&mut self, digits: &[u8], offset: usize) -> Parse<Box<[u8]>> {
        let (pairs, rest) = digits.as_chunks::<2>();
        if !rest.is_empty() || pairs.len() < 4 || !digits.iter().all(u8::is_ascii_hexdigit) {
            return Err(self.error_at(
                offset,
                "expected hexadecimal digits of at least four bytes in a resource",
            ));
        }
        let bytes = pairs.iter();
        Ok(bytes
            .map(|&[high, low]| hex_digit(high) << 4 | hex_digit(low))
            .collect())
    }

    /// Parses `name ::= word | string`.
    pub(super) fn resource_name(&mut self) -> Parse<String> {
        let token = self.token();
        match token.kind {
            Kind::Bare | Kind::IntType => {
                self.advance();
                Ok(self.spelling(token).to_owned())
            }
            Kind::String => {
                self.advance();
                self.string_text(token)
            }
            _ => Err(self.error("expected the name of a resource")),
        }
    }
}
