//! Syntax tree → text: parsing it gives the tree again, lines apart.

use std::fmt::Write;

use crate::parse::ddl::TypeName;
use crate::parse::statement::Direction;
use crate::plpgsql::ast::{
    Argument, Block, Body, Condition, Declaration, DeclarationKind, Diagnostic, Dynamic, Expression, Into, Loop,
    Opened, Over, Place, Raise, RaiseOption, Raised, Rows, Statement, StatementKind, Target, VariableConflict,
};
use crate::quote;

/// The text of a body.
pub fn body(body: &Body) -> String {
    let mut printer = Printer { out: String::new(), depth: 0 };
    if let Some(conflict) = body.conflict {
        let word = match conflict {
            VariableConflict::Error => "error",
            VariableConflict::UseVariable => "use_variable",
            VariableConflict::UseColumn => "use_column",
        };
        printer.line(format_args!("#variable_conflict {word}"));
    }
    printer.block(&body.block);
    printer.out
}

struct Printer {
    out: String,
    depth: usize,
}

impl Printer {
    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        for _ in 0..self.depth {
            self.out.push_str("  ");
        }
        writeln!(self.out, "{text}").expect("a string can be written to");
    }

    fn label(&mut self, label: Option<&String>) {
        if let Some(label) = label {
            self.line(format_args!("<<{}>>", name(label)));
        }
    }

    fn block(&mut self, block: &Block) {
        self.label(block.label.as_ref());
        if !block.declarations.is_empty() {
            self.line(format_args!("DECLARE"));
            self.depth += 1;
            block.declarations.iter().for_each(|declaration| self.declaration(declaration));
            self.depth -= 1;
        }
        self.line(format_args!("BEGIN"));
        self.statements(&block.body);
        if let Some(handlers) = &block.handlers {
            self.line(format_args!("EXCEPTION"));
            self.depth += 1;
            for handler in handlers {
                let conditions: Vec<String> = handler.conditions.iter().map(condition).collect();
                self.line(format_args!("WHEN {} THEN", conditions.join(" OR ")));
                self.statements(&handler.body);
            }
            self.depth -= 1;
        }
        self.line(format_args!("END;"));
    }

    fn declaration(&mut self, declaration: &Declaration) {
        let what = match &declaration.kind {
            DeclarationKind::Alias(of) => format!("ALIAS FOR {}", variable(of)),
            DeclarationKind::Cursor { scroll, parameters, query } => {
                let parameters: Vec<String> =
                    parameters.iter().map(|(param, ty)| format!("{} {}", name(param), type_name(ty))).collect();
                let parameters =
                    if parameters.is_empty() { String::new() } else { format!(" ({})", parameters.join(", ")) };
                format!("{}CURSOR{parameters} FOR {}", scrolling(*scroll), query.text)
            }
            DeclarationKind::Variable { constant, ty, not_null, default } => {
                let constant = if *constant { "CONSTANT " } else { "" };
                let not_null = if *not_null { " NOT NULL" } else { "" };
                let default = default.as_ref().map(|value| format!(" := {}", value.text)).unwrap_or_default();
                format!("{constant}{}{not_null}{default}", type_name(ty))
            }
        };
        self.line(format_args!("{} {what};", name(&declaration.name)));
    }

    fn statements(&mut self, statements: &[Statement]) {
        self.depth += 1;
        statements.iter().for_each(|statement| self.statement(statement));
        self.depth -= 1;
    }

    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Block(block) => self.block(block),
            StatementKind::Loop(looped) => self.loop_statement(looped),
            StatementKind::If { branches, otherwise } => {
                for (n, (condition, body)) in branches.iter().enumerate() {
                    let word = if n == 0 { "IF" } else { "ELSIF" };
                    self.line(format_args!("{word} {} THEN", condition.text));
                    self.statements(body);
                }
                self.otherwise(otherwise.as_deref());
                self.line(format_args!("END IF;"));
            }
            StatementKind::Case { operand, branches, otherwise } => {
                let operand = operand.as_ref().map(|operand| format!(" {}", operand.text)).unwrap_or_default();
                self.line(format_args!("CASE{operand}"));
                for (values, body) in branches {
                    self.line(format_args!("WHEN {} THEN", list(values)));
                    self.statements(body);
                }
                self.otherwise(otherwise.as_deref());
                self.line(format_args!("END CASE;"));
            }
            simple => self.line(format_args!("{};", simple_statement(simple))),
        }
    }

    fn otherwise(&mut self, otherwise: Option<&[Statement]>) {
        if let Some(body) = otherwise {
            self.line(format_args!("ELSE"));
            self.statements(body);
        }
    }

    fn loop_statement(&mut self, looped: &Loop) {
        self.label(looped.label.as_ref());
        let over = match &looped.over {
            Over::Forever => String::new(),
            Over::While(condition) => format!("WHILE {} ", condition.text),
            Over::Range { variable, reverse, from, to, step } => {
                let reverse = if *reverse { "REVERSE " } else { "" };
                let step = step.as_ref().map(|step| format!(" BY {}", step.text)).unwrap_or_default();
                format!("FOR {} IN {reverse}{} .. {}{step} ", name(variable), from.text, to.text)
            }
            Over::Rows { targets, rows: over } => format!("FOR {} IN {} ", target_list(targets), rows(over)),
            Over::Cursor { variable, cursor, arguments: args } => {
                format!("FOR {} IN {}{} ", name(variable), name(cursor), arguments(args))
            }
            Over::Array { targets, slice, array } => {
                let slice = if *slice == 0 { String::new() } else { format!(" SLICE {slice}") };
                format!("FOREACH {}{slice} IN ARRAY {} ", target_list(targets), array.text)
            }
        };
        self.line(format_args!("{over}LOOP"));
        self.statements(&looped.body);
        self.line(format_args!("END LOOP;"));
    }
}

