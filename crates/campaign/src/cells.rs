//! The names of cells and rows, as histories have them and as readers know them.

/// What a row's key holds while there is no such row.
pub(crate) const NOTHING: &str = "nil";

/// Whether a key says whether a row is there; others are its cells.
pub(crate) fn is_row(key: &str) -> bool {
    key.ends_with(']')
}

/// A column of a table, or its rows: `stock.n` for `stock[1].n`.
pub(crate) fn family(key: &str) -> String {
    let table = key.split('[').next().unwrap_or_default();
    match key.rsplit_once("].") {
        Some((_, column)) => format!("{table}.{column}"),
        None => format!("rows of {table}"),
    }
}

/// Names as readers know them: the numbers go by which a table that was made again, or a row with the key of an earlier
/// one, is told from it (`account~1[1]`, `account[1~1]`).
pub(crate) fn plain_names(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('~') {
        let (before, after) = rest.split_at(at);
        let digits = after[1..].len() - after[1..].trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let follows = after[1 + digits..].chars().next();
        out.push_str(before);
        match digits > 0 && matches!(follows, Some('[' | ']' | '.') | None) {
            true => rest = &after[1 + digits..],
            false => {
                out.push('~');
                rest = &after[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn internal_numbers_never_reach_a_reader() {
        let shown = ["rota_doctor~2[4]", "account[1~1].n", "a~b", "t2 read x~1[1]=3"].map(plain_names);
        assert_eq!(shown, ["rota_doctor[4]", "account[1].n", "a~b", "t2 read x[1]=3"]);
    }

    #[test]
    fn a_cell_belongs_to_a_column_and_a_row_to_a_table() {
        assert_eq!(["stock[1].n", "stock[1]"].map(family), ["stock.n", "rows of stock"]);
    }
}
