//! Nothing that a client sends makes reading a value panic.

use super::World;
use crate::datetime::format;
use crate::json::path::Path;
use crate::{Type, Typed, binary, builtin, names, text};

/// A small generator of our own, so that a failure comes back in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

/// The inputs of the other tests: a change to one of them gets further than noise would.
fn seeds() -> Vec<&'static str> {
    let files = [
        include_str!("text_forms.txt"),
        include_str!("datetime.txt"),
        include_str!("json.txt"),
        include_str!("jsonpath.txt"),
        include_str!("templates.txt"),
    ];
    files.iter().flat_map(|file| file.lines()).filter_map(|line| line.split(" => ").next()).collect()
}

fn mutated(random: &mut Random, seeds: &[&str]) -> String {
    const PIECES: &[&str] = &[
        "é",
        "€",
        "𝄞",
        "\u{0}",
        "\"",
        "\\",
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        "-",
        "+",
        ".",
        ":",
        "9",
        "0",
        "e",
        " ",
        "999999999999",
    ];
    let mut chars: Vec<char> = seeds[random.below(seeds.len())].chars().collect();
    for _ in 0..=random.below(3) {
        let at = random.below(chars.len() + 1);
        match random.below(3) {
            0 if !chars.is_empty() => drop(chars.remove(at.min(chars.len() - 1))),
            1 if !chars.is_empty() => {
                let end = (at + 1 + random.below(4)).min(chars.len());
                let copy: Vec<char> = chars[at.min(end)..end].to_vec();
                chars.splice(at..at, copy);
            }
            _ => drop(chars.splice(at..at, PIECES[random.below(PIECES.len())].chars())),
        }
    }
    chars.into_iter().collect()
}

#[test]
fn no_text_makes_reading_panic() {
    let world = World::default();
    let types: Vec<Type> = builtin::all().iter().map(|builtin| builtin.ty).collect();
    let seeds = seeds();
    let mut random = Random(0x5EED);
    for _ in 0..20_000 {
        let input = mutated(&mut random, &seeds);
        let ty = types[random.below(types.len())];
        let modifier = match ty {
            Type::NUMERIC | Type::INTERVAL => [-1, 0x0007_0006, i32::MAX][random.below(3)],
            _ => [-1, 0, 5][random.below(3)],
        };
        if let Ok(value) = text::input(&input, Typed { ty, modifier }, &world) {
            let shown = text::output(&value, ty, &world);
            // POSIX rules can have offsets that nobody may write as such.
            let again = ty == Type::TIMETZ || text::input(&shown, ty.into(), &world).is_ok();
            assert!(again, "{shown:?} of {ty:?} is read again");
        }
        let _ = names::parse(&input, &world);
        let _ = format::to_timestamp(&input, &mutated(&mut random, &seeds), &world);
        let _ = format::timestamp_to_char(random.0 as i64 / 2, None, &input);
        let _ = Path::parse(&input);
    }
}

#[test]
fn no_bytes_make_receiving_panic() {
    let world = World::default();
    let types: Vec<Type> = builtin::all().iter().map(|builtin| builtin.ty).collect();
    let mut random = Random(0xB17E5);
    for _ in 0..20_000 {
        let length = random.below(40);
        let byte = |random: &mut Random| [0, 0, 0, 1, 2, 23, 25, 255, random.below(256) as u8][random.below(9)];
        let bytes: Vec<u8> = (0..length).map(|_| byte(&mut random)).collect();
        let ty = types[random.below(types.len())];
        if let Ok(value) = binary::input(&bytes, ty.into(), &world) {
            let _ = text::output(&value, ty, &world);
            let mut key = Vec::new();
            crate::encode::encode(&mut key, &value, ty, false, false);
        }
    }
}
