//! Cycles in words.

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

    fn access<'s>(&self, summary: &'s Summary, call: usize, access: usize) -> &'s Access {
        let call = &self.calls[call];
        &summary.programs[call.program].paths[call.path].accesses[access]
    }

    fn about(&self, summary: &Summary, edge: &Edge) -> String {
        let Some((from, to)) = edge.accesses else { return String::new() };
        about(summary, self.access(summary, edge.from, from), self.access(summary, edge.to, to), edge.kind)
    }
}

/// What a dependency is about: the columns, or the table where rows come and go.
pub(super) fn about(summary: &Summary, from: &Access, to: &Access, kind: EdgeKind) -> String {
    let (one, other) = match kind {
        EdgeKind::WriteRead => (&from.writes, &to.reads),
        EdgeKind::WriteWrite => (&from.writes, &to.writes),
        EdgeKind::ReadWrite | EdgeKind::Session => (&from.reads, &to.writes),
    };
    let Some(table) = summary.facts.table(from.table) else { return String::new() };
    let columns: Vec<&str> = one
        .intersection(other)
        .filter_map(|cell| match cell {
            Cell::Column(column) => Some(table.column(*column)),
            Cell::Existence => None,
        })
        .collect();
    let rows_change = one.contains(&Cell::Existence) && other.contains(&Cell::Existence);
    match (rows_change, &columns[..]) {
        (true, _) | (_, []) => table.name.clone(),
        (false, [column]) => format!("{}.{column}", table.name),
        (false, columns) => format!("{}: {}", table.name, columns.join(", ")),
    }
}
