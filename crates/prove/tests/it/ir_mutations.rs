//! The comparison with executions notices mistakes in programs of the analysis language: each kind of mistake is made
//! everywhere in an application, and some execution has no explanation any more.

use skew_model::Level;
use skew_prove::ir::{Access, Application, Cell, Count, Function, Kind, May, Must, Program, Rows, Step, Value};
use skew_testing::Dice;

use crate::executions;
use crate::generate::{Generated, GeneratedProgram, calling, dense, generate, limited};
use crate::ir_claims::{Counted, compare, lowered};
use crate::load;
use crate::rich::rich;

/// A kind of mistake: how often it could be made.
type Mutation = (&'static str, fn(&mut Program) -> usize);

fn each_access(program: &mut Program, mut change: impl FnMut(&mut Access) -> bool) -> usize {
    program.accesses.iter_mut().map(|access| usize::from(change(access))).sum()
}

/// The same without one element.
fn without(cells: &May<Cell>, is_left_out: impl Fn(&Cell) -> bool) -> Option<May<Cell>> {
    let out = cells.iter().find(|cell| is_left_out(cell)).copied()?;
    Some(May::any(cells.iter().copied().filter(|cell| *cell != out)))
}

fn is_column(cell: &Cell) -> bool {
    matches!(cell, Cell::Column(_))
}

/// Every step of a block and of the blocks in it.
fn each_step(block: &mut Vec<Step>, change: &mut dyn FnMut(&mut Step) -> bool) -> usize {
    let mut count = 0;
    for step in block {
        count += usize::from(change(step));
        count += match step {
            Step::Statement(_, block) | Step::Loop(_, block) | Step::Within(_, block) => each_step(block, change),
            Step::If { then, otherwise, .. } => each_step(then, change) + each_step(otherwise, change),
            Step::Try { body, handlers, .. } => {
                let handled: usize = handlers.iter_mut().map(|handler| each_step(&mut handler.body, change)).sum();
                handled + each_step(body, change)
            }
            _ => 0,
        };
    }
    count
}

const MUTATIONS: &[Mutation] = &[
    ("a column that decides is forgotten", |program| {
        each_access(program, |access| match without(&access.may_decide, is_column) {
            Some(less) => {
                access.may_decide = less;
                true
            }
            None => false,
        })
    }),
    ("a column that is read is forgotten", |program| {
        each_access(program, |access| match without(&access.may_read, is_column) {
            Some(less) => {
                access.may_read = less;
                true
            }
            None => false,
        })
    }),
    ("a column that is written is forgotten", |program| {
        each_access(program, |access| match without(&access.may_write, is_column) {
            Some(less) => {
                access.may_write = less;
                true
            }
            None => false,
        })
    }),
    ("a row that goes is forgotten", |program| {
        each_access(program, |access| {
            let goes = access.kind == Kind::Delete;
            if goes {
                access.may_write = May::default();
            }
            goes
        })
    }),
    ("what is perhaps written is claimed to be written", |program| {
        each_access(program, |access| {
            let more = access.kind == Kind::Update && access.must_write.is_nothing();
            if more {
                access.must_write = Must::all(access.may_write.iter().copied());
            }
            more
        })
    }),
    ("a predicate loses what is not understood of it", |program| {
        each_access(program, |access| match &mut access.rows {
            Rows::Where { picked, .. } => picked.remainder.take().is_some(),
            _ => false,
        })
    }),
    ("a predicate is about another value", |program| {
        each_access(program, |access| match &mut access.rows {
            Rows::Where { picked, .. } => {
                picked.equal.iter_mut().for_each(|(_, value)| *value = Value::Constant("987654".into()));
                !picked.equal.is_empty()
            }
            _ => false,
        })
    }),
    ("a range is turned round", |program| {
        each_access(program, |access| match &mut access.rows {
            Rows::Where { picked, .. } => {
                let limits = picked.limits.iter_mut().flatten();
                limits
                    .map(|limit| {
                        limit.is = match limit.is {
                            Function::Less => Function::AtLeast,
                            Function::AtMost => Function::Greater,
                            Function::Greater => Function::AtMost,
                            Function::AtLeast => Function::Less,
                            Function::Equal => Function::Different,
                            _ => Function::Equal,
                        }
                    })
                    .count()
                    > 0
            }
            _ => false,
        })
    }),
    ("a written value is another one", |program| {
        each_access(program, |access| {
            access.values.iter_mut().for_each(|(_, value)| *value = Value::Constant("987654".into()));
            !access.values.is_empty()
        })
    }),
    ("a region is too small", |program| {
        each_access(program, |access| match &mut access.rows {
            Rows::Where { picked, region } => {
                let columns: Vec<usize> = picked.equal.iter().map(|(column, _)| *column).collect();
                let more = region.len() < columns.len();
                *region = columns;
                more
            }
            _ => false,
        })
    }),
    ("any number of rows is claimed to be one", |program| {
        each_access(program, |access| {
            let more = access.count == Count::Any && access.kind == Kind::Look;
            access.count = if more { Count::AtMostOne } else { access.count };
            more
        })
    }),
    ("a lock is too weak", |program| {
        each_access(program, |access| {
            let is_lock = matches!(access.kind, Kind::Lock(_));
            if is_lock {
                access.kind = Kind::Look;
            }
            is_lock
        })
    }),
    ("a look that is perhaps made is claimed to be made", |program| {
        each_step(&mut program.body, &mut |step| match step {
            Step::Loop(_, block) if block.iter().all(|step| matches!(step, Step::Access(_) | Step::Let(..))) => {
                let block = std::mem::take(block);
                // The accesses are no longer in the loop.
                *step = Step::Within(skew_prove::ir::Label(usize::MAX), block);
                true
            }
            _ => false,
        })
    }),
    ("a condition is turned round", |program| {
        each_step(&mut program.body, &mut |step| match step {
            Step::If { condition, .. } => {
                *condition = Value::Apply(Function::Not, vec![condition.clone()]);
                true
            }
            _ => false,
        })
    }),
    ("a loop ends", |program| {
        each_step(&mut program.body, &mut |step| match step {
            Step::Loop(_, block) => {
                block.clear();
                true
            }
            _ => false,
        })
    }),
    ("a handler is never reached", |program| {
        each_step(&mut program.body, &mut |step| match step {
            Step::Try { handlers, .. } => {
                handlers.clear();
                true
            }
            _ => false,
        })
    }),
    ("anything is nothing", |program| {
        each_step(&mut program.body, &mut |step| match step {
            Step::Havoc { tables, .. } => {
                *tables = May::default();
                true
            }
            _ => false,
        })
    }),
];

#[test]
fn every_kind_of_mistake_is_noticed() {
    for (name, mutate) in MUTATIONS {
        let made = [dense, generate, calling, limited, rich].into_iter().flat_map(|make| (0..20).map(make));
        let is_noticed = std::iter::once(dynamic()).chain(made).enumerate().any(|(at, generated)| {
            let (database, app) = load(&generated.text);
            let mut application = lowered(&database, &app);
            if mutations(&mut application, *mutate) == 0 {
                return false;
            }
            let mut dice = Dice(at as u64);
            (0..12).any(|round| {
                let client = executions::client(&generated, &mut dice);
                let level = if round % 2 == 0 { Level::Ser } else { Level::Mvrc };
                let executions = executions::random(&database, &app, &client, level, round);
                compare(&database, &application, &executions, &mut Counted::default()).is_err()
            })
        });
        assert!(is_noticed, "{name}, and every execution is explained all the same");
    }
}

/// An application whose program makes a command while it runs.
fn dynamic() -> Generated {
    let text = "CREATE TABLE a (id int PRIMARY KEY, v int); INSERT INTO a VALUES (1, 0), (2, 0);
        CREATE PROCEDURE f(p int) LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'UPDATE a SET v = 1 WHERE id = ' || p; END $$;";
    Generated { text: text.to_owned(), programs: vec![GeneratedProgram { name: "f", parameters: 1 }] }
}

fn mutations(application: &mut Application, mutate: fn(&mut Program) -> usize) -> usize {
    application.programs.iter_mut().map(mutate).sum()
}
