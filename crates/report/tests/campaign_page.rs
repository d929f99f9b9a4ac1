//! The page of a campaign and its JUnit XML, read back with somebody else's parser.
#[path = "common/campaigns.rs"]
mod campaigns;

use campaigns::{all, campaign, crowd, hostile, lost_update, many_failures, refused, run, statement, write_skew};
use roxmltree::{Document, Node, ParsingOptions};
use skew_model::campaign::{Campaign, FailureCause, RunOutcome};
use skew_report::{campaign_page, junit};

#[track_caller]
fn parse(text: &str) -> Document<'_> {
    match Document::parse_with_options(text, ParsingOptions { allow_dtd: true, ..Default::default() }) {
        Ok(document) => document,
        Err(error) => panic!("not well-formed: {error}\n{text}"),
    }
}

fn has_class(node: &Node, class: &str) -> bool {
    node.attribute("class").is_some_and(|classes| classes.split(' ').any(|one| one == class))
}

fn of_class<'a>(document: &'a Document, class: &'a str) -> impl Iterator<Item = Node<'a, 'a>> {
    document.descendants().filter(move |node| has_class(node, class))
}

/// The words of a node and of all within it.
fn words(node: Node) -> String {
    let texts: Vec<&str> = node.descendants().filter(Node::is_text).filter_map(|node| node.text()).collect();
    texts.concat().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn pages_are_well_formed_load_nothing_and_have_no_dead_links() {
    for (name, campaign) in all() {
        let page = campaign_page(&campaign);
        let document = parse(&page);
        let ids: Vec<&str> = document.descendants().filter_map(|node| node.attribute("id")).collect();
        let mut unique = ids.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), ids.len(), "{name}: an id is used twice");
        for node in document.descendants() {
            assert!(!node.has_attribute("src"), "{name} loads {:?}", node.attribute("src"));
            if let Some(link) = node.attribute("href") {
                let id = link.strip_prefix('#').unwrap_or_else(|| panic!("{name} leaves the page: {link}"));
                assert!(ids.contains(&id), "{name}: {link} leads nowhere");
            }
        }
    }
}

#[test]
fn the_cycle_can_be_read_without_the_script() {
    let page = campaign_page(&campaign(Some(lost_update())));
    let document = parse(&page);
    let steps = of_class(&document, "steps").next().expect("a list");
    let sentences: Vec<String> = steps.children().filter(Node::is_element).map(words).collect();
    assert_eq!(
        sentences,
        [
            "t4 comes before t5: t4 read stock[1].n=1, which the other one overwrote with stock[1].n=0 rw(stock[1].n) \
             from statement 3 to statement 6",
            "but t5 comes before t4: t5 read stock[1].n=1, which the other one overwrote with stock[1].n=0 \
             rw(stock[1].n) from statement 5 to statement 8",
        ]
    );
    let ends: Vec<String> = of_class(&document, "ends").map(words).collect();
    assert_eq!(ends.len(), 4);
    assert_eq!(ends[0], "1 rw(stock[1].n) before statement 6");
    assert_eq!(ends[2], "1 rw(stock[1].n) after statement 3");
}

#[test]
fn statements_stand_in_the_lanes_of_their_clients_in_time() {
    let page = campaign_page(&campaign(Some(lost_update())));
    let document = parse(&page);
    let clients: Vec<String> = of_class(&document, "client").map(words).collect();
    assert_eq!(clients, ["client 1", "client 2", "client 3"]);
    let heads: Vec<String> = of_class(&document, "who").map(words).collect();
    let expected = [
        "1 client 1 t3",
        "2 client 2 t4",
        "3 client 2 t4",
        "4 client 3 t5",
        "5 client 3 t5",
        "6 client 3 t5",
        "7 client 3 t5",
        "8 client 2 t4",
        "9 client 2 t4",
    ];
    assert_eq!(heads, expected, "BEGIN and COMMIT belong to the transaction between them");
    let places = |node: Node| node.attribute("style").map(str::to_owned).unwrap_or_default();
    let statements: Vec<String> = of_class(&document, "statement").map(places).collect();
    assert_eq!(statements[2], "--lane:2;--near:1;--row:7", "the second lane, the first of those that matter");
    assert_eq!(statements[4], "--lane:3;--near:2;--row:11");
    let frames: Vec<String> = of_class(&document, "txn").map(places).collect();
    let expected =
        ["--lane:1;--near:0;--row:3 / 4", "--lane:2;--near:1;--row:5 / 20", "--lane:3;--near:2;--row:9 / 16"];
    assert_eq!(frames, expected);
    let aside: Vec<String> =
        of_class(&document, "aside").filter(|node| has_class(node, "statement")).map(words).collect();
    assert_eq!(aside.len(), 1, "{aside:?}");
}

