//! A nested explanation as a flat list of cases, each with what it supposes.

use skew_model::{Explanation, History, Key, TxnId};

use crate::words::{key_name, txn};

/// One case: what it supposes, and why it fails.
pub(crate) struct Case<'a> {
    /// The orders that it supposes, outermost first; empty when nothing was supposed.
    pub(crate) supposed: Vec<(TxnId, TxnId)>,
    /// A cycle or a finding.
    pub(crate) leaf: &'a Explanation,
}

/// The cases of an explanation; one without suppositions when there are none to tell apart.
pub(crate) fn cases(explanation: &Explanation) -> Vec<Case<'_>> {
    let mut cases = Vec::new();
    collect(explanation, &mut Vec::new(), &mut cases);
    cases
}

fn collect<'a>(explanation: &'a Explanation, supposed: &mut Vec<(TxnId, TxnId)>, cases: &mut Vec<Case<'a>>) {
    match explanation {
        Explanation::Cases { first, second, first_before_second, second_before_first, .. } => {
            for (order, inner) in [((*first, *second), first_before_second), ((*second, *first), second_before_first)] {
                supposed.push(order);
                collect(inner, supposed, cases);
                supposed.pop();
            }
        }
        leaf => cases.push(Case { supposed: supposed.clone(), leaf }),
    }
}

/// "either order of t1 and t2 on x fails", for an explanation by cases.
pub(crate) fn introduction(history: &History, explanation: &Explanation) -> Option<String> {
    let Explanation::Cases { first, second, key, first_before_second, second_before_first } = explanation else {
        return None;
    };
    let pair = |first: &TxnId, second: &TxnId, key: &Key| {
        format!("{} and {} on {}", txn(history, *first), txn(history, *second), key_name(history, *key))
    };
    let nested = |inner: &Explanation| matches!(inner, Explanation::Cases { .. });
    let rest =
        if nested(first_before_second) || nested(second_before_first) { ", whatever else is supposed" } else { "" };
    Some(format!("either order of {} fails{rest}:", pair(first, second, key)))
}

impl Case<'_> {
    /// "if t1 comes before t2 and t3 before t4".
    pub(crate) fn words(&self, history: &History) -> Option<String> {
        let mut words = String::new();
        for (index, (first, second)) in self.supposed.iter().enumerate() {
            let join = if index == 0 { "if" } else { " and" };
            let verb = if index == 0 { "comes before" } else { "before" };
            words.push_str(&format!("{join} {} {verb} {}", txn(history, *first), txn(history, *second)));
        }
        (!words.is_empty()).then_some(words)
    }
}
