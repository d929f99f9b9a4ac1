// Two transfers from one wallet; the balance is computed in the program.
const { variant, pool, transaction, main } = require('./service');

const transfer = (to, amount) => transaction(async (db) => {
  const lock = variant === 'right' ? ' FOR UPDATE' : '';
  const from = await db.query(`SELECT balance FROM wallet WHERE id = 1${lock}`);
  if (variant === 'wrong') await db.query('SELECT 1 FROM wallet WHERE id = $1 FOR UPDATE', [to]); // the other row
  await db.query('UPDATE wallet SET balance = $1 WHERE id = 1', [from.rows[0].balance - amount]);
  await db.query('UPDATE wallet SET balance = balance + $1 WHERE id = $2', [amount, to]);
});

main(async () => {
  await pool.query('CREATE TABLE wallet (id int PRIMARY KEY, balance int NOT NULL)');
  await pool.query('INSERT INTO wallet VALUES (1, 100), (2, 0), (3, 0)');
  await Promise.all([transfer(2, 30), transfer(3, 40)]);
  const { rows } = await pool.query('SELECT sum(balance)::int AS total FROM wallet');
  if (rows[0].total !== 100) throw new Error(`money came or went: ${rows[0].total}`);
});
