// Two transactions at the same time, then the driver's own way of closing: closing.js KIND. Node ends when no connection is
// left open.
const url = process.env.DATABASE_URL;
const READ = 'SELECT n FROM t WHERE id = 1';
const WRITE = 'UPDATE t SET n = n + 1 WHERE id = 1';
const SETUP = 'CREATE TABLE t (id int PRIMARY KEY, n int NOT NULL); INSERT INTO t VALUES (1, 0)';

const kinds = {
  async pool_end() {
    const { Pool } = require('pg');
    const pool = new Pool({ connectionString: url, max: 3 });
    const work = async () => {
      const db = await pool.connect();
      for (const statement of ['BEGIN', READ, WRITE, 'COMMIT']) await db.query(statement);
      db.release();
    };
    await pool.query(SETUP);
    await Promise.all([work(), work()]);
    await pool.end();
  },
  async client_end() {
    const { Client } = require('pg');
    const clients = [new Client(url), new Client(url)];
    for (const db of clients) await db.connect();
    await clients[0].query(SETUP);
    await Promise.all(clients.map(async (db) => {
      for (const statement of ['BEGIN', READ, WRITE, 'COMMIT']) await db.query(statement);
    }));
    for (const db of clients) await db.end();
  },
  async postgresjs_end() {
    const sql = require('postgres')(url, { max: 3 });
    const work = () => sql.begin(async (sql) => {
      await sql.unsafe(READ);
      await sql.unsafe(WRITE);
    });
    await sql.unsafe(SETUP);
    await Promise.all([work(), work()]);
    await sql.end();
  },
};

kinds[process.argv[2]]();
