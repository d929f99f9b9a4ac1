"""Two wallets of one customer may be overdrawn one at a time, but not together (asyncpg, its pool). Each payment also counts
itself, and a lost count does not matter."""

import asyncio
import os

import asyncpg

from service import VARIANT


async def pay(pool, wallet, amount):
    async with pool.acquire() as db, db.transaction():
        payments = await db.fetchval("SELECT payments FROM customer WHERE id = 1")
        lock = " FOR UPDATE" if VARIANT == "right" else ""
        wallets = await db.fetch("SELECT id, balance FROM wallet WHERE customer = 1 ORDER BY id" + lock)
        if sum(row["balance"] for row in wallets) >= amount:
            if VARIANT == "wrong":  # the sum is right, the check is not
                await db.execute("UPDATE wallet SET balance = balance - $1 WHERE id = $2", amount, wallet)
            else:
                balance = next(row["balance"] for row in wallets if row["id"] == wallet)
                await db.execute("UPDATE wallet SET balance = $1 WHERE id = $2", balance - amount, wallet)
        await db.execute("UPDATE customer SET payments = $1 WHERE id = 1", payments + 1)


async def main():
    pool = await asyncpg.create_pool(os.environ["DATABASE_URL"], min_size=2, max_size=4)
    try:
        await pool.execute("""
            CREATE TABLE customer (id int PRIMARY KEY, payments int NOT NULL);
            CREATE TABLE wallet (id int PRIMARY KEY, customer int NOT NULL, balance int NOT NULL);
            INSERT INTO customer VALUES (1, 0);
            INSERT INTO wallet VALUES (1, 1, 60), (2, 1, 60);
        """)
        await asyncio.gather(pay(pool, 1, 100), pay(pool, 2, 100))
        total = await pool.fetchval("SELECT sum(balance) FROM wallet WHERE customer = 1")
        assert total >= 0, f"both wallets together hold {total}"
    finally:
        await pool.close()


asyncio.run(main())
