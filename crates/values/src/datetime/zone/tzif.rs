//! Zones in the time zone database's own format (RFC 8536).

use super::posix::Rule;
use super::{Kind, Zone};

const HEADER: usize = 44;

/// Reads the 64-bit part of a file.
pub(super) fn parse(name: &str, bytes: &[u8]) -> Option<Zone> {
    let first = Counts::read(bytes)?;
    let second = bytes.get(HEADER + first.size(4)..)?;
    let counts = Counts::read(second)?;
    let mut body = second.get(HEADER..)?;
    let mut take = |length: usize| {
        let (part, rest) = body.split_at_checked(length)?;
        body = rest;
        Some(part)
    };
    let times = take(counts.times * 8)?;
    let kinds_of_times = take(counts.times)?;
    let kinds = take(counts.kinds * 6)?;
    let letters = take(counts.letters)?;
    take(counts.leaps * 12 + counts.standard + counts.universal)?;
    let footer = std::str::from_utf8(body).ok()?.trim_matches('\n');
    let kinds = kinds.chunks_exact(6).map(|kind| read_kind(kind, letters)).collect::<Option<Vec<_>>>()?;
    let times = times.chunks_exact(8).map(|time| i64::from_be_bytes(time.try_into().expect("eight bytes")));
    let transitions: Vec<(i64, u8)> = times.zip(kinds_of_times.iter().copied()).collect();
    let valid = transitions.iter().all(|(_, kind)| usize::from(*kind) < kinds.len()) && !kinds.is_empty();
    let rule = if footer.is_empty() { None } else { Some(Rule::parse(footer)?) };
    valid.then(|| Zone { name: name.to_owned(), transitions, kinds, rule })
}

fn read_kind(bytes: &[u8], letters: &[u8]) -> Option<Kind> {
    let offset = i32::from_be_bytes(bytes[..4].try_into().ok()?);
    let abbreviation = letters.get(usize::from(bytes[5])..)?.split(|&byte| byte == 0).next()?;
    Some(Kind { offset, summer: bytes[4] != 0, abbreviation: String::from_utf8(abbreviation.to_vec()).ok()? })
}

struct Counts {
    universal: usize,
    standard: usize,
    leaps: usize,
    times: usize,
    kinds: usize,
    letters: usize,
}

impl Counts {
    fn read(bytes: &[u8]) -> Option<Counts> {
        let header = bytes.get(..HEADER).filter(|header| header.starts_with(b"TZif"))?;
        let count = |at: usize| {
            let start = 20 + at * 4;
            u32::from_be_bytes(header[start..start + 4].try_into().expect("four bytes")) as usize
        };
        Some(Counts {
            universal: count(0),
            standard: count(1),
            leaps: count(2),
            times: count(3),
            kinds: count(4),
            letters: count(5),
        })
    }

    /// How long the part after the header is, with times of this size.
    fn size(&self, time: usize) -> usize {
        self.times * (time + 1)
            + self.kinds * 6
            + self.letters
            + self.leaps * (time + 4)
            + self.standard
            + self.universal
    }
}
