//! Text in, text out.
#![allow(dead_code, reason = "each test file uses what it needs")]

use skew_formats::{Format, read, write};
use skew_model::{Finding, History, OpId};

/// What a format's input means, or what is wrong with it.
pub fn try_read(format: Format, input: impl AsRef<[u8]>) -> Result<History, String> {
    read(format, "file", input.as_ref()).map_err(|error| error.to_string())
}

#[track_caller]
pub fn history(format: Format, input: impl AsRef<[u8]>) -> History {
    match try_read(format, input) {
        Ok(history) => history,
        Err(error) => panic!("not read: {error}"),
    }
}

/// The error of an input that is none.
#[track_caller]
pub fn error(format: Format, input: impl AsRef<[u8]>) -> String {
    match try_read(format, input) {
        Ok(history) => panic!("read as\n{history}"),
        Err(error) => error,
    }
}

/// `.hist` text with the indentation of the test taken away.
pub fn text(indented: &str) -> String {
    indented.trim().lines().map(|line| format!("{}\n", line.trim())).collect()
}

#[track_caller]
pub fn check(format: Format, input: impl AsRef<[u8]>, hist: &str) -> History {
    let history = history(format, input);
    assert_eq!(history.to_string(), text(hist));
    history
}

pub fn written(history: &History, format: Format) -> Result<String, String> {
    let mut out = Vec::new();
    write(history, format, &mut out).map_err(|error| error.to_string())?;
    Ok(String::from_utf8(out).expect("every written format is text"))
}

/// `.hist` text → format → `.hist` text.
#[track_caller]
pub fn round_trip(format: Format, hist: &str) -> String {
    let original = History::parse(&text(hist)).expect("the test's text is a history");
    let bytes = written(&original, format).expect("the format can say this");
    history(format, bytes).to_string()
}

/// What a format refuses to write.
#[track_caller]
pub fn refusal(format: Format, hist: &str) -> String {
    let original = History::parse(&text(hist)).expect("the test's text is a history");
    written(&original, format).expect_err("the format cannot say this")
}

/// Findings in words: kind, operation and the other one, with their transactions.
pub fn findings(history: &History) -> Vec<String> {
    let place = |op: Option<OpId>| match op {
        Some(op) => format!("{} {}", history.txn_name(history.txn_of(op)), history.op_text(op)),
        None => "-".to_owned(),
    };
    let words = |finding: &Finding| format!("{:?}: {} / {}", finding.kind, place(finding.op), place(finding.other));
    history.findings().iter().map(words).collect()
}

/// Reads every beginning of a sample, and the sample with every bit flipped. That nothing panics is the test; what is
/// still read must print.
pub fn sweep(format: Format, sample: impl AsRef<[u8]>) {
    let sample = sample.as_ref();
    history(format, sample);
    let survives = |input: &[u8]| {
        if let Ok(history) = try_read(format, input) {
            let _ = history.to_string();
            for target in Format::ALL {
                let _ = written(&history, target);
            }
        }
    };
    for length in 0..sample.len() {
        survives(&sample[..length]);
    }
    for at in 0..sample.len() {
        for bit in 0..8 {
            let mut damaged = sample.to_vec();
            damaged[at] ^= 1 << bit;
            survives(&damaged);
        }
    }
}
