//! `skew test`, `skew merge` and `skew replay`: a shell script with psql as the test under test.
//!
//! The script's transactions follow one another, so that what happens depends on the seed alone.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::run::{Done, skew};

const SETUP: &str = "CREATE TABLE stock (id int PRIMARY KEY, n int NOT NULL);\nINSERT INTO stock VALUES (1, 2);\n";
const BUY: &str = "\
BEGIN;
SELECT n FROM stock WHERE id = 1 \\gset
UPDATE stock SET n = :n - 1 WHERE id = 1;
COMMIT;
";

/// A folder with the script of a shop: two buy, then the stock is counted.
pub(crate) struct Shop {
    folder: PathBuf,
}

impl Shop {
    pub(crate) fn new(name: &str) -> Shop {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("campaign-{name}"));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder for this test");
        let shop = Shop { folder };
        shop.write("setup.sql", SETUP);
        shop.write("buy.sql", BUY);
        let buy = format!("psql -qX -v ON_ERROR_STOP=1 -f '{}'", shop.path("buy.sql"));
        let count = "n=$(psql -qXAt -c 'SELECT n FROM stock WHERE id = 1')";
        shop.write("shop.sh", &format!("set -e\n{buy}\n{buy}\n{count}\necho \"left: $n\"\ntest \"$n\" = 0\n"));
        shop
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.folder.join(name).to_str().expect("a path in UTF-8").to_owned()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.folder.join(name), text).expect("the folder can be written");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.join(name)).expect("the file was written")
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).expect("JSON")
    }

    /// The arguments of `skew test` with this shop.
    pub(crate) fn arguments(&self, options: &[&str]) -> Vec<String> {
        let (setup, out, script) = (self.path("setup.sql"), self.path("out"), self.path("shop.sh"));
        let fixed = ["test", "--setup", &setup, "--out", &out];
        let all = fixed.into_iter().chain(options.iter().copied()).chain(["--", "sh", &script]);
        all.map(str::to_owned).collect()
    }

    pub(crate) fn test(&self, options: &[&str]) -> Done {
        let arguments = self.arguments(options);
        skew(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
    }
}

/// Whether there is a psql; if not, the test is skipped.
pub(crate) fn has_psql() -> bool {
    skew_testing::has("psql")
}

#[test]
fn a_test_that_passes_ends_with_0_and_writes_every_file() {
    if !has_psql() {
        return;
    }
    let shop = Shop::new("passes");
    let (json, junit, html) = (shop.path("all.json"), shop.path("all.xml"), shop.path("all.html"));
    let options =
        ["-i", "read-committed", "--seed", "1", "-n", "2", "--json", &json, "--junit", &junit, "--html", &html];
    // While one buys, another client looks: the one starts the other, so that they overlap on a busy machine, too.
    let look = "id = 1 FOR UPDATE \\gset\n\\! psql -qXAt -c 'SELECT n FROM stock'";
    shop.write("buy.sql", &BUY.replace("id = 1 \\gset", look));
    let buy = format!("psql -qX -v ON_ERROR_STOP=1 -f '{}'", shop.path("buy.sql"));
    let count = "n=$(psql -qXAt -c 'SELECT n FROM stock WHERE id = 1')";
    shop.write("shop.sh", &format!("set -e\n{buy}\n{count}\ntest \"$n\" = 1\n"));
    let done = shop.test(&options);
    assert_eq!(done.code, 0, "{}{}", done.out, done.err);
    assert!(done.out.contains("  covered: 6 transactions, "), "{}", done.out);
    assert!(done.out.starts_with("all 2 runs passed at READ COMMITTED (mvrc, recency commit) in "), "{}", done.out);
    let results = shop.json("all.json");
    assert_eq!(results["runs"].as_array().map(Vec::len), Some(2));
    assert_eq!(results["baseline"].as_array().map(Vec::len), Some(3));
    assert_eq!(results["failure"], Value::Null);
    assert_eq!(shop.read("all.xml").matches("<testcase").count(), 2);
    assert!(shop.read("all.html").contains("all 2 runs passed at READ COMMITTED (mvrc, recency commit)"));
    assert!(!Path::new(&shop.path("out")).exists(), "there is nothing to replay");
}

#[test]
fn runs_in_which_nothing_overlapped_are_no_proof() {
    if !has_psql() {
        return;
    }
    let done = Shop::new("serial").test(&["-i", "read-committed", "--seed", "1", "-n", "2"]);
    assert_eq!(done.code, 3, "{}{}", done.out, done.err);
    assert!(done.out.contains(", seed 1: no two transactions overlapped\n"), "{}", done.out);
    assert!(done.out.contains("  warning: nothing was tested, because no two transactions overlapped"), "{}", done.out);
}

