//! The cycles for Graphviz: a cluster a case, a node a transaction, an edge an edge.

use skew_model::{Explanation, History, OpId, TxnId};

use crate::Report;
use crate::cases::cases;
use crate::clean::clean;
use crate::distinct::distinct;
use crate::words::{headline, label, txn};

/// The cycles of all reports as one graph.
pub fn dot(reports: &[Report]) -> String {
    let mut out = "digraph skew {\n  node [shape=box, fontname=monospace];\n  edge [fontname=monospace];\n".to_owned();
    let mut cluster = 0;
    for report in reports {
        for one in distinct(&report.verdicts) {
            let history = &one.violation.history;
            for case in cases(&one.violation.explanation) {
                let mut title = format!("{}: {}", clean(&report.file), headline(one.violation));
                if let Some(words) = case.words(history) {
                    title.push_str(&format!(" ({words})"));
                }
                let prefix = format!("c{cluster}");
                out.push_str(&format!("  subgraph cluster_{cluster} {{\n    label={};\n", quote(&title)));
                out.push_str(&leaf(history, case.leaf, &prefix));
                out.push_str("  }\n");
                cluster += 1;
            }
        }
    }
    out.push_str("}\n");
    out
}

fn leaf(history: &History, leaf: &Explanation, prefix: &str) -> String {
    let mut out = String::new();
    match leaf {
        Explanation::Cycle(cycle) => {
            let mut txns: Vec<TxnId> = cycle.edges.iter().map(|edge| edge.from).collect();
            txns.sort();
            txns.dedup();
            for id in txns {
                out.push_str(&node(history, id, prefix));
            }
            for edge in &cycle.edges {
                let style = match edge.kind.letters() {
                    "rw" => "dashed",
                    "ww" => "dotted",
                    _ => "solid",
                };
                let label = quote(&label(history, edge.kind));
                let (from, to) = (edge.from.0, edge.to.0);
                out.push_str(&format!("    {prefix}_{from} -> {prefix}_{to} [label={label}, style={style}];\n"));
            }
        }
        Explanation::Finding(finding) => {
            let ops = [finding.op, finding.other].into_iter().flatten();
            let mut txns: Vec<TxnId> = ops.map(|op| history.txn_of(op)).collect();
            txns.dedup();
            for id in txns {
                out.push_str(&node(history, id, prefix));
            }
        }
        Explanation::Cases { .. } => {}
    }
    out
}

fn node(history: &History, id: TxnId, prefix: &str) -> String {
    let mut lines = vec![txn(history, id)];
    lines.extend(history.op_ids(id).map(|op| clean(&history.op_text(OpId(op)))));
    let label: Vec<String> = lines.iter().map(|line| inner(line)).collect();
    format!("    {prefix}_{} [label=\"{}\\l\"];\n", id.0, label.join("\\l"))
}

fn quote(text: &str) -> String {
    format!("\"{}\"", inner(text))
}

fn inner(text: &str) -> String {
    clean(text).replace('\\', "\\\\").replace('"', "\\\"")
}
