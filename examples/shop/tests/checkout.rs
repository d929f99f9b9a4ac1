//! Two customers, one mug: over HTTP, at the same time.

use std::net::SocketAddr;

use shop::{Checkout, SCHEMA, Shop, router};
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

#[tokio::test]
async fn a_mug_is_sold_once() {
    let (pool, shop) = open_the_shop().await;
    let (alice, bob) = tokio::join!(order(shop, "alice"), order(shop, "bob"));
    let sold = [alice, bob].iter().filter(|status| **status == 201).count();
    let orders: i64 = sqlx::query_scalar("SELECT count(*) FROM orders").fetch_one(&pool).await.unwrap();
    assert_eq!((sold, orders), (1, 1), "there was one mug: alice got {alice}, bob got {bob}");
}

/// A shop with fresh tables on a port of its own.
async fn open_the_shop() -> (PgPool, SocketAddr) {
    let url = std::env::var("DATABASE_URL").expect("DATABASE_URL is where the database is");
    let pool = PgPoolOptions::new().max_connections(10).connect(&url).await.unwrap();
    sqlx::raw_sql(SCHEMA).execute(&pool).await.unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let shop = Shop { pool: pool.clone(), checkout: Checkout::from_environment() };
    tokio::spawn(async move { axum::serve(listener, router(shop)).await });
    (pool, address)
}

/// Orders a mug; returns the HTTP status.
async fn order(shop: SocketAddr, customer: &str) -> u16 {
    let body = format!(r#"{{"product": 1, "customer": "{customer}"}}"#);
    let request = format!(
        "POST /orders HTTP/1.1\r\nHost: shop\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(shop).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_else(|| panic!("answered {answer}"))
}
