//! Ctrl-C during long work: once to stop and say what there is, twice to end at once.

use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::Ending;

/// A flag that the first signal sets. The second one calls `clean_up` and ends the process.
pub(crate) fn on_signal(clean_up: fn()) -> Result<Arc<AtomicBool>, String> {
    let stop = Arc::new(AtomicBool::new(false));
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(|error| format!("cannot wait for signals: {error}"))?;
    let flag = Arc::clone(&stop);
    std::thread::spawn(move || {
        for _ in signals.forever() {
            if flag.swap(true, Ordering::SeqCst) {
                clean_up();
                say("ended at once, without results");
                std::process::exit(Ending::Unknown.code().into());
            }
            say("stopping, with what there is; once more ends it at once");
        }
    });
    Ok(stop)
}

fn say(words: &str) {
    // Nobody may be listening.
    let _ = writeln!(io::stderr(), "skew: {words}");
}
