// A room is booked by the hour: look for a booking that overlaps, insert one (postgres.js).
const { variant, sql, main } = require('./service-postgresjs');

const book = (guest, from, to) => sql.begin(async (sql) => {
  if (variant === 'right') await sql`SELECT id FROM room WHERE id = 1 FOR UPDATE`;
  // The wrong fix locks bookings that overlap: there are none yet.
  const taken = variant === 'wrong'
    ? await sql`SELECT guest FROM booking WHERE room = 1 AND from_hour < ${to} AND to_hour > ${from} FOR UPDATE`
    : await sql`SELECT guest FROM booking WHERE room = 1 AND from_hour < ${to} AND to_hour > ${from}`;
  if (taken.length > 0) return;
  await sql`INSERT INTO booking (room, guest, from_hour, to_hour) VALUES (1, ${guest}, ${from}, ${to})`;
});

main(async () => {
  await sql.unsafe(`CREATE TABLE room (id int PRIMARY KEY);
    CREATE TABLE booking (id serial PRIMARY KEY, room int NOT NULL, guest text NOT NULL, from_hour int NOT NULL,
                          to_hour int NOT NULL);
    INSERT INTO room VALUES (1); INSERT INTO booking (room, guest, from_hour, to_hour) VALUES (1, 'eve', 8, 9)`);
  await Promise.all([book('ada', 9, 11), book('bob', 10, 12)]);
  const [{ clashes }] = await sql`SELECT count(*)::int AS clashes FROM booking a JOIN booking b
    ON a.id < b.id AND a.from_hour < b.to_hour AND b.from_hour < a.to_hour`;
  if (clashes > 0) throw new Error('two guests have the room at the same time');
});
