//! Histories to verdicts: which isolation levels a recorded history satisfies, and why not the others.
//!
//! In reading order:
//! - [`facts`]: the history resolved: who committed, who read from whom, what no order can explain
//! - [`oracle`]: the definition read literally, over all commit orders; every engine is tested against it
//! - `base`, `graph`: what every commit order respects, and graphs as flat arrays
//! - `static_edges`, `causal`: what `rc`, `ra`, `ec` and `cc` force, by counting and by clocks
//! - `events`, `reach`, `saturate`: the prefix levels, `psi` and mixtures as events in time, and what follows
//! - `schedule`, `choose`: a guess at a commit order, and a SAT solver for what is left
//! - `verify`: is this commit order good enough?
//! - `core`, `shrink`, `explain`, `classify`: the smallest violating part, why it violates, and its name
//! - [`checker`]: puts it all together

mod base;
mod causal;
pub mod checker;
mod choose;
mod classify;
mod core;
mod decide;
mod events;
mod explain;
pub mod facts;
mod graph;
pub mod oracle;
mod reach;
mod saturate;
mod schedule;
mod shrink;
mod static_edges;
mod values;
mod verify;
mod writers;

pub use checker::{Checker, Options, check};
pub use decide::Limits;
pub use facts::{Assumptions, Facts};

// AGREE
#[cfg(test)]
mod agreement {
    use super::*;
    use skew_model::*;
    use crate::decide::*;
    struct Rng(u64);
    impl Rng { fn next(&mut self)->u64{ self.0^=self.0<<13; self.0^=self.0>>7; self.0^=self.0<<17; self.0 } fn below(&mut self,n:u64)->u64{ (self.next()>>11)%n } }
    pub fn random_history(seed:u64, max_txns:u64)->History{
        let mut g=Rng(seed.wrapping_mul(0x9E3779B97F4A7C15)|1); for _ in 0..5{g.next();}
        let n=1+g.below(max_txns); let keys=1+g.below(3); let sess=1+g.below(n.min(4));
        let mut writes:Vec<Vec<i64>>=vec![vec![];keys as usize];
        // plan
        let mut plan=vec![]; let mut counter=1;
        for t in 0..n { let ops=1+g.below(4); let mut v=vec![]; for _ in 0..ops{ let k=g.below(keys); if g.below(2)==0 { v.push((true,k,counter)); writes[k as usize].push(counter); counter+=1;} else {v.push((false,k,0));} } plan.push((g.below(sess),v)); let _=t;}
        let mut b=HistoryBuilder::new(); b.init_elsewhere(0);
        let stmts=g.below(3)==0; let times=g.below(4)==0; let levels=[Level::Rc,Level::Ra,Level::Cc,Level::Pc,Level::Psi,Level::Si,Level::Ser,Level::Mvrc,Level::Ru,Level::Ec];
        for (i,(s,v)) in plan.iter().enumerate(){
            let sid=b.session(format!("s{s}")); let id=b.begin(sid,format!("t{i}"));
            b.level(id, levels[g.below(10) as usize]);
            if times { let x=g.below(12) as i64; b.span(id,x,x+g.below(4) as i64);}            
            let mut own:std::collections::HashMap<u64,i64>=Default::default();
            let mut first=true;
            for (w,k,val) in v { let key=b.key(format!("k{k}"));
                let val = if *w { own.insert(*k,*val); *val } else if let Some(o)=own.get(k) { *o } else { let c=&writes[*k as usize]; let x=g.below(c.len() as u64+1); if x==0 {0} else {c[x as usize-1]} };
                let v=b.names().int(val); let op=b.op(if *w {OpKind::Write} else {OpKind::Read},key,v);
                if stmts && !first && g.below(2)==0 { b.join(op); } else if stmts && times && g.below(2)==0 { b.statement_begin(op,g.below(14) as i64);}
                first=false;
            }
        }
        b.finish()
    }
    #[test] fn agrees(){
        let runs:u64=std::env::var("RUNS").ok().and_then(|v|v.parse().ok()).unwrap_or(20000);
        let mut counts=std::collections::BTreeMap::new();
        for seed in 1..=runs {
            let h=random_history(seed,5);
            for sessions in [true,false] { for real_time in [true,false] {
            let f=facts::Facts::new(&h,facts::Assumptions{sessions,real_time});
            if !f.findings.is_empty(){continue;}
            for scope in Level::ALL.into_iter().map(Scope::Level).chain([Scope::Declared]) {
                let expect=oracle::some_order_satisfies(&f,scope);
                let got=match decide(&f,scope,&Limits::default()){Decision::Holds(o)=>{ assert!(oracle::order_satisfies(&f,scope,&o),"bad order {o:?} seed {seed} {scope} {sessions} {real_time}\n{h}"); assert!(verify::order_is_valid(&f,scope,&o),"verify rejects seed {seed} {scope}\n{h}"); true},Decision::Violated(core)=>{
                   let set:std::collections::HashSet<_>=core.iter().map(|&n|f.txns[n as usize]).collect();
                   // sub-history keeps reads with sources in the core
                   let bad:std::collections::HashSet<u32>=f.all_reads().iter().filter(|r|r.source!=0&&!set.contains(&f.txns[r.source as usize])).map(|r|r.op).collect();
                   let part=h.select(|t|set.contains(&t),|op| !bad.contains(&op.0));
                   let pf=facts::Facts::new(&part,f.assumptions);
                   assert!(!oracle::some_order_satisfies(&pf,scope),"core not violating seed {seed} {scope} {sessions} {real_time}\n{h}\ncore\n{part}");
                   false},Decision::Finding(_)=>panic!(),Decision::Unknown(_)=>panic!("unknown")};
                *counts.entry((scope.to_string(),expect)).or_insert(0)+=1;
                assert_eq!(got,expect,"seed {seed} scope {scope} sessions {sessions} rt {real_time}\n{h}");
            }}}
        }
        println!("{counts:?}");
    }
}
#[cfg(test)]
mod full {
    use super::*; use skew_model::*;
    #[test] fn explains(){
        let runs:u64=std::env::var("RUNS").ok().and_then(|v|v.parse().ok()).unwrap_or(3000);
        let mut counts=std::collections::BTreeMap::new();
        for seed in 1..=runs { let h=agreement::random_history(seed,6);
            for sessions in [true,false] { let c=Checker::new(&h,Options{assumptions:Assumptions{sessions,real_time:false},..Default::default()});
            for v in c.ladder(|_|()).into_iter().chain([c.check(Scope::Declared)]) { if let Some(x)=v.violation(){ *counts.entry((x.anomaly.id(),v.scope.to_string())).or_insert(0)+=1;
               assert!(x.history.txns().len()<=h.txns().len()); if matches!(x.explanation,Explanation::Cases{..}) { *counts.entry(("cases",v.scope.to_string())).or_insert(0)+=1; if v.scope==Scope::Level(Level::Si)||v.scope==Scope::Level(Level::Ser) {println!("{}\n{}",v.scope,x.history);} } } }
        }}
        for (k,v) in counts { println!("{k:?} {v}"); }
    }
}
