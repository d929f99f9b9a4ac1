//! The database in a program that schedules itself: tokio tasks, threads.

use skew::{AsyncSession, Database, Error, Level};

async fn transfer(session: &AsyncSession, from: &str, to: &str) -> Result<(), Error> {
    session
        .retry(1000, async |t| {
            let (rich, poor): (i64, i64) = (t.read(from).await?, t.read(to).await?);
            tokio::task::yield_now().await;
            t.write(from, rich - 1).await?;
            t.write(to, poor + 1).await
        })
        .await
}

#[tokio::test]
async fn tokio_tasks_use_it_as_their_database() {
    let db = Database::new(Level::Si, 7);
    db.init("a", 10);
    db.init("b", 10);
    let tasks: Vec<_> = (0..8)
        .map(|number| {
            let session = db.async_session(&format!("task-{number}"));
            let (from, to) = if number % 3 == 0 { ("b", "a") } else { ("a", "b") };
            tokio::spawn(async move { transfer(&session, from, to).await })
        })
        .collect();
    for task in tasks {
        assert_eq!(task.await.expect("no task panics"), Ok(()));
    }
    let (a, b): (i64, i64) = db.check(|t| Ok((t.read("a")?, t.read("b")?)));
    assert_eq!((a, b), (8, 12));
}

/// On one thread, a wait that blocked the runtime would never end.
#[tokio::test]
async fn a_row_lock_does_not_block_the_runtime() {
    let db = Database::new(Level::Mvrc, 7);
    let (alice, bob) = (db.async_session("alice"), db.async_session("bob"));
    let holder = alice.begin().await.expect("nothing is open");
    holder.write("x", 1).await.expect("nothing is locked");
    let waiting = tokio::spawn(async move { bob.transaction(async |t| t.write("x", 2).await).await });
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    holder.commit().await.expect("nothing can go wrong at commit");
    assert_eq!(waiting.await.expect("no task panics"), Ok(()));
    assert_eq!(db.check(|t| t.read::<i64>("x")), 2);
}

#[tokio::test]
async fn a_task_that_is_cancelled_gives_its_locks_back() {
    let db = Database::new(Level::Mvrc, 7);
    let (alice, bob) = (db.async_session("alice"), db.async_session("bob"));
    let holding = tokio::spawn(async move {
        let t = alice.begin().await.expect("nothing is open");
        t.write("x", 1).await.expect("nothing is locked");
        std::future::pending::<()>().await;
    });
    tokio::task::yield_now().await;
    let waiting = tokio::spawn(async move { bob.transaction(async |t| t.write("x", 2).await).await });
    tokio::task::yield_now().await;
    holding.abort();
    assert_eq!(waiting.await.expect("no task panics"), Ok(()));
}

/// The code under test is the same; here its interleaving is chosen too, and the test can be replayed.
#[test]
fn the_same_async_code_runs_under_the_scheduler() {
    let check = skew::Check::new(Level::Si).runs(200);
    check.check(|db| {
        db.init("a", 10);
        db.init("b", 10);
        for (name, from, to) in [("there", "a", "b"), ("back", "b", "a"), ("again", "a", "b")] {
            db.spawn_async(name, async move |session| {
                let moved = session.retry(1000, async |t| {
                    let (rich, poor): (i64, i64) = (t.read(from).await?, t.read(to).await?);
                    t.write(from, rich - 1).await?;
                    t.write(to, poor + 1).await
                });
                moved.await.expect("it is tried again");
            });
        }
        let total: i64 = db.check(|t| Ok(t.read::<i64>("a")? + t.read::<i64>("b")?));
        assert_eq!(total, 20);
    });
}
