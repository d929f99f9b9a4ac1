//! Statements of the tests with bytes and words changed.

use std::path::{Path, PathBuf};

use skew_testing::Dice;

/// How long a statement of the corpus, and a mutated one, can be.
const MAX_BYTES: usize = 20_000;
const MAX_STATEMENTS: usize = 200_000;

pub(super) struct Mutator(Vec<String>);

impl Mutator {
    /// From the SQL in the repository, and in the folders that `SKEW_CORPUS` names.
    pub(super) fn new() -> Mutator {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut folders: Vec<PathBuf> =
            ["sql", "cli/tests", "prove/tests", "server/tests"].map(|name| crates.join(name)).into();
        folders.push(crates.join("../examples"));
        folders.extend(std::env::var("SKEW_CORPUS").iter().flat_map(|list| list.split(':')).map(PathBuf::from));
        let mut statements = Vec::new();
        for folder in folders {
            collect(&folder, &mut statements);
        }
        Mutator(statements)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// A statement as it is, so that the tables exist that the next ones ask for, and with changes. Those of one database
    /// come from one place of the corpus.
    pub(super) fn statements(&self, random: &mut Dice, database: usize, number: usize) -> Vec<String> {
        let place = Dice(database as u64).roll(self.0.len()) + number;
        let sql = self.0[place % self.0.len()].clone();
        vec![sql.clone(), self.changed(sql, random)]
    }

    fn changed(&self, mut sql: String, random: &mut Dice) -> String {
        for _ in 0..1 + random.roll(2) {
            sql = match random.roll(3) {
                0 => bytes(&sql, random),
                1 => words(&sql, &self.0[random.roll(self.0.len())], random),
                _ => words(&sql, &sql, random),
            };
        }
        sql.chars().take(MAX_BYTES).collect()
    }
}

/// The statements in the files of a folder: what stands between semicolons or empty lines.
fn collect(folder: &Path, statements: &mut Vec<String>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(&path, statements);
            continue;
        }
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if !["sql", "txt", "slt", "test"].contains(&ending) || statements.len() >= MAX_STATEMENTS {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let pieces = text.split("\n\n").flat_map(|piece| piece.split_inclusive(";\n"));
        let told = |piece: &str| {
            let lines = piece.lines().take_while(|line| !line.starts_with("----"));
            let is_sql =
                |line: &&str| !line.starts_with("statement ") && !line.starts_with("query ") && !line.starts_with('#');
            lines.filter(is_sql).collect::<Vec<_>>().join("\n")
        };
        let kept = pieces.map(told).filter(|sql| (8..MAX_BYTES).contains(&sql.len()));
        statements.extend(kept.take(MAX_STATEMENTS / 50));
    }
}

/// Changes a few characters.
fn bytes(sql: &str, random: &mut Dice) -> String {
    let mut chars: Vec<char> = sql.chars().collect();
    for _ in 0..1 + random.roll(4) {
        let at = random.roll(chars.len() + 1);
        match random.roll(4) {
            0 if at < chars.len() => drop(chars.remove(at)),
            1 if at < chars.len() => chars[at] = *random.of(CHARACTERS),
            2 if at < chars.len() => {
                let end = (at + random.roll(20)).min(chars.len());
                let piece: Vec<char> = chars[at..end].to_vec();
                chars.splice(at..at, piece);
            }
            _ => chars.insert(at, *random.of(CHARACTERS)),
        }
    }
    chars.into_iter().collect()
}

const CHARACTERS: &[char] = &[
    '(',
    ')',
    '\'',
    '"',
    ',',
    ';',
    '$',
    '[',
    ']',
    '{',
    '}',
    '*',
    '%',
    '\\',
    '-',
    '+',
    '/',
    '.',
    ':',
    '=',
    '<',
    '>',
    '|',
    '~',
    '0',
    '1',
    '9',
    'e',
    'E',
    'x',
    'ä',
    '\u{1f600}',
    '\n',
    '\t',
    '@',
    '#',
    '?',
    '!',
    '^',
    '&',
    '_',
    '\u{0}',
    '\u{7f}',
];

/// Changes, swaps, repeats or nests a few words; new ones come from another statement.
fn words(sql: &str, other: &str, random: &mut Dice) -> String {
    let mut words = tokens(sql);
    let others = tokens(other);
    if words.is_empty() || others.is_empty() {
        return sql.to_owned();
    }
    for _ in 0..1 + random.roll(3) {
        let at = random.roll(words.len());
        let end = (at + 1 + random.roll(6)).min(words.len());
        match random.roll(7) {
            0 if words.len() > 1 => drop(words.remove(at)),
            1 => words[at] = random.of(&others).clone(),
            2 => words.insert(at, random.of(&others).clone()),
            3 => {
                let to = random.roll(words.len());
                words.swap(at, to);
            }
            4 => {
                let piece = words[at..end].to_vec();
                for _ in 0..1 + random.roll(30) {
                    words.splice(at..at, piece.iter().cloned());
                }
            }
            5 => {
                let depth = 1 + random.roll(60);
                words.insert(end, ")".repeat(depth));
                words.insert(at, "(".repeat(depth));
            }
            _ => words[at] = (*random.of(EDGES)).to_owned(),
        }
    }
    words.concat()
}

const EDGES: &[&str] = &[
    " NULL ",
    " 0 ",
    " -1 ",
    " 9223372036854775807 ",
    " 'NaN' ",
    " 'infinity' ",
    " 1e400 ",
    " '' ",
    " -2147483648 ",
    " '{}' ",
    " ARRAY[]::int[] ",
    " true ",
    " (SELECT 1) ",
    " 1/0 ",
    " row(1, 2) ",
    " current_date ",
    " '\\' ",
    " $1 ",
    " DISTINCT ",
    " ALL ",
    " ANY ",
    " OVER () ",
    " LATERAL ",
    " DEFAULT ",
];

/// Words, numbers, quoted texts, spaces and signs.
fn tokens(sql: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut quote: Option<char> = None;
    let mut last = ' ';
    for char in sql.chars() {
        let goes_on = match quote {
            Some(_) => true,
            None => (char.is_alphanumeric() || char == '_') && (last.is_alphanumeric() || last == '_'),
        };
        match tokens.last_mut() {
            Some(token) if goes_on => token.push(char),
            _ => tokens.push(char.to_string()),
        }
        quote = match quote {
            Some(open) if open == char => None,
            Some(open) => Some(open),
            None if matches!(char, '\'' | '"') => Some(char),
            None => None,
        };
        last = if quote.is_none() && matches!(char, '\'' | '"') { ' ' } else { char };
    }
    tokens
}
