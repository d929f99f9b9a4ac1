//! The choice among several candidates that all fit.

use crate::catalog::Catalog;
use crate::functions::kinds;
use crate::functions::resolve::can_become;
use crate::functions::resolve::candidates::Candidate;
use crate::types::Type;

/// The best candidate, or none if there is no best one.
pub(super) fn select(mut candidates: Vec<Candidate>, args: &[Type], catalog: &Catalog) -> Option<Candidate> {
    let args: Vec<Type> = args.iter().map(|ty| kinds::base(*ty, catalog)).collect();
    keep_most(&mut candidates, &args, |given, declared| given == declared);
    if candidates.len() == 1 {
        return candidates.pop();
    }
    keep_most(&mut candidates, &args, |given, declared| {
        let alike = || kinds::category(given, catalog) == kinds::category(declared, catalog);
        given == declared || kinds::is_preferred(declared) && alike()
    });
    if candidates.len() == 1 {
        return candidates.pop();
    }
    if !args.contains(&Type::UNKNOWN) {
        return None;
    }
    keep_category(&mut candidates, &args, catalog);
    if candidates.len() == 1 {
        return candidates.pop();
    }
    by_known_type(candidates, &args, catalog)
}

/// Keeps those with the most known arguments that match.
fn keep_most(candidates: &mut Vec<Candidate>, args: &[Type], matches: impl Fn(Type, Type) -> bool) {
    let score = |candidate: &Candidate| {
        let pairs = args.iter().zip(&candidate.args);
        pairs.filter(|(given, declared)| **given != Type::UNKNOWN && matches(**given, **declared)).count()
    };
    let best = candidates.iter().map(score).max().unwrap_or(0);
    candidates.retain(|candidate| score(candidate) == best);
}

/// What the unknown arguments are taken to be: strings if any candidate takes a string there, else the category that
/// all candidates agree on; and the preferred type of the category if a candidate takes that.
fn keep_category(candidates: &mut Vec<Candidate>, args: &[Type], catalog: &Catalog) {
    let mut wanted: Vec<Option<(char, bool)>> = vec![None; args.len()];
    for (index, _) in args.iter().enumerate().filter(|(_, ty)| **ty == Type::UNKNOWN) {
        let declared: Vec<Type> = candidates.iter().map(|candidate| candidate.args[index]).collect();
        let Some(category) = agreed_category(&declared, catalog) else { return };
        let in_category = |ty: &&Type| kinds::category(**ty, catalog) == category;
        let preferred = declared.iter().filter(in_category).any(|ty| kinds::is_preferred(*ty));
        wanted[index] = Some((category, preferred));
    }
    let fits = |candidate: &Candidate| {
        candidate.args.iter().zip(&wanted).all(|(declared, wanted)| match wanted {
            None => true,
            Some((category, preferred)) => {
                kinds::category(*declared, catalog) == *category && (!preferred || kinds::is_preferred(*declared))
            }
        })
    };
    if candidates.iter().any(fits) {
        candidates.retain(fits);
    }
}

fn agreed_category(declared: &[Type], catalog: &Catalog) -> Option<char> {
    let categories: Vec<char> = declared.iter().map(|ty| kinds::category(*ty, catalog)).collect();
    if categories.contains(&'S') {
        return Some('S');
    }
    let first = *categories.first()?;
    categories.iter().all(|category| *category == first).then_some(first)
}

/// The last try: if all known arguments have one type, the unknown ones are taken to have it too.
fn by_known_type(candidates: Vec<Candidate>, args: &[Type], catalog: &Catalog) -> Option<Candidate> {
    let mut known = args.iter().filter(|ty| **ty != Type::UNKNOWN);
    let first = *known.next()?;
    if known.any(|ty| *ty != first) {
        return None;
    }
    let assumed = vec![first; args.len()];
    let mut fitting = candidates.into_iter().filter(|candidate| can_become(&assumed, &candidate.args, catalog));
    let only = fitting.next()?;
    fitting.next().is_none().then_some(only)
}
