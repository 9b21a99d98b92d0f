//! Drawings as SVG.

use std::fmt::Write;

use tfrt_support::escape::escaped;

use super::layout::{Arrow, Drawing, LINE_HEIGHT, PlacedBox};

const MARGIN: f64 = 8.0;

/// Returns the drawing as text.
pub(super) fn write(drawing: &Drawing) -> String {
    let width = drawing.size.width + 2.0 * MARGIN;
    let height = drawing.size.height + 2.0 * MARGIN;
    // Writing to a string cannot fail.
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"{:.0} {:.0} {width:.0} {height:.0}\" font-family=\"monospace\" font-size=\"10\">\n\
         <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">\
         <path d=\"M0,0 L8,4 L0,8 z\"/></marker></defs>\n",
        -MARGIN, -MARGIN
    );
    drawing
        .boxes
        .iter()
        .for_each(|part| push_box(part, &mut out));
    drawing
        .arrows
        .iter()
        .for_each(|arrow| push_arrow(arrow, &mut out));
    drawing
        .arrows
        .iter()
        .for_each(|arrow| push_labels(arrow, &mut out));
    out.push_str("</svg>\n");
    out
}

fn push_box(part: &PlacedBox, out: &mut String) {
    let PlacedBox { corner, size, .. } = part;
    match part.node {
        Some(node) => {
            let _ = write!(out, "<g id=\"n{node}\">");
        }
        None => out.push_str("<g>"),
    }
    if let Some(hint) = &part.hint {
        push_title(hint, out);
    }
    let _ = write!(
        out,
        "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"4\" fill=\"{}\" \
         stroke=\"#555\"/>",
        corner.x, corner.y, size.width, size.height, part.fill
    );
    for (index, line) in part.lines.iter().enumerate() {
        let y = corner.y + LINE_HEIGHT * (index as f64 + 1.0) + 3.0;
        let _ = write!(
            out,
            "<text x=\"{:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">",
            corner.x + size.width / 2.0
        );
        push_escaped(line, out);
        out.push_str("</text>");
    }
    out.push_str("</g>\n");
}

fn push_arrow(arrow: &Arrow, out: &mut String) {
    out.push_str("<g>");
    push_title(&arrow.hint, out);
    out.push_str("<path d=\"");
    for (index, pair) in arrow.points.chunks(2).enumerate() {
        let [from, to] = pair else {
            continue;
        };
        if index == 0 {
            let _ = write!(out, "M{:.1},{:.1}", from.x, from.y);
        } else if let Some(before) = arrow.points.get(2 * index - 1) {
            let bend = (from.y - before.y) / 2.0;
            let _ = write!(
                out,
                " C{:.1},{:.1} {:.1},{:.1} {:.1},{:.1}",
                before.x,
                before.y + bend,
                from.x,
                from.y - bend,
                from.x,
                from.y
            );
        }
        if from != to {
            let _ = write!(out, " L{:.1},{:.1}", to.x, to.y);
        }
    }
    out.push_str("\" fill=\"none\" stroke=\"#333\"");
    if arrow.has_tip {
        out.push_str(" marker-end=\"url(#tip)\"");
    }
    if arrow.is_dashed {
        out.push_str(" stroke-dasharray=\"4 3\"");
    }
    out.push_str("/></g>\n");
}

/// Writes the labels of an arrow, in front of all arrows.
fn push_labels(arrow: &Arrow, out: &mut String) {
    let label = arrow.label.as_ref().zip(arrow.points.first());
    let label = label.map(|(label, start)| (label, start.x + 3.0, start.y + 9.0));
    let elsewhere = arrow.elsewhere.as_ref();
    let elsewhere = elsewhere.map(|(place, text)| (text, place.x + 3.0, place.y));
    for (text, x, y) in label.into_iter().chain(elsewhere) {
        if text.is_empty() {
            continue;
        }
        let _ = write!(
            out,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"8\" stroke=\"#fff\" stroke-width=\"2\" \
             paint-order=\"stroke\">"
        );
        push_escaped(text, out);
        out.push_str("</text>\n");
    }
}

fn push_title(text: &str, out: &mut String) {
    out.push_str("<title>");
    push_escaped(text, out);
    out.push_str("</title>");
}

pub(super) fn push_escaped(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // XML has no form for control characters.
            c if c.is_control() => {
                let _ = write!(out, "{}", escaped(c.encode_utf8(&mut [0; 4])));
            }
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        let mut out = String::new();
        push_escaped("a = \"<&>\u{1}\"", &mut out);
        assert_eq!(out, "a = &quot;&lt;&amp;&gt;\\01&quot;");
    }
}
