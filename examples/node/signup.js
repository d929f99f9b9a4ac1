// A signup that takes a user name, if it is free. SIGNUP_FIX=on-conflict leaves the question to a unique index.

const TRY_AGAIN = ["40001", "40P01"];
const FIXED = process.env.SIGNUP_FIX === "on-conflict";

const SCHEMA = `
  CREATE TABLE users (id serial PRIMARY KEY, name text NOT NULL);
  ${FIXED ? "CREATE UNIQUE INDEX ON users (name);" : ""}
`;

/** Whether the name is taken now; starts again when the database asks for it. */
async function signUp(pool, name) {
  for (;;) {
    const client = await pool.connect();
    try {
      await client.query("BEGIN");
      const isNew = FIXED ? await insertIfNew(client, name) : await lookThenInsert(client, name);
      await client.query("COMMIT");
      return isNew;
    } catch (error) {
      await client.query("ROLLBACK");
      if (!TRY_AGAIN.includes(error.code)) throw error;
    } finally {
      client.release();
    }
  }
}

async function lookThenInsert(client, name) {
  const found = await client.query("SELECT 1 FROM users WHERE name = $1", [name]);
  if (found.rowCount > 0) return false;
  await client.query("INSERT INTO users (name) VALUES ($1)", [name]);
  return true;
}

async function insertIfNew(client, name) {
  const inserted = await client.query("INSERT INTO users (name) VALUES ($1) ON CONFLICT DO NOTHING", [name]);
  return inserted.rowCount === 1;
}

module.exports = { SCHEMA, signUp };
