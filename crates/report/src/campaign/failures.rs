//! The failing runs after the first one: grouped by cause, folded, with filters.

use std::collections::BTreeSet;

use skew_model::campaign::{Campaign, FailedRun};

use crate::campaign::failure::details;
use crate::campaign::words::{one_line, tell};
use crate::clean::count;
use crate::markup::escape;

/// Statements of other failures that are in the page; failures beyond that are rows in the table of runs.
const MAX_STATEMENTS: usize = 4000;

/// A cause, and the failures that have it.
struct Group<'a> {
    words: String,
    failures: Vec<&'a FailedRun>,
}

/// The numbers of the runs that can be opened in the page.
pub(super) fn opened(campaign: &Campaign) -> BTreeSet<u64> {
    shown(campaign).iter().map(|failure| failure.run.number).collect()
}

/// The other failures, each of which can be opened.
pub(super) fn failures(campaign: &Campaign) -> String {
    let shown = shown(campaign);
    if shown.is_empty() {
        return String::new();
    }
    let groups = groups(campaign, &shown);
    let mut out = format!(
        "<section class=\"failures\" id=\"failures\" tabindex=\"-1\"><h2>Other failing runs</h2>\n{}",
        filters(&groups, shown.len())
    );
    for (number, group) in groups.iter().enumerate() {
        out.push_str(&format!(
            "<section class=\"cause\" data-cause=\"{number}\"><h3>{} × {}</h3>\n",
            group.failures.len(),
            escape(&group.words)
        ));
        for failure in &group.failures {
            out.push_str(&one(failure, &group.words));
        }
        out.push_str("</section>\n");
    }
    out.push_str("<p class=\"nothing\" hidden=\"hidden\">No failing run has these words.</p>\n");
    let failed = campaign.runs.iter().filter(|run| !run.outcome.passed()).count();
    let left_out = failed.saturating_sub(shown.len() + usize::from(campaign.failure.is_some()));
    if left_out > 0 {
        let runs = count(left_out, "failing run");
        out.push_str(&format!("<p class=\"note\">{runs} more: the table of runs has all of them.</p>\n"));
    }
    out.push_str("</section>\n");
    out
}

/// The failures whose details are in the page.
fn shown(campaign: &Campaign) -> Vec<&FailedRun> {
    let mut statements = 0;
    let fits = |failure: &&FailedRun| {
        statements += failure.statements.len();
        statements <= MAX_STATEMENTS
    };
    campaign.other_failures.iter().take_while(fits).collect()
}

/// By cause, the most frequent first; by headline where the campaign has not told causes.
fn groups<'a>(campaign: &Campaign, shown: &[&'a FailedRun]) -> Vec<Group<'a>> {
    let mut groups: Vec<Group> = Vec::new();
    for failure in shown {
        let cause = campaign.causes.iter().find(|cause| cause.runs.contains(&failure.run.number));
        let told = tell(failure);
        let words = match cause {
            Some(cause) => cause.words.clone(),
            None if told.kind.0 == "violated" => told.kind.1,
            None => told.headline,
        };
        match groups.iter_mut().find(|group| group.words == words) {
            Some(group) => group.failures.push(failure),
            None => groups.push(Group { words, failures: vec![failure] }),
        }
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.failures.len()));
    groups
}

/// Words to look for, and causes to choose from; of no use without the script, which shows it.
fn filters(groups: &[Group], all: usize) -> String {
    let mut out = format!(
        "<div class=\"filters\" role=\"search\" hidden=\"hidden\"><label class=\"find\">Find <input type=\"search\" \
         placeholder=\"table, value, run…\"/></label> <output aria-live=\"polite\">{}</output>",
        count(all, "failing run")
    );
    if groups.len() > 1 {
        out.push_str("<fieldset><legend>Cause</legend><label><input type=\"radio\" name=\"cause\" value=\"\" checked=\"checked\"/> all</label> ");
        for (number, group) in groups.iter().enumerate() {
            out.push_str(&format!(
                "<label><input type=\"radio\" name=\"cause\" value=\"{number}\"/> {} ({})</label> ",
                escape(&group.words),
                group.failures.len()
            ));
        }
        out.push_str("</fieldset>");
    }
    out.push_str("</div>\n");
    out
}

fn one(failure: &FailedRun, cause: &str) -> String {
    let told = tell(failure);
    let run = failure.run.number;
    // The last line that was printed tells failures apart that have one cause.
    let printed = failure.output.trim_end().lines().next_back().map(one_line).unwrap_or_default();
    format!(
        "<details class=\"failure violation\" id=\"run-{run}\"><summary><b>run {run}</b> <span class=\"headline\">{}</span> \
         <span class=\"last\">{}</span></summary>\n{}</details>\n",
        // What the cause says already is not said again.
        if told.headline == cause { String::new() } else { escape(&told.headline) },
        escape(&crate::clean::shorten(&printed, 100)),
        details(failure, &told, &format!("r{run}-"))
    )
}
