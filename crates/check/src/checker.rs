//! Histories to verdicts: decides, shrinks what is violated, explains and names it, and checks both kinds of answer a
//! second time before they are given.

use skew_model::{
    Explanation, Finding, History, Justification, Level, Limit, Outcome, Scope, TxnId, Verdict, Violation,
};

use crate::classify::{Standing, classify, rotate};
use crate::decide::{Decision, Limits, beyond, decide};
use crate::explain::{MAX_CASES, explain, is_sound};
use crate::facts::{Assumptions, Facts, INIT, Node};
use crate::shrink::{around_finding, shrink};
use crate::verify::order_is_valid;

/// What a check may assume and how hard it may try.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Session order and real time.
    pub assumptions: Assumptions,
    /// Limits on the search.
    pub limits: Limits,
    /// Re-verify every commit order, even where the engine that made it is exact. Off, only those that come from a
    /// guess or a search are, and small ones.
    pub verify: bool,
}

/// Below this many transactions every commit order is verified.
const ALWAYS_VERIFY: usize = 10_000;

/// Whether a history satisfies a level, with the reasons.
///
/// ```
/// use skew_check::check;
/// use skew_model::{Anomaly, Level, history};
///
/// let on_call = history!("
///     init  x=0 y=0
///     alice t1  r x=0  w y=1
///     bob   t2  r y=0  w x=1
/// ");
/// assert!(check(&on_call, Level::Si).holds());
/// let verdict = check(&on_call, Level::Ser);
/// assert_eq!(verdict.violation().map(|violation| violation.anomaly), Some(Anomaly::WriteSkew));
/// ```
pub fn check(history: &History, level: Level) -> Verdict {
    Checker::new(history, Options::default()).check(Scope::Level(level))
}

/// A history, resolved once and checked at any number of levels.
pub struct Checker<'h> {
    facts: Facts<'h>,
    options: Options,
}

impl<'h> Checker<'h> {
    /// Resolves the history.
    pub fn new(history: &'h History, options: Options) -> Self {
        Checker { facts: Facts::new(history, options.assumptions), options }
    }

