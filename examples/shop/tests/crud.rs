//! One thing after the other, over a pool of ten connections: nothing weak can happen here, at any level where a
//! transaction sees what was committed before it began. A hundred statements.

use shop::SCHEMA;
use sqlx::postgres::PgPoolOptions;
use sqlx::{PgPool, Row};

#[tokio::test]
async fn what_was_written_is_read() {
    let pool = pool().await;
    sqlx::raw_sql(SCHEMA).execute(&pool).await.unwrap();
    for product in 2..=6 {
        create(&pool, product).await;
        rename(&pool, product).await;
        order(&pool, product).await;
        cancel(&pool, product).await;
        remove(&pool, product).await;
    }
    let left: i64 = scalar(&pool, "SELECT count(*) FROM products").await;
    assert_eq!(left, 1);
}

/// Ten connections, all of which are open and take turns.
async fn pool() -> PgPool {
    let url = std::env::var("DATABASE_URL").expect("DATABASE_URL is where the database is");
    let pool = PgPoolOptions::new().min_connections(10).max_connections(10).connect(&url).await.unwrap();
    let mut all = Vec::new();
    for _ in 0..10 {
        all.push(pool.acquire().await.unwrap());
    }
    pool
}

async fn scalar(pool: &PgPool, query: &str) -> i64 {
    sqlx::query_scalar(query).fetch_one(pool).await.unwrap()
}

async fn create(pool: &PgPool, product: i32) {
    let insert = sqlx::query("INSERT INTO products VALUES ($1, $2, $3)");
    insert.bind(product).bind(format!("plate {product}")).bind(10).execute(pool).await.unwrap();
    let again = sqlx::query("INSERT INTO products VALUES ($1, 'again', 0)").bind(product).execute(pool).await;
    let code = again.unwrap_err().into_database_error().and_then(|error| error.code().map(|code| code.into_owned()));
    assert_eq!(code.as_deref(), Some("23505"));
    let row =
        sqlx::query("SELECT name, stock FROM products WHERE id = $1").bind(product).fetch_one(pool).await.unwrap();
    assert_eq!((row.get("name"), row.get("stock")), (format!("plate {product}"), 10));
}

async fn rename(pool: &PgPool, product: i32) {
    let mut transaction = pool.begin().await.unwrap();
    let update = sqlx::query("UPDATE products SET name = upper(name) WHERE id = $1");
    assert_eq!(update.bind(product).execute(&mut *transaction).await.unwrap().rows_affected(), 1);
    transaction.commit().await.unwrap();
    let names = sqlx::query_scalar::<_, String>("SELECT name FROM products WHERE name LIKE 'PLATE%' ORDER BY id");
    assert_eq!(names.fetch_all(pool).await.unwrap(), [format!("PLATE {product}")]);
}

async fn order(pool: &PgPool, product: i32) {
    let mut transaction = pool.begin().await.unwrap();
    let insert = sqlx::query_scalar::<_, i32>("INSERT INTO orders (product, customer) VALUES ($1, 'ada') RETURNING id");
    let id = insert.bind(product).fetch_one(&mut *transaction).await.unwrap();
    sqlx::query("UPDATE products SET stock = stock - 1 WHERE id = $1")
        .bind(product)
        .execute(&mut *transaction)
        .await
        .unwrap();
    transaction.commit().await.unwrap();
    let join = "SELECT name, stock FROM orders JOIN products ON product = products.id WHERE orders.id = $1";
    let row = sqlx::query(join).bind(id).fetch_one(pool).await.unwrap();
    assert_eq!((row.get("name"), row.get("stock")), (format!("PLATE {product}"), 9));
}

async fn cancel(pool: &PgPool, product: i32) {
    let mut transaction = pool.begin().await.unwrap();
    let delete = sqlx::query("DELETE FROM orders WHERE product = $1");
    assert_eq!(delete.bind(product).execute(&mut *transaction).await.unwrap().rows_affected(), 1);
    transaction.rollback().await.unwrap();
    assert_eq!(scalar(pool, "SELECT count(*) FROM orders").await, 1);
    sqlx::query("DELETE FROM orders WHERE product = $1").bind(product).execute(pool).await.unwrap();
    assert_eq!(scalar(pool, "SELECT count(*) FROM orders").await, 0);
}

async fn remove(pool: &PgPool, product: i32) {
    sqlx::query("DELETE FROM products WHERE id = $1").bind(product).execute(pool).await.unwrap();
    let gone = sqlx::query("SELECT name FROM products WHERE id = $1").bind(product).fetch_optional(pool).await.unwrap();
    assert!(gone.is_none());
}
