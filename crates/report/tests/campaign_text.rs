//! Campaigns as text: what people see on a terminal.
#[path = "common/campaigns.rs"]
mod campaigns;

use campaigns::{campaign as many, lost_update, run, statement};
use skew_model::campaign::{
    Campaign, Experiment, FailedFix, FailedRun, FixEvidence, RunOutcome, SqlAnomaly, TriedFix, Why,
};
use skew_report::{Style, campaign, failed_run, summary};

#[track_caller]
fn check(failure: &FailedRun, expected: &str) {
    let found = failed_run(failure, Style::default());
    assert!(found == expected, "found:\n{found}\nexpected:\n{expected}");
}

#[test]
fn a_lost_update_points_at_its_reads_and_writes() {
    check(
        &lost_update(),
        "\
violated[lost-update]: t4 and t5 both overwrote stock[1].n, and t4 had read it before t5 wrote: one update is lost
     |
   3 | client 2 t4  select n from stock where id = $1
     |                $1 = 1
     |              ^ read stock[1].n=1
   5 | client 3 t5  select n from stock where id = $1
     |                $1 = 1
     |              ^ read stock[1].n=1
   6 | client 3 t5  update stock set n = $1 where id = $2
     |                $1 = 0, $2 = 1
     |              ^ wrote stock[1].n=0
   8 | client 2 t4  update stock set n = $1 where id = $2
     |                $1 = 0, $2 = 1
     |              ^ wrote stock[1].n=0
     = why     t4 comes before t5: t4 read stock[1].n=1, which the other one overwrote with
               stock[1].n=0
               but t5 comes before t4: t5 read stock[1].n=1, which the other one overwrote with
               stock[1].n=0
     = cycle   t4 -rw(stock[1].n)-> t5 -rw(stock[1].n)-> t4
     = breaks  psi        still satisfies  mvrc, pc
     = run     number 2, seed 102: the command failed with exit code 1
     = again   repeated once, it failed again; no read returned an old version: the order of the
               statements is enough
     = replay  skew replay .skew/run-2.json

what the command printed:
  | sold 2
  | AssertionError: oversold
",
    );
}

#[test]
fn a_write_skew_points_at_the_old_read() {
    check(
        &campaigns::write_skew(),
        "\
violated[write-skew]: t1 and t2 each read what the other one overwrote
     |
   1 | client 1 t1  select count(*) from doctors where on_call
     |              ^ read doctors[bob].on_call=t
   2 | client 2 t2  select count(*) from doctors where on_call
     |              ^ read doctors[ann].on_call=t, an old version (it could have been t or f)
   3 | client 1 t1  update doctors set on_call = false where name = 'ann'
     |              ^ wrote doctors[ann].on_call=f
   4 | client 2 t2  update doctors set on_call = false where name = 'bob'
     |              ^ wrote doctors[bob].on_call=f
     = why     t1 comes before t2: t1 read doctors[bob].on_call=t, which t2 overwrote
               but t2 comes before t1: t2 read doctors[ann].on_call=t, which t1 overwrote
     = cycle   t1 -rw(doctors[bob].on_call)-> t2 -rw(doctors[ann].on_call)-> t1
     = breaks  ser        still satisfies  si
     = run     number 2, seed 102: the command failed with exit code 1
     = again   repeated 9 times with fewer and fewer old versions, it failed 6 times; 1 of 5 reads
               of old versions matters
     = replay  skew replay .skew/run-2.json

what the command printed:
  | sold 2
  | AssertionError: oversold
",
    );
}

#[test]
fn refusals_are_told_apart() {
    check(
        &campaigns::refused(),
        "\
failed[refused]: the application did not expect that the database refuses statements of concurrent transactions
     |
   1 | client 1 t1  select id from users where mail = 'a@example.org'
     |                found no users[1]
   2 | client 2 t2  insert into users (mail) values ('a@example.org')
     |                inserted users[1]
     |                wrote users[1].mail=a@example.org
   3 | client 1 t1  insert into users (mail) values ('a@example.org')
     |              ! 23505 duplicate key value violates unique constraint \"users_mail_key\"
   4 | client 3 t3  update users set seen = seen + 1 where id = 7
     |              ! 40001 could not serialize access due to concurrent update
     = do      run the whole transaction again when it fails with 40001 or 40P01, as statement 4
               did
               another transaction inserted the same key first: write INSERT … ON CONFLICT in
               statement 3, or begin a new transaction after 23505 and read the row
     = run     number 2, seed 102: the command failed with exit code 1
     = again   repeated once, it failed again; no read returned an old version: the order of the
               statements is enough
     = replay  skew replay .skew/run-2.json

what the command printed:
  | sold 2
  | AssertionError: oversold
",
    );
}