    /// What the history says, resolved.
    pub fn facts(&self) -> &Facts<'h> {
        &self.facts
    }

    pub(crate) fn options(&self) -> Options {
        self.options
    }

    /// Whether a scope holds, without the reasons: `None` is unknown.
    pub fn holds(&self, scope: Scope) -> Option<bool> {
        if self.undeclared(scope).is_some() {
            return None;
        }
        match decide(&self.facts, scope, &self.options.limits) {
            Decision::Holds { order, verified } => match self.justify(scope, &order, verified) {
                Outcome::Holds(_) => Some(true),
                _ => None,
            },
            Decision::Finding(_) | Decision::Violated(_) => Some(false),
            Decision::Unknown(_) => None,
        }
    }

    /// Whether the order in which the history lists its transactions is a commit order that the scope admits. The answer is
    /// no where the history has findings or reads whose source is not known.
    pub fn holds_in_recorded_order(&self, scope: Scope) -> bool {
        let order: Vec<Node> = (0..self.facts.len() as Node).collect();
        self.undeclared(scope).is_none()
            && self.facts.findings.is_empty()
            && self.facts.ambiguous.is_empty()
            && order_is_valid(&self.facts, scope, &order)
    }

    /// The verdict on one scope.
    pub fn check(&self, scope: Scope) -> Verdict {
        let outcome = match self.undeclared(scope) {
            Some(txn) => Outcome::Unknown(Limit::NoDeclaredLevel(txn)),
            None => self.outcome(scope),
        };
        Verdict { scope, outcome }
    }

    /// The verdicts on all levels that make sense for the history, strongest first. What a stronger level implies is
    /// not decided again; `tell` hears of each level that is.
    pub fn ladder(&self, tell: impl Fn(Scope)) -> Vec<Verdict> {
        let mut known: Vec<Verdict> = Vec::new();
        // Cheap levels first: whatever breaks them breaks the rest. Then the strongest: if it holds, so do the rest.
        let mut order = vec![Level::Ru, Level::Ec, Level::Rc, Level::Ra, Level::Cc];
        if self.facts.history.has_times() {
            order.push(Level::Sser);
        }
        order.extend([Level::Ser, Level::Si, Level::Psi, Level::Pc, Level::Mvrc]);
        for &level in &order {
            let inferred = known.iter().find_map(|verdict| self.infer(verdict, level));
            known.push(inferred.unwrap_or_else(|| {
                tell(Scope::Level(level));
                self.check(Scope::Level(level))
            }));
        }
        // One violation has one name: what breaks a weaker level is shown for the stronger ones too.
        for at in (0..known.len()).rev() {
            let weaker = known.iter().filter(|weaker| weaker.violated()).find_map(|weaker| match known[at].scope {
                Scope::Level(level) => self.infer(weaker, level),
                Scope::Declared => None,
            });
            if known[at].violated() {
                known[at] = weaker.expect("a violated level is implied by itself");
            }
        }
        let strength = |verdict: &Verdict| match verdict.scope {
            Scope::Level(level) => level as usize,
            Scope::Declared => usize::MAX,
        };
        known.sort_by_key(|verdict| std::cmp::Reverse(strength(verdict)));
        known
    }

    fn undeclared(&self, scope: Scope) -> Option<TxnId> {
        let history = self.facts.history;
        let missing = |&&txn: &&TxnId| history.txn(txn).level.is_none();
        self.facts.txns[1..].iter().find(missing).copied().filter(|_| scope == Scope::Declared)
    }

    fn outcome(&self, scope: Scope) -> Outcome {
        match decide(&self.facts, scope, &self.options.limits) {
            Decision::Unknown(limit) => Outcome::Unknown(limit),
            Decision::Holds { order, verified } => self.justify(scope, &order, verified),
            Decision::Finding(finding) => Outcome::Violated(Box::new(self.found(&finding))),
            Decision::Violated(core) => {
                let part = shrink(&self.facts, scope, &core, &self.options.limits);
                match self.violation(part, scope) {
                    Some(violation) => Outcome::Violated(Box::new(violation)),
                    // What cannot be explained is not claimed.
                    None => Outcome::Unknown(match beyond(&self.facts, scope) {
                        Some(reason) => Limit::NoEngine(reason),
                        None => Limit::Conflicts(MAX_CASES.into()),
                    }),
                }
            }
        }
    }

    fn justify(&self, scope: Scope, order: &[Node], verified: bool) -> Outcome {
        let ambiguous = &self.facts.ambiguous;
        let orders_nothing = matches!(scope, Scope::Level(level) if !level.definition().committed_reads);
        if let Some(first) = ambiguous.first().filter(|_| !orders_nothing) {
            return Outcome::Unknown(Limit::AmbiguousReads { count: ambiguous.len(), first: first.clone() });
        }
        if orders_nothing {
            return Outcome::Holds(Justification::ReadsOnly);
        }
        let verify = !verified && (self.options.verify || order.len() < ALWAYS_VERIFY);
        if verify {
            assert!(
                order_is_valid(&self.facts, scope, order),
                "a commit order that is claimed satisfies the definition"
            );
        }
        let txns = order.iter().filter(|&&node| node != INIT).map(|&node| self.facts.txns[node as usize]);
        Outcome::Holds(Justification::CommitOrder { order: txns.collect(), verified: verified || verify })
    }

    /// A violation by one operation.
    fn found(&self, finding: &Finding) -> Violation {
        let (history, finding) = around_finding(self.facts.history, finding);
        let levels = Level::ladder().filter(|level| !level.is_strict() || history.has_times());
        let (broken, holds) = levels.partition(|&level| finding.kind.breaks(level));
        let standing = Standing { holds, broken };
        let anomaly = finding.kind.anomaly().expect("what breaks a level has a name");
        let (breaks, satisfies) = (standing.weakest_broken(), standing.strongest_held());
        Violation { anomaly, history, explanation: Explanation::Finding(finding), breaks, satisfies }
    }

    /// Explains and names the smallest part of a violation; `None` if that takes too many cases.
    fn violation(&self, part: History, scope: Scope) -> Option<Violation> {
        let facts = Facts::new(&part, self.options.assumptions);
        let standing = self.standing(&facts);
        let mut explanation = explain(&facts, scope)?;
        assert!(is_sound(&facts, scope, &explanation), "every edge of an explanation is in the history");
        let anomaly = classify(&facts, &standing, &explanation);
        rotate(&facts, anomaly, &mut explanation);
        let (breaks, satisfies) = (standing.weakest_broken(), standing.strongest_held());
        drop(facts);
        Some(Violation { anomaly, history: part, explanation, breaks, satisfies })
    }

    fn standing(&self, facts: &Facts) -> Standing {
        let mut standing = Standing { holds: Vec::new(), broken: Vec::new() };
        let timed = facts.history.has_times();
        for level in Level::ladder().filter(|level| !level.is_strict() || timed) {
            match decide(facts, Scope::Level(level), &self.options.limits) {
                Decision::Holds { .. } => standing.holds.push(level),
                Decision::Finding(_) | Decision::Violated(_) => standing.broken.push(level),
                Decision::Unknown(_) => {}
            }
        }
        standing
    }

    /// What a verdict on one level says about another.
    fn infer(&self, verdict: &Verdict, level: Level) -> Option<Verdict> {
        let Scope::Level(known) = verdict.scope else { return None };
        // With real time, `mvrc` looks at when statements began, which no other level does.
        let apart = self.options.assumptions.real_time && self.facts.history.has_statement_times();
        if apart && known != level && (known.looks_at_statements() || level.looks_at_statements()) {
            return None;
        }
        let follows = match verdict.outcome {
            Outcome::Holds(_) => known.implies(level),
            Outcome::Violated(_) => level.implies(known),
            Outcome::Unknown(_) => false,
        };
        follows.then(|| Verdict { scope: Scope::Level(level), outcome: verdict.outcome.clone() })
    }
}
