//! Verdicts made by hand: histories from text, explanations from a few words, as a checker would fill them in.
#![allow(dead_code, reason = "each test binary uses its part")]

use skew_model::{
    Anomaly, Cycle, Edge, EdgeKind, Explanation, Finding, FindingKind, History, Justification, Key, Level, Limit, OpId,
    OpKind, Outcome, Reason, Scope, TxnId, Verdict, Violation, history,
};
use skew_report::Report;

/// A history, its text, and the verdicts about it.
pub struct Sample {
    pub file: &'static str,
    pub text: &'static str,
    pub history: History,
    pub verdicts: Vec<Verdict>,
}

impl Sample {
    pub fn new(file: &'static str, text: &'static str) -> Sample {
        Sample { file, text, history: history!(text), verdicts: Vec::new() }
    }

    pub fn violated(mut self, levels: &[Level], violation: Violation) -> Sample {
        for level in levels {
            self.verdicts
                .push(Verdict { scope: Scope::Level(*level), outcome: Outcome::Violated(Box::new(violation.clone())) });
        }
        self
    }

    pub fn holds(mut self, levels: &[Level]) -> Sample {
        for level in levels {
            let order = self.history.txn_ids().collect();
            let outcome = Outcome::Holds(Justification::CommitOrder { order, verified: true });
            self.verdicts.push(Verdict { scope: Scope::Level(*level), outcome });
        }
        self
    }

    pub fn unknown(mut self, level: Level, limit: Limit) -> Sample {
        self.verdicts.push(Verdict { scope: Scope::Level(level), outcome: Outcome::Unknown(limit) });
        self
    }

    /// Calls `f` with the report, recorded lines and all.
    pub fn report<T>(&self, f: impl FnOnce(&Report) -> T) -> T {
        let line = |_: u16, line: u32| self.text.lines().nth(line as usize - 1).map(str::to_owned);
        f(&Report {
            file: self.file.to_owned(),
            command: format!("skew check {}", self.file),
            history: &self.history,
            verdicts: self.verdicts.clone(),
            source_line: &line,
            notes: Vec::new(),
            show_witness: false,
        })
    }
}

pub fn txn(history: &History, name: &str) -> TxnId {
    history.txn_ids().find(|id| history.txn_name(*id) == name).expect("a transaction of this name")
}

pub fn key(history: &History, name: &str) -> Key {
    (0..history.key_count() as u32).map(Key).find(|key| history.key_name(*key) == name).expect("a key of this name")
}

pub fn op(history: &History, txn_name: &str, text: &str) -> OpId {
    let ids = history.op_ids(txn(history, txn_name));
    ids.map(OpId).find(|op| history.op_text(*op) == text).expect("an operation of this text")
}

fn find(history: &History, txn_name: &str, kind: OpKind, key: Key) -> OpId {
    let wanted = |op: &OpId| history.op(*op).kind() == kind && history.op(*op).key() == key;
    history.op_ids(txn(history, txn_name)).map(OpId).find(wanted).expect("such an operation")
}

/// Edges of a history: `e.rw("t1", "x", "t2")`.
pub struct Edges<'a>(pub &'a History);

impl Edges<'_> {
    pub fn rw(&self, from: &str, on: &str, to: &str) -> Edge {
        self.rw_because(from, on, to, Vec::new())
    }

    pub fn rw_because(&self, from: &str, on: &str, to: &str, older: Vec<Edge>) -> Edge {
        let on = key(self.0, on);
        let (read, write) = (find(self.0, from, OpKind::Read, on), find(self.0, to, OpKind::Write, on));
        self.edge(from, to, EdgeKind::Rw(on), Reason::Overwrote { read, write, older })
    }

    pub fn wr(&self, from: &str, on: &str, to: &str) -> Edge {
        let on = key(self.0, on);
        let (write, read) = (find(self.0, from, OpKind::Write, on), find(self.0, to, OpKind::Read, on));
        self.edge(from, to, EdgeKind::Wr(on), Reason::Read { read, write })
    }

    pub fn ww_ignored(&self, from: &str, on: &str, to: &str, reader: &str, seen: Vec<Edge>) -> Edge {
        let on = key(self.0, on);
        let value = self.0.op(find(self.0, to, OpKind::Write, on)).value();
        let write = find(self.0, from, OpKind::Write, on);
        let reads = self.0.op_ids(txn(self.0, reader)).map(OpId);
        let read = reads.filter(|read| self.0.op(*read).key() == on).find(|read| self.0.op(*read).value() == value);
        let read = read.expect("the reader reads the version of `to`");
        self.edge(from, to, EdgeKind::Ww(on), Reason::Ignored { read, write, seen })
    }

    pub fn ww_supposed(&self, from: &str, on: &str, to: &str) -> Edge {
        self.edge(from, to, EdgeKind::Ww(key(self.0, on)), Reason::Supposed)
    }

    pub fn so(&self, from: &str, to: &str) -> Edge {
        self.edge(from, to, EdgeKind::So, Reason::Recorded)
    }

    fn edge(&self, from: &str, to: &str, kind: EdgeKind, reason: Reason) -> Edge {
        Edge { from: txn(self.0, from), to: txn(self.0, to), kind, reason }
    }
}