fn simple_statement(kind: &StatementKind) -> String {
    match kind {
        StatementKind::Assign { target: to, value } => format!("{} := {}", target(to), value.text),
        StatementKind::Jump { again, label, condition } => {
            let word = if *again { "CONTINUE" } else { "EXIT" };
            let label = label.as_ref().map(|label| format!(" {}", name(label))).unwrap_or_default();
            let when = condition.as_ref().map(|when| format!(" WHEN {}", when.text)).unwrap_or_default();
            format!("{word}{label}{when}")
        }
        StatementKind::Return(value) => format!("RETURN{}", spaced(value.as_ref())),
        StatementKind::ReturnNext(value) => format!("RETURN NEXT{}", spaced(value.as_ref())),
        StatementKind::ReturnQuery(of) => format!("RETURN QUERY {}", rows(of)),
        StatementKind::Raise(raised) => raise(raised),
        StatementKind::Assert { condition, message } => {
            let message = message.as_ref().map(|message| format!(", {}", message.text)).unwrap_or_default();
            format!("ASSERT {}{message}", condition.text)
        }
        StatementKind::Perform(query) => {
            format!("PERFORM {}", query.text.strip_prefix("SELECT ").unwrap_or(&query.text))
        }
        StatementKind::Execute { command, into } => {
            let using =
                if command.using.is_empty() { String::new() } else { format!(" USING {}", list(&command.using)) };
            format!("EXECUTE {}{}{using}", command.command.text, into_clause(into.as_ref()))
        }
        StatementKind::Sql { text, into, .. } => format!("{text}{}", into_clause(into.as_ref())),
        StatementKind::Call { text, .. } => text.clone(),
        StatementKind::Diagnostics { stacked, items } => {
            let items: Vec<String> =
                items.iter().map(|(to, item)| format!("{} = {}", target(to), diagnostic(*item))).collect();
            format!("GET {}DIAGNOSTICS {}", if *stacked { "STACKED " } else { "" }, items.join(", "))
        }
        StatementKind::Null => "NULL".to_owned(),
        StatementKind::Open { cursor, scroll, of } => match of {
            Opened::Bound(args) => format!("OPEN {}{}", name(cursor), arguments(args)),
            Opened::Rows(of) => format!("OPEN {} {}FOR {}", name(cursor), scrolling(*scroll), rows(of)),
        },
        StatementKind::Fetch { cursor, direction, count, targets } => {
            let word = if targets.is_some() { "FETCH" } else { "MOVE" };
            let into = targets.as_ref().map(|targets| format!(" INTO {}", target_list(targets))).unwrap_or_default();
            format!("{word} {} FROM {}{into}", fetched(*direction, count.as_ref()), name(cursor))
        }
        StatementKind::Close(cursor) => format!("CLOSE {}", name(cursor)),
        StatementKind::Commit { chain } => format!("COMMIT{}", if *chain { " AND CHAIN" } else { "" }),
        StatementKind::Rollback { chain } => format!("ROLLBACK{}", if *chain { " AND CHAIN" } else { "" }),
        StatementKind::Block(_) | StatementKind::Loop(_) | StatementKind::If { .. } | StatementKind::Case { .. } => {
            String::new()
        }
    }
}

