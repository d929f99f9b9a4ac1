//! The checkout, in the way that everybody writes first and in four ways that are right.

use sqlx::{PgConnection, PgPool};

/// How an order is made.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Checkout {
    Naive,
    ForUpdate,
    OneUpdate,
    Unique,
    Serializable,
}

/// How it ended.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Sale {
    Sold,
    SoldOut,
}

/// "Try again" in PostgreSQL's words: could not serialize access, and deadlock detected.
const TRY_AGAIN: [&str; 2] = ["40001", "40P01"];
/// A key that somebody else has taken.
const DUPLICATE: &str = "23505";

impl Checkout {
    /// What the environment asks for.
    pub fn from_environment() -> Checkout {
        match std::env::var("SHOP_CHECKOUT").as_deref() {
            Err(_) | Ok("naive") => Checkout::Naive,
            Ok("for-update") => Checkout::ForUpdate,
            Ok("one-update") => Checkout::OneUpdate,
            Ok("unique") => Checkout::Unique,
            Ok("serializable") => Checkout::Serializable,
            Ok(other) => panic!("SHOP_CHECKOUT={other}: naive, for-update, one-update, unique or serializable"),
        }
    }

    /// Sells one item, and starts again as long as the database asks for it.
    pub async fn sell(self, pool: &PgPool, product: i32, customer: &str) -> sqlx::Result<Sale> {
        loop {
            match self.sell_once(pool, product, customer).await {
                Err(sqlx::Error::Database(error)) if self.may_try_again(error.code().as_deref()) => {}
                result => return result,
            }
        }
    }

    fn may_try_again(self, code: Option<&str>) -> bool {
        code.is_some_and(|code| TRY_AGAIN.contains(&code) || self == Checkout::Unique && code == DUPLICATE)
    }

    async fn sell_once(self, pool: &PgPool, product: i32, customer: &str) -> sqlx::Result<Sale> {
        let mut transaction = match self {
            Checkout::Serializable => pool.begin_with("BEGIN ISOLATION LEVEL SERIALIZABLE").await?,
            _ => pool.begin().await?,
        };
        let sale = match self {
            Checkout::Naive | Checkout::Serializable => look_and_take(&mut transaction, LOOK, product).await?,
            Checkout::ForUpdate => look_and_take(&mut transaction, LOOK_AND_LOCK, product).await?,
            Checkout::OneUpdate => take(&mut transaction, product).await?,
            Checkout::Unique => return number_the_items(transaction, product, customer).await,
        };
        if sale == Sale::Sold {
            let insert = sqlx::query("INSERT INTO orders (product, customer) VALUES ($1, $2)");
            insert.bind(product).bind(customer).execute(&mut *transaction).await?;
        }
        transaction.commit().await?;
        Ok(sale)
    }
}

const LOOK: &str = "SELECT stock FROM products WHERE id = $1";
const LOOK_AND_LOCK: &str = "SELECT stock FROM products WHERE id = $1 FOR UPDATE";

/// Reads the stock and writes what is left. Nobody else may come in between: the lock makes sure, or the level.
async fn look_and_take(transaction: &mut PgConnection, look: &'static str, product: i32) -> sqlx::Result<Sale> {
    let stock: i32 = sqlx::query_scalar(look).bind(product).fetch_one(&mut *transaction).await?;
    if stock == 0 {
        return Ok(Sale::SoldOut);
    }
    let update = sqlx::query("UPDATE products SET stock = $2 WHERE id = $1");
    update.bind(product).bind(stock - 1).execute(&mut *transaction).await?;
    Ok(Sale::Sold)
}

/// Looks and takes in one statement: the condition is evaluated on the row as it is when its lock is granted.
async fn take(transaction: &mut PgConnection, product: i32) -> sqlx::Result<Sale> {
    let update = sqlx::query("UPDATE products SET stock = stock - 1 WHERE id = $1 AND stock > 0");
    let taken = update.bind(product).execute(transaction).await?.rows_affected();
    Ok(if taken == 1 { Sale::Sold } else { Sale::SoldOut })
}

/// Sells item 1, item 2, … of a product: two customers who mean the same item meet at the unique key.
async fn number_the_items(
    mut transaction: sqlx::PgTransaction<'_>,
    product: i32,
    customer: &str,
) -> sqlx::Result<Sale> {
    let free = "SELECT (SELECT count(*) FROM orders WHERE product = id)::int + 1, stock FROM products WHERE id = $1";
    let (item, stock): (i32, i32) = sqlx::query_as(free).bind(product).fetch_one(&mut *transaction).await?;
    if item > stock {
        return Ok(Sale::SoldOut);
    }
    let insert = sqlx::query("INSERT INTO orders (product, customer, item) VALUES ($1, $2, $3)");
    insert.bind(product).bind(customer).bind(item).execute(&mut *transaction).await?;
    transaction.commit().await?;
    Ok(Sale::Sold)
}
