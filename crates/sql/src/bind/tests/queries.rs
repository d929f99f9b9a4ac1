//! Queries.

use super::check;

#[test]
fn a_point_select_filters_and_projects() {
    check("SELECT b FROM t WHERE a = 1", "");
    check("SELECT b FROM t WHERE a = $1", "");
}
