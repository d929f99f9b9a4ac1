//! Where the operations of a transaction stand in the line that recorded them.
//!
//! A violation's history is a part of the whole: operations are left out and the line on the disk has more of them,
//! with the user's own spacing and comments. The recorded line is read as histories are ([`operations`]), and the operations of
//! the part are found among its operations in order.

use skew_model::hist::{WrittenOp, operations};
use skew_model::{History, OpId, TxnId};

/// A recorded line with all its operations, and which of them belong to a part of the history.
pub(crate) struct Places {
    /// The columns (start, end) of every operation in the line.
    pub(crate) all: Vec<(usize, usize)>,
    /// The place in `all` of each operation of the part's transaction.
    pub(crate) own: Vec<usize>,
}

/// Finds the operations of a transaction in the recorded line; `None` when the line does not hold them all in order.
pub(crate) fn places(history: &History, id: TxnId, line: &str) -> Option<Places> {
    let found = operations(line)?;
    let mut own = Vec::new();
    let mut from = 0;
    for op in history.op_ids(id).map(OpId) {
        let op = history.op(op);
        let (key, value) = (history.key_literal(op.key()), history.literal(op.value()));
        let same = |found: &WrittenOp| found.kind == op.kind() && found.key == key && found.value == value;
        let at = from + found[from..].iter().position(same)?;
        own.push(at);
        from = at + 1;
    }
    let column = |at: usize| line[..at].chars().count();
    Some(Places { all: found.iter().map(|found| (column(found.place.start), column(found.place.end))).collect(), own })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(part: &str, line: &str, carets: &str) {
        let history = skew_model::history!(part);
        let places = places(&history, TxnId(0), line).expect("every operation stands in the line");
        let mut shown: Vec<char> = vec![' '; line.chars().count()];
        for (start, end) in places.own.iter().map(|own| places.all[*own]) {
            shown[start..end].fill('^');
        }
        assert_eq!(shown.into_iter().collect::<String>().trim_end(), carets, "under\n{line}");
    }

    #[test]
    fn operations_are_found_between_others_and_odd_spacing() {
        check("a t1 r x=0 w y=1", "a  t1 @si   r  x=0   r z=9  w y=1  # w y=1", "            ^^^^^^          ^^^^^");
    }

    #[test]
    fn a_repeated_operation_is_found_after_what_comes_before_it() {
        check("a t1 w y=1 r x=0", "a t1 r x=0 w y=1 r x=0", "           ^^^^^ ^^^^^");
    }

    #[test]
    fn names_quotes_statements_and_sources_do_not_confuse() {
        check("r w r x=\"a b\" w x=c", "r w [1..2] (r x=\"a b\"<t7 w \"x\"=c)", "            ^^^^^^^^^^^^ ^^^^^^^");
    }

    #[test]
    fn a_line_of_something_else_is_not_used() {
        let history = skew_model::history!("a t1 r x=0");
        assert!(places(&history, TxnId(0), "{\"op\": \"r\", \"x\": 0}").is_none());
    }
}
