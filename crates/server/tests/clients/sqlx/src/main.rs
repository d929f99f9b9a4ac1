//! sqlx: binary parameters and rows, prepared statements, a pool, transactions, streams, COPY, notifications, migrations'
//! locks.

use std::time::Duration;

use futures_util::TryStreamExt;
use sqlx::postgres::{PgAdvisoryLock, PgListener, PgPool, PgPoolOptions, PgRow};
use sqlx::types::chrono::{DateTime, NaiveDate, Utc};
use sqlx::types::{BigDecimal, Json, Uuid};
use sqlx::{Column, Connection, Executor, FromRow, Row, TypeInfo};

type Checked = Result<(), Box<dyn std::error::Error>>;

#[derive(FromRow, Debug, PartialEq)]
struct Account {
    id: i32,
    owner: String,
    balance: BigDecimal,
    opened: Option<NaiveDate>,
}

async fn values_come_back(pool: &PgPool) -> Checked {
    let at = DateTime::<Utc>::from_timestamp(1_700_000_000, 123_000).ok_or("a time")?;
    let uuid = Uuid::from_u128(0x0011_2233_4455_6677_8899_aabb_ccdd_eeff);
    let row: PgRow = sqlx::query("SELECT $1, $2, $3, $4, $5, $6, $7::timestamptz, $8, $9, $10, $11")
        .bind(-7_i32)
        .bind(i64::MIN)
        .bind("it's €")
        .bind(true)
        .bind(0.1_f64)
        .bind("123456789012345678.0100".parse::<BigDecimal>()?)
        .bind(at)
        .bind(uuid)
        .bind(vec![1_i32, 2, 3])
        .bind(vec![0_u8, 255])
        .bind(Json(vec![Some(1), None]))
        .fetch_one(pool)
        .await?;
    assert_eq!(row.get::<i32, _>(0), -7);
    assert_eq!(row.get::<i64, _>(1), i64::MIN);
    assert_eq!(row.get::<String, _>(2), "it's €");
    assert!(row.get::<bool, _>(3));
    assert_eq!(row.get::<f64, _>(4), 0.1);
    assert_eq!(row.get::<BigDecimal, _>(5), "123456789012345678.0100".parse::<BigDecimal>()?);
    assert_eq!(row.get::<DateTime<Utc>, _>(6), at);
    assert_eq!(row.get::<Uuid, _>(7), uuid);
    assert_eq!(row.get::<Vec<i32>, _>(8), [1, 2, 3]);
    assert_eq!(row.get::<Vec<u8>, _>(9), [0, 255]);
    assert_eq!(row.get::<Json<Vec<Option<i32>>>, _>(10).0, [Some(1), None]);
    Ok(())
}

async fn rows_become_structs(pool: &PgPool) -> Checked {
    pool.execute("CREATE TABLE account (id serial PRIMARY KEY, owner text NOT NULL UNIQUE, balance numeric(12,2) NOT NULL, opened date)")
        .await?;
    for (owner, balance) in [("ann", "10.50"), ("bob", "0")] {
        sqlx::query("INSERT INTO account (owner, balance, opened) VALUES ($1, $2, $3)")
            .bind(owner)
            .bind(balance.parse::<BigDecimal>()?)
            .bind((owner == "ann").then(|| NaiveDate::from_ymd_opt(2024, 2, 29)).flatten())
            .execute(pool)
            .await?;
    }
    let found: Vec<Account> = sqlx::query_as("SELECT * FROM account ORDER BY id").fetch_all(pool).await?;
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].opened, NaiveDate::from_ymd_opt(2024, 2, 29));
    assert_eq!((found[1].owner.as_str(), found[1].opened), ("bob", None));
    let ids: Vec<i32> = sqlx::query_scalar("SELECT id FROM account WHERE owner = ANY($1) ORDER BY id")
        .bind(vec!["bob", "ann"])
        .fetch_all(pool)
        .await?;
    assert_eq!(ids, [1, 2]);
    Ok(())
}

async fn statements_are_described(pool: &PgPool) -> Checked {
    let described = pool.describe("SELECT id, owner AS who, balance * $1 AS product FROM account WHERE owner = $2").await?;
    let columns: Vec<String> = described.columns().iter().map(|c| format!("{}:{}", c.name(), c.type_info().name())).collect();
    assert_eq!(columns, ["id:INT4", "who:TEXT", "product:NUMERIC"]);
    assert_eq!(described.nullable(0), Some(false));
    assert_eq!(described.nullable(2), None);
    Ok(())
}

async fn transactions_nest(pool: &PgPool) -> Checked {
    let mut outer = pool.begin().await?;
    sqlx::query("UPDATE account SET balance = balance + 1 WHERE owner = 'ann'").execute(&mut *outer).await?;
    {
        let mut inner = outer.begin().await?;
        sqlx::query("DELETE FROM account").execute(&mut *inner).await?;
        inner.rollback().await?;
    }
    outer.commit().await?;
    let dropped = async {
        let mut gone = pool.begin().await?;
        sqlx::query("DELETE FROM account").execute(&mut *gone).await?;
        Ok::<_, sqlx::Error>(())
    };
    dropped.await?;
    let balance: BigDecimal = sqlx::query_scalar("SELECT balance FROM account WHERE owner = 'ann'").fetch_one(pool).await?;
    assert_eq!(balance, "11.50".parse::<BigDecimal>()?);
    Ok(())
}

