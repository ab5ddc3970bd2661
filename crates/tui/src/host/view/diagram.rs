//! The I/O path: file, file system, mapped devices and partitions, disks.

use ratatui::text::{Line, Span};

use super::facts::figures;
use crate::facts::{BlockDevice, TargetFacts, TargetKind};
use crate::record::LayerKind;
use crate::report::host::describe_device;
use crate::theme::{Look, Role};
use crate::units::show_bytes;
use crate::view::pane;

/// A station of the I/O path.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Node {
    depth: usize,
    name: String,
    what: String,
    more: Vec<String>,
}

fn build_nodes(target: &TargetFacts) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::new();
    let mut push = |depth, name: &str, what: String| {
        nodes.push(Node { depth, name: name.into(), what, more: Vec::new() })
    };
    let name = target.path.rsplit('/').find(|part| !part.is_empty()).unwrap_or(&target.path);
    let mut depth = 0;
    match target.kind {
        // A device as target is listed among the devices.
        TargetKind::Device => {}
        TargetKind::Scratch => push(0, "scratch file", String::new()),
        TargetKind::File => push(0, name, format!("file, {}", show_bytes(target.size))),
    }
    if target.kind != TargetKind::Device {
        depth += 1;
        if !target.fs.is_empty() {
            let at = target
                .mount_point
                .as_ref()
                .map_or(String::new(), |at| format!(", mounted at {at}"));
            push(depth, &target.fs, format!("file system{at}"));
            depth += 1;
        }
    }
    let layers = &target.ground.layers;
    if layers.is_empty() {
        // An older session.
        nodes.extend(target.devices.iter().map(|device| of_device(depth + device.depth, device)));
        if target.devices.is_empty() {
            let what = "the system does not report what is below".into();
            nodes.push(Node { depth, name: "?".into(), what, more: Vec::new() });
        }
        return nodes;
    }
    let above = usize::from(target.kind != TargetKind::Device);
    for layer in &layers[above.min(layers.len())..] {
        let depth = above + layer.depth as usize;
        let device = target.devices.iter().find(|device| device.name == layer.name);
        nodes.push(match device {
            Some(device) => of_device(depth, device),
            None => Node {
                depth,
                name: layer.name.clone(),
                what: describe_layer(layer.kind).into(),
                more: Vec::new(),
            },
        });
    }
    if let Some(remark) = target.ground.remark() {
        let depth = nodes.last().map_or(0, |node| node.depth + 1);
        let far = target.source.as_ref().filter(|_| target.network);
        let what = far.map_or(remark.clone(), |source| format!("{remark} from {source}"));
        nodes.push(Node { depth, name: "ground".into(), what, more: Vec::new() });
    }
    nodes
}

fn of_device(depth: usize, device: &BlockDevice) -> Node {
    let words = describe_device(device);
    Node { depth, name: words.name, what: words.what, more: words.more }
}

/// Describes a layer that is not a block device.
fn describe_layer(kind: LayerKind) -> &'static str {
    match kind {
        LayerKind::Image => "file",
        LayerKind::FileSystem | LayerKind::Overlay => "file system",
        LayerKind::Memory => "in memory",
        LayerKind::Program => "served by a program",
        LayerKind::Server => "served by another machine",
        _ => "",
    }
}

fn parent(nodes: &[Node], at: usize) -> Option<usize> {
    (0..at).rev().find(|above| nodes[*above].depth < nodes[at].depth)
}

/// Returns whether a node of the same parent follows.
fn has_later_sibling(nodes: &[Node], at: usize) -> bool {
    (at + 1..nodes.len()).any(|other| parent(nodes, other) == parent(nodes, at))
}

/// Returns whether the node is one of several below its parent, so that it has a branch.
fn has_siblings(nodes: &[Node], at: usize) -> bool {
    (0..nodes.len()).any(|other| other != at && parent(nodes, other) == parent(nodes, at))
}

/// Returns what is to the left of a node's further lines, without its own trunk.
fn trunk_before(look: &Look, nodes: &[Node], at: usize) -> String {
    let above = parent(nodes, at).map_or(String::new(), |above| trunk_before(look, nodes, above));
    if !has_siblings(nodes, at) {
        above
    } else if has_later_sibling(nodes, at) {
        above + look.glyph("│  ", "|  ")
    } else {
        above + "   "
    }
}

pub fn draw_lines(look: &Look, target: &TargetFacts, width: usize) -> Vec<Line<'static>> {
    let nodes = build_nodes(target);
    let border = look.style(Role::Border);
    let mut lines = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        let above =
            parent(&nodes, at).map_or(String::new(), |above| trunk_before(look, &nodes, above));
        let branch = if !has_siblings(&nodes, at) {
            ""
        } else if has_later_sibling(&nodes, at) {
            look.glyph("├─ ", "|- ")
        } else {
            look.glyph("└─ ", "`- ")
        };
        let indent = format!(" {above}{branch}");
        let room = width.saturating_sub(pane::width(&indent) + 4);
        let name = pane::fit(&node.name, room.min(40));
        let mut spans = vec![
            Span::styled(indent, border),
            look.span(Role::Key, look.glyph("● ", "o ")),
            look.span(Role::Title, format!("{name}  ")),
        ];
        spans.extend(figures(
            look,
            &pane::fit(&node.what, room.saturating_sub(pane::width(&name))),
            Role::Text,
        ));
        lines.push(Line::from(spans));
        let below = (at + 1..nodes.len()).any(|other| parent(&nodes, other) == Some(at));
        let trunk = format!(
            " {}{}",
            trunk_before(look, &nodes, at),
            if below { look.glyph("│ ", "| ") } else { "  " }
        );
        for more in &node.more {
            for part in pane::wrap(more, width.saturating_sub(pane::width(&trunk))) {
                lines.push(Line::from(vec![
                    Span::styled(trunk.clone(), border),
                    look.span(Role::Dim, part),
                ]));
            }
        }
        if below && node.more.is_empty() {
            lines.push(Line::styled(trunk, border));
        }
    }
    lines
}