#[test]
fn a_test_that_breaks_ends_with_1_is_explained_and_replays() {
    if !has_psql() {
        return;
    }
    let shop = Shop::new("breaks");
    let (json, html) = (shop.path("all.json"), shop.path("all.html"));
    let done =
        shop.test(&["-i", "cc", "--replicated", "--seed", "1", "-n", "10", "-x", "--json", &json, "--html", &html]);
    assert_eq!(done.code, 1, "{}{}", done.out, done.err);
    let failure = &shop.json("all.json")["failure"];
    let number = failure["run"]["number"].as_u64().expect("a number");
    let replay = shop.path(&format!("out/run-{number}.json"));
    assert_eq!(failure["replay"], replay.as_str());
    assert!(done.out.contains(&format!("     = replay  skew replay {replay}\n")), "{}", done.out);
    assert!(done.out.contains("an old version (it could have been "), "{}", done.out);
    assert!(done.out.contains("what the command printed:\n  | left: "), "{}", done.out);
    assert!(shop.read("all.html").contains(&format!("<code class=\"command\">skew replay {replay}</code>")));
    let again = skew(&["replay", &replay]);
    assert_eq!(again.code, 0, "the failure repeats: {}{}", again.out, again.err);
    assert!(again.out.contains("the command failed with exit code 1"), "{}", again.out);
    let other = skew(&["replay", &replay, "--", "sh", "-c", "psql -qXAt -c 'SELECT 1'"]);
    assert_eq!(other.code, 1, "it does not: {}{}", other.out, other.err);
    assert!(other.out.contains("this time the command passed"), "{}", other.out);
}

#[test]
fn only_the_old_version_that_matters_is_named() {
    if !has_psql() {
        return;
    }
    let shop = Shop::new("matters");
    shop.write(
        "setup.sql",
        "CREATE TABLE t (id int PRIMARY KEY, n int);\nINSERT INTO t VALUES (1, 0), (2, 0), (3, 0);\n",
    );
    let (writes, reads): (Vec<String>, Vec<String>) = (1..=3)
        .map(|id| {
            (format!(" -c 'UPDATE t SET n = 1 WHERE id = {id}'"), format!(" -c 'SELECT n FROM t WHERE id = {id}'"))
        })
        .unzip();
    let last = format!("n=$(psql -qXAt{} | tail -1)", reads.concat());
    shop.write("shop.sh", &format!("set -e\npsql -qX{}\n{last}\ntest \"$n\" = 1\n", writes.concat()));
    let json = shop.path("all.json");
    let done = shop.test(&["-i", "cc", "--replicated", "--seed", "3", "-n", "20", "-x", "--json", &json]);
    assert_eq!(done.code, 1, "{}{}", done.out, done.err);
    let failure = &shop.json("all.json")["failure"];
    assert_eq!(failure["stale_reads"], serde_json::json!({"found": 2, "needed": 1}), "{}", done.out);
    let statements = failure["statements"].as_array().expect("statements").iter();
    let is_stale =
        |one: &&Value| one["operations"].as_array().is_some_and(|all| all.iter().any(|op| op["stale"] == true));
    let stale: Vec<&str> = statements.filter(is_stale).filter_map(|one| one["sql"].as_str()).collect();
    assert_eq!(stale, ["SELECT n FROM t WHERE id = 3"]);
    assert_eq!(done.out.matches("an old version").count(), 1, "{}", done.out);
    assert!(done.out.contains("; 1 of 2 reads of"), "{}", done.out);
}

#[test]
fn shards_add_up_to_the_campaign() {
    if !has_psql() {
        return;
    }
    let shop = Shop::new("shards");
    let names = ["whole.json", "1.json", "2.json", "merged.json"].map(|name| shop.path(name));
    let [whole, first, second, merged] = &names;
    let common = ["-i", "cc", "--recency", "none", "--seed", "4", "-n", "4", "--repeats", "2"];
    for (file, shard) in [(whole, &[][..]), (first, &["--shard", "1/2"]), (second, &["--shard", "2/2"])] {
        let done = shop.test(&[&common[..], shard, &["--json", file]].concat());
        assert!(done.code < 2, "{}{}", done.out, done.err);
    }
    let done = skew(&["merge", second, first, "--json", merged, "--html", &shop.path("merged.html")]);
    let (one, many) = (shop.json("whole.json"), shop.json("merged.json"));
    let runs = |results: &Value| -> Vec<[Value; 4]> {
        let runs = results["runs"].as_array().expect("runs").iter();
        runs.map(|run| ["number", "seed", "outcome", "statements"].map(|name| run[name].clone())).collect()
    };
    assert_eq!(runs(&many), runs(&one));
    assert_eq!(many["failure"]["run"]["number"], one["failure"]["run"]["number"]);
    assert_eq!(many["shard"], Value::Null);
    let failed = runs(&one).iter().any(|run| run[2] != "passed");
    assert_eq!(done.code, i32::from(failed), "{}{}", done.out, done.err);
    assert!(shop.read("merged.html").contains("Runs that have to pass"));

    let twice = skew(&["merge", first, first]);
    assert_eq!(twice.code, 2);
    assert!(twice.err.ends_with("1.json: run 1 is in another file too\n"), "{}", twice.err);
    let missing = skew(&["merge", second]);
    assert!(missing.out.contains("  2 of 4 runs are missing\n"), "{}", missing.out);
    shop.write("other.json", &shop.read("2.json").replace("\"seed\": 4,", "\"seed\": 5,"));
    let other = skew(&["merge", first, &shop.path("other.json")]);
    assert_eq!(other.code, 2);
    assert!(other.err.contains("it is of another campaign: command, level, --seed and --runs must be the same"));
}

