//! A summary as text.

use std::fmt::Write as _;

use super::facts::{RowConditions, TableFacts};
use super::{Access, AccessKind, Cell, Condition, Facts, Limit, Outcome, Path, Program, Summary, TermId, TermKind};

impl Summary {
    /// What `skew robust --show summary` prints.
    pub fn print(&self) -> String {
        let mut out = String::new();
        for table in self.facts.tables.values() {
            let _ = writeln!(out, "table {}: {}", table.name, table_words(table));
            let required =
                (0..table.columns.len()).filter(|column| table.not_null[*column] && !table.key.contains(column));
            let required: Vec<&str> = required.map(|column| table.column(column)).collect();
            if !required.is_empty() {
                let _ = writeln!(out, "  never NULL: {}", required.join(", "));
            }
            for (columns, parent, others) in &table.references {
                let Some(parent) = self.facts.table(*parent) else { continue };
                let names = |table: &TableFacts, columns: &[usize]| {
                    columns.iter().map(|column| table.column(*column)).collect::<Vec<_>>().join(", ")
                };
                let (own, other) = (names(table, columns), names(parent, others));
                let _ = writeln!(out, "  ({own}) refers to {}({other})", parent.name);
            }
            if let Some(counted) = &table.counted
                && let Some(counters) = self.facts.table(counted.counters)
            {
                let (column, counter) = (table.column(counted.column), counters.column(counted.counter));
                let _ = writeln!(out, "  {column} grows with {}.{counter}", counters.name);
            }
            if !table.checks.conditions.is_empty() {
                let _ = writeln!(out, "  checks {}", table.checks.print(table));
            }
        }
        for program in &self.programs {
            let _ = write!(out, "\n{}", program.print(&self.facts));
        }
        out
    }
}

fn table_words(table: &TableFacts) -> String {
    let names = |columns: &[usize]| columns.iter().map(|column| table.column(*column)).collect::<Vec<_>>().join(", ");
    let mut words = Vec::new();
    match table.key.is_empty() {
        true => words.push("no key".to_owned()),
        false => words.push(format!("key ({})", names(&table.key))),
    }
    for unique in table.unique.iter().filter(|unique| **unique != table.key) {
        words.push(format!("unique ({})", names(unique)));
    }
    match (table.inserted, table.deleted) {
        (false, false) => words.push("rows neither come nor go".to_owned()),
        (true, false) => words.push("rows are only added".to_owned()),
        (false, true) => words.push("rows are only deleted".to_owned()),
        (true, true) => words.push("rows come and go".to_owned()),
    }
    match table.updated.is_empty() {
        true => words.push("no column changes".to_owned()),
        false => words.push(format!("changing: {}", names(&table.updated.iter().copied().collect::<Vec<_>>()))),
    }
    words.join("; ")
}

impl RowConditions {
    fn print(&self, table: &TableFacts) -> String {
        let words = self.conditions.iter().map(|condition| {
            let (left, right) = (self.term(condition.left, table), self.term(condition.right, table));
            let or_null = if condition.or_null { " or NULL" } else { "" };
            format!("{left} {} {right}{or_null}", condition.comparison.symbol())
        });
        words.collect::<Vec<_>>().join(", ")
    }

    fn term(&self, term: TermId, table: &TableFacts) -> String {
        let of = |term: TermId| self.term(term, table);
        match &self.terms[term].kind {
            TermKind::Constant(text) => text.clone(),
            TermKind::Read { column, .. } => table.column(*column).to_owned(),
            TermKind::Plus(base, by) => format!("{} + {by}", of(*base)),
            TermKind::Sum(one, other) => format!("{} + {}", of(*one), of(*other)),
            TermKind::Difference(one, other) => format!("{} - ({})", of(*one), of(*other)),
            TermKind::Times(one, by) => format!("({}) * {by}", of(*one)),
            TermKind::Null => "NULL".to_owned(),
            TermKind::Parameter(_) | TermKind::Fresh(_) | TermKind::Unknown => "?".to_owned(),
        }
    }
}

impl Program {
    fn print(&self, facts: &Facts) -> String {
        let parameters: Vec<String> = self.parameters.iter().map(|one| one.name.clone()).collect();
        let mut out = format!("{}({})\n", self.name, parameters.join(", "));
        for approximation in &self.approximations {
            let _ = writeln!(out, "  ! line {}: {}", approximation.line, approximation.what);
        }
        for (number, path) in self.paths.iter().enumerate() {
            let decisions = if path.decisions.is_empty() { "always".to_owned() } else { path.decisions.join("; ") };
            let _ = writeln!(out, "  {}. {decisions}", number + 1);
            let conditions: Vec<String> = path.conditions.iter().map(|one| self.condition(path, one, facts)).collect();
            if !conditions.is_empty() {
                let _ = writeln!(out, "     where {}", conditions.join(", "));
            }
            for access in path.accesses.iter().filter(|access| access.does_something()) {
                let _ = writeln!(out, "     {}", access.print(self, path, facts));
            }
        }
        out
    }

