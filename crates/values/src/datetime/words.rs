//! The words of dates and times.

/// What a word of a date or time means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Word {
    Month(i64),
    Weekday,
    Morning,
    Afternoon,
    BeforeChrist,
    AnnoDomini,
    /// `at`, `on`
    Filler,
    /// A Julian day follows.
    Julian,
    /// A time follows.
    Time,
    /// Daylight saving time, after a zone.
    Summer,
    Now,
    Today,
    Tomorrow,
    Yesterday,
    /// Midnight in UTC.
    AllBalls,
    Epoch,
    Infinity,
    MinusInfinity,
    /// Words for parts of dates, which PostgreSQL knows but makes nothing of here.
    Unit,
}

/// What a word in lower case means.
pub(super) fn lookup(word: &str) -> Option<Word> {
    WORDS.binary_search_by_key(&word, |(word, _)| word).ok().map(|at| WORDS[at].1)
}

/// Whether it is one of them.
pub(super) fn is_known(word: &str) -> bool {
    lookup(word).is_some()
}

#[rustfmt::skip]
static WORDS: &[(&str, Word)] = &[
    ("-infinity", Word::MinusInfinity), ("ad", Word::AnnoDomini), ("allballs", Word::AllBalls), ("am", Word::Morning),
    ("apr", Word::Month(4)), ("april", Word::Month(4)), ("at", Word::Filler), ("aug", Word::Month(8)),
    ("august", Word::Month(8)), ("bc", Word::BeforeChrist), ("d", Word::Unit), ("dec", Word::Month(12)),
    ("december", Word::Month(12)), ("dow", Word::Unit), ("doy", Word::Unit), ("dst", Word::Summer),
    ("epoch", Word::Epoch), ("feb", Word::Month(2)), ("february", Word::Month(2)), ("fri", Word::Weekday),
    ("friday", Word::Weekday), ("h", Word::Unit), ("infinity", Word::Infinity), ("isodow", Word::Unit),
    ("isoyear", Word::Unit), ("j", Word::Julian), ("jan", Word::Month(1)), ("january", Word::Month(1)),
    ("jd", Word::Julian), ("jul", Word::Month(7)), ("julian", Word::Julian), ("july", Word::Month(7)),
    ("jun", Word::Month(6)), ("june", Word::Month(6)), ("m", Word::Unit), ("mar", Word::Month(3)),
    ("march", Word::Month(3)), ("may", Word::Month(5)), ("mm", Word::Unit), ("mon", Word::Weekday),
    ("monday", Word::Weekday), ("nov", Word::Month(11)), ("november", Word::Month(11)), ("now", Word::Now),
    ("oct", Word::Month(10)), ("october", Word::Month(10)), ("on", Word::Filler), ("pm", Word::Afternoon),
    ("s", Word::Unit), ("sat", Word::Weekday), ("saturday", Word::Weekday), ("sep", Word::Month(9)),
    ("sept", Word::Month(9)), ("september", Word::Month(9)), ("sun", Word::Weekday), ("sunday", Word::Weekday),
    ("t", Word::Time), ("thu", Word::Weekday), ("thur", Word::Weekday), ("thurs", Word::Weekday),
    ("thursday", Word::Weekday), ("today", Word::Today), ("tomorrow", Word::Tomorrow), ("tue", Word::Weekday),
    ("tues", Word::Weekday), ("tuesday", Word::Weekday), ("wed", Word::Weekday), ("wednesday", Word::Weekday),
    ("weds", Word::Weekday), ("y", Word::Unit), ("yesterday", Word::Yesterday),
];

#[cfg(test)]
mod tests {
    #[test]
    fn words_are_sorted() {
        assert!(super::WORDS.is_sorted_by_key(|(word, _)| word));
    }
}
