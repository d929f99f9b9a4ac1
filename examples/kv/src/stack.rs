//! A stack that clients share: Treiber's, with compare-and-set on a key-value store.
//!
//! A node is a key with its element and the number of the node below; `head` has the number of the top node. A new
//! node's number is the current size of the stack's storage, and nodes stay there after they have been popped. No
//! operation is a transaction as a whole: each read, write and compare-and-set is its own.

use skew_store::{Db, Error, Session};

use crate::{ATTEMPTS, RETRIED};

const HEAD: &str = "head";

/// The number below the lowest node, and that of the top of an empty stack.
const NOTHING: usize = 0;

/// Makes the stack, before anybody uses it.
pub fn create(db: &Db) {
    db.init(HEAD, NOTHING);
}

/// Puts an element on top.
pub fn push(session: &Session, element: i64) -> Result<(), Error> {
    let mut top = read_head(session)?;
    let node = create_node(session, element, top)?;
    while !replace_head(session, top, node)? {
        top = read_head(session)?;
        session.retry(ATTEMPTS, |t| t.write(&key(node), (element, top)))?;
    }
    Ok(())
}

/// Takes the top element, if there is one.
pub fn pop(session: &Session) -> Result<Option<i64>, Error> {
    loop {
        let top = read_head(session)?;
        if top == NOTHING {
            return Ok(None);
        }
        let (element, below): (i64, usize) = session.retry(ATTEMPTS, |t| t.read(&key(top)))?;
        if replace_head(session, top, below)? {
            return Ok(Some(element));
        }
    }
}

fn read_head(session: &Session) -> Result<usize, Error> {
    session.retry(ATTEMPTS, |t| t.read(HEAD))
}

fn replace_head(session: &Session, old: usize, new: usize) -> Result<bool, Error> {
    session.retry(ATTEMPTS, |t| t.compare_and_set(HEAD, old, new))
}

fn create_node(session: &Session, element: i64, below: usize) -> Result<usize, Error> {
    session.retry(ATTEMPTS, |t| {
        let node = 1 + t.scan::<(i64, usize)>("node ")?.len();
        t.write(&key(node), (element, below))?;
        Ok(node)
    })
}

fn key(node: usize) -> String {
    format!("node {node}")
}

/// An empty stack and three clients; each pushes an element of its own and pops twice. Returns what was popped.
pub fn workload(db: &Db) -> Vec<i64> {
    create(db);
    let client = |element: i64| {
        move |session: Session| {
            push(&session, element).expect(RETRIED);
            [pop(&session).expect(RETRIED), pop(&session).expect(RETRIED)]
        }
    };
    let clients = [db.spawn("one", client(1)), db.spawn("two", client(2)), db.spawn("three", client(3))];
    db.join_all();
    clients.into_iter().flat_map(|client| client.join()).flatten().collect()
}

/// An element that was popped more than once; each was pushed once.
///
/// In a serializable run a node's number is nobody else's, because taking it is one transaction and nodes stay. So a
/// node that was popped never comes to the top again, and whoever moved the head down from it alone has its element.
pub fn popped_twice(popped: &[i64]) -> Option<i64> {
    popped.iter().enumerate().find(|&(index, element)| popped[..index].contains(element)).map(|(_, &element)| element)
}

/// The test: each element is popped at most once.
pub fn no_element_is_popped_twice(db: Db) {
    let popped = workload(&db);
    assert_eq!(popped_twice(&popped), None, "popped twice");
}
