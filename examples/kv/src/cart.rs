//! A shopping cart that its user fills from several browser windows.
//!
//! The cart is one key with the quantity of each item, as in Figure 1 of the paper.

use std::collections::BTreeMap;

use skew_store::{Db, Error, Session, Transaction, Value};

use crate::{ATTEMPTS, RETRIED};

/// What is in a cart: the quantity of each item.
pub type Cart = BTreeMap<String, i64>;

/// Puts one more of an item into the cart.
pub fn add(session: &Session, user: &str, item: &str) -> Result<(), Error> {
    session.retry(ATTEMPTS, |t| {
        let mut cart = read(t, user)?;
        *cart.entry(item.to_owned()).or_insert(0) += 1;
        write(t, user, cart)
    })
}

/// Takes an item out of the cart, however many there are.
pub fn remove(session: &Session, user: &str, item: &str) -> Result<(), Error> {
    session.retry(ATTEMPTS, |t| {
        let mut cart = read(t, user)?;
        cart.remove(item);
        write(t, user, cart)
    })
}

/// Changes the quantity of an item that is in the cart.
pub fn change_quantity(session: &Session, user: &str, item: &str, quantity: i64) -> Result<(), Error> {
    session.retry(ATTEMPTS, |t| {
        let mut cart = read(t, user)?;
        if let Some(present) = cart.get_mut(item) {
            *present = quantity;
            write(t, user, cart)?;
        }
        Ok(())
    })
}

/// What is in the cart.
pub fn view(session: &Session, user: &str) -> Result<Cart, Error> {
    session.retry(ATTEMPTS, |t| read(t, user))
}

/// Gives the user a cart with these items before anybody looks.
pub fn fill(db: &Db, user: &str, items: &[&str]) {
    db.init(&key(user), items.iter().map(|&item| (item, 1)).collect::<Value>());
}

fn read(t: &Transaction<'_>, user: &str) -> Result<Cart, Error> {
    let items: Option<Vec<(String, i64)>> = t.read(&key(user))?;
    Ok(items.unwrap_or_default().into_iter().collect())
}

fn write(t: &Transaction<'_>, user: &str, cart: Cart) -> Result<(), Error> {
    t.write(&key(user), cart.into_iter().collect::<Value>())
}

fn key(user: &str) -> String {
    format!("cart of {user}")
}

/// One user, one tea in the cart, three windows. In one she adds another tea and some milk, in one she removes the tea
/// and looks twice, in one she only looks. Returns what the last two have shown, each in order.
pub fn workload(db: &Db) -> Vec<Vec<Cart>> {
    fill(db, "ann", &["tea"]);
    db.spawn("adds", |session| {
        add(&session, "ann", "tea").expect(RETRIED);
        add(&session, "ann", "milk").expect(RETRIED);
        change_quantity(&session, "ann", "milk", 2).expect(RETRIED);
    });
    let removes = db.spawn("removes", |session| {
        remove(&session, "ann", "tea").expect(RETRIED);
        (0..2).map(|_| view(&session, "ann").expect(RETRIED)).collect()
    });
    let looks = db.spawn("looks", |session| (0..3).map(|_| view(&session, "ann").expect(RETRIED)).collect());
    db.join_all();
    vec![removes.join(), looks.join()]
}

/// Whether a window that had seen the cart without tea has shown two of them later.
///
/// When the first tea is gone, only the one that is added can be in the cart; so this cannot be in a serializable run.
pub fn came_back(windows: &[Vec<Cart>]) -> bool {
    windows.iter().any(|views| {
        let quantities = views.iter().map(|cart| cart.get("tea").copied().unwrap_or(0));
        quantities.skip_while(|&quantity| quantity > 0).any(|quantity| quantity > 1)
    })
}

/// The test: an item that was deleted stays away.
pub fn a_deleted_item_stays_away(db: Db) {
    let windows = workload(&db);
    assert!(!came_back(&windows), "the tea was gone, and then there were two");
}
