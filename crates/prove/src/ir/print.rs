//! Programs as text: a step a line, what is implicit with its cause.

use std::fmt::Write as _;

use super::{
    Access, AccessId, Application, Cell, Count, Function, Kind, Origin, Outside, Program, Rows, Snapshot, Source, Step,
    Table, Value,
};
use crate::ir::Cause;

impl Application {
    /// What `skew robust --show ir` prints.
    pub fn print(&self) -> String {
        let programs = self.programs.iter().map(|program| Printer { application: self, program }.print());
        programs.collect::<Vec<_>>().join("\n")
    }
}

struct Printer<'a> {
    application: &'a Application,
    program: &'a Program,
}

impl Printer<'_> {
    fn print(&self) -> String {
        let parameters: Vec<&str> = self.program.parameters.iter().map(|one| &one.name[..]).collect();
        let mut out = format!("{}({})\n", self.program.name, parameters.join(", "));
        self.block(&self.program.body, 1, &mut out);
        out
    }

    fn block(&self, block: &[Step], depth: usize, out: &mut String) {
        block.iter().for_each(|step| self.step(step, depth, out));
    }

    fn step(&self, step: &Step, depth: usize, out: &mut String) {
        let line = |out: &mut String, text: String| _ = writeln!(out, "{}{text}", "  ".repeat(depth));
        match step {
            Step::Let(variable, value) => {
                line(out, format!("{} := {}", self.program.variables[variable.0], self.value(value)));
            }
            Step::Statement(origin, block) => {
                line(out, format!("statement{}: {}", place(origin), origin.text));
                self.block(block, depth + 1, out);
            }
            Step::Access(id) => line(out, self.access(*id)),
            Step::If { origin, condition, then, otherwise } => {
                line(out, format!("if {}{}", self.value(condition), cause(origin)));
                self.block(then, depth + 1, out);
                if !otherwise.is_empty() {
                    line(out, "else".to_owned());
                    self.block(otherwise, depth + 1, out);
                }
            }
            Step::Loop(label, block) => {
                line(out, format!("any number of times ({})", label.0));
                self.block(block, depth + 1, out);
            }
            Step::Within(_, block) => self.block(block, depth, out),
            Step::Leave(label) => line(out, format!("leave {}", label.0)),
            Step::Again(label) => line(out, format!("next round of {}", label.0)),
            Step::Try { body, handlers, .. } => {
                line(out, "try".to_owned());
                self.block(body, depth + 1, out);
                for handler in handlers {
                    line(out, "or, with its writes undone,".to_owned());
                    self.block(&handler.body, depth + 1, out);
                }
            }
            Step::Fail(origin) => line(out, format!("fail{}", cause(origin))),
            Step::Ends(_) => line(out, "the transaction ends, and another one goes on".to_owned()),
            Step::Outside(origin, outside) => line(out, format!("{}{}", outside_words(outside), cause(origin))),
            Step::Havoc { tables, why, .. } => {
                let all = tables.iter().count() == self.application.tables.len();
                let names: Vec<&str> = tables.iter().map(|table| self.name(*table)).collect();
                let names = if all { "any table".to_owned() } else { names.join(", ") };
                line(out, format!("anything with {names}: {why}"));
            }
        }
    }

    fn access(&self, id: AccessId) -> String {
        let access = self.program.access(id);
        let kind = match access.kind {
            Kind::Look => "look at".to_owned(),
            Kind::Lock(strength) => format!("lock ({strength:?})"),
            Kind::Insert => "insert into".to_owned(),
            Kind::Update => "update".to_owned(),
            Kind::Delete => "delete from".to_owned(),
        };
        let count = match access.count {
            Count::AtMostOne => ", at most one row",
            Count::One => ", one row",
            Count::Any => "",
        };
        let snapshot = match access.snapshot {
            Snapshot::Statement => "",
            Snapshot::UnderLock => ", under the lock",
            Snapshot::Committed => ", of what is committed",
        };
        let mut out = format!("#{} {kind} {}{}", id.0, self.name(access.table), self.rows(access));
        let sets = [
            ("decides by", self.cells(access, access.may_decide.iter())),
            ("reads", self.cells(access, access.may_read.iter())),
            ("writes", self.cells(access, access.may_write.iter())),
            ("surely writes", self.cells(access, access.must_write.iter())),
        ];
        for (verb, cells) in sets.into_iter().filter(|(_, cells)| !cells.is_empty()) {
            let _ = write!(out, "; {verb} {cells}");
        }
        let values: Vec<String> = access
            .values
            .iter()
            .map(|(column, value)| format!("{} = {}", self.column(access.table, *column), self.value(value)))
            .collect();
        if !values.is_empty() {
            let _ = write!(out, "; {}", values.join(", "));
        }
        out + count + snapshot + &cause(&access.origin)
    }

    fn rows(&self, access: &Access) -> String {
        match &access.rows {
            Rows::Of(of) => format!(" of #{}", of.0),
            Rows::New => String::new(),
            Rows::Where { picked, region } => {
                let name = |column: usize| self.column(access.table, column);
                let equal = picked.equal.iter().map(|(column, value)| {
                    let looked_up = if region.contains(column) { " (looked up)" } else { "" };
                    format!("{} = {}{looked_up}", name(*column), self.value(value))
                });
                let limits = picked.limits.iter().map(|any| {
                    let any = any.iter().map(|limit| {
                        format!("{} {} {}", name(limit.column), limit.is.symbol(), self.value(&limit.value))
                    });
                    any.collect::<Vec<_>>().join(" or ")
                });
                let also = picked.remainder.iter().map(|why| format!("perhaps: {why}"));
                let all: Vec<String> = equal.chain(limits).chain(also).collect();
                if all.is_empty() { " (all)".to_owned() } else { format!(" ({})", all.join(", ")) }
            }
        }
    }

    fn cells<'c>(&self, access: &Access, cells: impl Iterator<Item = &'c Cell>) -> String {
        let name = |cell: &Cell| match cell {
            Cell::Existence => "row",
            Cell::Column(column) => self.column(access.table, *column),
        };
        cells.map(name).collect::<Vec<_>>().join(", ")
    }

    fn value(&self, value: &Value) -> String {
        match value {
            Value::Constant(text) => text.to_string(),
            Value::Null => "NULL".to_owned(),
            Value::Variable(variable) => self.program.variables[variable.0].clone(),
            Value::Column(id, column) => {
                format!("#{}.{}", id.0, self.column(self.program.access(*id).table, *column))
            }
            Value::Found(id) => format!("#{} has a row", id.0),
            Value::Apply(Function::Not, args) => format!("NOT {}", self.value(&args[0])),
            Value::Apply(Function::IsNull, args) => format!("{} IS NULL", self.value(&args[0])),
            Value::Apply(function, args) => {
                let args: Vec<String> = args.iter().map(|arg| self.value(arg)).collect();
                format!("({})", args.join(&format!(" {} ", function.symbol())))
            }
            Value::Fresh(source) => source_words(source),
            Value::Opaque(why) => format!("?({why})"),
        }
    }

    fn table(&self, oid: skew_sql::catalog::Oid) -> Option<&Table> {
        self.application.tables.get(&oid)
    }

    fn name(&self, oid: skew_sql::catalog::Oid) -> &str {
        self.table(oid).map_or("?", |table| &table.name)
    }

    fn column(&self, oid: skew_sql::catalog::Oid, column: usize) -> &str {
        self.table(oid).and_then(|table| table.columns.get(column)).map_or("?", String::as_str)
    }
}

fn place(origin: &Origin) -> String {
    match origin.cause {
        Cause::Written => format!(" of line {}", origin.place),
        _ => format!(" of line {}{}", origin.place, cause(origin)),
    }
}

fn cause(origin: &Origin) -> String {
    match origin.cause {
        Cause::Written => String::new(),
        _ => format!("  -- {}", origin.cause),
    }
}

fn source_words(source: &Source) -> String {
    match source {
        Source::Sequence(_) => "a new value of a sequence".to_owned(),
        Source::Function(name) => format!("a new value of {name}"),
    }
}

fn outside_words(outside: &Outside) -> String {
    match outside {
        Outside::Next(source) => format!("takes {}", source_words(source)),
        Outside::Catalog(name) => format!("looks at {name}"),
        Outside::Volatile(name) => format!("calls {name}"),
        Outside::SkipLocked => "leaves out rows that other transactions have locked".to_owned(),
    }
}
