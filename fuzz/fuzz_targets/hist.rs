//! `.hist` text: parsing never panics, and what parses prints as text that parses to the same text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use skew_model::History;

fuzz_target!(|text: &str| {
    if let Ok(history) = History::parse(text) {
        let printed = history.to_string();
        let again = History::parse(&printed).expect("printed text parses").to_string();
        assert_eq!(printed, again);
    }
});
