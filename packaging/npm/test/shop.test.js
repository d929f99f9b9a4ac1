// The helper on a small shop: a lost update is found and explained, a lock passes every run.
'use strict';

const assert = require('node:assert');
const { test } = require('node:test');
const { Pool } = require('pg');
const { skew } = require('../index.js');

const shop = (lock, more = {}) =>
  skew(
    {
      isolation: 'read committed',
      async setup({ url }) {
        const pool = new Pool({ connectionString: url, max: 2 });
        await pool.query('CREATE TABLE products (id int PRIMARY KEY, stock int NOT NULL)');
        await pool.query('INSERT INTO products VALUES (1, 1)');
        return pool;
      },
      teardown: ({ setup: pool }) => pool.end(),
      ...more,
    },
    async ({ setup: pool }) => {
      const buy = async () => {
        const db = await pool.connect();
        try {
          await db.query('BEGIN');
          const { rows } = await db.query(`SELECT stock FROM products WHERE id = 1 ${lock}`);
          const { stock } = rows[0];
          if (stock > 0) await db.query('UPDATE products SET stock = $1 WHERE id = 1', [stock - 1]);
          await db.query('COMMIT');
          return stock > 0;
        } finally {
          db.release();
        }
      };
      const sold = more.serial ? [await buy(), await buy()] : await Promise.all([buy(), buy()]);
      assert.strictEqual(sold.filter(Boolean).length, 1);
    },
  );

test('a lock passes every run', shop('FOR UPDATE'));

test('a lost update is found and explained', async () => {
  await assert.rejects(shop(''), (error) => {
    for (const words of ['SKEW_SEED=', 'violated[lost-update]', 'UPDATE products SET stock']) {
      assert.ok(error.message.includes(words), `no ${words} in\n${error.message}`);
    }
    return true;
  });
});

test('a test that does one thing at a time proves nothing', async () => {
  await assert.rejects(shop('', { serial: true, runs: 3 }), /no two transactions overlapped, so nothing was tested/);
});
