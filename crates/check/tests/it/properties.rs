//! What must be true of any history.

use proptest::prelude::*;
use skew_check::{Checker, Options};
use skew_model::{History, Level, Outcome, Scope};

use crate::generate;

fn levels(history: &History) -> Vec<Option<bool>> {
    let checker = Checker::new(history, Options::default());
    Level::all().map(|level| checker.holds(Scope::Level(level))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_stronger_level_implies_a_weaker_one(seed in any::<u64>()) {
        let history = generate::history(seed, 8);
        let verdicts = levels(&history);
        for strong in Level::all() {
            for weak in Level::all().filter(|weak| strong.implies(*weak)) {
                let both = (verdicts[strong as usize], verdicts[weak as usize]);
                prop_assert_ne!(both, (Some(true), Some(false)), "{} holds but not {}\n{}", strong, weak, history);
            }
        }
    }

    #[test]
    fn printing_and_parsing_is_the_identity(seed in any::<u64>()) {
        let text = generate::history(seed, 8).to_string();
        let again = History::parse(&text).expect("printed text parses").to_string();
        prop_assert_eq!(text, again);
    }

    #[test]
    fn printing_and_parsing_keeps_the_verdicts(seed in any::<u64>()) {
        let history = generate::history(seed, 6);
        let again = History::parse(&history.to_string()).expect("printed text parses");
        prop_assert_eq!(levels(&history), levels(&again));
    }

    #[test]
    fn shrinking_keeps_the_verdict_and_the_anomaly(seed in any::<u64>()) {
        let history = generate::history(seed, 8);
        for level in Level::all() {
            let verdict = Checker::new(&history, Options::default()).check(Scope::Level(level));
            let Outcome::Violated(violation) = verdict.outcome else { continue };
            let again = Checker::new(&violation.history, Options::default()).check(Scope::Level(level));
            let anomaly = again.violation().map(|again| again.anomaly);
            prop_assert_eq!(anomaly, Some(violation.anomaly), "{}\n{}", level, violation.history);
        }
    }

    #[test]
    fn an_unread_write_to_a_fresh_key_changes_nothing(seed in any::<u64>(), at in any::<prop::sample::Index>()) {
        let history = generate::history(seed, 6);
        let text = history.to_string();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let txns: Vec<usize> = (0..lines.len()).filter(|&line| lines[line].starts_with('s')).collect();
        let line = txns[at.index(txns.len())];
        lines[line].push_str("  w fresh=1");
        let more = History::parse(&lines.join("\n")).expect("still a history");
        prop_assert_eq!(levels(&history), levels(&more), "\n{}", more);
    }
}
