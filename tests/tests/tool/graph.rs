//! What `tfrt graph` draws of the programs at hand: that it is well formed, the same every time,
//! and shows streams and regions as it says.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use libtest_mimic::{Failed, Trial};
use tfrt_tests::golden::require_status;
use tfrt_tests::{golden, programs, tool};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for program in [
        "05-chains.mlir",
        "08-if.mlir",
        "08-if.bef",
        "10-repeat.mlir",
        "13-parallel.bef",
        "20-sync.mlir",
        "21-native.bef",
        "26-symbols-regions.mlir",
        "39-stream-graphs.mlir",
    ] {
        let path = golden::path(program);
        trials.push(Trial::test(format!("drawing_of_{program}"), move || {
            check(&path)
        }));
    }
    let odd = programs::directory().join("graph-odd-names.mlir");
    let page = odd.clone();
    trials.push(Trial::test("drawing_of_odd_names", move || check(&odd)));
    trials.push(Trial::test("a_page_needs_nothing_else", move || {
        check_page(&page)?;
        check_page(&golden::path("39-stream-graphs.mlir"))
    }));
    trials.push(Trial::test(
        "values_are_labelled_and_nothing_is_stray",
        values_are_labelled_and_nothing_is_stray,
    ));
    trials.push(Trial::test(
        "functions_beyond_the_limit_are_folded",
        functions_beyond_the_limit_are_folded,
    ));
    trials
}

/// Draws a program, without Graphviz.
fn draw(program: &Path, format: &str) -> Result<String, Failed> {
    let mut command = tool::command("tfrt", &programs::directory())?;
    command
        .args(["graph", "--format", format])
        .arg(program)
        .env("PATH", "/nowhere");
    let output = tool::run(command)?;
    require_status(0, &output)?;
    Ok(String::from_utf8(output.stdout)?)
}

fn check(program: &Path) -> Result<(), Failed> {
    let (dot, svg) = (draw(program, "dot")?, draw(program, "svg")?);
    if draw(program, "dot")? != dot || draw(program, "svg")? != svg {
        return Err("a second drawing differs from the first one".into());
    }
    let nodes = check_dot(&dot)?;
    let boxes = check_svg(&svg)?;
    // Boxes of functions and regions have no hint; those of ops say the stream, in the order of the
    // program.
    let drawn: Vec<Option<usize>> = boxes
        .iter()
        .filter(|part| part.fill != "#ffffff")
        .map(|part| part.stream)
        .collect();
    let mut of_svg = drawn;
    let mut of_dot: Vec<Option<usize>> = nodes.into_iter().filter(Option::is_some).collect();
    of_svg.sort_unstable();
    of_dot.sort_unstable();
    if of_svg != of_dot {
        return Err(format!("streams differ: {of_dot:?} and {of_svg:?}").into());
    }
    Ok(())
}

/// A page has a picture of each function, with the boxes that `dot` draws, and asks nobody for
/// anything.
fn check_page(program: &Path) -> Result<(), Failed> {
    let (dot, page) = (draw(program, "dot")?, draw(program, "html")?);
    let outside = page.replace("http://www.w3.org/2000/svg", "");
    for way_out in ["http:", "https:", "src=", "href=", "@import", "fetch("] {
        if outside.contains(way_out) {
            return Err(format!("the page has `{way_out}`").into());
        }
    }
    let functions = dot
        .lines()
        .filter(|line| line.starts_with("  subgraph "))
        .count();
    for part in ["<details", "<svg ", "</svg>\n</div></details>"] {
        let found = page.matches(part).count();
        if found != functions {
            return Err(format!("{found} times `{part}`, and {functions} functions").into());
        }
    }
    let mut streams = Vec::new();
    for picture in page.split("<svg ").skip(1) {
        let end = picture.find("</svg>").ok_or("a picture without an end")?;
        let boxes = check_svg(&format!("<svg {}</svg>", &picture[..end]))?;
        streams.extend(boxes.iter().filter_map(|part| part.stream).map(Some));
    }
    let mut of_dot: Vec<Option<usize>> = check_dot(&dot)?.into_iter().flatten().map(Some).collect();
    streams.sort_unstable();
    of_dot.sort_unstable();
    if streams != of_dot {
        return Err(format!("streams differ: {of_dot:?} and {streams:?}").into());
    }
    let names = page.matches("<g id=\"n").count();
    if !page.contains("addEventListener('wheel'") || !page.contains("id=\"search\"") || names == 0 {
        return Err("nothing to zoom or search with".into());
    }
    Ok(())
}

