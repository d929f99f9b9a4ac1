//! Pictures of random histories, judged by what is drawn: no label on a line, a crossing, a lane, a box or another label,
//! no arrow through a box or along another one, no text cut off.
mod common;
#[path = "common/geometry.rs"]
mod geometry;

use common::Edges;
use geometry::{Drawn, Point, Rect, Scene, scene};
use roxmltree::Document;
use skew_model::{Anomaly, Edge, Level, Violation, history};
use skew_report::svg;
use skew_testing::Dice;

/// Histories that are drawn; the failing one is named by its seed.
const HISTORIES: u64 = 400;

const NAMES: [&str; 6] = ["x", "stock", "konto", "在庫", "a_rather_long_table_name_of_an_application", "счёт"];
const VALUES: [&str; 4] = ["1", "42", "a_value_that_is_longer_than_the_others_by_far", "値"];

/// A cycle through some transactions of 2 to 8 sessions, and other operations around it.
fn random_violation(seed: u64) -> Violation {
    let mut dice = Dice(seed);
    let sessions = 2 + dice.roll(7);
    let txns = sessions + dice.roll(10);
    // Every session has a transaction, the others are anywhere.
    let session: Vec<usize> = (0..txns).map(|at| if at < sessions { at } else { dice.roll(sessions) }).collect();
    let mut ops: Vec<Vec<String>> = vec![Vec::new(); txns];
    let mut cycle: Vec<usize> = (0..txns).collect();
    for at in (1..txns).rev() {
        cycle.swap(at, dice.roll(at + 1));
    }
    cycle.truncate(2 + dice.roll(txns.min(8) - 1));
    let mut wanted = Vec::new();
    for (at, &from) in cycle.iter().enumerate() {
        let to = cycle[(at + 1) % cycle.len()];
        let key = format!("{}{at}", dice.pick(&NAMES));
        let value = dice.pick(&VALUES);
        let kind = if session[from] == session[to] && from < to { "so" } else { dice.pick(&["rw", "rw", "wr"]) };
        match kind {
            "rw" => {
                ops[from].push(format!("r {key}=0"));
                ops[to].push(format!("w {key}={value}"));
            }
            "wr" => {
                ops[from].push(format!("w {key}={value}"));
                ops[to].push(format!("r {key}={value}"));
            }
            _ => {}
        }
        wanted.push((kind, from, key, to));
    }
    // Reads that have nothing to do with the cycle, some of them many of one write.
    for at in 0..dice.roll(12) {
        let (from, to) = (dice.roll(txns), dice.roll(txns));
        let key = format!("k{}", at % 3);
        if from != to && at < 3 {
            ops[from].push(format!("w {key}=7"));
        }
        ops[to].push(if from == to { format!("r own{at}=0") } else { format!("r {key}=7") });
    }
    let mut text = String::new();
    for at in 0..txns {
        text.push_str(&format!("session{} t{at} {}\n", session[at], ops[at].join(" ")));
    }
    let history = history!(&text);
    let e = Edges(&history);
    let name = |at: usize| format!("t{at}");
    let edge = |(kind, from, key, to): &(&str, usize, String, usize)| -> Edge {
        match *kind {
            "rw" => e.rw(&name(*from), key, &name(*to)),
            "wr" => e.wr(&name(*from), key, &name(*to)),
            _ => e.so(&name(*from), &name(*to)),
        }
    };
    let mut edges: Vec<Edge> = wanted.iter().map(edge).collect();
    // Some edges have reasons: the arrows of a path that repeats others, drawn in grey.
    if dice.roll(2) == 0 {
        let older: Vec<Edge> = edges.iter().skip(1).cloned().collect();
        if let skew_model::Reason::Overwrote { older: path, .. } = &mut edges[0].reason {
            path.extend(older);
        }
    }
    let explanation = common::cycle(edges);
    common::violation(Anomaly::SerializationCycle, &history, explanation, &[Level::Ser], &[Level::Si])
}

