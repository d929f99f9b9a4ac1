//! The definitions of indexes and constraints as statements, as `pg_get_indexdef` and `pg_get_constraintdef` show them.

use crate::catalog::{
    Action, Catalog, ForeignKey, Index, IndexConstraint, IndexKey, IndexKeyKind, Relation, RelationKind, Table, Timing,
};
use crate::deparse::{self, Style};
use crate::functions::Env;
use crate::types::quote::identifier;

/// `CREATE INDEX …`; `plain` names the table without its schema.
pub fn index(env: &dyn Env, relation: &Relation, plain: bool, style: Style) -> String {
    let catalog = env.catalog();
    let RelationKind::Index(index) = &relation.kind else { return String::new() };
    let Some(rows) = catalog.relation(index.table) else { return String::new() };
    let Some(owner) = catalog.shown(index.table) else { return String::new() };
    let Some(table) = catalog.table(index.table) else { return String::new() };
    let schema = catalog.schemas.get(&owner.schema).map_or("public", |schema| &schema.name);
    let unique = if index.unique { "UNIQUE " } else { "" };
    let keys: Vec<String> = index.keys.iter().map(|key| index_key(env, key, rows, style)).collect();
    let schema = if plain { String::new() } else { format!("{}.", identifier(schema)) };
    let mut text = format!(
        "CREATE {unique}INDEX {} ON {schema}{} USING {} ({})",
        identifier(&relation.name),
        identifier(&owner.name),
        index.method,
        keys.join(", ")
    );
    if !index.include.is_empty() {
        text += &format!(" INCLUDE ({})", columns(table, &index.include));
    }
    if index.nulls_not_distinct {
        text += " NULLS NOT DISTINCT";
    }
    if let Some(predicate) = &index.predicate {
        text += &format!(" WHERE {}", deparse::expression(env, predicate, Some(rows), style));
    }
    text
}

/// One key of an index, without its order.
pub(crate) fn index_column(env: &dyn Env, key: &IndexKey, owner: &Relation, style: Style) -> String {
    match &key.what {
        IndexKeyKind::Column(position) => match &owner.kind {
            RelationKind::Table(table) => identifier(&table.columns[*position].name),
            _ => String::new(),
        },
        IndexKeyKind::Expr(expr) => {
            let shown = deparse::expression(env, expr, Some(owner), style);
            if deparse::is_call(&expr.expr) { shown } else { format!("({shown})") }
        }
    }
}

fn index_key(env: &dyn Env, key: &IndexKey, owner: &Relation, style: Style) -> String {
    let mut text = index_column(env, key, owner, style);
    if let Some(class) = &key.class {
        text += &format!(" {class}");
    }
    match (key.descending, key.nulls_first) {
        (false, false) => {}
        (false, true) => text += " NULLS FIRST",
        (true, true) => text += " DESC",
        (true, false) => text += " DESC NULLS LAST",
    }
    text
}

fn columns(table: &Table, positions: &[usize]) -> String {
    positions.iter().map(|&at| identifier(&table.columns[at].name)).collect::<Vec<_>>().join(", ")
}

fn deferrable(timing: Timing) -> &'static str {
    match timing {
        Timing::Immediate => "",
        Timing::DeferrableImmediate => " DEFERRABLE",
        Timing::DeferrableDeferred => " DEFERRABLE INITIALLY DEFERRED",
    }
}

/// `PRIMARY KEY (…)`, `UNIQUE (…)`
pub fn unique(index: &Index, made: IndexConstraint, table: &Table) -> String {
    let word = if made.primary { "PRIMARY KEY" } else { "UNIQUE" };
    let nulls = if index.nulls_not_distinct { " NULLS NOT DISTINCT" } else { "" };
    let keys = index.keys.iter().filter_map(|key| match &key.what {
        IndexKeyKind::Column(position) => Some(identifier(&table.columns[*position].name)),
        IndexKeyKind::Expr(_) => None,
    });
    let keys: Vec<String> = keys.collect();
    let include = match index.include.as_slice() {
        [] => String::new(),
        include => format!(" INCLUDE ({})", columns(table, include)),
    };
    format!("{word}{nulls} ({}){include}{}", keys.join(", "), deferrable(made.timing))
}

