//! Random programs: two or three clients of an application, each with two to four of its operations. About half
//! of them look at something, and names are few: what clients cannot see of each other is not a state.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use skew_examples::courseware::Enrollment;
use skew_examples::twitter::Account;
use skew_examples::{cart, courseware, stack, twitter};
use skew_store::strategies::Dice;
use skew_store::{Db, Error, Session, Value};

/// An application of the examples.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Application {
    Stack,
    Courseware,
    Cart,
    Twitter,
}

impl Application {
    pub(crate) const ALL: [Application; 4] =
        [Application::Stack, Application::Courseware, Application::Cart, Application::Twitter];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Application::Stack => "stack",
            Application::Courseware => "courseware",
            Application::Cart => "cart",
            Application::Twitter => "twitter",
        }
    }

    fn set_up(self, db: &Db) {
        match self {
            Application::Stack => stack::create(db),
            Application::Courseware => courseware::open(db, &["ann", "bob"], &BTreeMap::from([("seminar", 1)])),
            Application::Cart => cart::fill(db, "ann", &["tea"]),
            Application::Twitter => twitter::introduce(db, "ann", &["bob"], &[]),
        }
    }

    /// A random operation; the number tells it from all others of the program.
    fn operation(self, dice: &mut Dice, number: i64) -> Operation {
        match self {
            Application::Stack => stack_operation(dice, number),
            Application::Courseware => courseware_operation(dice),
            Application::Cart => cart_operation(dice),
            Application::Twitter => twitter_operation(dice, number),
        }
    }
}

/// A client's operation, and what it returns.
type Operation = Arc<dyn Fn(&Session) -> Result<Value, Error> + Send + Sync>;

/// What the clients of a run have seen.
pub(crate) type State = Rc<RefCell<Vec<Value>>>;

/// A random program of an application.
pub(crate) struct Harness {
    pub(crate) application: Application,
    clients: Vec<Vec<Operation>>,
}

impl Harness {
    pub(crate) fn random(application: Application, dice: &mut Dice) -> Harness {
        let mut number = 0;
        let mut operation = |dice: &mut Dice| {
            number += 1;
            application.operation(dice, number)
        };
        let mut client = |dice: &mut Dice| (0..2 + dice.below(3)).map(|_| operation(dice)).collect();
        let clients = (0..2 + dice.below(2)).map(|_| client(dice)).collect();
        Harness { application, clients }
    }

    pub(crate) fn sessions(&self) -> usize {
        self.clients.len()
    }

    pub(crate) fn operations(&self) -> usize {
        self.clients.iter().map(Vec::len).sum()
    }

    /// The program; what the clients' operations return, client by client, is left in the state.
    pub(crate) fn program(&self) -> (impl Fn(Db) + Clone + 'static, State) {
        let state = State::default();
        let (seen, application, clients) = (state.clone(), self.application, self.clients.clone());
        let program = move |db: Db| {
            application.set_up(&db);
            let spawn = |client: &Vec<Operation>| {
                let client = client.clone();
                db.spawn("client", |session| perform(session, client))
            };
            let clients: Vec<_> = clients.iter().map(spawn).collect();
            db.join_all();
            *seen.borrow_mut() = clients.into_iter().flat_map(|client| client.join()).collect();
        };
        (program, state)
    }
}

fn perform(session: Session, client: Vec<Operation>) -> Vec<Value> {
    let returned = client.into_iter().map(|operation| operation(&session));
    returned.map(|value| value.unwrap_or_else(|error| panic!("{error}"))).collect()
}

fn operation(body: impl Fn(&Session) -> Result<Value, Error> + Send + Sync + 'static) -> Operation {
    Arc::new(body)
}

/// What an operation returns that only has an effect.
fn done(_: ()) -> Value {
    Value::from("done")
}

fn stack_operation(dice: &mut Dice, number: i64) -> Operation {
    match dice.below(2) {
        0 => operation(move |session| stack::push(session, number).map(done)),
        _ => operation(|session| Ok(stack::pop(session)?.map_or(Value::from("empty"), Value::from))),
    }
}

fn courseware_operation(dice: &mut Dice) -> Operation {
    let (student, course) = (["ann", "bob"][dice.below(2)], "seminar");
    match dice.below(8) {
        0 => operation(move |session| courseware::register_student(session, student).map(done)),
        1 => operation(move |session| courseware::deregister_student(session, student).map(done)),
        2 => operation(move |session| courseware::create_course(session, course, 1).map(done)),
        3 => operation(move |session| courseware::remove_course(session, course).map(done)),
        4 | 5 => operation(move |session| courseware::participants(session, course).map(Value::from)),
        _ => operation(move |session| courseware::enroll(session, student, course).map(enrollment)),
    }
}

fn enrollment(answer: Enrollment) -> Value {
    Value::from(match answer {
        Enrollment::Confirmed => "confirmed",
        Enrollment::Invalid => "invalid",
        Enrollment::Full => "full",
    })
}

fn cart_operation(dice: &mut Dice) -> Operation {
    let item = ["tea", "milk"][dice.below(2)];
    match dice.below(6) {
        0 => operation(move |session| cart::add(session, "ann", item).map(done)),
        1 => operation(move |session| cart::remove(session, "ann", item).map(done)),
        2 => operation(move |session| cart::change_quantity(session, "ann", item, 5).map(done)),
        _ => operation(|session| Ok(cart::view(session, "ann")?.into_iter().collect())),
    }
}

fn twitter_operation(dice: &mut Dice, number: i64) -> Operation {
    match dice.below(8) {
        0 => operation(|session| twitter::create_account(session, "ann").map(account)),
        1 => operation(|session| twitter::follow(session, "ann", "bob").map(done)),
        2 => operation(|session| twitter::unfollow(session, "ann", "bob").map(done)),
        3 | 4 => operation(move |session| twitter::tweet(session, "bob", number, &format!("tweet {number}")).map(done)),
        5 | 6 => operation(|session| twitter::newsfeed(session, "ann").map(Value::from)),
        _ => operation(|session| twitter::timeline(session, "bob").map(Value::from)),
    }
}

fn account(answer: Account) -> Value {
    Value::from(match answer {
        Account::Created => "created",
        Account::Taken => "taken",
    })
}