/// What is wrong with a picture.
fn faults(scene: &Scene) -> Vec<String> {
    let mut faults = Vec::new();
    let labels: Vec<(usize, &Rect)> =
        scene.arrows.iter().enumerate().filter_map(|(at, arrow)| Some((at, arrow.label.as_ref()?))).collect();
    for (place, (at, label)) in labels.iter().enumerate() {
        let name = &scene.arrows[*at].name;
        for (other, rect) in &labels[place + 1..] {
            if label.meets(rect) {
                faults.push(format!("the labels of {name:?} and {:?} overlap", scene.arrows[*other].name));
            }
        }
        for (what, rects) in [("a box", &scene.boxes), ("a lane", &scene.lanes)] {
            if rects.iter().any(|rect| label.meets(rect)) {
                faults.push(format!("the label of {name:?} covers {what}"));
            }
        }
        for (other, arrow) in scene.arrows.iter().enumerate() {
            if other != *at && arrow.points.iter().any(|point| label.holds(*point)) {
                faults.push(format!("the label of {name:?} covers {:?}", arrow.name));
            }
        }
        let inside = scene.texts.iter().filter(|text| label.meets(text)).collect::<Vec<_>>();
        match inside.as_slice() {
            [own] if own.left >= label.left && own.right <= label.right => {}
            others => faults.push(format!("the label of {name:?} holds {others:?}")),
        }
    }
    for (at, a) in scene.boxes.iter().enumerate() {
        if scene.boxes[at + 1..].iter().any(|b| a.meets(b)) {
            faults.push(format!("{a:?} overlaps another box"));
        }
        let inner =
            Rect { left: a.left + 1.0, top: a.top + 1.0, right: a.right - 1.0, bottom: a.bottom - 1.0, ..a.clone() };
        for arrow in scene.arrows.iter().filter(|arrow| arrow.points.iter().any(|point| inner.holds(*point))) {
            faults.push(format!("{:?} runs through a box", arrow.name));
        }
        // A text that starts in a box ends in it.
        for text in scene.texts.iter().filter(|text| a.holds((text.left, (text.top + text.bottom) / 2.0))) {
            if text.right > a.right {
                faults.push(format!("{:?} leaves its box", text.what));
            }
        }
    }
    for text in scene.texts.iter().chain(&scene.boxes) {
        if text.left < 0.0 || text.top < 0.0 || text.right > scene.width || text.bottom > scene.height {
            faults.push(format!("{text:?} is cut off"));
        }
    }
    for (at, one) in scene.arrows.iter().enumerate() {
        for other in scene.arrows[at + 1..].iter().filter(|other| other.is_main || one.is_main) {
            let long = along(one, other);
            if long > 12.0 {
                faults.push(format!("{:?} and {:?} are one line for {long} pixels", one.name, other.name));
            }
        }
    }
    faults
}

/// How far two arrows run closer than a line's width apart.
fn along(one: &Drawn, other: &Drawn) -> f64 {
    let near = |a: &Point| other.points.iter().any(|b| (a.0 - b.0).abs() + (a.1 - b.1).abs() < 3.0);
    let pairs = one.points.windows(2).filter(|pair| pair.iter().all(near));
    pairs.map(|pair| (pair[0].0 - pair[1].0).abs() + (pair[0].1 - pair[1].1).abs()).sum()
}

#[track_caller]
fn judge(name: &str, picture: &str) {
    let document = Document::parse(picture).expect("well-formed");
    let faults = faults(&scene(&document));
    assert!(faults.is_empty(), "{name}: {}", faults.join("\n"));
}

#[test]
fn pictures_of_random_histories_hide_nothing() {
    for seed in 0..HISTORIES {
        judge(&format!("seed {seed}"), &svg(&random_violation(seed)));
    }
}

#[test]
fn pictures_of_known_anomalies_hide_nothing() {
    for (name, sample) in common::samples() {
        let violation = sample.verdicts.iter().find_map(|one| one.violation()).expect("every sample has a violation");
        judge(name, &svg(violation));
    }
}

#[test]
fn lanes_stand_in_the_order_of_sessions() {
    for seed in 0..HISTORIES {
        let picture = svg(&random_violation(seed));
        let names = scene(&Document::parse(&picture).expect("well-formed")).names;
        let mut sorted = names.clone();
        sorted.sort();
        assert_eq!(names, sorted, "seed {seed}");
    }
}

/// The oracle itself: a label that is moved onto another arrow is a fault.
#[test]
fn a_label_that_is_moved_is_noticed() {
    let sample = common::long_fork();
    let picture = svg(sample.verdicts[0].violation().expect("a violation"));
    let document = Document::parse(&picture).expect("well-formed");
    let mut scene = scene(&document);
    assert!(faults(&scene).is_empty());
    let (x, y) = scene.arrows[0].points[scene.arrows[0].points.len() / 2];
    let label = scene.arrows[1].label.as_mut().expect("a label");
    (label.left, label.right, label.top, label.bottom) = (x - 20.0, x + 20.0, y - 9.0, y + 9.0);
    assert!(!faults(&scene).is_empty());
}

/// Writes pictures for people to look at: `cargo test -p skew-report -- --ignored`.
#[test]
#[ignore = "writes files"]
fn write_random_pictures() {
    let dir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    for seed in 0..12 {
        let picture = svg(&random_violation(seed));
        std::fs::write(dir.join(format!("random-{seed}.svg")), picture).expect("a writable directory");
    }
}
