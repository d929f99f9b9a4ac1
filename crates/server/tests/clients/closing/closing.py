"""Two transactions at the same time, then the driver's own way of closing: closing.py KIND. Ends by itself if closing does."""

import asyncio
import os
import sys
import threading

URL = os.environ["DATABASE_URL"]
READ = "SELECT n FROM t WHERE id = 1"
WRITE = "UPDATE t SET n = n + 1 WHERE id = 1"
SETUP = "CREATE TABLE t (id int PRIMARY KEY, n int NOT NULL); INSERT INTO t VALUES (1, 0)"


def at_once(work):
    """The same work twice, in threads."""
    threads = [threading.Thread(target=work) for _ in range(2)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]


async def asyncpg_pool():
    import asyncpg

    pool = await asyncpg.create_pool(URL, min_size=3, max_size=3)

    async def work():
        async with pool.acquire() as db, db.transaction():
            await db.fetchval(READ)
            await db.execute(WRITE)

    await pool.execute(SETUP)
    await asyncio.gather(work(), work())
    await pool.close()


async def asyncpg_connection():
    import asyncpg

    one, other = await asyncpg.connect(URL), await asyncpg.connect(URL)

    async def work(db):
        async with db.transaction():
            await db.fetchval(READ)
            await db.execute(WRITE)

    await one.execute(SETUP)
    await asyncio.gather(work(one), work(other))
    await one.close()
    await other.close()


def psycopg_pool():
    from psycopg_pool import ConnectionPool

    pool = ConnectionPool(URL, min_size=3, max_size=3, open=True)

    def work():
        with pool.connection() as db:
            db.execute(READ).fetchone()
            db.execute(WRITE)

    with pool.connection() as db:
        db.execute(SETUP)
    at_once(work)
    pool.close()


async def psycopg_async_pool():
    from psycopg_pool import AsyncConnectionPool

    pool = AsyncConnectionPool(URL, min_size=3, max_size=3, open=False)
    await pool.open()

    async def work():
        async with pool.connection() as db:
            await (await db.execute(READ)).fetchone()
            await db.execute(WRITE)

    async with pool.connection() as db:
        await db.execute(SETUP)
    await asyncio.gather(work(), work())
    await pool.close()


def psycopg2_pool():
    from psycopg2.pool import ThreadedConnectionPool

    pool = ThreadedConnectionPool(2, 3, URL)

    def use(*statements):
        db = pool.getconn()
        with db, db.cursor() as cursor:
            [cursor.execute(statement) for statement in statements]
        pool.putconn(db)

    use(SETUP)
    at_once(lambda: use(READ, WRITE))
    pool.closeall()


def sqlalchemy_dispose():
    import sqlalchemy as sa

    engine = sa.create_engine(URL.replace("postgresql:", "postgresql+psycopg:"))

    def work():
        with engine.begin() as db:
            db.execute(sa.text(READ)).scalar()
            db.execute(sa.text(WRITE))

    with engine.begin() as db:
        [db.execute(sa.text(statement)) for statement in SETUP.split(";")]
    at_once(work)
    engine.dispose()


async def sqlalchemy_async_dispose():
    import sqlalchemy as sa
    from sqlalchemy.ext.asyncio import create_async_engine

    engine = create_async_engine(URL.replace("postgresql:", "postgresql+asyncpg:"))

    async def work():
        async with engine.begin() as db:
            (await db.execute(sa.text(READ))).scalar()
            await db.execute(sa.text(WRITE))

    async with engine.begin() as db:
        [await db.execute(sa.text(statement)) for statement in SETUP.split(";")]
    await asyncio.gather(work(), work())
    await engine.dispose()


if __name__ == "__main__":
    kind = globals()[sys.argv[1]]
    asyncio.run(kind()) if asyncio.iscoroutinefunction(kind) else kind()
