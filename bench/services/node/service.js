// What the services share: the variant that is asked for, a pool, and transactions.
const { Pool } = require('pg');

const variant = process.argv[2] || 'buggy';
const pool = new Pool({ connectionString: process.env.DATABASE_URL, max: 4 });

async function transaction(work) {
  const db = await pool.connect();
  try {
    await db.query('BEGIN');
    await work(db);
    await db.query('COMMIT');
  } catch (error) {
    await db.query('ROLLBACK');
    throw error;
  } finally {
    db.release();
  }
}

/** Runs the service, and ends with 1 if it throws. */
function main(service) {
  service().then(() => pool.end(), async (error) => {
    console.error(error.message);
    await pool.end();
    process.exit(1);
  });
}

module.exports = { variant, pool, transaction, main };
