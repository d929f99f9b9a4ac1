//! A plan in the formats of EXPLAIN that programs read.

use std::fmt::Write;

use crate::ir::print::tree::ShownNode;

/// FORMAT JSON
pub fn json(plan: &ShownNode) -> String {
    let mut out = String::from("[\n  {\n    \"Plan\": ");
    json_node(&mut out, plan, 4);
    out.push_str("\n  }\n]");
    out
}

fn json_node(out: &mut String, node: &ShownNode, indent: usize) {
    out.push_str("{\n");
    for (name, value) in &node.fields {
        let _ = writeln!(out, "{:1$}\"{name}\": {2},", "", indent + 2, quoted(value));
    }
    let output: Vec<String> = node.output.iter().map(|column| quoted(column)).collect();
    let _ = write!(out, "{:1$}\"Output\": [{2}]", "", indent + 2, output.join(", "));
    if !node.plans.is_empty() {
        let _ = write!(out, ",\n{:1$}\"Plans\": [", "", indent + 2);
        for (at, plan) in node.plans.iter().enumerate() {
            let _ = write!(out, "{}\n{:2$}", if at > 0 { "," } else { "" }, "", indent + 4);
            json_node(out, plan, indent + 4);
        }
        let _ = write!(out, "\n{:1$}]", "", indent + 2);
    }
    let _ = write!(out, "\n{:1$}}}", "", indent);
}

/// FORMAT XML
pub fn xml(plan: &ShownNode) -> String {
    let mut out = String::from("<explain xmlns=\"http://www.postgresql.org/2009/explain\">\n  <Query>\n");
    xml_node(&mut out, plan, 4);
    out.push_str("  </Query>\n</explain>");
    out
}

fn xml_node(out: &mut String, node: &ShownNode, indent: usize) {
    let _ = writeln!(out, "{:1$}<Plan>", "", indent);
    for (name, value) in &node.fields {
        let tag = name.replace(' ', "-");
        let _ = writeln!(out, "{:1$}<{tag}>{2}</{tag}>", "", indent + 2, escaped(value));
    }
    let _ = writeln!(out, "{:1$}<Output>", "", indent + 2);
    for column in &node.output {
        let _ = writeln!(out, "{:1$}<Item>{2}</Item>", "", indent + 4, escaped(column));
    }
    let _ = writeln!(out, "{:1$}</Output>", "", indent + 2);
    if !node.plans.is_empty() {
        let _ = writeln!(out, "{:1$}<Plans>", "", indent + 2);
        node.plans.iter().for_each(|plan| xml_node(out, plan, indent + 4));
        let _ = writeln!(out, "{:1$}</Plans>", "", indent + 2);
    }
    let _ = writeln!(out, "{:1$}</Plan>", "", indent);
}

/// FORMAT YAML
pub fn yaml(plan: &ShownNode) -> String {
    let mut out = String::from("- Plan: \n    ");
    yaml_node(&mut out, plan, 4);
    out
}

/// The first line is indented already.
fn yaml_node(out: &mut String, node: &ShownNode, indent: usize) {
    for (name, value) in &node.fields {
        let _ = write!(out, "{name}: {}\n{:2$}", quoted(value), "", indent);
    }
    out.push_str("Output: ");
    for column in &node.output {
        let _ = write!(out, "\n{:1$}- {2}", "", indent + 2, quoted(column));
    }
    if !node.plans.is_empty() {
        let _ = write!(out, "\n{:1$}Plans: ", "", indent);
        for plan in &node.plans {
            let _ = write!(out, "\n{:1$}- ", "", indent + 2);
            yaml_node(out, plan, indent + 4);
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
