//! A failed run as lanes: a lane per client, time downwards, a row per statement, transactions as frames around them.
//!
//! Rows make room for arrows: beside a statement, every other lane is empty. The script draws them after the layout; what
//! they say stands in words at both ends. The script also lets the reader step through the run.

use std::collections::{BTreeMap, BTreeSet};

use skew_model::campaign::{FailedRun, SqlEdge, Why};

use crate::campaign::statement::{End, ends, operations, sql, transactions};
use crate::campaign::words::Told;
use crate::clean::{count, shorten};
use crate::markup::escape;

/// Statements and lanes that are drawn.
const MAX_DRAWN: usize = 300;
/// Statements that are drawn of each failure after the first one.
const MAX_DRAWN_OF_OTHERS: usize = 60;
const MAX_LANES: usize = 12;
/// If more statements than this have nothing to do with the failure, or there are many lanes, they are hidden at first.
const MAX_ASIDE: usize = 6;

/// The lanes of a failed run. `prefix` keeps its ids apart from those of other runs; the run that the page is about has
/// none.
pub(super) fn lanes(failure: &FailedRun, told: &Told, prefix: &str) -> String {
    let drawing = Drawing::new(failure, told, prefix);
    let mut out = String::new();
    let aside = drawing.drawn.len() - drawing.core_count;
    if aside > 0 && drawing.core_count > 0 {
        let is_crowded = aside > MAX_ASIDE || drawing.lanes.len() > 3;
        let checked = if is_crowded { " checked=\"checked\"" } else { "" };
        out.push_str(&format!(
            "<p class=\"toggle\"><label><input type=\"checkbox\" class=\"only\"{checked}/> hide the {} nothing to do \
             with it</label></p>\n",
            if aside == 1 { "statement that has".to_owned() } else { format!("{aside} statements that have") }
        ));
    }
    if drawing.drawn.len() < failure.statements.len() {
        out.push_str(&format!(
            "<p class=\"note\">{} of {} are drawn; --json has all of them.</p>\n",
            drawing.drawn.len(),
            count(failure.statements.len(), "statement")
        ));
    }
    let gap = if drawing.ends.is_empty() { "1.5rem" } else { "7.5rem" };
    out.push_str(PLAYER);
    out.push_str(&format!(
        "<div class=\"frame\" tabindex=\"0\" role=\"region\" aria-label=\"the run, a lane per client, time downwards\">\
         <div class=\"lanes\" style=\"--all:{};--core:{};--gap:{gap}\">\n",
        drawing.lanes.len().max(1),
        drawing.core_lanes.max(1)
    ));
    for (lane, connection) in drawing.lanes.iter().enumerate() {
        let aside = if drawing.near[lane] > 0 { "" } else { " aside" };
        out.push_str(&format!(
            "<p class=\"client{aside}\" data-lane=\"{}\" style=\"{}\" aria-hidden=\"true\">client {connection}</p>\n",
            lane + 1,
            drawing.columns(lane + 1)
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

/// Steps through the run, and what each client has seen so far; of no use without the script, which shows it.
const PLAYER: &str = "<div class=\"player\" role=\"group\" aria-label=\"step through the run\" hidden=\"hidden\">\
    <button type=\"button\" class=\"back\" aria-label=\"one statement back\">‹</button>\
    <input type=\"range\" min=\"0\" aria-label=\"statements that have taken effect\"/>\
    <button type=\"button\" class=\"on\" aria-label=\"one statement on\">›</button>\
    <output aria-live=\"polite\"></output></div>\n\
    <div class=\"seen\" hidden=\"hidden\"></div>\n";

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
    prefix: &'a str,
    /// The transaction that each statement belongs to; BEGIN and COMMIT belong to the one between them.
    txns: Vec<Option<&'a str>>,
    /// Whether a statement has to do with the failure.
    is_core: Vec<bool>,
    /// The statements that are drawn, by number.
    drawn: Vec<usize>,
    core_count: usize,
    /// How each statement ends its transaction.
    txn_ends: Vec<End>,
    /// The connections, in order.
    lanes: Vec<usize>,
    /// The place of each lane among those that have to do with the failure, from 1; 0 for the others.
    near: Vec<usize>,
    core_lanes: usize,
    /// The edges that start or end at a statement: the edge's number, and whether it starts here.
    ends: BTreeMap<usize, Vec<(usize, bool)>>,
}

impl<'a> Drawing<'a> {
    fn new(failure: &'a FailedRun, told: &Told, prefix: &'a str) -> Drawing<'a> {
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
        let mut ends: BTreeMap<usize, Vec<(usize, bool)>> = BTreeMap::new();
        if let Why::Anomaly(anomaly) = &failure.why {
            for (number, edge) in anomaly.edges.iter().enumerate() {
                if let Some((from, to)) = ends_of(failure, edge) {
                    ends.entry(from).or_default().push((number, true));
                    ends.entry(to).or_default().push((number, false));
                }
            }
        }
        let connections = |wants_core: bool| -> BTreeSet<usize> {
            let statements = failure.statements.iter().zip(&is_core).filter(|(_, is)| **is == wants_core);
            statements.map(|(one, _)| one.connection).collect()
        };
        // If there are too many, those of the arrows are the last to be left out.
        let at_arrows = ends.keys().map(|at| failure.statements[*at].connection);
        let mut core: BTreeSet<usize> = BTreeSet::new();
        for connection in at_arrows.chain(connections(true)) {
            if core.len() < MAX_LANES {
                core.insert(connection);
            }
        }
        let others = connections(false).into_iter().filter(|connection| !core.contains(connection));
        let mut lanes: Vec<usize> = core.iter().copied().chain(others.take(MAX_LANES - core.len())).collect();
        lanes.sort_unstable();
        let place = |connection: &usize| core.iter().position(|other| other == connection).map_or(0, |place| place + 1);
        let near = lanes.iter().map(place).collect();
        let has_lane = |at: &usize| lanes.contains(&failure.statements[*at].connection);
        let mut drawn: Vec<usize> = (0..failure.statements.len()).filter(has_lane).collect();
        // The sort keeps the order in time within each part.
        drawn.sort_by_key(|at| (!ends.contains_key(at), !is_core[*at]));
        drawn.truncate(if prefix.is_empty() { MAX_DRAWN } else { MAX_DRAWN_OF_OTHERS });
        drawn.sort_unstable();
        let core_count = drawn.iter().filter(|&&at| is_core[at]).count();
        let txn_ends = self::ends(&failure.statements, &txns);
        let core_lanes = core.len();
        Drawing { failure, prefix, txns, is_core, drawn, core_count, txn_ends, lanes, near, core_lanes, ends }
    }

    /// The column of a lane, with all lanes and with those alone that have to do with the failure.
    fn columns(&self, lane: usize) -> String {
        format!("--lane:{lane};--near:{}", self.near[lane - 1])
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
            let columns = self.columns(lane);
            format!("<div class=\"txn{aside}\" aria-hidden=\"true\" style=\"{columns};--row:{from} / {to}\"></div>\n")
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
            "<article class=\"{classes}\" id=\"{}s{number}\" data-lane=\"{lane}\" data-client=\"{client}\" \
             data-txn=\"{}\" data-end=\"{}\" data-waited=\"{}\" tabindex=\"0\" style=\"{};--row:{}\" \
             aria-label=\"statement {number} of client {client}\">\
             <p class=\"who\"><span class=\"number\">{number}</span> client {client}{txn}</p>",
            self.prefix,
            escape(self.txns[at].unwrap_or_default()),
            self.txn_ends[at].word(),
            statement.waited_for.map_or_else(String::new, |holder| holder.to_string()),
            self.columns(lane),
            Self::row(row)
        );
        if let Some(holder) = statement.waited_for {
            out.push_str(&format!("<p class=\"waited\">⧗ waited for the end of client {holder}'s transaction</p>"));
        }
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
            let prefix = self.prefix;
            out.push_str(&format!(
                "<span><a href=\"#{prefix}e{number}\">{number}</a> <code>{label}</code> {words} \
                 <a href=\"#{prefix}s{other}\">statement {other}</a></span> "
            ));
        }
        out.push_str("</p>");
        out
    }
}
