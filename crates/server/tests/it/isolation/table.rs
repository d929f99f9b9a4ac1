//! Tables of results, laid out as libpq's `PQprint` does it: numbers to the right, everything else to the left.

use std::fmt::Write;

pub(crate) fn show_table(columns: &[String], rows: &[Vec<String>]) -> String {
    let width = |at: usize| rows.iter().map(|row| row[at].len()).chain([columns[at].len()]).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let is_number: Vec<bool> =
        (0..columns.len()).map(|at| rows.iter().all(|row| looks_like_number(&row[at]))).collect();
    let line = |values: &[String]| {
        let cells = values.iter().enumerate().map(|(at, value)| {
            let blanks = " ".repeat(widths[at] - value.len());
            if is_number[at] { format!("{blanks}{value}") } else { format!("{value}{blanks}") }
        });
        cells.collect::<Vec<_>>().join("|")
    };
    let mut shown = line(columns) + "\n";
    let border: Vec<String> = widths.iter().map(|&width| "-".repeat(width)).collect();
    let _ = writeln!(shown, "{}", border.join("+"));
    rows.iter().for_each(|row| shown.push_str(&(line(row) + "\n")));
    let _ = write!(shown, "({} row{})\n\n", rows.len(), if rows.len() == 1 { "" } else { "s" });
    shown
}

/// `PQprint`'s idea of a number; an empty value says nothing.
fn looks_like_number(value: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'E' | 'e' | ' ' | '-');
    value.is_empty()
        || (value.chars().all(is_allowed)
            && !value.starts_with(['E', 'e'])
            && value.ends_with(|last: char| last.is_ascii_digit()))
}