fn values_are_labelled_and_nothing_is_stray() -> Result<(), Failed> {
    let program = scratch_file("labels.mlir");
    std::fs::write(
        &program,
        "func @f(%unused: f32, %x: i32, %c: !tfrt.chain) {\n  %y = tfrt.add.i32 %x, %x\n  \
         %d = tfrt.print.i32 %y, %c\n  tfrt.return\n}\n",
    )?;
    let (dot, svg) = (draw(&program, "dot")?, draw(&program, "svg")?);
    std::fs::remove_file(&program)?;
    for part in [
        "label=\"@f(f32, i32, !tfrt.chain)\"",
        "label=\"i32\"",
        "style=dashed]",
    ] {
        if !dot.contains(part) {
            return Err(format!("`{part}` is not part of:\n{dot}").into());
        }
    }
    if !svg.contains(">i32</text>") {
        return Err(format!("no type at an arrow:\n{svg}").into());
    }
    // Every node has an edge: the argument that is unused, and the end that returns nothing, are
    // not nodes.
    let nodes = dot
        .lines()
        .filter_map(|line| line.trim().split_once(" [label="));
    for (node, _) in nodes {
        let edges = [format!("{node} -> "), format!(" -> {node} ")];
        if !edges.iter().any(|edge| dot.contains(edge)) {
            return Err(format!("`{node}` is stray in:\n{dot}").into());
        }
    }
    Ok(())
}

fn functions_beyond_the_limit_are_folded() -> Result<(), Failed> {
    let program = golden::path("05-chains.mlir");
    let draw_some = |arguments: &[&str]| -> Result<String, Failed> {
        let mut command = tool::command("tfrt", &programs::directory())?;
        command.arg("graph").args(arguments).arg(&program);
        let output = tool::run(command)?;
        require_status(0, &output)?;
        Ok(String::from_utf8(output.stdout)?)
    };
    let all = draw_some(&[])?;
    let folded = draw_some(&["--max-ops=1"])?;
    let functions = |text: &str| {
        text.lines()
            .filter(|line| line.starts_with("  subgraph "))
            .count()
    };
    let hints = folded.matches("--functions=").count();
    if all.contains("--functions=") || hints != functions(&all) || functions(&folded) != hints {
        return Err(format!("{hints} of {} functions are folded", functions(&all)).into());
    }
    // One that is asked for is drawn in any case.
    let name = between(&folded, "--functions=", "\"").ok_or("no name")?;
    let one = draw_some(&["--max-ops=1", "--functions", name])?;
    match one.contains("--functions=") {
        true => Err(format!("`{name}` is folded").into()),
        false => Ok(()),
    }
}

/// A file of this test process alone.
fn scratch_file(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{name}", std::process::id()))
}

/// Streams and colours that were seen together.
#[derive(Default)]
struct Colors(BTreeMap<usize, String>);

impl Colors {
    /// A stream has one colour, which none of the first twelve streams shares.
    fn note(&mut self, stream: usize, color: &str) -> Result<(), String> {
        let known = self.0.entry(stream).or_insert_with(|| color.to_owned());
        if known != color {
            return Err(format!("stream {stream} is {known} and {color}"));
        }
        let same = self.0.iter().find(|(other, shown)| {
            **other != stream && **other % 12 != stream % 12 && *shown == color
        });
        match same {
            Some((other, _)) => Err(format!("streams {stream} and {other} are both {color}")),
            None => Ok(()),
        }
    }
}

