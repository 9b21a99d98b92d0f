//! Messages as TOML, with the names of their fields.
//!
//! ```toml
//! job_name = "worker"
//! task_id = 0
//!
//! [cluster_config]
//! lead_task_name = "/job:worker/task:0"
//!
//! [[cluster_config.jobs]]
//! name = "worker"
//! tasks = { 0 = "a:7700", 1 = "b:7700" }
//! ```

use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::DiscoveryError;

/// Parses the text of the file of this name.
pub(super) fn parse(file: &str, text: &str) -> Result<Value, DiscoveryError> {
    let reader = Reader { file, text };
    let table = DeTable::parse(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        reader.wrong(offset, error.message())
    })?;
    reader.object(table.get_ref())
}

struct Reader<'a> {
    file: &'a str,
    text: &'a str,
}

impl Reader<'_> {
    /// Returns an error at an offset, with its line and column.
    #[cold]
    fn wrong(&self, offset: usize, problem: &str) -> DiscoveryError {
        let before = self.text.get(..offset).unwrap_or(self.text);
        let line = 1 + before.matches('\n').count();
        let column = 1 + before
            .chars()
            .rev()
            .take_while(|char| *char != '\n')
            .count();
        DiscoveryError::new(format!("{}:{line}:{column}", self.file), problem)
    }

    fn object(&self, table: &DeTable<'_>) -> Result<Value, DiscoveryError> {
        let field = |(key, value): (&Spanned<_>, _)| {
            let key: &str = AsRef::<str>::as_ref(key.get_ref());
            Ok((key.to_owned(), self.value(value)?))
        };
        let fields: Result<_, _> = table.iter().map(field).collect();
        Ok(Value::Object(fields?))
    }

    fn value(&self, value: &Spanned<DeValue<'_>>) -> Result<Value, DiscoveryError> {
        let wrong = |problem| Err(self.wrong(value.span().start, problem));
        match value.get_ref() {
            DeValue::String(text) => Ok(Value::String(text.to_string())),
            DeValue::Boolean(value) => Ok(Value::Bool(*value)),
            DeValue::Integer(number) => {
                match i64::from_str_radix(number.as_str(), number.radix()) {
                    Ok(number) => Ok(number.into()),
                    Err(_) => wrong("the number is too large"),
                }
            }
            DeValue::Array(items) => {
                let items: Result<_, _> = items.iter().map(|item| self.value(item)).collect();
                Ok(Value::Array(items?))
            }
            DeValue::Table(table) => self.object(table),
            DeValue::Float(_) | DeValue::Datetime(_) => {
                wrong("expected a string, a whole number, a Boolean, an array or a table")
            }
        }
    }
}
