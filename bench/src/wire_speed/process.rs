//! What the system knows of a server: the processor time and the memory that it takes. Linux only; elsewhere nothing.

use std::fs;
use std::path::Path;

/// The kernel counts processor time in these, for programs that ask.
const TICKS_PER_SECOND: f64 = 100.0;

/// A process and its children.
pub(super) struct Process {
    pid: u32,
}

impl Process {
    /// The process that listens on a port of this machine.
    pub(super) fn listening(port: u16) -> Option<Process> {
        let sockets = ["/proc/net/tcp", "/proc/net/tcp6"].iter().find_map(|table| {
            let text = fs::read_to_string(table).ok()?;
            text.lines().find_map(|line| listening_socket(line, port)).map(str::to_owned)
        })?;
        let socket = format!("socket:[{sockets}]");
        let holds = |&pid: &u32| {
            let files = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
            files.map(|file| fs::read_link(file.path())).any(|to| to.is_ok_and(|to| to == Path::new(&socket)))
        };
        // Children that share the socket have higher numbers, most often.
        processes().filter(holds).min().map(|pid| Process { pid })
    }

    /// The processor time that it and its children have taken, those that have ended included.
    pub(super) fn cpu_seconds(&self) -> f64 {
        let own: u64 = Stat::of(self.pid).map_or(0, |stat| stat.ticks + stat.ticks_of_ended);
        let children = processes().filter_map(Stat::of).filter(|stat| stat.parent == self.pid);
        (own + children.map(|stat| stat.ticks).sum::<u64>()) as f64 / TICKS_PER_SECOND
    }

    /// From here on its memory's peak is counted anew, where the system lets us.
    pub(super) fn forget_peak(&self) {
        let _ = fs::write(format!("/proc/{}/clear_refs", self.pid), "5");
    }

    /// Its memory now and at most, in megabytes. Children share memory with it, and are left out.
    pub(super) fn memory_mb(&self) -> Option<(f64, f64)> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid)).ok()?;
        let field = |name: &str| {
            let line = status.lines().find(|line| line.starts_with(name))?;
            line.split_whitespace().nth(1)?.parse::<f64>().ok()
        };
        Some((field("VmRSS:")? / 1024.0, field("VmHWM:")? / 1024.0))
    }
}

/// The number of a socket that a line of the system's table says is listening on the port.
fn listening_socket(line: &str, port: u16) -> Option<&str> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let (_, local_port) = fields.get(1)?.rsplit_once(':')?;
    let is_listening = *fields.get(3)? == "0A" && u16::from_str_radix(local_port, 16) == Ok(port);
    is_listening.then(|| fields.get(9).copied()).flatten()
}

fn processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

struct Stat {
    parent: u32,
    ticks: u64,
    ticks_of_ended: u64,
}

impl Stat {
    fn of(pid: u32) -> Option<Stat> {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // Names may hold anything, in parentheses.
        let (_, rest) = text.rsplit_once(") ")?;
        let fields: Vec<&str> = rest.split(' ').collect();
        let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
        let parent = u32::try_from(number(1)?).ok()?;
        Some(Stat { parent, ticks: number(11)? + number(12)?, ticks_of_ended: number(13)? + number(14)? })
    }
}

#[cfg(test)]
mod tests {
    use super::listening_socket;

    #[test]
    fn a_listening_socket_is_found_by_its_port() {
        let line = "   0: 0100007F:1538 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0 0 31337 1 0 100 0";
        assert_eq!(listening_socket(line, 5432), Some("31337"));
        assert_eq!(listening_socket(line, 5433), None);
        assert_eq!(listening_socket(&line.replace(" 0A ", " 01 "), 5432), None);
        assert_eq!(listening_socket("sl local_address", 1), None);
    }
}