#[test]
fn a_stale_read_says_what_it_could_have_returned() {
    let page = campaign_page(&campaign(Some(write_skew())));
    let document = parse(&page);
    let stale: Vec<String> = of_class(&document, "guilty")
        .map(words)
        .filter(|words| words.starts_with('◆') && words.contains('◷'))
        .collect();
    assert_eq!(stale, ["◆ read doctors[ann].on_call = t ◷ an old version it could have been t or f, and was t"]);
}

#[test]
fn the_keyboard_reaches_every_statement_and_step() {
    let page = campaign_page(&campaign(Some(lost_update())));
    let document = parse(&page);
    assert!(of_class(&document, "statement").all(|node| node.attribute("tabindex") == Some("0")));
    let steps = of_class(&document, "steps").next().expect("a list");
    assert!(steps.children().filter(Node::is_element).all(|node| node.attribute("tabindex") == Some("0")));
    let skips = of_class(&document, "skip").next().expect("skip links");
    assert_eq!(words(skips), "Skip to why it failedSkip to the runs");
}

#[test]
fn runs_can_be_filtered() {
    let mut campaign = campaign(Some(lost_update()));
    campaign.runs[0].refusals = 2;
    campaign.runs[2].outcome = RunOutcome::TimedOut;
    let page = campaign_page(&campaign);
    let document = parse(&page);
    let runs = of_class(&document, "runs").next().expect("a section");
    let labels: Vec<String> = runs.descendants().filter(|node| node.has_tag_name("label")).map(words).collect();
    assert_eq!(labels, ["all (3)", "failed (2)", "passed (1)", "with refused transactions (1)"]);
    let rows: Vec<String> = runs.descendants().filter(|node| node.has_tag_name("tr")).skip(1).map(words).collect();
    assert_eq!(
        rows,
        [
            "1passed1012014 2".replace(' ', ""),
            "2failed, exit code 1, explained10220140".to_owned(),
            "3failed, did not end in time10320140".to_owned(),
        ]
    );
    let classes =
        |class: &str| runs.descendants().filter(|node| node.has_tag_name("tr") && has_class(node, class)).count();
    assert_eq!((classes("failed"), classes("passed"), classes("refused")), (2, 1, 1));
}

#[test]
fn every_failing_run_can_be_opened() {
    let page = campaign_page(&many_failures(60));
    let document = parse(&page);
    let failures: Vec<Node> = of_class(&document, "failure").collect();
    assert_eq!(failures.len(), 59, "the first one stands above");
    assert!(failures.iter().all(|node| node.has_tag_name("details") && !node.has_attribute("open")));
    assert!(failures.iter().all(|node| node.descendants().any(|inner| has_class(&inner, "statement"))));
    let causes: Vec<String> =
        of_class(&document, "cause").map(|node| words(node.first_child().expect("a head"))).collect();
    assert_eq!(causes.len(), 3, "{causes:?}");
    assert!(causes[0].starts_with("20 × ") && causes[2].starts_with("19 × "), "{causes:?}");
    let runs = of_class(&document, "runs").next().expect("a section");
    let links: Vec<&str> = runs.descendants().filter_map(|node| node.attribute("href")).collect();
    assert_eq!((links.len(), links[0], links[1]), (60, "#why", "#run-2"));
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
}

