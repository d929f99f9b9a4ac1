//! A failed run as lanes: a lane a client, time downwards, a row a statement, transactions as frames around them.
//!
//! Rows make room for arrows: beside a statement, every other lane is empty. The script draws them after the layout; what
//! they say stands in words at both ends.

use std::collections::{BTreeMap, BTreeSet};

use skew_model::campaign::{FailedRun, SqlEdge, SqlOperation, SqlStatement, Why};

use crate::campaign::words::{Told, alternatives, verb};
use crate::clean::{count, shorten};
use crate::markup::escape;

/// Statements and lanes that are drawn.
const MOST_DRAWN: usize = 300;
const MOST_LANES: usize = 12;
/// Operations of a statement that are not folded, beside those that matter and without such.
const MOST_OPERATIONS: (usize, usize) = (1, 6);
/// Operations of a statement that are in the page at all.
const MOST_FOLDED: usize = 200;
/// A longer statement is folded.
const MOST_SQL: (usize, usize) = (420, 10);
/// If more statements than this have nothing to do with the failure, or there are many lanes, they are hidden at first.
const MOST_ASIDE: usize = 6;

/// The lanes of a failed run.
pub(super) fn lanes(failure: &FailedRun, told: &Told) -> String {
    let drawing = Drawing::new(failure, told);
    let mut out = String::new();
    let aside = drawing.drawn.len() - drawing.core_count;
    if aside > 0 && drawing.core_count > 0 {
        let is_crowded = aside > MOST_ASIDE || drawing.lanes.len() > 3;
        let checked = if is_crowded { " checked=\"checked\"" } else { "" };
        out.push_str(&format!(
            "<p class=\"toggle\"><label><input type=\"checkbox\" id=\"only\"{checked}/> hide the {} that have nothing to \
             do with it</label></p>\n",
            count(aside, "statement")
        ));
    }
    if drawing.drawn.len() < failure.statements.len() {
        out.push_str(&format!(
            "<p class=\"note\">{} of {} are drawn; --json has all of them.</p>\n",
            drawing.drawn.len(),
            count(failure.statements.len(), "statement")
        ));
    }
    let gap = match drawing.core_lanes {
        _ if drawing.ends.is_empty() => "1.5rem",
        0..=2 => "9rem",
        _ => "6.5rem",
    };
    out.push_str(&format!(
        "<div class=\"frame\" tabindex=\"0\" role=\"region\" aria-label=\"the run, a lane a client, time downwards\">\
         <div class=\"lanes\" style=\"--all:{};--core:{};--gap:{gap}\">\n",
        drawing.lanes.len().max(1),
        drawing.core_lanes.max(1)
    ));
    for (lane, connection) in drawing.lanes.iter().enumerate() {
        let aside = if lane < drawing.core_lanes { "" } else { " aside" };
        out.push_str(&format!(
            "<p class=\"client{aside}\" style=\"--lane:{}\" aria-hidden=\"true\">client {connection}</p>\n",
            lane + 1
        ));
    }
    out.push_str(&drawing.frames());
    let mut before = None;
    for (row, &at) in drawing.drawn.iter().enumerate() {
        let skipped = at - before.map_or(0, |before| before + 1);
        before = Some(at);
        out.push_str(&drawing.gap(row, skipped));
        out.push_str(&drawing.statement(row, at));
    }
    let skipped = failure.statements.len() - before.map_or(0, |before| before + 1);
    out.push_str(&drawing.gap(drawing.drawn.len(), skipped));
    out.push_str("</div></div>\n");
    out
}

/// The statements between which an edge is drawn: those at its ends, or else the ends of its transactions.
pub(super) fn ends_of(failure: &FailedRun, edge: &SqlEdge) -> Option<(usize, usize)> {
    let of = |txn: &str| {
        let txn = txn.to_owned();
        failure.statements.iter().enumerate().filter(move |(_, one)| one.txn.as_ref() == Some(&txn)).map(|(at, _)| at)
    };
    let is_there = |at: &usize| *at < failure.statements.len();
    let from = edge.statements.0.filter(is_there).or_else(|| of(&edge.from).next_back())?;
    let to = edge.statements.1.filter(is_there).or_else(|| of(&edge.to).next())?;
    Some((from, to))
}

