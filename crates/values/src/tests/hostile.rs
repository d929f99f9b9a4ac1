//! Nothing that a client sends makes reading a value panic.

use skew_testing::Dice;

use super::World;
use crate::datetime::format;
use crate::json::path::Path;
use crate::{Type, Typed, binary, builtin, names, text};

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

fn mutated(dice: &mut Dice, seeds: &[&str]) -> String {
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
    let mut chars: Vec<char> = seeds[dice.roll(seeds.len())].chars().collect();
    for _ in 0..=dice.roll(3) {
        let at = dice.roll(chars.len() + 1);
        match dice.roll(3) {
            0 if !chars.is_empty() => drop(chars.remove(at.min(chars.len() - 1))),
            1 if !chars.is_empty() => {
                let end = (at + 1 + dice.roll(4)).min(chars.len());
                let copy: Vec<char> = chars[at.min(end)..end].to_vec();
                chars.splice(at..at, copy);
            }
            _ => drop(chars.splice(at..at, PIECES[dice.roll(PIECES.len())].chars())),
        }
    }
    chars.into_iter().collect()
}

#[test]
fn no_text_makes_reading_panic() {
    let world = World::default();
    let types: Vec<Type> = builtin::all().iter().map(|builtin| builtin.ty).collect();
    let seeds = seeds();
    let mut dice = Dice(0x5EED);
    for _ in 0..20_000 {
        let input = mutated(&mut dice, &seeds);
        let ty = types[dice.roll(types.len())];
        let modifier = match ty {
            Type::NUMERIC | Type::INTERVAL => [-1, 0x0007_0006, i32::MAX][dice.roll(3)],
            _ => [-1, 0, 5][dice.roll(3)],
        };
        if let Ok(value) = text::input(&input, Typed { ty, modifier }, &world) {
            let shown = text::output(&value, ty, &world);
            // POSIX rules can have offsets that nobody may write as such.
            let again = ty == Type::TIMETZ || text::input(&shown, ty.into(), &world).is_ok();
            assert!(again, "{shown:?} of {ty:?} is read again");
        }
        let _ = names::parse(&input, &world);
        let _ = format::to_timestamp(&input, &mutated(&mut dice, &seeds), &world);
        let _ = format::timestamp_to_char(dice.bits() as i64 / 2, None, &input);
        let _ = Path::parse(&input);
    }
}

#[test]
fn no_bytes_make_receiving_panic() {
    let world = World::default();
    let types: Vec<Type> = builtin::all().iter().map(|builtin| builtin.ty).collect();
    let mut dice = Dice(0xB17E5);
    for _ in 0..20_000 {
        let length = dice.roll(40);
        let byte = |dice: &mut Dice| [0, 0, 0, 1, 2, 23, 25, 255, dice.roll(256) as u8][dice.roll(9)];
        let bytes: Vec<u8> = (0..length).map(|_| byte(&mut dice)).collect();
        let ty = types[dice.roll(types.len())];
        if let Ok(value) = binary::input(&bytes, ty.into(), &world) {
            let _ = text::output(&value, ty, &world);
            let mut key = Vec::new();
            crate::encode::encode(&mut key, &value, ty, false, false);
        }
    }
}
