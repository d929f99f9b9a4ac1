//! `COPY … FROM 'file'` → `COPY … FROM STDIN`: the tests' data files lie beside the tests, not at the server.

use std::fs;
use std::path::Path;

/// The statement that takes the data over the connection, and the data; nothing if the statement reads no file that is
/// in the folder.
pub(super) fn over_the_wire(sql: &str, folder: &Path) -> Option<(String, Vec<u8>)> {
    let statement = sql.trim_start();
    if !statement.get(..5)?.eq_ignore_ascii_case("copy ") {
        return None;
    }
    let (before, rest) = statement.split_once('\'')?;
    let (file, after) = rest.split_once('\'')?;
    let from = before.trim_end();
    if !from.get(from.len().checked_sub(4)?..)?.eq_ignore_ascii_case("from") {
        return None;
    }
    let content = fs::read(folder.join(Path::new(file).file_name()?)).ok()?;
    Some((format!("{from} STDIN{after}"), content))
}

#[cfg(test)]
mod tests {
    use super::over_the_wire;

    #[test]
    fn only_statements_that_read_a_present_file_change() {
        let folder = std::env::temp_dir();
        assert_eq!(over_the_wire("SELECT 'x'", &folder), None);
        assert_eq!(over_the_wire("COPY t FROM 'no/such/file.csv'", &folder), None);
        assert_eq!(over_the_wire("COPY t TO 'no/such/file.csv'", &folder), None);
    }
}
