//! What texts parse to, and where they go wrong.

use crate::parse::ast;

use super::*;
use crate::parse::ast::{FrameExclude, LockStrength, LockWait};

/// The statement as text again.
fn shown(sql: &str) -> String {
    match statement(sql) {
        Ok(Some(Statement::Sql(statement))) => statement.to_string(),
        Ok(Some(other)) => format!("{other:?}"),
        Ok(None) => "nothing".to_owned(),
        Err(error) => {
            let fields = error.fields();
            let place = fields.position.map(|position| format!(" @{position}")).unwrap_or_default();
            format!("{} {}{place}", fields.code, fields.message)
        }
    }
}

/// An expression with all its parentheses.
fn grouped(text: &str) -> String {
    fn show(expr: &ast::Expr) -> String {
        use ast::Expr;
        match expr {
            Expr::BinaryOp { left, op, right } => format!("({} {op} {})", show(left), show(right)),
            Expr::UnaryOp { op, expr } => format!("({op} {})", show(expr)),
            Expr::Nested(expr) => show(expr),
            Expr::Cast { expr, data_type, .. } => format!("({}::{data_type})", show(expr)),
            Expr::IsNull(expr) => format!("({} IS NULL)", show(expr)),
            Expr::Like { expr, pattern, .. } => format!("({} LIKE {})", show(expr), show(pattern)),
            Expr::Between { expr, low, high, .. } => {
                format!("({} BETWEEN {} AND {})", show(expr), show(low), show(high))
            }
            Expr::AtTimeZone { timestamp, time_zone } => format!("({} AT {})", show(timestamp), show(time_zone)),
            Expr::Collate { expr, collation } => format!("({} COLLATE {collation})", show(expr)),
            Expr::IsDistinctFrom(left, right) => format!("({} DISTINCT {})", show(left), show(right)),
            Expr::InList { expr, list, .. } => {
                format!("({} IN {})", show(expr), list.iter().map(show).collect::<Vec<_>>().join(","))
            }
            other => other.to_string(),
        }
    }
    match expression(text) {
        Ok(expr) => show(&expr),
        Err(error) => format!("{} @{:?}", error.fields().message, error.fields().position),
    }
}

#[test]
fn operators_bind_as_in_postgresql() {
    for (text, expected) in [
        ("a + b * c", "(a + (b * c))"),
        ("-2 ^ 2", "((- 2) ^ 2)"),
        ("2 ^ 3 ^ 2", "((2 ^ 3) ^ 2)"),
        ("- a::int", "(- (a::INTEGER))"),
        ("not a = b and c or d", "(((NOT (a = b)) AND c) OR d)"),
        ("a = b is null", "((a = b) IS NULL)"),
        ("a || b like c || d", "((a || b) LIKE (c || d))"),
        ("a like b = c", "((a LIKE b) = c)"),
        ("a -> 'x' ->> 'y' = 'z'", "(((a -> 'x') ->> 'y') = 'z')"),
        ("a + 1 -> b", "((a + 1) -> b)"),
        ("a between b and c and d", "((a BETWEEN b AND c) AND d)"),
        ("a between b = c and d", "(a BETWEEN (b = c) AND d)"),
        ("@ -5 + 1", "(@ ((- 5) + 1))"),
        ("a at time zone 'utc' + b", "((a AT 'utc') + b)"),
        ("a || b collate \"C\" < c", "((a || (b COLLATE \"C\")) < c)"),
        ("a is distinct from b or c", "((a DISTINCT b) OR c)"),
        ("a in (1, 2) = b", "((a IN 1,2) = b)"),
        ("a<-1", "(a < (- 1))"),
        ("a < b < c", "syntax error at or near \"<\" @Some(7)"),
        ("a like b like c", "syntax error at or near \"like\" @Some(10)"),
        ("1 operator(pg_catalog.+) 2 * 3", "(1 OPERATOR(pg_catalog.+) (2 * 3))"),
    ] {
        assert_eq!(grouped(text), expected, "{text}");
    }
}