pub fn cycle(edges: Vec<Edge>) -> Explanation {
    Explanation::Cycle(Cycle { edges })
}

pub fn violation(
    anomaly: Anomaly,
    history: &History,
    explanation: Explanation,
    breaks: &[Level],
    satisfies: &[Level],
) -> Violation {
    Violation { anomaly, history: history.clone(), explanation, breaks: breaks.to_vec(), satisfies: satisfies.to_vec() }
}

pub const ON_CALL: &str = "\
# on-call.hist
init   x=0 y=0
alice  t1 @si   r x=0   w y=1
bob    t2 @si   r y=0   w x=1
";

pub fn write_skew() -> Sample {
    let sample = Sample::new("on-call.hist", ON_CALL);
    let e = Edges(&sample.history);
    let why = cycle(vec![e.rw("t1", "x", "t2"), e.rw("t2", "y", "t1")]);
    let v = violation(Anomaly::WriteSkew, &sample.history, why, &[Level::Ser], &[Level::Si]);
    sample.violated(&[Level::Ser], v).holds(&[Level::Si])
}

pub fn lost_update() -> Sample {
    let text = "init  x=0\nalice t1  r x=0  w x=1\nbob   t2  r x=0  w x=2\n";
    let sample = Sample::new("counter.hist", text);
    let e = Edges(&sample.history);
    let why = cycle(vec![e.rw("t1", "x", "t2"), e.rw("t2", "x", "t1")]);
    let v = violation(Anomaly::LostUpdate, &sample.history, why, &[Level::Psi, Level::Mvrc], &[Level::Pc]);
    sample.violated(&[Level::Ser, Level::Si, Level::Psi], v).holds(&[Level::Pc])
}

/// The same, explained by cases: under snapshot isolation neither order of the writers works.
pub fn lost_update_by_cases() -> Sample {
    let text = "init  x=0\nalice t1  r x=0  w x=1\nbob   t2  r x=0  w x=2\n";
    let sample = Sample::new("counter.hist", text);
    let e = Edges(&sample.history);
    let h = &sample.history;
    let why = Explanation::Cases {
        first: txn(h, "t1"),
        second: txn(h, "t2"),
        key: key(h, "x"),
        first_before_second: Box::new(cycle(vec![e.rw("t2", "x", "t1"), e.ww_supposed("t1", "x", "t2")])),
        second_before_first: Box::new(cycle(vec![e.rw("t1", "x", "t2"), e.ww_supposed("t2", "x", "t1")])),
    };
    let v = violation(Anomaly::LostUpdate, h, why, &[Level::Psi], &[Level::Pc]);
    sample.violated(&[Level::Si], v)
}

pub fn long_fork() -> Sample {
    let text = "init  x=0 y=0\nann   t1  w x=1\nbob   t2  w y=1\ncarol t3  r x=1  r y=0\ndave  t4  r y=1  r x=0\n";
    let sample = Sample::new("fork.hist", text);
    let e = Edges(&sample.history);
    let why = cycle(vec![e.rw("t3", "y", "t2"), e.wr("t2", "y", "t4"), e.rw("t4", "x", "t1"), e.wr("t1", "x", "t3")]);
    let v = violation(Anomaly::LongFork, &sample.history, why, &[Level::Pc], &[Level::Psi]);
    sample.violated(&[Level::Ser, Level::Si, Level::Pc], v).holds(&[Level::Psi])
}

/// t4 must see t3 (its session) and, through it, t2; yet it read x=1, which is older: t2 read it before it wrote x=2.
pub fn causality() -> Sample {
    let text = "\
init  x=0 y=0
ann   t1  w x=1
bob   t2  r x=1  w x=2  w y=1
carol t3  r y=1
carol t4  r x=1
";
    let sample = Sample::new("feed.hist", text);
    let e = Edges(&sample.history);
    let older = vec![e.wr("t1", "x", "t2")];
    let why = cycle(vec![e.rw_because("t4", "x", "t2", older), e.wr("t2", "y", "t3"), e.so("t3", "t4")]);
    let v = violation(Anomaly::NonMonotonicSession, &sample.history, why, &[Level::Cc], &[Level::Ra]);
    sample.violated(&[Level::Ser, Level::Si, Level::Cc], v).holds(&[Level::Ra])
}

/// The order of t1 and t2 on x follows from t3, which saw t1 and read t2's x; t4 then read x=1 after it had seen t2.
pub fn inferred_order() -> Sample {
    let text = "\
ann   t1  w x=1  w y=1
bob   t2  w x=2  w z=2
carol t3  r y=1  r x=2
dave  t4  r z=2  r x=1
";
    let sample = Sample::new("posts.hist", text);
    let e = Edges(&sample.history);
    let seen = vec![e.wr("t1", "y", "t3")];
    let older = vec![e.ww_ignored("t1", "x", "t2", "t3", seen)];
    let why = cycle(vec![e.rw_because("t4", "x", "t2", older), e.wr("t2", "z", "t4")]);
    let v = violation(Anomaly::FracturedRead, &sample.history, why, &[Level::Ra], &[Level::Rc]);
    sample.violated(&[Level::Ser, Level::Ra], v).holds(&[Level::Rc])
}