#[test]
fn ctrl_c_reports_what_there_is() {
    if !has_psql() {
        return;
    }
    let shop = Shop::new("interrupted");
    let (count, json) = (shop.path("count"), shop.path("some.json"));
    shop.write("shop.sh", &format!("psql -qXAt -c 'SELECT n FROM stock' >> '{count}'\n"));
    let child = Command::new(env!("CARGO_BIN_EXE_skew"))
        .args(shop.arguments(&["-i", "read-committed", "-n", "100000", "--json", &json]))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    // Three runs come before those that count.
    let started = Instant::now();
    while std::fs::read_to_string(&count).unwrap_or_default().lines().count() < 6 {
        assert!(started.elapsed() < Duration::from_secs(120), "the script does not run");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs").success());
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(
        text.contains(" passed at READ COMMITTED (mvrc, recency commit) in ")
            && text.contains(", stopped before the end"),
        "{text}"
    );
    let results = shop.json("some.json");
    assert_eq!(results["interrupted"], true);
    assert!(results["runs"].as_array().is_some_and(|runs| runs.len() >= 2), "{text}");
}

#[test]
fn a_command_that_cannot_be_tested_is_told_why() {
    let refused = |arguments: &[&str], expected: &str| {
        let done = skew(&[&["test", "-n", "1"], arguments].concat());
        assert_eq!(done.code, 2, "{arguments:?}: {}{}", done.out, done.err);
        assert!(done.err.contains(expected), "{arguments:?}: {}", done.err);
        assert_eq!(done.out, "");
    };
    refused(&["--", "no-such-command"], "skew: there is no command `no-such-command`: check its name and your PATH");
    refused(
        &["--", "true"],
        "`true` never connected to the database, so it talks to another one or to none: have it take the database's address from DATABASE_URL, or from PGHOST, \
         PGPORT, PGUSER and PGDATABASE",
    );
    refused(&["--json", "no/such/folder/x.json", "--", "true"], "skew: cannot write no/such/folder/x.json: ");
    refused(&["--html", "/", "--", "true"], "skew: cannot write /: ");
    refused(&["--setup", "no-such.sql", "--", "true"], "no-such.sql: ");
    refused(&["--shard", "3/2", "--", "true"], "a shard is a number and a count, as in 3/16");
    refused(&[], "<COMMAND>");
}

#[test]
fn a_test_that_fails_alone_or_hangs_is_not_weak_isolations_fault() {
    if !has_psql() {
        return;
    }
    let refused = |script: &str, options: &[&str], expected: &[&str]| {
        let done = skew(&[&["test", "-n", "1"], options, &["--", "sh", "-c", script]].concat());
        assert_eq!(done.code, 2, "{script}: {}{}", done.out, done.err);
        for words in expected {
            assert!(done.err.contains(words), "{script}: {}", done.err);
        }
    };
    refused(
        "psql -qXAt -c 'SELECT 7'; exit 3",
        &[],
        &[
            "the test failed with exit code 3 although every transaction runs alone",
            "what the command printed:\n  | 7\n",
        ],
    );
    refused(
        "psql -qX -c 'SELECT 7' > /dev/null; sleep 100",
        &["--timeout", "2"],
        &["the test did not end within 2 s although every transaction runs alone: give it longer with --timeout"],
    );
    refused(
        "psql -qX -v ON_ERROR_STOP=1 -c 'CREATE PUBLICATION p FOR ALL TABLES'",
        &[],
        &["  not supported, once: CREATE PUBLICATION"],
    );
}

#[test]
fn results_that_are_no_results_are_refused() {
    let shop = Shop::new("bad-results");
    shop.write("bad.json", "{\"skew\": \"campaign\", \"version\": 99}");
    let done = skew(&["merge", &shop.path("bad.json")]);
    assert_eq!(done.code, 2);
    assert!(
        done.err.ends_with("bad.json: version 99 of the format; this version of Skew reads version 1\n"),
        "{}",
        done.err
    );
    let done = skew(&["merge", &shop.path("none.json")]);
    assert_eq!(done.code, 2);
    assert!(done.err.contains("none.json: "), "{}", done.err);
    shop.write("run.json", "{\"skew\": \"run\", \"version\": 1}");
    let done = skew(&["replay", &shop.path("run.json")]);
    assert_eq!(done.code, 2);
    assert!(done.err.contains("run.json: `command` is not an array"), "{}", done.err);
}