/// `FOREIGN KEY (…) REFERENCES …`; the other table is shown with its schema unless that is on the path.
pub fn foreign_key(key: &ForeignKey, table: &Table, catalog: &Catalog, visible: impl Fn(&Relation) -> bool) -> String {
    let Some(parent) = catalog.relation(key.parent) else { return String::new() };
    let Some(parent_table) = catalog.table(key.parent) else { return String::new() };
    let schema = catalog.schemas.get(&parent.schema).map_or("public", |schema| &schema.name);
    let name = identifier(&parent.name);
    let name = if visible(parent) { name } else { format!("{}.{name}", identifier(schema)) };
    let mut text = format!(
        "FOREIGN KEY ({}) REFERENCES {name}({})",
        columns(table, &key.columns),
        columns(parent_table, &key.parent_columns)
    );
    if key.match_full {
        text += " MATCH FULL";
    }
    let action = |word: &str, action: Action| match action {
        Action::NoAction => String::new(),
        Action::Restrict => format!(" ON {word} RESTRICT"),
        Action::Cascade => format!(" ON {word} CASCADE"),
        Action::SetNull => format!(" ON {word} SET NULL"),
        Action::SetDefault => format!(" ON {word} SET DEFAULT"),
    };
    text + &action("UPDATE", key.on_update) + &action("DELETE", key.on_delete) + deferrable(key.timing)
}

/// `CHECK (…)`
pub fn check(condition: &str) -> String {
    format!("CHECK ({condition})")
}

/// The same text without the parentheses that PostgreSQL leaves out for people: around a whole condition, and around a
/// single word that is converted.
pub fn pretty(text: &str) -> String {
    let mut shown = text.to_owned();
    for (opens, prefix) in [("CHECK ((", "CHECK ("), (" WHERE (", " WHERE ")] {
        if let Some(at) = shown.find(opens)
            && let Some(end) = closing(&shown, at + opens.len() - 1)
        {
            shown.replace_range(end..=end, "");
            shown.replace_range(at..at + opens.len(), prefix);
        }
    }
    if shown.starts_with('(') && closing(&shown, 0) == Some(shown.len() - 1) {
        shown = shown[1..shown.len() - 1].to_owned();
    }
    let mut at = 0;
    while let Some(found) = shown[at..].find('(') {
        let open = at + found;
        at = open + 1;
        let Some(close) = closing(&shown, open) else { break };
        if is_loose(&shown, open, close) {
            shown.replace_range(close..=close, "");
            shown.replace_range(open..=open, "");
            at = open;
            continue;
        }
        let inner = &shown[open + 1..close];
        let word = !inner.is_empty() && inner.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
        let word = word || inner.starts_with("ARRAY[") && inner.find(']') == Some(inner.len() - 1);
        let called = shown[..open].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '"');
        if word && !called && shown[close + 1..].starts_with("::") {
            shown.replace_range(close..=close, "");
            shown.replace_range(open..=open, "");
        }
    }
    shown
}

/// Whether these parentheses are around an operand of AND or OR that binds more tightly than what is around it.
fn is_loose(text: &str, open: usize, close: usize) -> bool {
    let (before, inner, after) = (&text[..open], &text[open + 1..close], &text[close + 1..]);
    let beside = |word: &str| before.ends_with(&format!(" {word} ")) || after.starts_with(&format!(" {word} "));
    let starts = before.is_empty() || before.ends_with('(') || before.ends_with(" AND ") || before.ends_with(" OR ");
    let ends = after.is_empty() || after.starts_with(')') || after.starts_with(" AND ") || after.starts_with(" OR ");
    if !starts || !ends || !(beside("AND") || beside("OR")) {
        return false;
    }
    match (at_top(inner, " OR "), at_top(inner, " AND ")) {
        (true, _) => false,
        (false, true) => !beside("AND"),
        (false, false) => !at_top(inner, " ANY (") && !at_top(inner, " ALL ("),
    }
}

/// Whether a word stands outside of parentheses and strings.
fn at_top(text: &str, word: &str) -> bool {
    let (mut depth, mut quoted) = (0i32, false);
    text.char_indices().any(|(at, c)| {
        match c {
            '\'' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth -= 1,
            _ => {}
        }
        depth == 0 && !quoted && text[at..].starts_with(word)
    })
}

/// Where a parenthesis closes, strings left out.
fn closing(text: &str, open: usize) -> Option<usize> {
    let (mut depth, mut quoted) = (0usize, false);
    for (at, c) in text.char_indices().skip_while(|(at, _)| *at < open) {
        match c {
            '\'' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}
