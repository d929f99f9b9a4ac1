//! Cycles in words.

use skew_model::History;

use crate::summary::{Access, Cell, Summary};
use crate::suspect::{Edge, EdgeKind, Suspect};

impl Suspect {
    /// The cycle: `withdraw -rw(account.balance)-> withdraw -rw(account.balance)-> withdraw`.
    pub fn cycle(&self, summary: &Summary) -> String {
        let mut out = String::new();
        for edge in &self.edges {
            let name = &summary.programs[self.calls[edge.from].program].name;
            let about = self.about(summary, edge);
            let about = if about.is_empty() { about } else { format!("({about})") };
            out.push_str(&format!("{name} -{}{about}-> ", edge.kind.name()));
        }
        out + &summary.programs[self.calls[0].program].name
    }

    /// The programs of some of its calls, each once, in the order of the cycle.
    pub fn programs<'s>(&self, summary: &'s Summary, calls: &[usize]) -> Vec<&'s str> {
        let mut names: Vec<&str> = Vec::new();
        for &call in calls {
            let name = summary.programs[self.calls[call].program].name.as_str();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// A statement of it that is taken to do more than it does: `pay, line 4`.
    pub(super) fn approximated(&self, summary: &Summary) -> Option<String> {
        let of_edge = |edge: &Edge| {
            let (from, to) = edge.accesses?;
            [(edge.from, from), (edge.to, to)].into_iter().find_map(|(call, access)| {
                let program = &summary.programs[self.calls[call].program];
                let line = self.access(summary, call, access).line;
                let is_known = program.approximations.iter().any(|one| one.line == line);
                is_known.then(|| format!("{}, line {line}", program.name))
            })
        };
        self.edges.iter().find_map(of_edge)
    }

    /// Whether all columns and tables that it is about are in a history.
    pub(super) fn is_about(&self, summary: &Summary, history: &History) -> bool {
        let told = history.to_string();
        let names: Vec<&str> =
            told.lines().filter(|line| !line.starts_with("init")).flat_map(|line| line.split('"')).collect();
        let is_there = |edge: &Edge| {
            let Some((from, to)) = edge.accesses else { return true };
            let (from, to) = (self.access(summary, edge.from, from), self.access(summary, edge.to, to));
            let Some(table) = summary.facts.table(from.table) else { return true };
            let row = format!("{}[", table.name);
            // What a constraint looks at is no operation; the order that it asks for is told of one of the rows.
            if edge.kind == EdgeKind::Constraint {
                return names.iter().any(|name| name.starts_with(&row));
            }
            met(from, to, edge.kind).iter().any(|cell| {
                let column = match cell {
                    Cell::Existence => "]".to_owned(),
                    Cell::Column(column) if table.has_column(*column) => format!("].{}", table.column(*column)),
                    Cell::Column(_) => String::new(),
                };
                names.iter().any(|name| name.starts_with(&row) && name.ends_with(&column))
            })
        };
        self.edges.iter().all(is_there)
    }

    fn access<'s>(&self, summary: &'s Summary, call: usize, access: usize) -> &'s Access {
        let call = &self.calls[call];
        &summary.programs[call.program].paths[call.path].accesses[access]
    }

    fn about(&self, summary: &Summary, edge: &Edge) -> String {
        let Some((from, to)) = edge.accesses else { return String::new() };
        about(summary, self.access(summary, edge.from, from), self.access(summary, edge.to, to), edge.kind)
    }
}

/// The cells that two accesses meet at.
fn met(from: &Access, to: &Access, kind: EdgeKind) -> Vec<Cell> {
    let (one, other) = match kind {
        EdgeKind::WriteRead => (&from.writes, &to.reads),
        EdgeKind::WriteWrite => (&from.writes, &to.writes),
        EdgeKind::ReadWrite | EdgeKind::Session | EdgeKind::Constraint => (&from.reads, &to.writes),
    };
    one.intersection(other).copied().collect()
}

/// What a dependency is about: the columns, or the table where rows come and go.
pub(super) fn about(summary: &Summary, from: &Access, to: &Access, kind: EdgeKind) -> String {
    if kind == EdgeKind::Constraint {
        let mut names =
            from.precedes.intersection(&to.follows).map(|lookup| &summary.facts.lookups[*lookup].constraint);
        return names.next().cloned().unwrap_or_default();
    }
    let cells = met(from, to, kind);
    let Some(table) = summary.facts.table(from.table) else { return String::new() };
    let columns: Vec<&str> = cells
        .iter()
        .filter_map(|cell| match cell {
            Cell::Column(column) => Some(table.column(*column)),
            Cell::Existence => None,
        })
        .collect();
    let rows_change = cells.contains(&Cell::Existence);
    match (rows_change, &columns[..]) {
        (true, _) | (_, []) => table.name.clone(),
        (false, [column]) => format!("{}.{column}", table.name),
        (false, columns) => format!("{}: {}", table.name, columns.join(", ")),
    }
}
