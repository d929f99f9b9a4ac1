//! Foreign formats: the first byte chooses one, the rest is the file. Reading never panics, checking what was read
//! never panics, and neither does writing it in every format.
#![no_main]

use libfuzzer_sys::fuzz_target;
use skew_check::{Checker, Options};
use skew_formats::{Format, read, write};
use skew_model::{Level, Scope};

fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, file)) = bytes.split_first() else { return };
    let formats = [Format::Jsonl, Format::Elle, Format::Plume, Format::Dbcop];
    let Ok(history) = read(formats[usize::from(choice) % formats.len()], "fuzz", file) else { return };
    for format in [Format::Hist, Format::Jsonl, Format::Elle, Format::Plume, Format::Dbcop] {
        let _ = write(&history, format, &mut Vec::new());
    }
    if history.txns().len() <= 30 {
        let checker = Checker::new(&history, Options::default());
        for level in Level::ALL {
            let _ = checker.check(Scope::Level(level));
        }
    }
});
