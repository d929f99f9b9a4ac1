// node-postgres: a pool, parameters, prepared statements, types, errors, notifications, transactions, a queue of queries.
'use strict'
const assert = require('node:assert/strict')
const { Client, Pool, types } = require('pg')

async function connected(work, options = {}) {
  const client = new Client(options)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

const checks = {
  async values_come_back() {
    await connected(async client => {
      const { rows, fields } = await client.query(
        `SELECT $1::int AS i, $2::text AS t, $3::bool AS b, $4::float8 AS f, $5::timestamptz AS at, $6::jsonb AS j,
                $7::int[] AS a, $8::bytea AS y, $9::numeric AS n, $10::int8 AS big, NULL::text AS nothing, $11::uuid AS u`,
        [42, "it's", true, 0.1, new Date(0), { a: [1, null] }, [1, 2, null], Buffer.from([0, 255]), '1.50', '9007199254740993',
          '00112233-4455-6677-8899-aabbccddeeff'])
      assert.deepEqual(rows, [{
        i: 42, t: "it's", b: true, f: 0.1, at: new Date(0), j: { a: [1, null] }, a: [1, 2, null], y: Buffer.from([0, 255]),
        n: '1.50', big: '9007199254740993', nothing: null, u: '00112233-4455-6677-8899-aabbccddeeff'
      }])
      assert.deepEqual(fields.slice(0, 2).map(f => [f.name, f.dataTypeID]), [['i', 23], ['t', 25]])
    })
  },

  async rows_come_in_binary() {
    await connected(async client => {
      const { rows } = await client.query({ text: 'SELECT 1::int4 AS a, 2.5::float8 AS b, true AS c, $1::text AS d', values: ['x'], binary: true })
      assert.equal(rows.length, 1)
    })
  },

  async statements_are_prepared() {
    await connected(async client => {
      await client.query('CREATE TABLE prepared (id int PRIMARY KEY, name text)')
      for (let i = 0; i < 20; i++) {
        const done = await client.query({ name: 'insert', text: 'INSERT INTO prepared VALUES ($1, $2)', values: [i, `n${i}`] })
        assert.deepEqual([done.command, done.rowCount], ['INSERT', 1])
      }
      const found = await client.query({ name: 'get', text: 'SELECT name FROM prepared WHERE id = $1', values: [7], rowMode: 'array' })
      assert.deepEqual(found.rows, [['n7']])
    })
  },

  async several_statements_make_one_query() {
    await connected(async client => {
      const results = await client.query("SELECT 1 AS a; SELECT 2 AS b; INSERT INTO prepared VALUES (100, 'x')")
      assert.deepEqual(results.map(r => r.command), ['SELECT', 'SELECT', 'INSERT'])
      await assert.rejects(client.query('INSERT INTO prepared VALUES (101); INSERT INTO prepared VALUES (1)'), { code: '23505' })
      assert.equal((await client.query('SELECT * FROM prepared WHERE id = 101')).rowCount, 0)
    })
  },

  async errors_have_their_fields() {
    await connected(async client => {
      await assert.rejects(client.query('INSERT INTO prepared VALUES (1)'), {
        code: '23505', constraint: 'prepared_pkey', table: 'prepared', schema: 'public', severity: 'ERROR',
        detail: 'Key (id)=(1) already exists.', message: 'duplicate key value violates unique constraint "prepared_pkey"'
      })
      await assert.rejects(client.query('SELECT nothing FROM prepared'), { code: '42703', position: '8' })
      await assert.rejects(client.query('SELECT $1::int', ['x']), { code: '22P02' })
      assert.equal((await client.query('SELECT 1 AS one')).rows[0].one, 1)
    })
  },

  async transactions_are_rolled_back() {
    await connected(async client => {
      await client.query('BEGIN')
      await client.query('UPDATE prepared SET name = $1 WHERE id = $2', ['changed', 1])
      await assert.rejects(client.query('SELECT 1/0'), { code: '22012' })
      await assert.rejects(client.query('SELECT 1'), { code: '25P02' })
      await client.query('ROLLBACK')
      assert.equal((await client.query('SELECT name FROM prepared WHERE id = 1')).rows[0].name, 'n1')
    })
  },

  async queries_wait_in_a_queue() {
    await connected(async client => {
      const all = await Promise.all(Array.from({ length: 50 }, (_, i) => client.query('SELECT $1::int AS i', [i])))
      assert.deepEqual(all.map(r => r.rows[0].i), Array.from({ length: 50 }, (_, i) => i))
    })
  },

  async a_pool_serves_many() {
    const pool = new Pool({ max: 8 })
    await pool.query('CREATE TABLE counter (id int PRIMARY KEY, n int NOT NULL)')
    await pool.query('INSERT INTO counter VALUES (1, 0)')
    await Promise.all(Array.from({ length: 40 }, async () => {
      const client = await pool.connect()
      try {
        await client.query('BEGIN')
        await client.query('SELECT n FROM counter WHERE id = 1 FOR UPDATE')
        await client.query('UPDATE counter SET n = n + 1 WHERE id = 1')
        await client.query('COMMIT')
      } finally {
        client.release()
      }
    }))
    assert.equal((await pool.query('SELECT n FROM counter')).rows[0].n, 40)
    await pool.end()
  },

  async notifications_and_notices_arrive() {
    await connected(async listener => {
      const heard = new Promise(resolve => listener.once('notification', resolve))
      const noticed = new Promise(resolve => listener.once('notice', resolve))
      await listener.query('LISTEN news')
      await connected(other => other.query("NOTIFY news, 'hello'"))
      const { channel, payload } = await heard
      assert.deepEqual({ channel, payload }, { channel: 'news', payload: 'hello' })
      await listener.query('DROP TABLE IF EXISTS nowhere')
      const notice = await noticed
      assert.deepEqual([notice.severity, notice.code, notice.message], ['NOTICE', '00000', 'table "nowhere" does not exist, skipping'])
    })
  },

  async settings_are_taken() {
    await connected(async client => {
      assert.equal((await client.query('SHOW application_name')).rows[0].application_name, 'tester')
      assert.equal((await client.query('SHOW search_path')).rows[0].search_path, 'pg_catalog')
    }, { application_name: 'tester', options: '-c search_path=pg_catalog' })
    await connected(async client => {
      await assert.rejects(client.query('SELECT pg_sleep(10)'), { code: '57014' })
    }, { statement_timeout: 100 })
  }
}

async function main() {
  let failed = 0
  for (const [name, check] of Object.entries(checks)) {
    try {
      await check()
    } catch (error) {
      failed += 1
      console.log(`FAILED ${name}: ${error.message}`)
    }
  }
  const count = Object.keys(checks).length
  console.log(`${count - failed} of ${count} passed`)
  process.exit(failed > 0 ? 1 : 0)
}
main()
