//! Pages in a real browser: what the script draws and what the slider shows. Skipped where there is no chromium.
#[path = "common/campaigns.rs"]
mod campaigns;

use std::path::{Path, PathBuf};
use std::process::Command;

use campaigns::{campaign, crowd, hostile, lost_update, many_failures, write_skew};
use skew_model::campaign::Campaign;
use skew_report::campaign_page;

/// Collects what is wrong with the arrows that the script drew, and texts that leave the page.
const ORACLE: &str = include_str!("common/oracle.js");

fn browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    std::env::split_paths(&path).flat_map(|dir| names.map(|name| dir.join(name))).find(|file| file.is_file())
}

/// Opens a page, runs a script in it, and returns the text that the script left in the element `result`.
#[track_caller]
fn ask(browser: &Path, name: &str, page: &str, width: usize, script: &str) -> String {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("browser-{name}-{width}"));
    std::fs::create_dir_all(&dir).expect("a writable directory");
    let run = format!(
        "<script>window.addEventListener('load', function () {{ setTimeout(function () {{ var answer; try {{ answer = \
         {script}; }} catch (error) {{ answer = String(error); }} var p = document.createElement('p'); p.id = 'result'; \
         p.textContent = answer; document.body.appendChild(p); }}, 100); }});</script></body>"
    );
    let file = dir.join("page.html");
    std::fs::write(&file, page.replace("</body>", &run)).expect("a writable directory");
    let done = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=3000", "--dump-dom"])
        .arg(format!("--window-size={width},1000"))
        .arg(format!("--user-data-dir={}", dir.join("profile").display()))
        .arg(&file)
        .output()
        .expect("the browser starts");
    let dom = String::from_utf8_lossy(&done.stdout).into_owned();
    let answer = dom.split("<p id=\"result\">").nth(1).and_then(|rest| rest.split("</p>").next());
    let answer = answer.unwrap_or_else(|| panic!("{name}: no answer; {}", String::from_utf8_lossy(&done.stderr)));
    std::fs::remove_dir_all(&dir).expect("the directory is ours");
    answer.to_owned()
}

#[test]
fn arrows_between_lanes_hide_nothing() {
    let Some(browser) = browser() else { return eprintln!("skipped: there is no chromium") };
    let pages: [(&str, Campaign); 5] = [
        ("lost-update", campaign(Some(lost_update()))),
        ("write-skew", campaign(Some(write_skew()))),
        ("hostile", campaign(Some(hostile()))),
        ("many", many_failures(9)),
        ("crowd", crowd()),
    ];
    for (name, campaign) in pages {
        for width in [600, 1280] {
            let faults = ask(&browser, name, &campaign_page(&campaign), width, ORACLE);
            assert_eq!(faults, "", "{name} at {width} pixels");
        }
    }
}

#[test]
fn the_slider_shows_what_each_client_has_seen() {
    let Some(browser) = browser() else { return eprintln!("skipped: there is no chromium") };
    let script = "(function () { var out = [], back = document.querySelector('.player .back'); function tell() { out.push(\
                  document.querySelector('.player output').textContent); Array.prototype.forEach.call(\
                  document.querySelectorAll('.seen tbody tr'), function (row) { out.push(Array.prototype.map.call(\
                  row.children, function (cell) { return cell.textContent; }).join(' | ')); }); } tell(); \
                  back.click(); back.click(); tell(); back.click(); tell(); return out.join('\\n'); }())";
    let page = campaign_page(&campaign(Some(lost_update())));
    let expected = "\
all 9 statements
client 1 | t3 committed | stock[1].n = 1wrotenow 0
client 2 | t4 committed | stock[1].n = 0wrote
client 3 | t5 committed | stock[1].n = 0wrote
7 of 9: statement 7 of client 3
client 1 | t3 committed | stock[1].n = 1wrotenow 0
client 2 | in t4 | stock[1].n = 1now 0
client 3 | t5 committed | stock[1].n = 0wrote
6 of 9: statement 6 of client 3
client 1 | t3 committed | stock[1].n = 1wrote
client 2 | in t4 | stock[1].n = 1
client 3 | in t5 | stock[1].n = 0wrote, not committed";
    assert_eq!(ask(&browser, "slider", &page, 1280, script), expected);
}

#[test]
fn failing_runs_are_found_by_words() {
    let Some(browser) = browser() else { return eprintln!("skipped: there is no chromium") };
    let script = "(function () { var find = document.querySelector('.find input'), out = []; ['', 'doctors', 'oversold by 3', \
                  'nowhere'].forEach(function (words) { find.value = words; find.dispatchEvent(new Event('input')); \
                  out.push(document.querySelector('.filters output').textContent + ', ' + \
                  document.querySelectorAll('.cause:not([hidden])').length); }); return out.join('\\n'); }())";
    let found = ask(&browser, "find", &campaign_page(&many_failures(9)), 1280, script);
    assert_eq!(found, "8 failing runs, 3\n3 of 8 failing runs, 1\n1 of 8 failing runs, 1\n0 of 8 failing runs, 0");
}
