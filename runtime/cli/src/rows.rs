//! Tables of text: columns with two blanks between them.

use std::fmt;

/// Writes rows of equally many cells: the first column to the left, the others, which are numbers,
/// to the right.
pub(crate) fn write_rows(f: &mut impl fmt::Write, rows: &[Vec<String>]) -> fmt::Result {
    // Characters, as padding counts them: a unit may be a character of two bytes.
    let width = |column: usize| {
        let widths = rows.iter().map(|row| row[column].chars().count());
        widths.max().unwrap_or_default()
    };
    let num_columns = rows.first().map_or(0, Vec::len);
    let widths: Vec<usize> = (0..num_columns).map(width).collect();
    for row in rows {
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            match column {
                0 => write!(f, "  {cell:<width$}")?,
                _ => write!(f, "  {cell:>width$}")?,
            }
        }
        writeln!(f)?;
    }
    Ok(())
}
