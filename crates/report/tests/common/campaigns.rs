//! Campaigns made by hand, as the runner would fill them in.
#![allow(dead_code, reason = "each test binary uses its part")]

use skew_model::campaign::{
    Campaign, FailedRun, RunLine, RunOutcome, SqlAnomaly, SqlEdge, SqlOperation, SqlStatement, Why,
};

pub fn run(number: u64, outcome: RunOutcome) -> RunLine {
    RunLine { number, seed: 100 + number, outcome, ms: 20, statements: 14, refusals: 0 }
}

/// What a statement of a client read and wrote: `r stock[1].n=1`, with `!` if it is to blame and `~` if it is old.
fn operation(text: &str) -> SqlOperation {
    let (words, rest) = text.split_once('=').expect("a value");
    let (kind, key) = words.split_once(' ').expect("a key");
    let (value, alternatives) = rest.split_once(" of ").unwrap_or((rest, ""));
    SqlOperation {
        is_write: kind.contains('w'),
        key: key.to_owned(),
        value: value.to_owned(),
        is_stale: kind.contains('~'),
        alternatives: alternatives.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect(),
        is_guilty: kind.contains('!'),
        within: None,
    }
}

/// A statement: connection, transaction, text, and what it read and wrote.
pub fn statement(connection: usize, txn: &str, text: &str, operations: &[&str]) -> SqlStatement {
    SqlStatement {
        connection,
        txn: Some(txn.to_owned()).filter(|txn| !txn.is_empty()),
        text: text.to_owned(),
        parameters: Vec::new(),
        answer: "done".to_owned(),
        is_error: false,
        waited_for: None,
        operations: operations.iter().map(|text| operation(text)).collect(),
    }
}

fn with(mut statement: SqlStatement, parameters: &[&str], answer: &str) -> SqlStatement {
    statement.parameters = parameters.iter().map(|&value| value.to_owned()).collect();
    statement.is_error = answer.starts_with(|c: char| c.is_ascii_digit()) && answer.len() > 8;
    statement.answer = answer.to_owned();
    statement
}

fn edge(from: &str, label: &str, to: &str, reason: &str, statements: (usize, usize)) -> SqlEdge {
    SqlEdge {
        from: from.to_owned(),
        to: to.to_owned(),
        label: label.to_owned(),
        reason: reason.to_owned(),
        statements: (Some(statements.0), Some(statements.1)),
    }
}

pub fn failed(statements: Vec<SqlStatement>, why: Why) -> FailedRun {
    FailedRun {
        run: run(2, RunOutcome::Failed(1)),
        output: "sold 2\nAssertionError: oversold\n".to_owned(),
        database: "test".to_owned(),
        statements,
        why,
        stale_reads: (0, 0),
        repeated: (1, 1),
        experiment: None,
        replay: Some(".skew/run-2.json".to_owned()),
    }
}

pub fn campaign(failure: Option<FailedRun>) -> Campaign {
    let outcome = if failure.is_some() { RunOutcome::Failed(1) } else { RunOutcome::Passed };
    Campaign {
        command: vec!["pytest".to_owned(), "tests/".to_owned()],
        level: "READ COMMITTED (mvrc)".to_owned(),
        seed: 7,
        planned: 3,
        baseline: vec![run(0, RunOutcome::Passed), run(1, RunOutcome::Passed)],
        runs: vec![run(1, RunOutcome::Passed), run(2, outcome), run(3, outcome)],
        failure,
        elapsed_ms: 1234,
        ..Campaign::default()
    }
}