/// Checks a drawing in the language of Graphviz and returns the stream of each node.
fn check_dot(dot: &str) -> Result<Vec<Option<usize>>, String> {
    let mut colors = Colors::default();
    let (mut nodes, mut clusters) = (BTreeMap::new(), BTreeSet::new());
    let mut depth = 0;
    for line in dot.lines() {
        let text = line.trim_start();
        let within = |error: &str| format!("{error} in `{line}`");
        if text == "}" {
            depth -= 1;
        }
        if line.len() - text.len() != 2 * depth {
            return Err(within("the indentation does not fit the nesting"));
        }
        if text.ends_with(" {") {
            depth += 1;
            if let Some(cluster) = text.strip_prefix("subgraph ")
                && !clusters.insert(cluster.to_owned())
            {
                return Err(within("a name that was given before"));
            }
        } else if text.starts_with("label=") {
            // The name of a cluster, which may say anything.
        } else if let Some((from, to)) = text.split_once(" -> ") {
            let to = to.split(' ').next().unwrap_or_default();
            if !nodes.contains_key(from) || !nodes.contains_key(to) {
                return Err(within("an end that is no node"));
            }
        } else if let Some((name, attributes)) = text.split_once(" [label=") {
            let stream = between(attributes, "tooltip=\"stream ", "\"")
                .map(|stream| stream.parse::<usize>().map_err(|error| error.to_string()))
                .transpose()?;
            let color =
                between(attributes, "fillcolor=\"", "\"").ok_or_else(|| within("no colour"))?;
            match stream {
                Some(stream) => colors.note(stream, color)?,
                None if color == "#ffffff" => {}
                None => return Err(within("an argument with a colour")),
            }
            if nodes.insert(name.to_owned(), stream).is_some() {
                return Err(within("a name that was given before"));
            }
        }
    }
    if depth != 0 {
        return Err(String::from("a brace is not closed"));
    }
    Ok(nodes.into_values().collect())
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    text.split_once(start)?
        .1
        .split_once(end)
        .map(|(found, _)| found)
}

/// A box of a picture: what it takes up, and what it is for.
#[derive(Clone, Debug)]
struct Frame {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
    fill: String,
    stream: Option<usize>,
}

impl Frame {
    /// Positions are printed with one decimal.
    const SLACK: f64 = 0.2;

    fn contains(&self, other: &Self) -> bool {
        self.left <= other.left + Self::SLACK
            && other.right <= self.right + Self::SLACK
            && self.top <= other.top + Self::SLACK
            && other.bottom <= self.bottom + Self::SLACK
    }

    fn is_apart_from(&self, other: &Self) -> bool {
        self.right <= other.left + Self::SLACK
            || other.right <= self.left + Self::SLACK
            || self.bottom <= other.top + Self::SLACK
            || other.bottom <= self.top + Self::SLACK
    }
}

/// Checks a picture and returns its boxes, outer ones first.
fn check_svg(svg: &str) -> Result<Vec<Frame>, String> {
    check_tags(svg)?;
    let mut colors = Colors::default();
    let mut boxes: Vec<Frame> = Vec::new();
    for line in svg.lines().filter(|line| line.contains("<rect ")) {
        let attribute = |name: &str| {
            between(line, &format!(" {name}=\""), "\"")
                .ok_or_else(|| format!("no `{name}` in {line}"))
        };
        let length = |name: &str| -> Result<f64, String> {
            attribute(name)?
                .parse()
                .map_err(|error| format!("{error}: {line}"))
        };
        let stream = between(line, "<title>stream ", "<").and_then(|stream| stream.parse().ok());
        let (left, top) = (length("x")?, length("y")?);
        let part = Frame {
            left,
            top,
            right: left + length("width")?,
            bottom: top + length("height")?,
            fill: attribute("fill")?.to_owned(),
            stream,
        };
        if let Some(stream) = stream {
            colors.note(stream, &part.fill)?;
        }
        // What is drawn before lies behind: around this box, or beside it.
        for other in &boxes {
            if !other.contains(&part) && !other.is_apart_from(&part) {
                return Err(format!("{part:?} and {other:?} overlap"));
            }
        }
        boxes.push(part);
    }
    Ok(boxes)
}

/// Checks that every tag is closed, innermost first, and that text holds no letter that XML
/// reserves.
fn check_tags(svg: &str) -> Result<(), String> {
    let mut open = Vec::new();
    for part in svg.split('<').skip(1) {
        let (tag, text) = part.split_once('>').ok_or("a tag without an end")?;
        if text.contains('>') || text.contains('&') && !text.contains(';') {
            return Err(format!("`{text}` is not escaped"));
        }
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop() != Some(name) {
                return Err(format!("`{name}` is closed and not open"));
            }
        } else if !tag.ends_with('/') {
            open.push(tag.split(' ').next().unwrap_or_default());
        }
    }
    match open.is_empty() {
        true => Ok(()),
        false => Err(format!("{open:?} are not closed")),
    }
}