#[test]
fn a_statement_says_what_the_reader_sees_when_stepping() {
    let mut failure = lost_update();
    failure.statements[8].text = "ROLLBACK".to_owned();
    let page = campaign_page(&campaign(Some(failure)));
    let document = parse(&page);
    let statements: Vec<Node> = of_class(&document, "statement").collect();
    let data = |name: &str| -> Vec<&str> { statements.iter().filter_map(|node| node.attribute(name)).collect() };
    assert_eq!(data("data-client"), ["1", "2", "2", "3", "3", "3", "3", "2", "2"]);
    assert_eq!(data("data-txn"), ["t3", "t4", "t4", "t5", "t5", "t5", "t5", "t4", "t4"]);
    let ends = ["commit", "", "", "", "", "", "commit", "", "rollback"];
    assert_eq!(data("data-end"), ends, "a statement outside of BEGIN commits itself");
    let operations: Vec<(&str, &str, &str)> = statements[2]
        .descendants()
        .filter_map(|node| {
            Some((node.attribute("data-verb")?, node.attribute("data-key")?, node.attribute("data-value")?))
        })
        .collect();
    assert_eq!(operations, [("found", "stock[1]", ""), ("read", "stock[1].n", "1")]);
    assert_eq!(of_class(&document, "player").count(), 1);
}

#[test]
fn failing_runs_are_grouped_by_the_causes_of_the_campaign() {
    let mut campaign = many_failures(4);
    let cause = |words: &str, runs: &[u64]| FailureCause {
        words: words.to_owned(),
        runs: runs.to_vec(),
        ..FailureCause::default()
    };
    campaign.causes = vec![cause("lost update of stock.n", &[1, 2, 3]), cause("write skew on doctors", &[4])];
    let page = campaign_page(&campaign);
    let document = parse(&page);
    let heads: Vec<String> =
        of_class(&document, "cause").map(|node| words(node.first_child().expect("a head"))).collect();
    assert_eq!(heads, ["2 × lost update of stock.n", "1 × write skew on doctors"], "the first run stands above");
}

#[test]
fn a_statement_says_what_it_waited_for() {
    let mut failure = lost_update();
    failure.statements[7].waited_for = Some(3);
    let page = campaign_page(&campaign(Some(failure)));
    let document = parse(&page);
    let waits: Vec<String> = of_class(&document, "waited").map(words).collect();
    assert_eq!(waits, ["⧗ waited for the end of client 3's transaction"]);
}

#[test]
fn a_campaign_of_refusals_groups_them_too() {
    let mut campaign = campaign(Some(lost_update()));
    let mut other = refused();
    other.run = run(3, RunOutcome::Failed(1));
    campaign.other_failures = vec![other];
    let page = campaign_page(&campaign);
    let document = parse(&page);
    let heads: Vec<String> =
        of_class(&document, "cause").map(|node| words(node.first_child().expect("a head"))).collect();
    assert_eq!(
        heads,
        ["1 × the application did not expect that the database refuses statements of concurrent transactions"]
    );
}

#[test]
fn untrusted_text_stays_text() {
    let mut campaign = campaign(Some(hostile()));
    let mut other = hostile();
    other.run.number = 3;
    campaign.other_failures = vec![other];
    let page = campaign_page(&campaign);
    assert_eq!(page.matches("<script>").count(), 1, "only our own script");
    assert!(!page.contains("<img") && !page.contains("<i>") && !page.contains('\u{1b}') && !page.contains('\u{202e}'));
    let document = parse(&page);
    let sql: Vec<&str> = of_class(&document, "sql").filter_map(|node| node.text()).collect();
    assert_eq!(sql[2], "select '</pre><img src=x>' /* ? */\nfrom t");
}

