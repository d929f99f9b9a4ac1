//! `skew serve --stdin`: orders of the program that has started the server, one per line, each answered in one line of
//! JSON. The end of input ends the server, so that none outlives the tests that started it.

use std::io::{self, BufRead, Write as _};
use std::time::Duration;

use serde_json::{Value, json};
use skew_campaign::live;
use skew_model::campaign::Coverage;
use skew_model::did_you_mean;
use skew_report::Style;
use skew_server::Running;

/// How long connections have to go when there are no more orders.
const GOODBYE: Duration = Duration::from_millis(200);

const ORDERS: [&str; 4] = ["reset", "explain", "coverage", "history"];

/// Takes orders until there are no more.
pub(super) fn obey(running: &Running) {
    let mut control = Control { seed: 0, coverage: Coverage::default(), runs: 0 };
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let answer = control.answer(running, line.trim()).unwrap_or_else(|error| json!({ "error": error }));
        let mut out = io::stdout().lock();
        if writeln!(out, "{answer}").and_then(|()| out.flush()).is_err() {
            break;
        }
    }
    // Clients that have said goodbye are not told that the server ends.
    running.wait_for_goodbyes(GOODBYE);
}

struct Control {
    seed: u64,
    /// Of all runs that were reset away.
    coverage: Coverage,
    runs: u64,
}

impl Control {
    fn answer(&mut self, running: &Running, line: &str) -> Result<Value, String> {
        let (order, rest) = line.split_once(' ').unwrap_or((line, ""));
        match order {
            "reset" => {
                let seed = rest.trim().parse().map_err(|_| format!("`reset` takes a seed, not `{rest}`"))?;
                self.count(running);
                live::reset(running, seed)?;
                (self.seed, self.runs) = (seed, self.runs + 1);
                Ok(json!({ "ok": true, "seed": seed }))
            }
            "explain" => {
                let failure = live::explain_failure(running, self.seed);
                let style = Style { color: false, width: 100, expand: false };
                Ok(json!({ "ok": true, "seed": self.seed, "text": skew_report::explained_run(&failure, style) }))
            }
            "coverage" => {
                self.count(running);
                self.runs = 0;
                let text = skew_report::coverage(&self.coverage);
                Ok(json!({ "ok": true, "text": text, "overlapping": self.coverage.overlapping,
                           "conflicting": self.coverage.pairs.len(),
                           "in_both_orders": self.coverage.in_both_orders() }))
            }
            "history" => {
                let databases = running.databases().of_run().into_iter();
                let histories = databases.map(|(name, entry)| (name, json!(entry.database.history().to_string())));
                Ok(json!({ "ok": true, "histories": histories.collect::<serde_json::Map<_, _>>() }))
            }
            other => {
                Err(format!("`{other}` is no order{} Orders are {}", did_you_mean(other, ORDERS), ORDERS.join(", ")))
            }
        }
    }

    /// Counts what happened since the last reset, if there was one.
    fn count(&mut self, running: &Running) {
        if self.runs > 0 {
            live::cover(running, &mut self.coverage);
        }
    }
}