struct Drawing<'a> {
    failure: &'a FailedRun,
    /// The transaction that each statement belongs to; BEGIN and COMMIT belong to the one between them.
    txns: Vec<Option<&'a str>>,
    /// Whether a statement has to do with the failure.
    is_core: Vec<bool>,
    /// The statements that are drawn, by number.
    drawn: Vec<usize>,
    core_count: usize,
    /// The connections, those that have to do with the failure first.
    lanes: Vec<usize>,
    core_lanes: usize,
    /// The edges that start or end at a statement: the edge's number, and whether it starts here.
    ends: BTreeMap<usize, Vec<(usize, bool)>>,
}

impl<'a> Drawing<'a> {
    fn new(failure: &'a FailedRun, told: &Told) -> Drawing<'a> {
        let txns = transactions(&failure.statements);
        let mut is_core = vec![false; failure.statements.len()];
        for &at in &told.statements {
            is_core[at] = true;
        }
        let core_txns: BTreeSet<(usize, &str)> =
            told.statements.iter().filter_map(|&at| Some((failure.statements[at].connection, txns[at]?))).collect();
        for (at, statement) in failure.statements.iter().enumerate() {
            is_core[at] |= txns[at].is_some_and(|txn| core_txns.contains(&(statement.connection, txn)));
        }
        let mut lanes: Vec<usize> = Vec::new();
        let mut core_lanes = 0;
        for wants_core in [true, false] {
            let mut more: Vec<usize> = failure
                .statements
                .iter()
                .zip(&is_core)
                .filter(|(_, is)| **is == wants_core)
                .map(|(one, _)| one.connection)
                .filter(|connection| !lanes.contains(connection))
                .collect();
            more.sort_unstable();
            more.dedup();
            lanes.extend(more);
            if wants_core {
                core_lanes = lanes.len().min(MOST_LANES);
            }
        }
        lanes.truncate(MOST_LANES);
        let has_lane = |at: &usize| lanes.contains(&failure.statements[*at].connection);
        let mut drawn: Vec<usize> = (0..failure.statements.len()).filter(has_lane).collect();
        // The sort keeps the order in time within both parts.
        drawn.sort_by_key(|&at| !is_core[at]);
        drawn.truncate(MOST_DRAWN);
        drawn.sort_unstable();
        let core_count = drawn.iter().filter(|&&at| is_core[at]).count();
        let mut ends: BTreeMap<usize, Vec<(usize, bool)>> = BTreeMap::new();
        if let Why::Anomaly(anomaly) = &failure.why {
            for (number, edge) in anomaly.edges.iter().enumerate() {
                if let Some((from, to)) = ends_of(failure, edge) {
                    ends.entry(from).or_default().push((number, true));
                    ends.entry(to).or_default().push((number, false));
                }
            }
        }
        Drawing { failure, txns, is_core, drawn, core_count, lanes, core_lanes, ends }
    }

    fn lane(&self, at: usize) -> usize {
        let connection = self.failure.statements[at].connection;
        1 + self.lanes.iter().position(|lane| *lane == connection).unwrap_or(0)
    }

    fn aside(&self, at: usize) -> &'static str {
        if self.is_core[at] || self.core_count == 0 { "" } else { " aside" }
    }

    /// A row for a statement, and one before it for what was left out; the first one holds the clients' names.
    fn row(row: usize) -> usize {
        3 + 2 * row
    }

    /// A frame around the statements of each transaction.
    fn frames(&self) -> String {
        let mut spans: BTreeMap<(usize, &str), (usize, usize, usize)> = BTreeMap::new();
        for (row, &at) in self.drawn.iter().enumerate() {
            if let Some(txn) = self.txns[at] {
                spans.entry((self.lane(at), txn)).or_insert((row, row, at)).1 = row;
            }
        }
        let frame = |(&(lane, _), &(first, last, at)): (&(usize, &str), &(usize, usize, usize))| {
            let (from, to) = (Self::row(first), Self::row(last) + 1);
            let aside = self.aside(at);
            format!(
                "<div class=\"txn{aside}\" aria-hidden=\"true\" style=\"--lane:{lane};--row:{from} / {to}\"></div>\n"
            )
        };
        spans.iter().map(frame).collect()
    }