/// Two clients sell the last one.
pub fn lost_update() -> FailedRun {
    let select = "select n from stock where id = $1";
    let update = "update stock set n = $1 where id = $2";
    let statements = vec![
        statement(1, "t3", "insert into stock values (1, 1)", &["w stock[1]=1", "w stock[1].n=1"]),
        statement(2, "", "BEGIN", &[]),
        with(statement(2, "t4", select, &["r stock[1]=1", "r! stock[1].n=1"]), &["1"], "1 row"),
        statement(3, "", "BEGIN", &[]),
        with(statement(3, "t5", select, &["r stock[1]=1", "r! stock[1].n=1"]), &["1"], "1 row"),
        with(statement(3, "t5", update, &["r stock[1]=1", "w! stock[1].n=0"]), &["0", "1"], "done"),
        statement(3, "", "COMMIT", &[]),
        with(statement(2, "t4", update, &["r stock[1]=1", "w! stock[1].n=0"]), &["0", "1"], "done"),
        statement(2, "", "COMMIT", &[]),
    ];
    let overwrote = "which the other one overwrote with stock[1].n=0";
    let anomaly = SqlAnomaly {
        id: "lost-update".to_owned(),
        headline: "t4 and t5 both overwrote stock[1].n, and t4 had read it before t5 wrote: one update is lost"
            .to_owned(),
        edges: vec![
            edge("t4", "rw(stock[1].n)", "t5", &format!("t4 read stock[1].n=1, {overwrote}"), (2, 5)),
            edge("t5", "rw(stock[1].n)", "t4", &format!("t5 read stock[1].n=1, {overwrote}"), (4, 7)),
        ],
        cycle: "t4 -rw(stock[1].n)-> t5 -rw(stock[1].n)-> t4".to_owned(),
        breaks: vec!["psi".to_owned()],
        satisfies: vec!["mvrc".to_owned(), "pc".to_owned()],
        ..SqlAnomaly::default()
    };
    failed(statements, Why::Anomaly(Box::new(anomaly)))
}

/// Two doctors leave, because each counts the other one, one of them from an old version.
pub fn write_skew() -> FailedRun {
    let count = "select count(*) from doctors where on_call";
    let statements = vec![
        statement(1, "t1", count, &["r doctors[ann].on_call=t", "r! doctors[bob].on_call=t"]),
        statement(2, "t2", count, &["r!~ doctors[ann].on_call=t of t f", "r doctors[bob].on_call=t"]),
        statement(1, "t1", "update doctors set on_call = false where name = 'ann'", &["w! doctors[ann].on_call=f"]),
        statement(2, "t2", "update doctors set on_call = false where name = 'bob'", &["w! doctors[bob].on_call=f"]),
    ];
    let anomaly = SqlAnomaly {
        id: "write-skew".to_owned(),
        headline: "t1 and t2 each read what the other one overwrote".to_owned(),
        edges: vec![
            edge("t1", "rw(doctors[bob].on_call)", "t2", "t1 read doctors[bob].on_call=t, which t2 overwrote", (0, 3)),
            edge("t2", "rw(doctors[ann].on_call)", "t1", "t2 read doctors[ann].on_call=t, which t1 overwrote", (1, 2)),
        ],
        cycle: "t1 -rw(doctors[bob].on_call)-> t2 -rw(doctors[ann].on_call)-> t1".to_owned(),
        breaks: vec!["ser".to_owned()],
        satisfies: vec!["si".to_owned()],
        ..SqlAnomaly::default()
    };
    FailedRun { stale_reads: (5, 1), repeated: (9, 6), ..failed(statements, Why::Anomaly(Box::new(anomaly))) }
}

/// Two clients sign up with the same address, and one of them is refused; another one meets a conflict.
pub fn refused() -> FailedRun {
    let insert = "insert into users (mail) values ('a@example.org')";
    let update = "update users set seen = seen + 1 where id = 7";
    let duplicate = "23505 duplicate key value violates unique constraint \"users_mail_key\"";
    let statements = vec![
        statement(1, "t1", "select id from users where mail = 'a@example.org'", &["r users[1]=nil"]),
        statement(2, "t2", insert, &["w users[1]=1", "w users[1].mail=a@example.org"]),
        with(statement(1, "t1", insert, &[]), &[], duplicate),
        with(statement(3, "t3", update, &[]), &[], "40001 could not serialize access due to concurrent update"),
    ];
    failed(statements, Why::Refused(vec![2, 3]))
}

/// One client does not see what another one has committed.
pub fn old_version() -> FailedRun {
    let statements = vec![
        statement(1, "t1", "update feed set last = 3", &["w feed[1].last=3"]),
        statement(2, "t2", "select last from feed", &["r~ feed[1].last=1 of 1 2 3"]),
    ];
    FailedRun { stale_reads: (1, 1), ..failed(statements, Why::Serializable) }
}

