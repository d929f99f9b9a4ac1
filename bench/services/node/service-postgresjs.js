// What the services with postgres.js share.
const variant = process.argv[2] || 'buggy';
const sql = require('postgres')(process.env.DATABASE_URL, { max: 4, onnotice: () => {} });

/** Runs the service, and ends with 1 if it throws. */
function main(service) {
  service().then(() => sql.end(), async (error) => {
    console.error(error.message);
    await sql.end();
    process.exit(1);
  });
}

module.exports = { variant, sql, main };