    fn gap(&self, row: usize, skipped: usize) -> String {
        if skipped == 0 {
            return String::new();
        }
        let row = Self::row(row) - 1;
        let what = count(skipped, "statement");
        let aside = if self.core_count > 0 { " aside" } else { "" };
        format!("<p class=\"gap{aside}\" style=\"--row:{row}\">… {what} left out …</p>\n")
    }

    fn statement(&self, row: usize, at: usize) -> String {
        let statement = &self.failure.statements[at];
        let guilty = statement.operations.iter().any(|operation| operation.is_guilty);
        let stale = statement.operations.iter().any(|operation| operation.is_stale);
        let mut classes = format!("statement{}", self.aside(at));
        for (word, is) in [(" guilty", guilty), (" stale", stale), (" refused", statement.is_error)] {
            classes.push_str(if is { word } else { "" });
        }
        let txn = self.txns[at].map_or_else(String::new, |txn| format!(" <b>{}</b>", escape(txn)));
        let lane = self.lane(at);
        let number = at + 1;
        let client = statement.connection;
        let mut out = format!(
            "<article class=\"{classes}\" id=\"s{number}\" data-lane=\"{lane}\" tabindex=\"0\" style=\"--lane:{lane};\
             --row:{}\" aria-label=\"statement {number} of client {client}\">\
             <p class=\"who\"><span class=\"number\">{number}</span> client {client}{txn}</p>",
            Self::row(row)
        );
        out.push_str(&sql(&statement.text));
        if !statement.parameters.is_empty() {
            let values = statement.parameters.iter().enumerate();
            let values: Vec<String> =
                values.map(|(at, value)| format!("${} = {}", at + 1, escape(&shorten(value, 80)))).collect();
            out.push_str(&format!("<p class=\"values\">{}</p>", values.join(", ")));
        }
        out.push_str(&operations(statement));
        let answer = escape(&statement.answer);
        out.push_str(&match (statement.is_error, answer.as_str()) {
            (true, _) => format!("<p class=\"answer\"><b>✗ refused:</b> {answer}</p>"),
            (false, "done") => String::new(),
            (false, _) => format!("<p class=\"answer\">{answer}</p>"),
        });
        out.push_str(&self.edges(at));
        out.push_str("</article>\n");
        out
    }

    /// What the arrows at a statement say.
    fn edges(&self, at: usize) -> String {
        let Why::Anomaly(anomaly) = &self.failure.why else { return String::new() };
        let Some(ends) = self.ends.get(&at) else { return String::new() };
        let mut out = String::from("<p class=\"ends\">");
        for &(number, is_start) in ends {
            let edge = &anomaly.edges[number];
            let Some((from, to)) = ends_of(self.failure, edge) else { continue };
            let (words, other) = if is_start { ("before", to) } else { ("after", from) };
            let (number, label, other) = (number + 1, escape(&edge.label), other + 1);
            out.push_str(&format!(
                "<span><a href=\"#e{number}\">{number}</a> <code>{label}</code> {words} \
                 <a href=\"#s{other}\">statement {other}</a></span> "
            ));
        }
        out.push_str("</p>");
        out
    }
}