#[test]
fn mistakes_are_told_as_postgresql_tells_them() {
    for (sql, expected) in [
        ("select 1 from", "42601 syntax error at end of input @14"),
        ("selec 1", "42601 syntax error at or near \"selec\" @1"),
        ("select a b c", "42601 syntax error at or near \"c\" @12"),
        ("select 'abc", "42601 unterminated quoted string at or near \"'abc\" @8"),
        ("select $$abc", "42601 unterminated dollar-quoted string at or near \"$$abc\" @8"),
        ("select /* abc", "42601 unterminated /* comment at or near \"/* abc\" @8"),
        ("select \"\"", "42601 zero-length delimited identifier at or near \"\"\"\" @8"),
        ("select 1a", "42601 trailing junk after numeric literal at or near \"1a\" @8"),
        ("select 'ä', from", "42601 syntax error at or near \"from\" @13"),
        ("select * from (select 1)", "42601 subquery in FROM must have an alias @15"),
        ("select \\", "42601 syntax error at or near \"\\\" @8"),
        ("insert into t values (1,)", "42601 syntax error at or near \")\" @25"),
        ("select 1; select 2", "42601 cannot insert multiple commands into a prepared statement"),
        ("select limit", "42601 syntax error at end of input @13"),
        ("create table t (a int,)", "42601 syntax error at or near \")\" @23"),
        ("", "nothing"),
        (" ; -- nothing", "nothing"),
    ] {
        assert_eq!(shown(sql), expected, "{sql}");
    }
}

#[test]
fn words_are_names_where_postgresql_lets_them_be() {
    for (sql, expected) in [
        ("select value, name, type from action", "SELECT value, name, type FROM action"),
        ("select 1 value", "SELECT 1 AS value"),
        ("select 1 as select", "SELECT 1 AS select"),
        ("select left('abc', 1), a.left from t a", "SELECT left('abc', 1), a.left FROM t AS a"),
        ("select Foo, \"Foo\" from T", "SELECT foo, \"Foo\" FROM t"),
        ("select interval '1 day', interval from t", "SELECT INTERVAL '1 day', interval FROM t"),
        ("select date '2020-01-01'", "SELECT date '2020-01-01'"),
        ("select 1 day", "42601 syntax error at or near \"day\" @10"),
        ("select user from t", "SELECT user FROM t"),
        ("select t.* from t", "SELECT t.* FROM t"),
    ] {
        assert_eq!(shown(sql), expected, "{sql}");
    }
}

#[test]
fn parentheses_hold_queries_expressions_and_rows() {
    for (sql, expected) in [
        ("select ((select 1))", "SELECT (SELECT 1)"),
        ("select ((select 1) + 1)", "SELECT ((SELECT 1) + 1)"),
        ("select (((select 1) union (select 2)) limit 1)", "SELECT (((SELECT 1) UNION (SELECT 2)) LIMIT 1)"),
        ("select ((select 1), 2)", "SELECT ((SELECT 1), 2)"),
        ("select a in ((select 1), 2)", "SELECT a IN ((SELECT 1), 2)"),
        ("select a in ((select 1) union select 2)", "SELECT a IN ((SELECT 1) UNION SELECT 2)"),
        ("(select 1) union (select 2) order by 1", "(SELECT 1) UNION (SELECT 2) ORDER BY 1"),
        ("select * from ((select 1) a join b on true)", "SELECT * FROM ((SELECT 1) AS a JOIN b ON true)"),
        ("select * from ((select 1) union select 2) a", "SELECT * FROM ((SELECT 1) UNION SELECT 2) AS a"),
        ("select row(1), (1, 2), row()", "SELECT ROW(1), (1, 2), ROW()"),
        ("select (a).b, (a).*, (a[1]).c from t", "SELECT (a).b, (a).*, (a[1]).c FROM t"),
        ("values (1), (2)", "VALUES (1), (2)"),
        ("table t", "SELECT * FROM t"),
        ("select * from a join b join c on 1 = 1 on 2 = 2", "SELECT * FROM a JOIN (b JOIN c ON 1 = 1) ON 2 = 2"),
    ] {
        assert_eq!(shown(sql), expected, "{sql}");
    }
}

