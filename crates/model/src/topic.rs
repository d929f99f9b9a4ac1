//! Words that people look up which are no anomaly and no level of their own, each with a page.

/// A word with its page.
#[derive(Debug)]
pub struct Topic {
    /// The name that commands use.
    pub id: &'static str,
    /// The name in words.
    pub title: &'static str,
    /// Other words for it.
    pub aliases: &'static [&'static str],
    /// Its page, in Markdown.
    pub page: &'static str,
}

macro_rules! topics {
    ($($id:literal $title:literal [$($alias:literal),*])*) => {
        /// The topics, in alphabetical order.
        pub const TOPICS: &[Topic] = &[$(Topic {
            id: $id,
            title: $title,
            aliases: &[$($alias),*],
            page: include_str!(concat!("../pages/topics/", $id, ".md")),
        }),*];
    };
}

topics! {
    "phantom" "phantom" ["phantom-read", "phantom-reads", "phantoms", "p3", "a3", "predicate-read"]
    "race-condition" "race condition" [
        "race", "toctou", "check-then-act", "double-spend", "double-spending", "double-booking", "overselling", "oversold"
    ]
    "recency" "recency" ["staleness", "replica-lag", "replicated", "bounded-staleness"]
    "serialization-failure" "serialization failure" [
        "40001", "40p01", "deadlock", "retry", "could-not-serialize-access", "first-committer-wins", "first-updater-wins"
    ]
}

impl Topic {
    /// The topic of this name or alias.
    pub fn find(word: &str) -> Option<&'static Topic> {
        let lower = word.to_ascii_lowercase().replace([' ', '_'], "-");
        TOPICS.iter().find(|topic| topic.id == lower || topic.aliases.contains(&lower.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::anomaly;
    use crate::level::Level;

    #[test]
    fn no_topic_has_the_name_of_an_anomaly_or_of_a_level() {
        let mut names = std::collections::BTreeSet::new();
        for topic in TOPICS {
            for name in topic.aliases.iter().chain([&topic.id]) {
                assert!(names.insert(*name), "{name} names two topics");
                assert_eq!(anomaly::Anomaly::find(name), None, "{name}");
                assert!(name.parse::<Level>().is_err(), "{name}");
            }
        }
    }
}
