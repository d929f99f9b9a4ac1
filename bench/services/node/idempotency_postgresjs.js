// A payment is asked for twice with one key, and charged once: look for the key, then charge (postgres.js).
const { variant, sql, main } = require('./service-postgresjs');

const pay = (key) => sql.begin(async (sql) => {
  if (variant === 'right') {
    const made = await sql`INSERT INTO payment (key, amount) VALUES (${key}, 10) ON CONFLICT (key) DO NOTHING RETURNING id`;
    if (made.length === 0) return;
  } else {
    // The wrong fix locks a payment that is not there yet.
    const known = variant === 'wrong'
      ? await sql`SELECT id FROM payment WHERE key = ${key} FOR UPDATE`
      : await sql`SELECT id FROM payment WHERE key = ${key}`;
    if (known.length > 0) return;
    await sql`INSERT INTO payment (key, amount) VALUES (${key}, 10)`;
  }
  await sql`UPDATE account SET balance = balance - 10 WHERE id = 1`;
});

main(async () => {
  await sql.unsafe(`CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL);
    CREATE TABLE payment (id serial PRIMARY KEY, key text NOT NULL ${variant === 'right' ? 'UNIQUE' : ''}, amount int NOT NULL);
    INSERT INTO account VALUES (1, 100)`);
  await Promise.all([pay('k-1'), pay('k-1')]);
  const [{ balance }] = await sql`SELECT balance FROM account WHERE id = 1`;
  if (balance !== 90) throw new Error(`10 of 100 were paid once: ${balance}`);
});