async fn errors_have_their_fields(pool: &PgPool) -> Checked {
    let error = sqlx::query("INSERT INTO account (owner, balance) VALUES ('ann', 0)").execute(pool).await.unwrap_err();
    let error = error.as_database_error().ok_or("an error of the database")?;
    assert!(error.is_unique_violation());
    assert_eq!((error.constraint(), error.table()), (Some("account_owner_key"), Some("account")));
    let error = sqlx::query("SELECT nothing FROM account").execute(pool).await.unwrap_err();
    assert_eq!(error.as_database_error().and_then(|error| error.code()).as_deref(), Some("42703"));
    Ok(())
}

async fn rows_are_streamed(pool: &PgPool) -> Checked {
    let mut rows = sqlx::query_scalar::<_, i32>("SELECT * FROM generate_series(1, 5000)").fetch(pool);
    let mut sum = 0;
    while let Some(row) = rows.try_next().await? {
        sum += row;
    }
    assert_eq!(sum, 5000 * 5001 / 2);
    Ok(())
}

async fn data_is_copied(pool: &PgPool) -> Checked {
    let mut connection = pool.acquire().await?;
    let mut copy = connection.copy_in_raw("COPY account (owner, balance) FROM STDIN").await?;
    copy.send(&b"cid\t3\ndan\t4\n"[..]).await?;
    assert_eq!(copy.finish().await?, 2);
    let copied: Vec<u8> = connection
        .copy_out_raw("COPY (SELECT owner FROM account ORDER BY id) TO STDOUT")
        .await?
        .try_fold(Vec::new(), |mut all, piece| async move {
            all.extend(piece);
            Ok(all)
        })
        .await?;
    assert_eq!(String::from_utf8(copied)?, "ann\nbob\ncid\ndan\n");
    Ok(())
}

async fn notifications_arrive(pool: &PgPool) -> Checked {
    let mut listener = PgListener::connect_with(pool).await?;
    listener.listen("news").await?;
    sqlx::query("SELECT pg_notify('news', 'hello')").execute(pool).await?;
    let heard = tokio::time::timeout(Duration::from_secs(10), listener.recv()).await??;
    assert_eq!((heard.channel(), heard.payload()), ("news", "hello"));
    Ok(())
}

async fn a_pool_serves_many(pool: &PgPool) -> Checked {
    let tasks: Vec<_> = (0..40)
        .map(|_| {
            let pool = pool.clone();
            tokio::spawn(async move {
                let mut transaction = pool.begin().await?;
                sqlx::query("SELECT 1 FROM account WHERE owner = 'bob' FOR UPDATE").execute(&mut *transaction).await?;
                sqlx::query("UPDATE account SET balance = balance + 1 WHERE owner = 'bob'").execute(&mut *transaction).await?;
                transaction.commit().await
            })
        })
        .collect();
    for task in tasks {
        task.await??;
    }
    let balance: BigDecimal = sqlx::query_scalar("SELECT balance FROM account WHERE owner = 'bob'").fetch_one(pool).await?;
    assert_eq!(balance, "40".parse::<BigDecimal>()?);
    Ok(())
}

async fn locks_exclude(pool: &PgPool) -> Checked {
    let lock = PgAdvisoryLock::new("migrations");
    let held = lock.acquire(pool.acquire().await?).await?;
    assert!(lock.try_acquire(pool.acquire().await?).await?.right().is_some());
    held.release_now().await?;
    Ok(())
}

#[tokio::main]
async fn main() -> Checked {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let url = format!("postgres://{}@{}:{}/{}", variable("PGUSER"), variable("PGHOST"), variable("PGPORT"), variable("PGDATABASE"));
    let pool = PgPoolOptions::new().max_connections(8).connect(&url).await?;
    let mut failed = 0;
    let mut count = 0;
    macro_rules! checks {
        ($($check:ident)*) => {$(
            count += 1;
            let task = tokio::spawn({ let pool = pool.clone(); async move { $check(&pool).await.map_err(|error| error.to_string()) } });
            let outcome = task.await.unwrap_or_else(|panic| Err(panic.to_string()));
            if let Err(error) = outcome {
                failed += 1;
                println!("FAILED {}: {error}", stringify!($check));
            }
        )*};
    }
    checks! { values_come_back rows_become_structs statements_are_described transactions_nest errors_have_their_fields
        rows_are_streamed data_is_copied notifications_arrive a_pool_serves_many locks_exclude }
    println!("{} of {count} passed", count - failed);
    std::process::exit(i32::from(failed > 0));
}