#[test]
fn set_operations_go_from_the_left_and_intersect_binds_more_tightly() {
    assert_eq!(
        shown("select 1 union select 2 intersect select 3 except all select 4"),
        "SELECT 1 UNION SELECT 2 INTERSECT SELECT 3 EXCEPT ALL SELECT 4"
    );
    let ast::SetExpr::SetOperation { left, op, .. } = *query("select 1 union select 2 except select 3").unwrap().body
    else {
        panic!("a set operation")
    };
    assert_eq!((op, left.to_string().as_str()), (ast::SetOperator::Except, "SELECT 1 UNION SELECT 2"));
}

#[test]
fn literals_say_what_postgresql_reads() {
    for (text, expected) in [
        ("'a''b'", "a'b"),
        ("'a'\n  'b'", "ab"),
        ("'a' -- it's\n 'b'", "ab"),
        ("E'a\\n\\x41\\101\\u0042\\'\\\\'''", "a\nAAB'\\'"),
        ("U&'d\\0061t\\+000061'", "data"),
        ("$$a'b$$", "a'b"),
        ("$x$a$$b$x$", "a$$b"),
        ("E'\\uD83D\\uDE00'", "😀"),
        ("'\\n'", "\\n"),
    ] {
        let expr = expression(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let ast::Expr::Value(value) = expr else { panic!("{text}: a literal") };
        assert_eq!(value.value, ast::Value::SingleQuotedString(expected.to_owned()), "{text}");
    }
    assert_eq!(grouped("'a' 'b'"), "syntax error at or near \"'b'\" @Some(5)");
    assert!(shown("select E'\\xff'").starts_with("22021 invalid byte sequence for encoding \"UTF8\": 0xff"));
}

fn lock_of(sql: &str) -> ast::LockClause {
    query(sql).unwrap().locks.remove(0)
}

#[test]
fn row_locks_keep_their_strength_and_their_tables() {
    let lock = lock_of("select * from a, b for no key update of a, b skip locked");
    assert_eq!((lock.strength, lock.wait), (LockStrength::NoKeyUpdate, LockWait::SkipLocked));
    assert_eq!(lock.of.iter().map(|ident| ident.value.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(lock_of("select 1 for key share nowait").strength, LockStrength::KeyShare);
    assert_eq!(lock_of("select 1 for share").strength, LockStrength::Share);
    assert_eq!(lock_of("select 1 limit 1 for update").strength, LockStrength::Update);
}

#[test]
fn frames_keep_what_they_exclude() {
    let sql = "select sum(a) over (rows between 1 preceding and current row exclude ties) from t";
    let ast::SetExpr::Select(select) = *query(sql).unwrap().body else { panic!("a select") };
    let ast::SelectItem::UnnamedExpr(ast::Expr::Function(function)) = &select.projection[0] else { panic!("a call") };
    let Some(ast::WindowType::WindowSpec(window)) = &function.over else { panic!("a window") };
    let frame = window.window_frame.as_ref().expect("a frame");
    assert_eq!((&frame.end_bound, frame.exclude), (&Some(ast::WindowFrameBound::CurrentRow), FrameExclude::Ties));
}

#[test]
fn conflicts_may_name_expressions_and_partial_indexes() {
    let Ok(Some(Statement::Sql(parsed))) =
        statement("insert into t values (1) on conflict (a, lower(b), (c + 1)) where d > 0 do nothing")
    else {
        panic!("an insert")
    };
    let ast::Statement::Insert(insert) = *parsed else { panic!("an insert") };
    let Some(ast::ConflictTarget::Keys { keys, predicate }) = insert.on.and_then(|on| on.conflict_target) else {
        panic!("keys")
    };
    let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
    assert_eq!(keys, ["a", "lower(b)", "(c + 1)"]);
    assert_eq!(predicate.unwrap().to_string(), "d > 0");
}

#[test]
fn texts_are_split_where_statements_end() {
    let pieces =
        |sql: &'static str| -> Vec<&'static str> { split(sql).unwrap().into_iter().map(|piece| &sql[piece]).collect() };
    assert_eq!(
        pieces("select 1; select ';' ;; select $$;$$ /* ; */ -- ;\n;"),
        ["select 1", "select ';'", "select $$;$$"]
    );
    assert_eq!(
        pieces(
            "create function f() returns int begin atomic select case when true then 1 end; select 2; end; select 3"
        ),
        ["create function f() returns int begin atomic select case when true then 1 end; select 2; end", "select 3"]
    );
    let error = script("select 1;\nselec 2").unwrap_err();
    assert_eq!(error.fields().position, Some(11));
}

/// Runs on a stack like that of a server's worker.
fn on_a_small_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new()
        .stack_size(2 << 20)
        .spawn(work)
        .expect("threads can be started")
        .join()
        .expect("the stack is large enough")
}

#[test]
fn deep_nesting_is_an_error() {
    let nested: Vec<String> = vec![
        format!("select {}1{}", "(".repeat(10_000), ")".repeat(10_000)),
        format!("select {}1", "- ".repeat(10_000)),
        format!("select {}true", "not ".repeat(10_000)),
        format!("select {}1{}", "f(".repeat(10_000), ")".repeat(10_000)),
        format!("select {}1{}", "array[".repeat(10_000), "]".repeat(10_000)),
        format!("select {}1{}", "array[".to_owned() + &"[".repeat(10_000), "]".repeat(10_001)),
        format!("select {}1{}", "(select ".repeat(10_000), ")".repeat(10_000)),
        format!("{}select 1{}", "(".repeat(10_000), ")".repeat(10_000)),
        format!("select {}1{}", "case when true then ".repeat(10_000), " end".repeat(10_000)),
        format!("select * from {}t{}", "(".repeat(10_000), ")".repeat(10_000)),
        format!("select * from {}select 1{}", "(".repeat(10_000), ")".repeat(10_000)),
        format!("select * from t {}", "join t ".repeat(10_000)),
        format!("select 1 {}", "union (select 1 ".repeat(10_000)),
        format!("with {}", "a as (with ".repeat(10_000)),
        format!("explain {}select 1", "explain ".repeat(10_000)),
        format!("select 1{}", " + 1".repeat(100_000)),
        format!("select a{}", "[a".repeat(10_000)),
        format!("select 1 group by {}a", "grouping sets (".repeat(10_000)),
    ];
    for sql in nested {
        let answer = on_a_small_stack(move || (sql[..20].to_owned(), shown(&sql)));
        assert!(answer.1.starts_with("54001 "), "{}: {}", answer.0, answer.1.chars().take(80).collect::<String>());
    }
}

#[test]
fn what_parses_fits_a_small_stack() {
    let nested = format!("select {}1{}", "(".repeat(95), ")".repeat(95));
    let chain = format!("select 1{} where true{}", " + 1".repeat(490), " or false".repeat(20_000));
    for sql in [nested, chain] {
        let parsed = on_a_small_stack(move || statement(&sql).unwrap().is_some());
        assert!(parsed);
    }
}

/// What is printed is the same statement: every clause of queries and changes, once.
#[test]
fn printed_trees_are_parsed_into_equal_trees() {
    for sql in [
        "select",
        "select *, t.*, (t.c).*, t.a as \"B \"\"c\"\"\", 1 + 2 * -3, - - 4, not a, a is not null, a is distinct from b from t",
        "select distinct on (a, b) a from only s.t as x (c, d) where a in (1, 2) and b not in (select 1) or not exists (select 2)",
        "select count(*), count(distinct a), sum(all a order by b desc nulls last) filter (where c), f(variadic x), g(n => 1)",
        "select percentile_cont(0.5) within group (order by a), array(select 1), array[[1, 2], [3, 4]], row(), row(1), (1, 2)",
        "select sum(a) over w, rank() over (w rows between 1 preceding and unbounded following exclude ties) from t window w as (partition by a, b order by c)",
        "select rank() over (), rank() over (range unbounded preceding), sum(a) over (groups between current row and 2 following exclude group)",
        "select a[1], a[2:3], a[:], a[:2], (r).f.g, cast(a + b as numeric(10, 2)), a::int[], a::varchar(3)::text, -1::int2",
        "select date '2024-01-01', interval '1' day to second(3), interval(2) '1 s', timestamp(3) with time zone 'now', B'01', X'1f', 'it''s', $1",
        "select extract(year from a), position('a' in b), substring(a from 2 for 3), substring(a for 3), trim(leading 'x' from a), trim(a), trim(both from a)",
        "select overlay(a placing b from 1 for 2), a at time zone 'UTC', a collate \"C\", current_date, current_timestamp(3), a || b -> 'c'",
        "select case a when 1 then 2 else 3 end, case when a then b end, a between 1 and 2, a not between b and c, a like 'x' escape '!', a not ilike b, a similar to c",
        "select a = any (array[1]), a <> all (select 1), a operator(pg_catalog.+) b, (a, b) overlaps (c, d), a is unknown, a is not true",
        "select a from t group by a, (), rollup (a, (b, c)), cube (a), grouping sets ((a), (), rollup (b)) having count(*) > 1",
        "select a from t order by a desc, 2 nulls first limit 1 offset 2 for no key update of t, u skip locked for share nowait",
        "select a from t fetch first 3 rows with ties",
        "(select 1) union all (select 2 order by 1) except select 3 intersect distinct select 4",
        "values (1, default), (2, null)",
        "select * from a cross join b natural left join c join d using (x, y) full join (e right join f on e.x = f.x) on true, lateral (select 1) as g",
        "select * from f(1) with ordinality as x (a int, b text), rows from (g(1), h(2)) as y, lateral i()",
        "with recursive a (x, y) as materialized (select 1), b as not materialized (delete from t returning *) select * from a",
        "insert into t as x (a, b) overriding system value select 1 on conflict (a, lower(b), (c + 1)) where d > 0 do update set (a, b) = (1, default), c[1] = 2, d.e = 3 where x.a > 1 returning *",
        "insert into t default values on conflict on constraint k do nothing",
        "update t as x set a = default, b = (select 1) from u join v on true where current of c returning a as b",
        "delete from t using u where t.a = u.a returning 1",
        "with a as (select 1) insert into t table a",
        "merge into t as x using (select 1) as s on x.a = s.a when matched and x.b then delete when matched then update set a = 1 when not matched then insert (a) values (1) when not matched then do nothing",
    ] {
        let parsed = |sql: &str| match statement(sql) {
            Ok(Some(Statement::Sql(tree))) => *tree,
            other => panic!("{sql}: {other:?}"),
        };
        let tree = parsed(sql);
        let printed = tree.to_string();
        assert_eq!(parsed(&printed), tree, "{sql}\n{printed}");
    }
}

/// No name that a text can have is taken for a mark of the parser: a mark is a field of the tree.
#[test]
fn quoted_names_mean_nothing_but_their_names() {
    for name in ["default", "current of", "rows from", "variadic", "part", "overriding user value", "no key update"] {
        let expr = expression(&format!("\"{name}\"")).expect("a name");
        assert_eq!(expr, ast::Expr::Identifier(ast::Ident { quoted: true, ..ast::Ident::new(name) }));
    }
}