#[test]
fn an_old_version_is_to_blame_although_the_run_is_serializable() {
    check(
        &campaigns::old_version(),
        "\
failed[old version]: a transaction did not see what had been committed before it began
     |
   2 | client 2 t2  select last from feed
     |                read feed[1].last=1, an old version (it could have been 1, 2 or 3)
     = why     a serial order explains the run, but not the order in which it happened
     = do      read from where it was written (one replica, one session); a single server always
               does, and so does --recency commit
     = run     number 2, seed 102: the command failed with exit code 1
     = again   repeated once, it failed again; the one read of an old version matters
     = replay  skew replay .skew/run-2.json

what the command printed:
  | sold 2
  | AssertionError: oversold
",
    );
}

#[test]
fn a_run_without_an_anomaly_that_never_fails_again() {
    check(
        &campaigns::serializable(),
        "\
failed[no anomaly]: the run is serializable, so weak isolation did not break it: the test depends on something else
     = look at time, the order in which threads run, randomness, or the order of rows without ORDER
               BY
     = run     number 2, seed 102: the command failed with exit code 1
     = again   repeated 3 times, it never failed again: the command itself is not deterministic, so
               this run may not replay; no read returned an old version

the command printed nothing
",
    );
}

#[test]
fn an_unknown_reason_names_its_limit() {
    check(
        &campaigns::unknown(),
        "\
failed[unknown]: it is not known why
     = limit   the search gave up after 1000000 conflicts; raise --max-conflicts
     = run     number 2, seed 102: the command failed with exit code 1
     = again   it was not repeated; no read returned an old version
     = replay  skew replay .skew/run-2.json

what the command printed:
  | sold 2
  | AssertionError: oversold
",
    );
}

/// The lines of a report that start with a label.
fn lines_of<'a>(text: &'a str, label: &str) -> Vec<&'a str> {
    let start = format!("     = {label}");
    text.lines().filter(|line| line.starts_with(&start)).map(|line| line[start.len()..].trim()).collect()
}

/// A lost update for which changes were tried.
fn with_fixes(tried: &[(&str, &str, FixEvidence)], failed: &[(&str, &str)]) -> String {
    let mut failure = lost_update();
    let Why::Anomaly(anomaly) = &mut failure.why else { unreachable!("a lost update is an anomaly") };
    let fix = |(words, sql, evidence): &(&str, &str, FixEvidence)| TriedFix {
        words: (*words).to_owned(),
        sql: vec![(*sql).to_owned()],
        evidence: *evidence,
    };
    anomaly.tried = tried.iter().map(fix).collect();
    let fix = |(words, how): &(&str, &str)| FailedFix { words: (*words).to_owned(), how: (*how).to_owned() };
    anomaly.failed = failed.iter().map(fix).collect();
    failed_run(&failure, Style { width: 0, ..Style::default() })
}

#[test]
fn what_was_tried_says_what_it_passed() {
    let tried = [
        ("lock it", "SELECT n\n FROM stock FOR UPDATE", FixEvidence::Runs(200)),
        ("look at the row count", "UPDATE stock SET n = n - 1 WHERE n >= 1;", FixEvidence::Explored(26)),
    ];
    let text = with_fixes(&tried, &[("run them at REPEATABLE READ", "run 1 with it failed")]);
    assert_eq!(
        lines_of(&text, "fix"),
        ["lock it (tried: 200 runs passed)", "look at the row count (explored: none of 26 interleavings breaks)"]
    );
    assert_eq!(lines_of(&text, "sql"), ["SELECT n FROM stock FOR UPDATE;", "UPDATE stock SET n = n - 1 WHERE n >= 1;"]);
    assert_eq!(lines_of(&text, "tried"), [""; 0], "what failed is of no use beside what passed");
}

#[test]
fn nothing_untried_is_a_fix() {
    assert_eq!(lines_of(&with_fixes(&[], &[]), "fix"), [""; 0]);
    let text = with_fixes(&[], &[("lock it", "run 3 with it failed (seed 7)")]);
    assert_eq!(lines_of(&text, "fix"), ["none of the changes that were tried makes the failure impossible"]);
    assert_eq!(lines_of(&text, "tried"), ["lock it: run 3 with it failed (seed 7)"]);
}

