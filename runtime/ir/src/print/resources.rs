//! Prints the file metadata at the end of a text: `{-# … #-}`.

use std::fmt::Write as _;

use super::attributes::{print_name, print_string};
use super::ops::Printer;
use crate::module::resources::{DIALECT_RESOURCES, EXTERNAL_RESOURCES, ResourceValue};

impl Printer<'_> {
    /// Prints the resources of the program, if it has any, by section and then by owner.
    pub(super) fn resources(&mut self) {
        let all = self.module.resources();
        if all.is_empty() {
            return;
        }
        self.out.push_str("\n{-#\n");
        let mut is_first_section = true;
        for section in [DIALECT_RESOURCES, EXTERNAL_RESOURCES] {
            let entries = all.iter().filter(|entry| entry.section == section);
            let entries: Vec<_> = entries.collect();
            if entries.is_empty() {
                continue;
            }
            if !std::mem::take(&mut is_first_section) {
                self.out.push_str(",\n");
            }
            let _ = writeln!(self.out, "  {section}: {{");
            for (index, group) in entries.chunk_by(|a, b| a.owner == b.owner).enumerate() {
                self.out
                    .push_str(if index == 0 { "    " } else { ",\n    " });
                print_name(&group[0].owner, &mut self.out);
                self.out.push_str(": {\n");
                for (index, entry) in group.iter().enumerate() {
                    self.out
                        .push_str(if index == 0 { "      " } else { ",\n      " });
                    print_name(&entry.key, &mut self.out);
                    self.out.push_str(": ");
                    match &entry.value {
                        ResourceValue::Bool(value) => {
                            let _ = write!(self.out, "{value}");
                        }
                        ResourceValue::Text(text) => print_string(text, &mut self.out),
                        ResourceValue::Blob(bytes) => {
                            self.out.push_str("\"0x");
                            for byte in bytes {
                                let _ = write!(self.out, "{byte:02X}");
                            }
                            self.out.push('"');
                        }
                    }
                }
                self.out.push_str("\n    }");
            }
            self.out.push_str("\n  }");
        }
        self.out.push_str("\n#-}\n");
    }
}