fn fetched(direction: Direction, count: Option<&Expression>) -> String {
    let (word, number) = match direction {
        Direction::Forward(number) if number < 0 => ("BACKWARD", -number),
        Direction::Forward(number) => ("FORWARD", number),
        Direction::Absolute(number) => ("ABSOLUTE", number),
        Direction::Relative(number) => ("RELATIVE", number),
    };
    match count {
        Some(count) => format!("{word} {}", count.text),
        None if number == i64::MAX => format!("{word} ALL"),
        None => format!("{word} {number}"),
    }
}

fn raise(raise: &Raise) -> String {
    let Some(what) = &raise.what else { return "RAISE".to_owned() };
    let mut out = format!("RAISE {}", raise.level.name());
    match what {
        Raised::Message(format, arguments) => {
            out.push_str(&format!(" {}", quote::literal(format)));
            arguments.iter().for_each(|argument| out.push_str(&format!(", {}", argument.text)));
        }
        Raised::Named(condition) => out.push_str(&format!(" {}", name(condition))),
        Raised::State(state) => out.push_str(&format!(" SQLSTATE '{state}'")),
        Raised::Options => {}
    }
    for (n, (option, value)) in raise.options.iter().enumerate() {
        let word = RaiseOption::ALL.iter().find(|(_, known)| known == option).map_or("", |(word, _)| word);
        out.push_str(&format!("{} {} = {}", if n == 0 { " USING" } else { "," }, word.to_uppercase(), value.text));
    }
    out
}

fn diagnostic(item: Diagnostic) -> String {
    Diagnostic::ALL.iter().find(|(_, known)| *known == item).map_or("", |(word, _)| word).to_uppercase()
}

fn condition(condition: &Condition) -> String {
    match condition {
        Condition::Named(named) => named.clone(),
        Condition::State(state) => format!("SQLSTATE '{state}'"),
        Condition::Others => "OTHERS".to_owned(),
    }
}

fn rows(rows: &Rows) -> String {
    match rows {
        Rows::Query(query) => query.text.clone(),
        Rows::Execute(command) => format!("EXECUTE {}", dynamic(command)),
    }
}

fn dynamic(command: &Dynamic) -> String {
    if command.using.is_empty() {
        return command.command.text.clone();
    }
    format!("{} USING {}", command.command.text, list(&command.using))
}

fn arguments(arguments: &[Argument]) -> String {
    if arguments.is_empty() {
        return String::new();
    }
    let shown = |argument: &Argument| match &argument.name {
        Some(named) => format!("{} := {}", name(named), argument.value.text),
        None => argument.value.text.clone(),
    };
    format!("({})", arguments.iter().map(shown).collect::<Vec<_>>().join(", "))
}

fn into_clause(into: Option<&Into>) -> String {
    let Some(into) = into else { return String::new() };
    format!(" INTO {}{}", if into.strict { "STRICT " } else { "" }, target_list(&into.targets))
}

fn target_list(targets: &[Target]) -> String {
    targets.iter().map(target).collect::<Vec<_>>().join(", ")
}

fn target(target: &Target) -> String {
    let path: Vec<String> = target.path.iter().map(|part| variable(part)).collect();
    let mut out = path.join(".");
    for place in &target.places {
        match place {
            Place::Field(field) => out.push_str(&format!(".{}", name(field))),
            Place::Index(index) => out.push_str(&format!("[{}]", index.text)),
        }
    }
    out
}

fn list(expressions: &[Expression]) -> String {
    expressions.iter().map(|expression| expression.text.as_str()).collect::<Vec<_>>().join(", ")
}

fn spaced(expression: Option<&Expression>) -> String {
    expression.map(|expression| format!(" {}", expression.text)).unwrap_or_default()
}

fn scrolling(scroll: Option<bool>) -> &'static str {
    match scroll {
        None => "",
        Some(true) => "SCROLL ",
        Some(false) => "NO SCROLL ",
    }
}

fn type_name(ty: &TypeName) -> String {
    match ty {
        TypeName::Plain(ty) => ty.to_string(),
        TypeName::SetOf(ty) => format!("SETOF {}", type_name(ty)),
        TypeName::TypeOf(of) => format!("{of}%TYPE"),
        TypeName::RowTypeOf(of) => format!("{of}%ROWTYPE"),
    }
}

fn variable(text: &str) -> String {
    if text.starts_with('$') { text.to_owned() } else { name(text) }
}

fn name(text: &str) -> String {
    quote::identifier(text)
}
