// The best score of a player is kept (knex); so is when the player was last seen, which no one minds to lose.
const { variant } = require('./service');
const knex = require('knex')({ client: 'pg', connection: process.env.DATABASE_URL, pool: { min: 0, max: 4 } });

const score = (points, seen) => knex.transaction(async (trx) => {
  if (variant === 'right') {
    await trx('best').where({ id: 1 }).andWhere('points', '<', points).update({ points });
    await trx('best').where({ id: 1 }).update({ seen });
    return;
  }
  if (variant === 'wrong') await trx('player').where({ id: 1 }).forUpdate().forKeyShare(); // locks hardly anything
  const row = await trx('best').where({ id: 1 }).first();
  await trx('best').where({ id: 1 }).update({ ...row, points: Math.max(row.points, points), seen });
});

async function main() {
  await knex.raw(`CREATE TABLE player (id int PRIMARY KEY, name text);
    CREATE TABLE best (id int PRIMARY KEY, player text NOT NULL, points int NOT NULL, seen text);
    INSERT INTO player VALUES (1, 'ada');
    INSERT INTO best VALUES (1, 'ada', 10, NULL)`);
  await Promise.all([score(50, 'monday'), score(40, 'tuesday')]);
  const [row] = await knex('best').select();
  if (row.points !== 50) throw new Error(`50 points were the best, the board says ${row.points}`);
}

main().then(() => knex.destroy(), async (error) => {
  console.error(error.message);
  await knex.destroy();
  process.exit(1);
});