    /// A condition as a reader would write it.
    pub fn condition(&self, path: &Path, condition: &Condition, facts: &Facts) -> String {
        let (left, right) = (self.term(path, condition.left, facts), self.term(path, condition.right, facts));
        let or_null = if condition.or_null { " or NULL" } else { "" };
        format!("{left} {} {right}{or_null}", condition.comparison.symbol())
    }

    /// A value as a reader would write it.
    pub fn term(&self, path: &Path, term: TermId, facts: &Facts) -> String {
        match &path.terms[term].kind {
            TermKind::Parameter(number) => {
                self.parameters.get(*number).map_or_else(|| format!("${}", number + 1), |one| one.name.clone())
            }
            TermKind::Constant(text) => text.clone(),
            TermKind::Null => "NULL".to_owned(),
            TermKind::Fresh(_) => "a new value".to_owned(),
            TermKind::Read { access, column } => {
                let access = &path.accesses[*access];
                match facts.table(access.table) {
                    Some(table) => format!("{}.{} of line {}", table.name, table.column(*column), access.line),
                    None => format!("a value of line {}", access.line),
                }
            }
            TermKind::Plus(base, by) => {
                let sign = if *by < 0 { '-' } else { '+' };
                format!("{} {sign} {}", self.term(path, *base, facts), by.abs())
            }
            TermKind::Sum(one, other) => {
                format!("{} + {}", self.term(path, *one, facts), self.term(path, *other, facts))
            }
            TermKind::Difference(one, other) => {
                format!("{} - {}", self.term(path, *one, facts), self.operand(path, *other, facts))
            }
            TermKind::Times(one, by) => format!("{} * {by}", self.operand(path, *one, facts)),
            TermKind::Unknown => "?".to_owned(),
        }
    }
}

impl Program {
    /// A value as a part of another one.
    fn operand(&self, path: &Path, term: TermId, facts: &Facts) -> String {
        let text = self.term(path, term, facts);
        let is_made = matches!(
            path.terms[term].kind,
            TermKind::Plus(..) | TermKind::Sum(..) | TermKind::Difference(..) | TermKind::Times(..)
        );
        if is_made { format!("({text})") } else { text }
    }
}

impl Limit {
    fn print(&self, program: &Program, path: &Path, (table, facts): (&TableFacts, &Facts)) -> String {
        let column = table.column(self.column);
        let each = self.any.iter().map(|bound| {
            let value = program.term(path, bound.value, facts);
            format!("{column} {} {value}", bound.is.symbol())
        });
        each.collect::<Vec<_>>().join(" or ")
    }
}

impl Access {
    fn print(&self, program: &Program, path: &Path, facts: &Facts) -> String {
        let Some(table) = facts.table(self.table) else { return "a table that is not there".to_owned() };
        let row: Vec<String> = self
            .row
            .iter()
            .filter(|(column, _)| self.kind != AccessKind::Insert || table.key.contains(column))
            .map(|(column, value)| format!("{} = {}", table.column(*column), program.term(path, *value, facts)))
            .chain(self.limits.iter().map(|limit| limit.print(program, path, (table, facts))))
            .collect();
        let cells = |cells: &std::collections::BTreeSet<Cell>| {
            let name = |cell: &Cell| match cell {
                Cell::Existence => "row",
                Cell::Column(column) => table.column(*column),
            };
            cells.iter().map(name).collect::<Vec<_>>().join(", ")
        };
        let kind = match self.kind {
            AccessKind::Select => "select",
            AccessKind::Insert => "insert",
            AccessKind::Update => "update",
            AccessKind::Delete => "delete",
        };
        let mut out = format!("line {}: {kind} {}", self.line, table.name);
        let _ = write!(out, "({})", if row.is_empty() { "any".to_owned() } else { row.join(", ") });
        if !self.reads.is_empty() {
            let _ = write!(out, " reads {}", cells(&self.reads));
        }
        if !self.writes.is_empty() {
            let _ = write!(out, " writes {}", cells(&self.writes));
        }
        let values = self.values.iter().filter(|(_, value)| path.terms[*value].kind != TermKind::Unknown);
        let values: Vec<String> = values
            .map(|(column, value)| format!("{} = {}", table.column(*column), program.term(path, *value, facts)))
            .collect();
        if !values.is_empty() {
            let _ = write!(out, " ({})", values.join(", "));
        }
        match self.outcome {
            Outcome::Found => out.push_str(", found"),
            Outcome::Missing => out.push_str(", not found"),
            Outcome::Open => {}
        }
        for (holds, word) in
            [(self.looped, "any number of times"), (self.conditional, "perhaps"), (self.locks, "locked")]
        {
            if holds {
                let _ = write!(out, ", {word}");
            }
        }
        if let Some(extreme) = self.extreme {
            let which = if extreme.largest { "largest" } else { "smallest" };
            let _ = write!(out, ", the {which} {}", table.column(extreme.column));
        }
        out
    }
}
