//! `skew robust` as its users run it.

use crate::run::{file, skew};

#[test]
fn a_robust_level_is_exit_code_0_and_another_one_1() {
    let robust = skew(&["robust", "examples/apps/auction.sql", "--level", "si"]);
    assert_eq!(robust.code, 0, "{}", robust.out);
    let not = skew(&["robust", "examples/apps/auction.sql", "--level", "cc"]);
    assert_eq!(not.code, 1, "{}", not.out);
    assert!(not.out.contains("cc    not robust  "), "{}", not.out);
    assert!(not.out.contains("= replay  skew explore examples/apps/auction.sql --client"), "{}", not.out);
}

#[test]
fn what_is_replayed_is_not_serializable() {
    let found = skew(&["robust", "examples/apps/smallbank.sql", "--level", "si"]);
    assert_eq!(found.code, 1, "{}", found.out);
    let replay = found.out.lines().find_map(|line| line.split_once("= replay  skew ")).expect("a command").1;
    let client = replay.split('"').nth(1).expect("a client in quotes");
    let explored = skew(&["explore", "examples/apps/smallbank.sql", "--client", client, "--level", "si", "--all"]);
    assert!(explored.out.contains("read-only-anomaly"), "{}", explored.out);
}

#[test]
fn a_program_that_is_marked_runs_serializably() {
    let marked = skew(&[
        "robust",
        "examples/apps/auction_surrogate.sql",
        "--level",
        "psi",
        "--sessions",
        "off",
        "--mark",
        "reg_user=ser",
        "--mark",
        "view_users=ser",
    ]);
    assert_eq!(marked.code, 0, "{}", marked.out);
    let wrong = skew(&["robust", "examples/apps/auction.sql", "--mark", "nobody=ser"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("there is no program nobody; there are reg_user, store_bid"), "{}", wrong.err);
}

#[test]
fn the_largest_robust_sets() {
    let sets = skew(&["robust", "examples/apps/auction.sql", "--level", "mvrc", "--subsets"]);
    let expected = "robust together at mvrc:\n  reg_user, view_item\n  view_item, view_users\n";
    assert!(sets.out.contains(expected), "{}", sets.out);
    let words = ["robust", "examples/apps/tpcc.sql", "--level", "mvrc", "--subsets", "--dependencies", "rows"];
    let rows = skew(&[&words[..], &["--sessions", "off", "--max-time", "0"]].concat());
    assert!(rows.out.contains("robust together at mvrc:\n  order_status, stock_level\n  new_order\n"), "{}", rows.out);
}

#[test]
fn programs_with_levels_of_their_own() {
    let done = skew(&["robust", "examples/apps/counter.sql", "--level", "mvrc"]);
    assert_eq!(done.code, 0, "{}", done.out);
    assert!(done.out.contains("note: increment always runs at si, read_views always runs at mvrc\n"), "{}", done.out);
}

#[test]
fn a_file_without_procedures() {
    let path = file("nothing.sql", b"CREATE TABLE t (a int)");
    let done = skew(&["robust", &path]);
    assert_eq!(done.code, 2);
    assert!(done.err.contains("has no procedures; a transaction is a CREATE PROCEDURE"), "{}", done.err);
}

#[test]
fn procedures_that_never_end_or_do_anything_are_named_and_do_not_hang() {
    let path = file(
        "odd.sql",
        b"CREATE TABLE t (a int PRIMARY KEY, b int NOT NULL);
          CREATE PROCEDURE forever() LANGUAGE plpgsql AS $$ BEGIN LOOP UPDATE t SET b = b + 1 WHERE a = 1; END LOOP; END $$;
          CREATE PROCEDURE again(n int) LANGUAGE plpgsql AS $$ BEGIN CALL again(n - 1); END $$;
          CREATE PROCEDURE made(what text) LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'DELETE FROM t WHERE a = ' || what; END $$;
          CREATE PROCEDURE nowhere() LANGUAGE plpgsql AS $$ BEGIN DELETE FROM missing; END $$;
          INSERT INTO t VALUES (1, 0)",
    );
    let done = skew(&["robust", &path, "--level", "si", "--max-time", "1"]);
    assert!(done.code == 1 || done.code == 3, "{}{}", done.out, done.err);
    for name in [
        "note: again, line 1: again calls itself, with values that are not told apart",
        "note: made, line 1: EXECUTE",
        "note: nowhere, line 1: `DELETE FROM missing`",
    ] {
        assert!(done.out.contains(name), "{}", done.out);
    }
}

/// A folder of this test's own, empty.
fn folder(name: &str) -> String {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    folder.to_str().expect("a path in UTF-8").to_owned()
}

#[test]
fn json_says_what_the_text_says() {
    let done = skew(&["robust", "examples/apps/smallbank.sql", "--level", "si", "--format", "json"]);
    assert_eq!(done.code, 1, "{}", done.err);
    let json: serde_json::Value = serde_json::from_str(&done.out).expect("JSON");
    assert_eq!((&json["skew"], &json["version"]), (&"robust".into(), &1.into()));
    let level = &json["levels"][0];
    assert_eq!((&level["level"], &level["verdict"]), (&"si".into(), &"not robust".into()));
    let run = &json["runs"][level["runs"][0].as_u64().expect("a number") as usize];
    assert_eq!(run["anomaly"], "read-only-anomaly");
    let edges = run["cycle"]["edges"].as_array().expect("edges");
    let rw = edges.iter().find(|edge| edge["kind"] == "rw" && edge["from"] == "balance").expect("an edge of balance");
    assert_eq!((&rw["to"], &rw["about"]), (&"write_check".into(), &"checking.balance".into()));
    assert_eq!(rw["statements"]["to"]["text"], "UPDATE checking SET balance = balance - v WHERE cust_id = cust");
    let meets = json["dependencies"].as_array().expect("dependencies");
    assert!(meets.iter().any(|one| one["from"] == "amalgamate" && one["to"] == "balance" && one["kind"] == "wr"));
}

#[test]
fn a_page_draws_programs_and_the_run() {
    let done = skew(&["robust", "examples/apps/smallbank.sql", "--level", "si", "--format", "html"]);
    assert_eq!(done.code, 1, "{}", done.err);
    let page = done.out.replace("<!DOCTYPE html>", "");
    let script = page.find("<script>").expect("a script")..page.find("</script>").expect("its end");
    let page = page.replacen(&page[script.clone()], "<script>", 1);
    let document = roxmltree::Document::parse(&page).expect("a page is well-formed XML");
    let of_class = |class: &str| {
        let has =
            |node: &roxmltree::Node| node.attribute("class").is_some_and(|all| all.split(' ').any(|one| one == class));
        document.descendants().filter(has).count()
    };
    assert_eq!(of_class("program"), 5, "a node a program");
    let thick = |node: &roxmltree::Node| {
        node.attribute("data-edge").is_some_and(|edge| edge.starts_with("g0-")) && node.has_tag_name("g")
    };
    let titles: Vec<String> = document
        .descendants()
        .filter(thick)
        .filter_map(|node| node.children().find(|child| child.has_tag_name("title"))?.text().map(str::to_owned))
        .collect();
    assert_eq!(titles.len(), 3, "{titles:?}");
    assert!(titles.iter().any(|title| title.contains("balance reads what write_check overwrites: checking.balance")));
    assert!(page.contains("transact_saving(&#39;ann&#39;, 1); balance(&#39;ann&#39;)"));
}

#[test]
fn a_saved_run_is_replayed_and_one_that_is_changed_is_refused() {
    let folder = folder("saved-runs");
    let done = skew(&["robust", "examples/apps/courseware.sql", "--level", "si", "--save", &folder]);
    let replay = done.out.lines().find_map(|line| line.split_once("= replay  skew replay ")).expect("a file").1;
    let again = skew(&["replay", replay]);
    assert_eq!(again.code, 0, "{}", again.err);
    assert!(again.out.contains("2 calls of examples/apps/courseware.sql at si, every read saw what it saw"));
    assert!(again.out.contains("violated[write-skew]"), "{}", again.out);
    let picture = std::fs::read_to_string(replay.replace(".json", ".svg")).expect("a picture");
    roxmltree::Document::parse(&picture).expect("well-formed XML");
    let text = std::fs::read_to_string(replay).expect("a file").replace("@si", "@ser");
    let changed = file("changed-run.json", text.as_bytes());
    let refused = skew(&["replay", &changed]);
    assert_eq!(refused.code, 1, "{}{}", refused.out, refused.err);
    assert!(refused.out.contains("no run of these calls comes out as the saved one"), "{}", refused.out);
}

#[test]
fn a_run_that_needs_rows_has_a_command_that_makes_them() {
    let path = file(
        "no-rows.sql",
        b"CREATE TABLE counter (id int PRIMARY KEY, n int NOT NULL);
          CREATE PROCEDURE count_up(which int) LANGUAGE plpgsql AS $$
          DECLARE was int;
          BEGIN
            SELECT n INTO was FROM counter WHERE id = which;
            UPDATE counter SET n = was + 1 WHERE id = which;
          END $$;",
    );
    let folder = folder("no-rows-runs");
    let done = skew(&["robust", &path, "--level", "mvrc"]);
    assert!(done.out.contains("= first   INSERT INTO counter"), "{}", done.out);
    let replay = done.out.lines().find_map(|line| line.split_once("= replay  skew ")).expect("a command").1;
    assert!(replay.contains(" --first \"INSERT INTO counter"), "{replay}");
    let again = std::process::Command::new("sh")
        .args(["-c", &format!("'{}' {replay} --all", env!("CARGO_BIN_EXE_skew"))])
        .output()
        .expect("a shell");
    assert!(String::from_utf8_lossy(&again.stdout).contains("lost-update"), "{again:?}");
    let saved = skew(&["robust", &path, "--level", "mvrc", "--save", &folder]);
    let replay = saved.out.lines().find_map(|line| line.split_once("= replay  skew replay ")).expect("a file").1;
    let again = skew(&["replay", replay]);
    assert!(again.out.contains("violated[lost-update]"), "{}{}", again.out, again.err);
}

#[test]
fn a_certificate_is_verified_and_one_of_another_application_is_not() {
    let certificate = file("auction.cert.json", b"");
    let robust = skew(&["robust", "examples/apps/auction.sql", "--level", "si", "--certificate", &certificate]);
    assert_eq!(robust.code, 0, "{}", robust.err);
    let alone = skew(&["certify", &certificate]);
    assert_eq!(alone.code, 0, "{}", alone.out);
    assert!(alone.out.contains("taken as it stands (--app examples/apps/auction.sql compares it)"), "{}", alone.out);
    let verified = skew(&["certify", &certificate, "--app", "examples/apps/auction.sql"]);
    assert_eq!(verified.code, 0, "{}", verified.out);
    assert!(verified.out.ends_with("auction.cert.json: every run is serializable at si\n"), "{}", verified.out);
    let other = skew(&["certify", &certificate, "--app", "examples/apps/withdraw.sql"]);
    assert_eq!(other.code, 1, "{}", other.out);
    assert!(other.out.contains("not verified: it is not about examples/apps/withdraw.sql"), "{}", other.out);
    let text = std::fs::read_to_string(&certificate).expect("a certificate");
    let changed = file("changed.cert.json", text.replacen("\"kind\":\"rw\"", "\"kind\":\"ww\"", 1).as_bytes());
    let refused = skew(&["certify", &changed]);
    assert_eq!(refused.code, 1, "{}", refused.out);
    let nothing = skew(&["certify", &file("no.cert.json", b"{}")]);
    assert_eq!(nothing.code, 2, "{}", nothing.out);
    assert!(nothing.err.contains("not a certificate: missing field"), "{}", nothing.err);
}

/// `skew robust` with a cache of its own.
fn with_cache(folder: &str, arguments: &[&str]) -> String {
    let done = std::process::Command::new(env!("CARGO_BIN_EXE_skew"))
        .arg("robust")
        .args(arguments)
        .env("XDG_CACHE_HOME", folder)
        .current_dir(crate::run::root())
        .output()
        .expect("the binary starts");
    String::from_utf8(done.stdout).expect("text")
}

const CACHED: &str = "note: answered before, and taken from the cache; --no-cache asks again\n";

#[test]
fn the_same_question_is_answered_from_the_cache() {
    let folder = folder("cache");
    let app =
        file("cached.sql", &std::fs::read(crate::run::root().join("examples/apps/withdraw.sql")).expect("a file"));
    let first = with_cache(&folder, &[&app]);
    assert!(!first.contains(CACHED), "{first}");
    let again = with_cache(&folder, &[&app]);
    assert_eq!(again.replace(CACHED, ""), first, "the same answer");
    assert!(again.contains(CACHED), "{again}");
    assert!(with_cache(&folder, &[&app, "--format", "json"]).contains("\"cached\": true"));
    assert_eq!(with_cache(&folder, &[&app, "--no-cache"]), first);
    assert!(!with_cache(&folder, &[&app, "--sessions", "off"]).contains(CACHED), "another question");
    file("cached.sql", b"CREATE TABLE t (a int); CREATE PROCEDURE p() LANGUAGE plpgsql AS $$ BEGIN NULL; END $$;");
    assert!(!with_cache(&folder, &[&app]).contains(CACHED), "another file");
}

#[test]
fn a_broken_entry_of_the_cache_is_as_if_it_was_not_there() {
    let folder = folder("broken-cache");
    let app = "examples/apps/withdraw.sql";
    let first = with_cache(&folder, &[app, "--level", "si"]);
    let entries: Vec<_> =
        std::fs::read_dir(std::path::Path::new(&folder).join("skew/robust")).expect("a cache").collect();
    assert_eq!(entries.len(), 1);
    let entry = entries[0].as_ref().expect("an entry").path();
    let whole = std::fs::read_to_string(&entry).expect("text");
    for broken in [&whole[..whole.len() / 2], "", "no JSON", &whole.replace("withdraw", "deposit")] {
        std::fs::write(&entry, broken).expect("it can be written");
        assert_eq!(with_cache(&folder, &[app, "--level", "si"]), first);
    }
    assert!(with_cache(&folder, &[app, "--level", "si"]).contains(CACHED), "it was written anew");
}

#[test]
fn what_cannot_be_read_is_named_with_its_place() {
    let table = "CREATE TABLE a (id int PRIMARY KEY, v int);\n";
    let deep = format!(
        "{table}CREATE PROCEDURE f(p int) LANGUAGE plpgsql AS $$\nBEGIN {} NULL; {} END $$;",
        "IF p > 0 THEN ".repeat(2_000),
        "END IF; ".repeat(2_000)
    );
    let body = "CREATE PROCEDURE f() LANGUAGE plpgsql AS $$\nBEGIN\n  UPDATE a SETT v = 1;\nEND $$;";
    let no_procedures = "has no procedures; a transaction is a CREATE PROCEDURE";
    let bad: [(&str, Vec<u8>, &str); 6] = [
        ("cut-off.sql", b"CREATE TABLE a (id int PRIMARY KEY".to_vec(), "cut-off.sql:1: syntax error at end of input"),
        ("body.sql", format!("{table}\n{body}").into_bytes(), "body.sql:3: syntax error at or near"),
        ("deep.sql", deep.into_bytes(), "deep.sql:2: stack depth limit exceeded"),
        ("robust-empty.sql", Vec::new(), no_procedures),
        ("only-tables.sql", table.as_bytes().to_vec(), no_procedures),
        ("binary.sql", (0..=255).collect(), "binary.sql: stream did not contain valid UTF-8"),
    ];
    for (name, bytes, message) in bad {
        let done = skew(&["robust", &file(name, &bytes), "--level", "si"]);
        assert_eq!(done.code, 2, "{name}: {}{}", done.out, done.err);
        assert!(done.err.contains(message), "{name}: {}", done.err);
    }
}

#[test]
fn what_is_not_understood_may_do_anything_and_is_named_with_its_line() {
    let procedure = |body: &str| {
        let table = "CREATE TABLE a (id int PRIMARY KEY, v int);\nINSERT INTO a VALUES (1, 1);\n";
        format!("{table}CREATE PROCEDURE f(n int) LANGUAGE plpgsql AS $$\nBEGIN\n  {body}\nEND $$;")
    };
    let bad = [
        (
            "unknown-table.sql",
            "UPDATE nothere SET v = 1;",
            "`UPDATE nothere SET v = 1`, where relation \"nothere\" does not exist, may read and",
        ),
        (
            "recursion.sql",
            "UPDATE a SET v = v + 1 WHERE id = n; CALL f(n - 1);",
            "note: f, line 3: a call of f may read and write any row of a",
        ),
        ("dynamic.sql", "EXECUTE 'UPDATE a SET v = ' || n;", "note: f, line 3: EXECUTE of a command that is made"),
    ];
    for (name, body, note) in bad {
        let path = file(name, procedure(body).as_bytes());
        let done = skew(&["robust", &path, "--level", "si", "--max-time", "1", "--engine", "graph"]);
        assert_ne!(done.code, 0, "{name}: {}", done.out);
        assert!(done.out.contains(note), "{name}: {}", done.out);
    }
}

#[test]
fn a_procedure_with_a_thousand_branches_may_do_anything() {
    let branch = |n: usize| format!("IF p = {n} THEN UPDATE t SET v = {n} WHERE id = {n}; END IF;\n");
    let body: String = (0..1_000).map(branch).collect();
    let text = format!(
        "CREATE TABLE t (id int PRIMARY KEY, v int);
        CREATE PROCEDURE f(p int) LANGUAGE plpgsql AS $$ BEGIN {body} END $$;"
    );
    let path = file("branches.sql", text.as_bytes());
    let done = skew(&["robust", &path, "--level", "si", "--max-time", "1", "--no-cache"]);
    assert!(done.out.contains("with more statements than can be told apart may read and write"), "{}", done.out);
    assert!(!done.out.contains("si    robust"), "{}", done.out);
}

const BANK: &[u8] = b"CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL);
    CREATE TABLE entry (account int, amount int, at timestamptz NOT NULL DEFAULT now());
    INSERT INTO account VALUES (1, 60), (2, 60);
    CREATE PROCEDURE withdraw(acct int, amount int) LANGUAGE plpgsql AS $$
    BEGIN
      IF (SELECT sum(balance) FROM account) >= amount THEN
        UPDATE account SET balance = balance - amount WHERE id = acct;
        INSERT INTO entry (account, amount) VALUES (acct, -amount);
      END IF;
    END $$;
    CREATE PROCEDURE deposit(acct int, amount int) LANGUAGE sql AS $$
      UPDATE account SET balance = balance + amount WHERE id = acct $$;";

#[test]
fn what_time_it_was_is_the_same_when_a_run_is_replayed() {
    let (app, runs) = (file("clock.sql", BANK), folder("clock"));
    let found = skew(&["robust", &app, "--level", "si", "--save", &runs, "--no-cache"]);
    assert_eq!(found.code, 1, "{}", found.out);
    let replay = found.out.lines().find_map(|line| line.trim().strip_prefix("= replay  skew replay ")).expect("a file");
    let saved = std::fs::read_to_string(replay).expect("it is there");
    assert!(saved.contains("2026-01-01 01:00:00"), "{saved}");
    let again = skew(&["replay", replay]);
    assert_eq!(again.code, 0, "{}{}", again.out, again.err);
}

#[test]
fn the_order_in_which_levels_are_asked_about_does_not_matter() {
    let app = file("order.sql", BANK);
    let ask = |levels: [&str; 2]| {
        skew(&["robust", &app, "--level", levels[0], "--level", levels[1], "--no-cache", "--engine", "graph"]).out
    };
    assert_eq!(ask(["si", "mvrc"]), ask(["mvrc", "si"]));
}

#[test]
fn a_command_that_replays_says_who_is_serializable_and_what_conflicts() {
    let app = file("marked.sql", BANK);
    let options = ["--mark", "deposit=ser", "--dependencies", "rows", "--level", "si", "--no-cache"];
    let found = skew(&[&["robust", &app][..], &options].concat());
    assert_eq!(found.code, 1, "{}", found.out);
    assert!(found.out.contains(" --mark 'deposit=ser' --granularity row --client "), "{}", found.out);
    assert!(found.out.contains("note: PostgreSQL's SERIALIZABLE protects less than `ser`"), "{}", found.out);
    let explored = skew(&["explore", &app, "--mark", "nobody=ser", "--client", "deposit(1, 1)"]);
    assert_eq!(explored.code, 2);
    assert!(explored.err.contains("there is no program nobody; there are deposit, withdraw"), "{}", explored.err);
}

#[test]
fn a_call_that_cannot_be_made_is_no_success() {
    let app = file("calls.sql", BANK);
    for (call, why) in [("nosuch(1)", "42883"), ("withdraw(1)", "42883"), ("SELECT 1 FROM nowhere", "42P01")] {
        let explored = skew(&["explore", &app, "--client", call, "--level", "si"]);
        assert_eq!(explored.code, 2, "{call}: {}", explored.out);
        assert!(explored.err.contains(why), "{call}: {}", explored.err);
    }
    let last = skew(&["explore", &app, "--client", "deposit(1, 1) | finally: SELECT 1 FROM nowhere", "--level", "si"]);
    assert_eq!(last.code, 2, "{}", last.out);
    let fails = skew(&["explore", &app, "--client", "SELECT 1 / 0", "--level", "si"]);
    assert_eq!(fails.code, 0, "{}", fails.err);
    assert!(fails.out.contains("note: in every run at a level, s1: SELECT 1 / 0: 22012"), "{}", fails.out);
}

#[test]
fn who_asks_for_a_certificate_and_gets_none_is_told() {
    let certificate = folder("none") + "/none.cert.json";
    let app = file("none.sql", BANK);
    let none = skew(&["robust", &app, "--level", "ser", "--certificate", &certificate]);
    assert_eq!(none.code, 3, "{}", none.out);
    assert!(none.err.contains("there is nothing to certify"), "{}", none.err);
}
