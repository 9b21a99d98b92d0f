//! Graphs as one self-contained page for a browser: our own [`layout`](super::layout) draws each
//! function, which can be folded.

use std::fmt::Write;

use super::model::Graph;
use super::svg::push_escaped;
use super::{layout, svg};

/// Pages with more boxes than this begin folded.
const MAX_UNFOLDED: usize = 300;

const HEAD: &str = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>";

const STYLE: &str = "</title>\n<style>
body { margin: 0; font: 13px sans-serif; }
header { position: sticky; top: 0; padding: 8px; background: #eee; }
summary { padding: 6px 8px; font: 13px monospace; cursor: pointer; }
.view { overflow: hidden; height: 75vh; border: 1px solid #ccc; margin: 0 8px 8px; cursor: grab; }
.view svg { width: 100%; height: 100%; }
.found > rect { stroke: #d00; stroke-width: 3; }
</style></head><body>
<header><input id=\"search\" type=\"search\" placeholder=\"op or attribute\" size=\"40\"> <span id=\"count\"></span>
wheel: zoom; drag: move; Enter: next</header>
";

/// Zooming and moving change the part of a drawing that is shown, its `viewBox`. Matches are
/// marked, and their functions unfolded.
const SCRIPT: &str = "<script>
for (const view of document.querySelectorAll('.view')) {
  const svg = view.querySelector('svg'), box = svg.viewBox.baseVal;
  svg.setAttribute('preserveAspectRatio', 'xMidYMin meet');
  const scale = () => Math.max(box.width / view.clientWidth, box.height / view.clientHeight);
  view.addEventListener('wheel', event => {
    event.preventDefault();
    const factor = event.deltaY < 0 ? 0.8 : 1.25, at = view.getBoundingClientRect();
    const x = (event.clientX - at.left) / at.width, y = (event.clientY - at.top) / at.height;
    box.x += box.width * x * (1 - factor);
    box.y += box.height * y * (1 - factor);
    box.width *= factor;
    box.height *= factor;
  }, { passive: false });
  view.addEventListener('pointerdown', event => view.setPointerCapture(event.pointerId));
  view.addEventListener('pointermove', event => {
    if (event.buttons !== 1) return;
    box.x -= event.movementX * scale();
    box.y -= event.movementY * scale();
  });
}
const search = document.getElementById('search'), count = document.getElementById('count');
let found = [], next = 0;
function show() {
  if (found.length === 0) return;
  const node = found[next], view = node.closest('.view'), rect = node.querySelector('rect');
  node.closest('details').open = true;
  const svg = view.querySelector('svg'), box = svg.viewBox.baseVal, area = rect.getBBox();
  box.width = Math.max(800, area.width + 80);
  box.height = box.width * view.clientHeight / Math.max(view.clientWidth, 1);
  box.x = area.x + area.width / 2 - box.width / 2;
  box.y = area.y - 40;
  view.scrollIntoView({ block: 'nearest' });
  count.textContent = (next + 1) + ' of ' + found.length;
}
search.addEventListener('input', () => {
  const wanted = search.value.toLowerCase();
  for (const node of found) node.classList.remove('found');
  found = wanted === '' ? [] : [...document.querySelectorAll('g[id]')].filter(node =>
    [...node.querySelectorAll('text')].some(text => text.textContent.toLowerCase().includes(wanted)));
  for (const node of found) node.classList.add('found');
  count.textContent = wanted === '' ? '' : 'none';
  next = 0;
  show();
});
search.addEventListener('keydown', event => {
  if (event.key !== 'Enter' || found.length === 0) return;
  next = (next + 1) % found.length;
  show();
});
</script>
</body></html>
";

/// Returns the page.
pub(super) fn write(graph: Graph) -> String {
    let mut out = String::from(HEAD);
    push_escaped(&graph.title, &mut out);
    out.push_str(STYLE);
    let is_open = graph.num_nodes() <= MAX_UNFOLDED || graph.functions.len() == 1;
    for function in graph.into_functions() {
        out.push_str(if is_open {
            "<details open>"
        } else {
            "<details>"
        });
        out.push_str("<summary>");
        push_escaped(&function.title, &mut out);
        // Writing to a string cannot fail.
        let _ = write!(
            out,
            " \u{2013} {} boxes</summary>\n<div class=\"view\">",
            function.num_nodes()
        );
        out.push_str(&svg::write(&layout::place(&function)));
        out.push_str("</div></details>\n");
    }
    out.push_str(SCRIPT);
    out
}
