// Likes are counted in the program; the row also says who wrote it last, which no one minds to lose.
const { variant, pool, transaction, main } = require('./service');

const like = (name) => transaction(async (db) => {
  if (variant === 'right') {
    await db.query('UPDATE post SET likes = likes + 1, updated_by = $1 WHERE id = 1', [name]);
    return;
  }
  const { rows } = await db.query('SELECT id, title, likes, updated_by FROM post WHERE id = 1');
  if (variant === 'wrong') await db.query('SELECT likes FROM post WHERE id = 1 FOR UPDATE'); // uses the first read
  await db.query('UPDATE post SET title = $1, likes = $2, updated_by = $3 WHERE id = 1',
    [rows[0].title, rows[0].likes + 1, name]);
});

main(async () => {
  await pool.query('CREATE TABLE post (id int PRIMARY KEY, title text, likes int NOT NULL, updated_by text)');
  await pool.query("INSERT INTO post VALUES (1, 'hello', 0, NULL)");
  await Promise.all([like('ada'), like('bob')]);
  const { rows } = await pool.query('SELECT id, title, likes, updated_by FROM post');
  if (rows[0].likes !== 2) throw new Error(`2 likes, counted: ${rows[0].likes}`);
});
