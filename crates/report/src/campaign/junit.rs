//! A campaign as JUnit XML, which continuous integration reads: a test case a run.

use skew_model::campaign::{Campaign, RunLine};

use crate::Style;
use crate::campaign::text::failed_run;
use crate::campaign::words::causes_words;
use crate::clean::{clean, count};

/// A campaign as JUnit XML.
pub fn junit(campaign: &Campaign) -> String {
    let failures = campaign.runs.iter().filter(|run| !run.outcome.passed()).count();
    let (tests, time) = (campaign.runs.len(), campaign.elapsed_ms as f64 / 1000.0);
    let name = escape(&campaign.command.join(" "));
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    out.push_str(&format!(
        "<testsuites name=\"skew test\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" time=\"{time:.3}\">\n"
    ));
    out.push_str(&format!(
        "  <testsuite name=\"{name} at {}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"0\" time=\"{time:.3}\">\n",
        escape(&campaign.level)
    ));
    for run in &campaign.runs {
        out.push_str(&case(campaign, run));
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

fn case(campaign: &Campaign, run: &RunLine) -> String {
    let head = format!(
        "    <testcase classname=\"skew\" name=\"run {} (seed {})\" time=\"{:.3}\"",
        run.number,
        run.seed,
        run.ms as f64 / 1000.0
    );
    if run.outcome.passed() {
        return format!("{head}/>\n");
    }
    let mut failures = campaign.failure.iter().chain(&campaign.other_failures);
    let explained = failures.find(|failure| failure.run.number == run.number);
    let text = explained
        .map_or_else(String::new, |failure| failed_run(failure, Style { color: false, width: 100, expand: false }));
    let message = escape(&message(campaign, run));
    format!("{head}>\n      <failure message=\"{message}\">{}</failure>\n    </testcase>\n", escape(&text))
}

/// What a failing run shows, for the line that is read first: its cause, how many runs have that one, and all causes.
fn message(campaign: &Campaign, run: &RunLine) -> String {
    let own = campaign.causes.iter().find(|cause| cause.runs.contains(&run.number));
    let Some(own) = own else { return format!("the command {}", run.outcome) };
    let all = match campaign.causes.len() {
        0 | 1 => count(own.runs.len(), "run"),
        _ => causes_words(&campaign.causes),
    };
    format!("{} (the command {}; {all})", clean(&own.words), run.outcome)
}

/// Text that is safe in XML, in attributes too.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\n' | '\t' => out.push(c),
            // XML has no other control characters, not even escaped ones.
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
