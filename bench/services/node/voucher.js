// A voucher may be used once per customer: look for a use, insert one.
const { variant, pool, transaction, main } = require('./service');

const redeem = () => transaction(async (db) => {
  const lock = variant === 'right' ? ' FOR UPDATE' : '';
  await db.query(`SELECT discount FROM voucher WHERE code = 'SPRING'${lock}`);
  const lockUses = variant === 'wrong' ? ' FOR UPDATE' : ''; // there is nothing to lock yet
  const used = await db.query(`SELECT id FROM use_of_voucher WHERE code = 'SPRING' AND customer = $1${lockUses}`, [7]);
  if (used.rows.length === 0) {
    await db.query("INSERT INTO use_of_voucher (code, customer) VALUES ('SPRING', $1)", [7]);
  }
});

main(async () => {
  await pool.query('CREATE TABLE voucher (code text PRIMARY KEY, discount int NOT NULL)');
  await pool.query('CREATE TABLE use_of_voucher (id serial PRIMARY KEY, code text NOT NULL, customer int NOT NULL)');
  await pool.query("INSERT INTO voucher VALUES ('SPRING', 10)");
  await Promise.all([redeem(), redeem()]);
  const { rows } = await pool.query('SELECT count(*)::int AS uses FROM use_of_voucher');
  if (rows[0].uses > 1) throw new Error(`used ${rows[0].uses} times`);
});
