//! Histories of lists, in Elle's EDN: transactions that append to lists and read them, one after another at
//! overlapping times. A list is retired after a while, as Jepsen's generator does, so that reads stay short.

use std::io::{self, Write};

use crate::Arguments;
use crate::random::Random;

/// Appends to a key before a fresh one takes its place.
const MAX_APPENDS: usize = 128;

/// Prints a history.
pub(crate) fn generate(arguments: &Arguments, out: &mut impl Write) -> io::Result<()> {
    let mut random = Random::new(arguments.seed);
    let mut names: Vec<u32> = (0..arguments.keys).collect();
    let mut next_name = arguments.keys;
    let mut lists: Vec<Vec<u32>> = vec![Vec::new(); arguments.keys as usize];
    let mut open: Vec<(u32, String)> = Vec::new();
    let mut index = 0u64;
    let mut line = |out: &mut dyn Write, kind: &str, process: u32, value: &str| {
        let result = writeln!(
            out,
            "{{:type :{kind}, :f :txn, :value [{value}], :process {process}, :time {}, :index {index}}}",
            index * 1000
        );
        index += 1;
        result
    };
    for txn in 0..arguments.transactions {
        let process = txn % arguments.sessions;
        if let Some(at) = open.iter().position(|(other, _)| *other == process) {
            let (_, value) = open.remove(at);
            line(out, "ok", process, &value)?;
        }
        let (mut invoked, mut completed) = (String::new(), String::new());
        for _ in 0..arguments.operations {
            let slot = random.key(arguments.keys, arguments.skew) as usize;
            if lists[slot].len() >= MAX_APPENDS {
                lists[slot].clear();
                names[slot] = next_name;
                next_name += 1;
            }
            let key = names[slot];
            if random.below(100) >= arguments.reads {
                let element = lists[slot].len() as u32 + 1;
                lists[slot].push(element);
                let append = format!("[:append {key} {element}] ");
                invoked.push_str(&append);
                completed.push_str(&append);
            } else {
                let elements: Vec<String> = lists[slot].iter().map(u32::to_string).collect();
                invoked.push_str(&format!("[:r {key} nil] "));
                completed.push_str(&format!("[:r {key} [{}]] ", elements.join(" ")));
            }
        }
        line(out, "invoke", process, invoked.trim_end())?;
        open.push((process, completed.trim_end().to_owned()));
        if open.len() > arguments.sessions as usize / 2 {
            let at = random.below(open.len() as u32) as usize;
            let (process, value) = open.remove(at);
            line(out, "ok", process, &value)?;
        }
    }
    for (process, value) in open {
        line(out, "ok", process, &value)?;
    }
    Ok(())
}
