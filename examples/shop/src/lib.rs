//! A web shop: `POST /orders` buys the last mug, `GET /products/1` says how many are left.
//!
//! How the checkout keeps two customers from buying the same mug is chosen by the environment variable `SHOP_CHECKOUT`:
//!
//! | value | what it does | right at READ COMMITTED |
//! | --- | --- | --- |
//! | `naive` (the default) | reads the stock, thinks, writes what is left | no |
//! | `for-update` | locks the row while it thinks | yes |
//! | `one-update` | one statement that looks and takes | yes |
//! | `unique` | numbers the items sold; the database refuses a second item 1 | yes |
//! | `serializable` | as `naive`, in a transaction that asks for SERIALIZABLE | it is not at READ COMMITTED |
//!
//! Each of them starts again when the database asks for it (40001, 40P01), as every application should.

mod checkout;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use sqlx::PgPool;

pub use checkout::{Checkout, Sale};

/// The tables, and one product that one customer can have.
pub const SCHEMA: &str = "
    DROP TABLE IF EXISTS orders, products;
    CREATE TABLE products (id int PRIMARY KEY, name text NOT NULL, stock int NOT NULL);
    CREATE TABLE orders (
        id serial PRIMARY KEY,
        product int NOT NULL REFERENCES products,
        customer text NOT NULL,
        item int,
        UNIQUE (product, item)
    );
    INSERT INTO products VALUES (1, 'mug', 1);
";

/// What every request needs.
#[derive(Clone)]
pub struct Shop {
    /// Connections.
    pub pool: PgPool,
    /// How orders are made.
    pub checkout: Checkout,
}

#[derive(Deserialize)]
struct Order {
    product: i32,
    customer: String,
}

/// The shop's pages.
pub fn router(shop: Shop) -> Router {
    Router::new().route("/orders", post(order)).route("/products/{id}", get(stock)).with_state(shop)
}

async fn order(State(shop): State<Shop>, Json(order): Json<Order>) -> (StatusCode, String) {
    match shop.checkout.sell(&shop.pool, order.product, &order.customer).await {
        Ok(Sale::Sold) => (StatusCode::CREATED, format!("one for {}", order.customer)),
        Ok(Sale::SoldOut) => (StatusCode::CONFLICT, "sold out".to_owned()),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    }
}

async fn stock(State(shop): State<Shop>, Path(product): Path<i32>) -> (StatusCode, String) {
    let stock = sqlx::query_scalar::<_, i32>("SELECT stock FROM products WHERE id = $1").bind(product);
    match stock.fetch_optional(&shop.pool).await {
        Ok(Some(stock)) => (StatusCode::OK, stock.to_string()),
        Ok(None) => (StatusCode::NOT_FOUND, "no such product".to_owned()),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    }
}