/// A cycle that has an inferred `ww` edge of its own.
pub fn inferred_edge() -> Sample {
    let text = "\
ann   t1  w x=1
bob   t2  w x=2
carol t3  r x=1  w z=1
dave  t4  r z=1  r x=2
erin  t5  r x=2  r x=1
";
    let sample = Sample::new("thread.hist", text);
    let e = Edges(&sample.history);
    let why = cycle(vec![
        e.ww_ignored("t2", "x", "t1", "t5", vec![e.wr("t2", "x", "t5")]),
        e.ww_ignored("t1", "x", "t2", "t4", vec![e.wr("t1", "x", "t3"), e.wr("t3", "z", "t4")]),
    ]);
    let v = violation(Anomaly::CausalityViolation, &sample.history, why, &[Level::Cc], &[]);
    sample.violated(&[Level::Cc], v)
}

pub fn thin_air() -> Sample {
    let text = "init  x=0\nalice t1  w x=1\nbob   t2  r x=5\n";
    let sample = Sample::new("odd.hist", text);
    let part = sample.history.select(|id| id == TxnId(1), |_| true);
    let why = Explanation::Finding(Finding {
        kind: FindingKind::ThinAirRead,
        op: Some(op(&part, "t2", "r x=5")),
        other: None,
    });
    let v = violation(Anomaly::ThinAirRead, &part, why, &[Level::Ru], &[]);
    sample.violated(&[Level::Ser, Level::Si, Level::Ru], v)
}

pub fn aborted_read() -> Sample {
    let text = "init  x=0\nalice t1 aborted  w x=1\nbob   t2  r x=1  w y=1\n";
    let sample = Sample::new("dirty.hist", text);
    let why = Explanation::Finding(Finding {
        kind: FindingKind::AbortedRead,
        op: Some(op(&sample.history, "t2", "r x=1")),
        other: Some(op(&sample.history, "t1", "w x=1")),
    });
    let v = violation(Anomaly::AbortedRead, &sample.history, why, &[Level::Rc], &[Level::Ru]);
    sample.violated(&[Level::Ser, Level::Rc], v)
}

pub fn samples() -> Vec<(&'static str, Sample)> {
    vec![
        ("write-skew", write_skew()),
        ("lost-update", lost_update()),
        ("lost-update-by-cases", lost_update_by_cases()),
        ("long-fork", long_fork()),
        ("causality", causality()),
        ("inferred-order", inferred_order()),
        ("inferred-edge", inferred_edge()),
        ("thin-air", thin_air()),
        ("aborted-read", aborted_read()),
        ("crowd", crowd()),
        ("hostile", hostile()),
    ]
}

/// Twelve transactions in four sessions, a cycle through all of them: the crowded end of what is drawn.
pub fn crowd() -> Sample {
    let text = "\
init  k0=0 k1=0 k2=0 k3=0 k4=0 k5=0 k6=0 k7=0 k8=0 k9=0 k10=0 k11=0
ann   t0   r k0=0   w k11=1
bob   t1   r k1=0   w k0=1
carol t2   r k2=0   w k1=1
dave  t3   r k3=0   w k2=1
ann   t4   r k4=0   w k3=1
bob   t5   r k5=0   w k4=1
carol t6   r k6=0   w k5=1
dave  t7   r k7=0   w k6=1
ann   t8   r k8=0   w k7=1
bob   t9   r k9=0   w k8=1
carol t10  r k10=0  w k9=1
dave  t11  r k11=0  w k10=1
";
    let sample = Sample::new("crowd.hist", text);
    let e = Edges(&sample.history);
    let edge = |i: usize| e.rw(&format!("t{i}"), &format!("k{i}"), &format!("t{}", (i + 1) % 12));
    let why = cycle((0..12).map(edge).collect());
    let v = violation(Anomaly::SerializationCycle, &sample.history, why, &[Level::Ser], &[Level::Si]);
    sample.violated(&[Level::Ser], v)
}

/// Names and values that would like to be markup, escape sequences, quotes and very long.
pub fn hostile() -> Sample {
    let text = "\
init  \"<b>&\"=0 y=0
\"</svg><script>\" \"t\\\"1\" r \"<b>&\"=0 w y=\"\u{1b}[31m]]>\"
bob   t2  r y=0  w \"<b>&\"=averyveryveryveryveryveryveryveryveryveryveryveryveryverylongvalue
";
    let sample = Sample::new("<img src=x onerror=alert(1)>.hist", text);
    let e = Edges(&sample.history);
    let why = cycle(vec![e.rw("t\"1", "<b>&", "t2"), e.rw("t2", "y", "t\"1")]);
    let v = violation(Anomaly::WriteSkew, &sample.history, why, &[Level::Ser], &[Level::Si]);
    sample.violated(&[Level::Ser], v)
}