/// The transaction of each statement. BEGIN belongs to what its connection does next, COMMIT to what it did before.
fn transactions(statements: &[SqlStatement]) -> Vec<Option<&str>> {
    let mut txns: Vec<Option<&str>> = statements.iter().map(|one| one.txn.as_deref()).collect();
    let first_word = |at: usize| {
        let text = &statements[at].text;
        let end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
        text[..end].to_ascii_lowercase()
    };
    let mut last: BTreeMap<usize, &str> = BTreeMap::new();
    for at in 0..statements.len() {
        match txns[at] {
            Some(txn) => _ = last.insert(statements[at].connection, txn),
            None if ["commit", "end", "rollback", "abort"].contains(&first_word(at).as_str()) => {
                txns[at] = last.remove(&statements[at].connection);
            }
            None => {}
        }
    }
    let mut next: BTreeMap<usize, &str> = BTreeMap::new();
    for at in (0..statements.len()).rev() {
        let connection = statements[at].connection;
        match txns[at] {
            Some(txn) => _ = next.insert(connection, txn),
            None if ["begin", "start"].contains(&first_word(at).as_str()) => txns[at] = next.remove(&connection),
            None => _ = next.remove(&connection),
        }
    }
    txns
}

/// SQL as it was written, without the indentation that all of its lines share; folded if it is long.
fn sql(text: &str) -> String {
    let mut lines = text.trim().lines();
    let first = lines.next().unwrap_or_default();
    let rest: Vec<&str> = lines.collect();
    let indent = |line: &&str| line.len() - line.trim_start().len();
    let shared = rest.iter().filter(|line| !line.trim().is_empty()).map(indent).min().unwrap_or(0);
    let rest = rest.iter().map(|line| line.get(shared..).unwrap_or_default().trim_end());
    let lines: Vec<String> = std::iter::once(first).chain(rest).map(escape).collect();
    let whole = format!("<pre class=\"sql\">{}</pre>", lines.join("\n"));
    if text.len() <= MOST_SQL.0 && lines.len() <= MOST_SQL.1 {
        return whole;
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let short = escape(&shorten(&words.join(" "), MOST_SQL.0 / 2));
    format!("<details><summary><code>{short}</code></summary>{whole}</details>")
}

/// What a statement read and wrote: what matters first, the rest folded if there is much of it.
fn operations(statement: &SqlStatement) -> String {
    let matters = |operation: &&SqlOperation| operation.is_guilty || operation.is_stale;
    let (first, mut rest): (Vec<_>, Vec<_>) = statement.operations.iter().partition(|operation| matters(operation));
    let left_out = rest.len().saturating_sub(MOST_FOLDED);
    rest.truncate(MOST_FOLDED);
    let list = |operations: &[&SqlOperation]| match operations {
        [] => String::new(),
        some => format!("<ul class=\"ops\">{}</ul>", some.iter().map(|one| operation(one)).collect::<String>()),
    };
    let most = if first.is_empty() { MOST_OPERATIONS.1 } else { MOST_OPERATIONS.0 };
    if rest.len() + left_out <= most {
        return list(&statement.operations.iter().collect::<Vec<_>>());
    }
    let more = match left_out {
        0 => String::new(),
        left_out => format!("<p>… {left_out} more: --json has all of them</p>"),
    };
    format!(
        "{}<details><summary>{} read or written</summary>{}{more}</details>",
        list(&first),
        count(rest.len() + left_out, if first.is_empty() { "cell" } else { "other cell" }),
        list(&rest)
    )
}

fn operation(operation: &SqlOperation) -> String {
    let (verb, has_value) = verb(operation);
    let (key, value) = (escape(&shorten(&operation.key, 120)), escape(&shorten(&operation.value, 120)));
    let mut words = format!("{verb} <code>{key}</code>");
    if has_value {
        words.push_str(&format!(" = <code>{value}</code>"));
    }
    if operation.is_stale {
        words.push_str(" <strong>◷ an old version</strong>");
    }
    if let Some(values) = alternatives(operation) {
        words.push_str(&format!(
            " <span class=\"choice\">it could have been {}, and was {value}</span>",
            escape(&values)
        ));
    }
    if let Some(within) = &operation.within {
        words.push_str(&format!(
            " in <code>{}</code>",
            escape(&shorten(&crate::campaign::words::one_line(within), 200))
        ));
    }
    match (operation.is_guilty, operation.is_stale) {
        (true, _) => format!("<li class=\"guilty\"><span class=\"mark\">◆</span> {words}</li>"),
        (false, true) => format!("<li class=\"stale\">{words}</li>"),
        (false, false) => format!("<li>{words}</li>"),
    }
}