#[test]
fn large_campaigns_stay_small_pages() {
    let mut large = lost_update();
    let others = (0..5000).map(|n| statement(4 + n % 50, &format!("u{n}"), "select 1", &["r x[1].n=1"]));
    large.statements.extend(others);
    large.statements[0].operations = (0..1000).map(|_| large.statements[0].operations[0].clone()).collect();
    large.output = "line\n".repeat(10_000);
    let mut campaign = campaign(Some(large));
    campaign.runs = (1..=20_000).map(|n| run(n, RunOutcome::Failed((n % 2) as i32))).collect();
    let page = campaign_page(&campaign);
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
    let document = parse(&page);
    let notes: Vec<String> = of_class(&document, "note").map(words).collect();
    assert_eq!(
        notes,
        [
            "300 of 5009 statements are drawn; --json has all of them.",
            "1000 of 20000 runs are listed, those that failed first; --json has all of them."
        ]
    );
    assert!(page.contains("… 9600 lines before") && page.contains("800 more: --json has all of them"));
    assert_eq!(of_class(&document, "client").count(), 12);
    assert_eq!(of_class(&document, "ends").count(), 4, "the statements of the cycle are drawn");
}

#[test]
fn junit_has_a_case_a_run_and_the_explanation_in_the_failed_one() {
    let mut campaign = campaign(Some(hostile()));
    campaign.command.push("<\"&'>\u{7}".to_owned());
    campaign.runs[2].outcome = RunOutcome::Killed(9);
    let text = junit(&campaign);
    let document = parse(&text);
    let suite = document.descendants().find(|node| node.has_tag_name("testsuite")).expect("a suite");
    assert_eq!(suite.attribute("name"), Some("pytest tests/ <\"&'>\u{fffd} at READ COMMITTED (mvrc)"));
    assert_eq!((suite.attribute("tests"), suite.attribute("failures")), (Some("3"), Some("2")));
    let cases: Vec<Node> = suite.children().filter(Node::is_element).collect();
    assert_eq!(cases.len(), 3);
    assert_eq!(cases[0].attribute("name"), Some("run 1 (seed 101)"));
    assert!(!cases[0].has_children());
    let failure = cases[1].children().find(|node| node.has_tag_name("failure")).expect("a failure");
    assert_eq!(failure.attribute("message"), Some("the command failed with exit code 1"));
    let explanation = failure.text().expect("words");
    assert!(explanation.contains("violated[lost-update]") && explanation.contains("| ?[31m</pre>"), "{explanation}");
    let killed = cases[2].children().find(|node| node.has_tag_name("failure")).expect("a failure");
    assert_eq!(killed.attribute("message"), Some("the command was killed by signal 9"));
    assert_eq!(killed.text().unwrap_or_default(), "", "only one run is explained");
    parse(&junit(&Campaign::default()));
}

#[test]
fn junit_says_the_cause_of_each_failing_run_first() {
    let mut campaign = campaign(Some(hostile()));
    let cause =
        |words: &str, runs: &[u64]| FailureCause { words: words.to_owned(), runs: runs.to_vec(), replays: Vec::new() };
    let message = |campaign: &Campaign| -> String {
        let text = junit(campaign);
        let document = parse(&text);
        let failure = document.descendants().find(|node| node.has_tag_name("failure")).expect("a failure");
        failure.attribute("message").unwrap_or_default().to_owned()
    };
    campaign.causes = vec![cause("lost update of stock.n", &[2, 3])];
    assert_eq!(message(&campaign), "lost update of stock.n (the command failed with exit code 1; 2 runs)");
    campaign.causes = vec![cause("lost update of stock.n", &[2]), cause("write skew of a.b", &[3])];
    assert_eq!(
        message(&campaign),
        "lost update of stock.n (the command failed with exit code 1; 1 × lost update of stock.n, 1 × write skew of a.b)"
    );
}

/// Writes the pages for people to look at: `cargo test -p skew-report -- --ignored`.
#[test]
#[ignore = "writes files"]
fn write_the_pages() {
    let dir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    for (name, campaign) in all().into_iter().chain([("sixty", many_failures(60)), ("crowd", crowd())]) {
        std::fs::write(dir.join(format!("campaign-{name}.html")), campaign_page(&campaign))
            .expect("a writable directory");
    }
}
