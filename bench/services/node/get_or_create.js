// get_or_create without a transaction: every statement is one of its own.
const { variant, pool, main } = require('./service');

async function getOrCreate(name) {
  if (variant === 'right') {
    await pool.query('INSERT INTO tag (name) VALUES ($1) ON CONFLICT (name) DO NOTHING', [name]);
    return;
  }
  const db = await pool.connect();
  try {
    let found = await db.query('SELECT id FROM tag WHERE name = $1', [name]);
    if (variant === 'wrong') found = await db.query('SELECT id FROM tag WHERE name = $1', [name]); // looks twice
    if (found.rows.length === 0) await db.query('INSERT INTO tag (name) VALUES ($1)', [name]);
  } finally {
    db.release();
  }
}

main(async () => {
  await pool.query(`CREATE TABLE tag (id serial PRIMARY KEY, name text ${variant === 'right' ? 'UNIQUE' : ''})`);
  await Promise.all([getOrCreate('rust'), getOrCreate('rust')]);
  const { rows } = await pool.query("SELECT count(*)::int AS tags FROM tag WHERE name = 'rust'");
  if (rows[0].tags !== 1) throw new Error(`${rows[0].tags} tags of one name`);
});
