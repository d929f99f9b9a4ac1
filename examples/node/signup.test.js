const assert = require("node:assert/strict");
const { after, before, test } = require("node:test");
const { Pool } = require("pg");
const { SCHEMA, signUp } = require("./signup.js");

// Reads PGHOST, PGPORT, PGUSER and PGDATABASE.
const pool = new Pool({ max: 10 });

before(() => pool.query(SCHEMA));
after(() => pool.end());

test("a name is given to one user", async () => {
  const given = await Promise.all([signUp(pool, "ada"), signUp(pool, "ada")]);
  const { rows } = await pool.query("SELECT id FROM users WHERE name = 'ada' ORDER BY id");
  assert.equal(rows.length, 1, `${rows.length} users are called ada; given: ${given}`);
});