#[test]
fn long_statements_and_many_operations_are_cut() {
    let mut failure = lost_update();
    failure.statements[2].text = format!("select {} from stock", vec!["a_column_with_a_name"; 80].join(", "));
    failure.statements[2].parameters = vec!["x".repeat(500)];
    let operation = failure.statements[5].operations[1].clone();
    failure.statements[5].operations = vec![operation; 100];
    let mut other = failure.statements[5].operations[0].clone();
    other.is_guilty = false;
    failure.statements[7].operations = vec![other; 9];
    let text = failed_run(&failure, Style { expand: true, ..Style::default() });
    let of_statement: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("   3 |")).take(10).collect();
    assert_eq!(of_statement[5], "     |              … 20 lines …");
    assert!(of_statement[7].ends_with("from stock"), "{text}");
    assert!(of_statement[8].starts_with("     |                $1 = xxx") && of_statement[8].contains('…'), "{text}");
    assert!(text.contains("… 88 more\n") && text.contains("… 5 more\n"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
}

#[test]
fn what_matters_comes_first_and_columns_are_folded() {
    let mut failure = lost_update();
    failure.statements[2].text = "select a, b, c, d, n from stock where id = $1".to_owned();
    failure.statements[7].waited_for = Some(3);
    failure.statements.insert(3, statement(2, "t4", "select 1 from other", &["r other[1].x=1"]));
    failure.experiment = Some(Experiment { pairs: 3, needed: 1, serial_runs: 3, serial_passed: 3 });
    let Why::Anomaly(anomaly) = &mut failure.why else { unreachable!("a lost update") };
    anomaly.edges.iter_mut().for_each(|edge| edge.statements = (None, None));
    anomaly.others = vec!["lost update of page.views".to_owned()];
    anomaly.tried = vec![TriedFix {
        words: "lock the rows while they are read".to_owned(),
        sql: vec!["select n from stock FOR UPDATE".to_owned()],
        evidence: FixEvidence::Runs(10),
    }];
    let text = failed_run(&failure, Style::default());
    for expected in [
        "   3 | client 2 t4  select 5 columns from stock where id = $1\n",
        "     |                waited for the end of client 3's transaction\n",
        "     | … 1 more statement of these transactions: --verbose shows all\n",
        "     = also    not serializable, and not the cause: lost update of page.views\n",
        "     = fix     lock the rows while they are read (tried: 10 runs passed)\n",
        "     = sql     select n from stock FOR UPDATE;\n",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
    let all = failed_run(&failure, Style { expand: true, ..Style::default() });
    assert!(all.contains("select a, b, c, d, n from stock") && all.contains("select 1 from other"), "{all}");
}

#[test]
fn what_repeating_showed_reads_well() {
    let again = |repeated, stale_reads| {
        let text =
            failed_run(&FailedRun { repeated, stale_reads, ..lost_update() }, Style { width: 0, ..Style::default() });
        lines_of(&text, "again").join("")
    };
    let order = "the order of the statements is enough";
    assert_eq!(
        again((1, 1), (0, 0)),
        format!("repeated once, it failed again; no read returned an old version: {order}")
    );
    assert_eq!(
        again((2, 2), (1, 0)),
        format!("repeated twice, it failed each time; the one read of an old version does not matter: {order}")
    );
    assert_eq!(
        again((3, 1), (4, 0)),
        format!(
            "repeated 3 times with fewer and fewer old versions, it failed once; none of the 4 reads of old versions matters: {order}"
        )
    );
    assert_eq!(
        again((9, 2), (7, 3)),
        "repeated 9 times with fewer and fewer old versions, it failed twice; 3 of 7 reads of old versions matter"
    );
    assert_eq!(again((4, 4), (2, 2)), "repeated 4 times, it failed each time; all 2 reads of old versions matter");
    assert_eq!(again((0, 0), (1, 1)), "it was not repeated; one read returned an old version");
    assert_eq!(
        again((1, 0), (2, 2)),
        "repeated once, it never failed again: the command itself is not deterministic, so this run may not replay; \
         2 reads returned old versions"
    );
}

#[test]
fn a_snapshot_that_is_old_is_no_choice() {
    let mut failure = lost_update();
    failure.statements[2].operations[1].is_stale = true;
    let text = failed_run(&failure, Style { width: 0, ..Style::default() });
    let expected =
        "repeated once, it failed again; no read had a choice of versions: the order of the statements is enough";
    assert_eq!(lines_of(&text, "again"), [expected]);
}

#[test]
fn many_refusals_are_not_all_named() {
    let mut failure = campaigns::refused();
    failure.statements = vec![failure.statements[3].clone(); 1000];
    failure.why = Why::Refused((0..1000).collect());
    let text = failed_run(&failure, Style { width: 0, ..Style::default() });
    let expected = "run the whole transaction again when it fails with 40001 or 40P01, as statements 1, 2, 3, 4, 5 and 995 \
                    more did";
    assert_eq!(lines_of(&text, "do"), [expected]);
    assert!(text.contains("… 960 more statements\n"), "{text}");
}

#[test]
fn the_summary_counts_runs() {
    let of = |outcomes: &[RunOutcome]| {
        let runs = outcomes.iter().zip(1..).map(|(outcome, number)| run(number, *outcome)).collect();
        summary(&Campaign { runs, level: "cc".to_owned(), elapsed_ms: 1500, ..Campaign::default() })
    };
    let (passed, failed) = (RunOutcome::Passed, RunOutcome::Failed(1));
    assert_eq!(of(&[]), "no run was made at cc in 1.5 s, seed 0");
    assert_eq!(of(&[passed]), "the run passed at cc in 1.5 s, seed 0");
    assert_eq!(of(&[failed]), "the run failed at cc in 1.5 s, seed 0");
    assert_eq!(of(&[passed, passed]), "all 2 runs passed at cc in 1.5 s, seed 0");
    assert_eq!(of(&[passed, failed]), "1 of 2 runs failed at cc in 1.5 s, seed 0");
    let cut = Campaign { shard: Some((3, 16)), is_interrupted: true, ..many(None) };
    assert_eq!(
        summary(&cut),
        "all 3 runs passed at READ COMMITTED (mvrc) in 1.2 s, seed 7, shard 3 of 16, stopped before the end"
    );
}

#[test]
fn notes_follow_the_summary() {
    let mut noted = many(None);
    noted.runs[0].refusals = 1;
    noted.baseline[1].refusals = 2;
    noted.baseline[1].outcome = RunOutcome::Failed(3);
    noted.held_ms = 26;
    noted.planned = 10;
    noted.is_interrupted = true;
    noted.unsupported = vec![("CREATE POLICY".to_owned(), 1), ("LISTEN\u{1b}".to_owned(), 40)];
    let expected = "\
all 3 runs passed at READ COMMITTED (mvrc) in 1.2 s, seed 7, stopped before the end
  7 of 10 runs are missing
  the database refused 1 transaction (40001, 40P01) in 1 run, as it may
  at serializable the test failed with exit code 3 after the database had refused 2 transactions
  with 40001 or 40P01: at that level an application has to try again
  clients were held for 26 ms in all, so that transactions overlap
  not supported, once: CREATE POLICY
  not supported, 40 times: LISTEN?
";
    let found = campaign(&noted, Style::default());
    assert!(found == expected, "found:\n{found}\nexpected:\n{expected}");
}

#[test]
fn an_anomaly_without_a_cycle_still_has_its_headline() {
    let anomaly = SqlAnomaly {
        id: "aborted-read".to_owned(),
        headline: "t2 read x[1].n=1 from t1, which rolled back".to_owned(),
        breaks: vec!["rc".to_owned()],
        ..SqlAnomaly::default()
    };
    let text = failed_run(&campaigns::failed(Vec::new(), Why::Anomaly(Box::new(anomaly))), Style::default());
    let head: Vec<&str> = text.lines().take(3).collect();
    assert_eq!(
        head,
        [
            "violated[aborted-read]: t2 read x[1].n=1 from t1, which rolled back",
            "     = breaks  rc",
            "     = run     number 2, seed 102: the command failed with exit code 1",
        ]
    );
}

#[test]
fn colour_says_nothing_of_its_own() {
    for (name, all) in campaigns::all() {
        let painted = campaign(&all, Style { color: true, ..Style::default() });
        let mut stripped = String::new();
        let mut rest = painted.as_str();
        while let Some((before, after)) = rest.split_once('\x1b') {
            stripped.push_str(before);
            rest = after.split_once('m').map_or("", |(_, rest)| rest);
        }
        stripped.push_str(rest);
        assert_eq!(stripped, campaign(&all, Style::default()), "{name}");
    }
}