pub fn serializable() -> FailedRun {
    let statements = vec![statement(1, "t1", "select name from users", &["r users[1].name=ann"])];
    FailedRun { repeated: (3, 0), output: String::new(), replay: None, ..failed(statements, Why::Serializable) }
}

pub fn unknown() -> FailedRun {
    let limit = "the search gave up after 1000000 conflicts; raise --max-conflicts";
    FailedRun { repeated: (0, 0), ..failed(Vec::new(), Why::Unknown(limit.to_owned())) }
}

/// Text that would like to be markup or an escape sequence.
pub fn hostile() -> FailedRun {
    let mut failure = lost_update();
    failure.output = "\u{1b}[31m</pre><script>alert(1)</script> & \"quotes\"\u{0}\n".to_owned();
    failure.statements[2].text = "select '</pre><img src=x>' /* \u{202e} */\n   from t".to_owned();
    failure.statements[2].parameters = vec!["<b>&".to_owned()];
    failure.statements[5].operations[1].value = "\"><i>".to_owned();
    failure.statements[5].operations[1].within = Some("update <t>".to_owned());
    failure.database = "<db>".to_owned();
    failure.replay = Some("a b'\"<.json".to_owned());
    failure
}

/// A campaign in which every run fails, for three reasons.
pub fn many_failures(count: u64) -> Campaign {
    let of = |number: u64| {
        let mut failure = match number % 3 {
            0 => write_skew(),
            1 => lost_update(),
            _ => refused(),
        };
        failure.run = run(number, RunOutcome::Failed(1));
        failure.output = format!("sold {number}\nAssertionError: oversold by {}\n", number % 7);
        failure.replay = Some(format!(".skew/run-{number}.json"));
        failure
    };
    let mut campaign = campaign((count > 0).then(|| of(1)));
    campaign.runs = (1..=count).map(|number| run(number, RunOutcome::Failed(1))).collect();
    campaign.other_failures = (2..=count).map(of).collect();
    campaign
}

/// Eight clients with forty statements each, long SQL, long names and other scripts, and a cycle between two of them.
pub fn crowd() -> Campaign {
    let mut failure = lost_update();
    failure.statements.clear();
    let long = "select o.id, o.customer_id, o.created_at, o.updated_at, o.state, o.total_amount_in_cents, o.currency\n  \
                from a_rather_long_table_name_of_an_application_with_history o\n  join 在庫 s on s.id = o.stock_id\n where \
                s.名前 = 'ä \u{1f600} </script>' and o.state in ('new', 'paid', 'shipped') order by o.id limit 10";
    for round in 0..10 {
        for client in 1..=8 {
            let txn = format!("t{}", client * 10 + round);
            let own = format!("r stock[{client}].n={round}");
            let write = format!("w a_rather_long_table_name_of_an_application_with_history[{client}].n={round}");
            let lines: [(&str, &[&str]); 4] = [
                ("BEGIN", &[]),
                (if client == 3 { long } else { "select n from stock where id = $1" }, &[&own]),
                ("update stock set n = n - 1 where id = $1", &[&own, &write]),
                ("COMMIT", &[]),
            ];
            for (text, operations) in lines {
                failure.statements.push(statement(client, &txn, text, operations));
            }
        }
    }
    let Why::Anomaly(anomaly) = &mut failure.why else { unreachable!("a lost update") };
    (anomaly.edges[0].from, anomaly.edges[0].to) = ("t20".to_owned(), "t70".to_owned());
    (anomaly.edges[1].from, anomaly.edges[1].to) = ("t70".to_owned(), "t20".to_owned());
    anomaly.edges[0].statements = (Some(5), Some(26));
    anomaly.edges[1].statements = (Some(25), Some(6));
    for at in [5, 6, 25, 26] {
        failure.statements[at].operations[0].is_guilty = true;
    }
    campaign(Some(failure))
}

pub fn all() -> Vec<(&'static str, Campaign)> {
    [
        ("lost-update", lost_update()),
        ("write-skew", write_skew()),
        ("refused", refused()),
        ("old-version", old_version()),
        ("serializable", serializable()),
        ("unknown", unknown()),
        ("hostile", hostile()),
    ]
    .into_iter()
    .map(|(name, failure)| (name, campaign(Some(failure))))
    .chain([("passed", campaign(None)), ("nothing", Campaign::default())])
    .collect()
}
