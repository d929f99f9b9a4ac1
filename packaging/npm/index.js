// A weak PostgreSQL for tests: the `skew` binary, started and driven from node. No dependencies.
'use strict';

const { spawn } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const readline = require('node:readline');

/** The binary: $SKEW_BINARY, the one in this package, or the one on the path. */
function binary() {
  if (process.env.SKEW_BINARY) return process.env.SKEW_BINARY;
  const own = path.join(__dirname, 'bin', process.platform === 'win32' ? 'skew.exe' : 'skew');
  return fs.existsSync(own) ? own : 'skew';
}

/** A weak database as a child process that takes orders on its standard input. */
class Server {
  static async start({ isolation, recency = 'commit', hold, load = [], database = 'test' } = {}) {
    const args = ['serve', '--port', '0', '--format', 'json', '--stdin', '--seed', '1', '--recency', recency];
    if (isolation !== undefined) args.push('--isolation', isolation);
    if (hold !== undefined) args.push('--hold', String(hold));
    for (const file of load) args.push('--load', file);
    const server = new Server();
    server.child = spawn(binary(), args, { stdio: ['pipe', 'pipe', 'pipe'] });
    server.errors = '';
    server.child.stderr.on('data', (text) => (server.errors += text));
    server.waiting = [];
    const ended = (error) => {
      server.dead = error;
      for (const { reject } of server.waiting.splice(0)) reject(error);
    };
    server.child.on('error', (error) => ended(new Error(`skew does not start: ${error.message}`)));
    server.child.on('close', () => ended(new Error(server.errors.trim() || 'the database has ended')));
    // An order to a database that has just ended is answered by `close`.
    server.child.stdin.on('error', () => {});
    readline.createInterface({ input: server.child.stdout }).on('line', (line) => {
      const { resolve, reject } = server.waiting.shift();
      const told = JSON.parse(line);
      if (told.error) reject(new Error(told.error));
      else resolve(told);
    });
    const { host, port } = await server.answer();
    Object.assign(server, { host, port, database, url: `postgresql://postgres@${host}:${port}/${database}` });
    return server;
  }

  /** Goes back to the checkpoint; the first time, what is there now becomes the checkpoint. */
  async reset(seed) {
    await this.order(`reset ${seed}`);
  }

  /** Why what happened since the last reset is not serializable, in the application's own SQL. */
  async explain() {
    return (await this.order('explain')).text;
  }

  /** Which overlaps there were since the first reset, as numbers and as a `text`. */
  async coverage() {
    return this.order('coverage');
  }

  async close() {
    if (this.dead) return;
    const gone = new Promise((resolve) => this.child.once('close', resolve));
    this.child.stdin.end();
    await gone;
  }

  order(line) {
    const answer = this.answer();
    if (!this.dead) this.child.stdin.write(`${line}\n`);
    return answer;
  }

  answer() {
    if (this.dead) return Promise.reject(this.dead);
    return new Promise((resolve, reject) => this.waiting.push({ resolve, reject }));
  }
}

/**
 * A test function for node:test, vitest and jest that runs `body` again and again on a weak database.
 * `setup` makes what every run begins with.
 */
function skew(options, body) {
  const { runs = 100, seed = 1, setup, teardown, allowSerial = false, ...start } = options;
  return async () => {
    const server = await Server.start(start);
    try {
      const context = { url: server.url, server };
      const more = setup ? await setup(context) : undefined;
      const only = process.env.SKEW_SEED;
      const seeds = only ? [Number(only)] : Array.from({ length: runs }, (_, at) => seed + at);
      try {
        for (const [at, one] of seeds.entries()) {
          await server.reset(one);
          try {
            await body({ ...context, seed: one, setup: more });
          } catch (error) {
            const failure = error instanceof Error ? error : new Error(String(error));
            const where = `run ${at + 1} of ${seeds.length} failed; SKEW_SEED=${one} repeats it`;
            failure.message = `${failure.message}\n\nskew: ${where}\n\n${await server.explain()}`;
            throw failure;
          }
        }
        const covered = await server.coverage();
        if (covered.overlapping === 0 && !only && !allowSerial) {
          throw new Error(
            `${seeds.length} runs passed, but no two transactions overlapped, so nothing was tested: let the test do ` +
              'two things at the same time, on two connections (allowSerial: true accepts this)',
          );
        }
      } finally {
        if (teardown) await teardown({ ...context, setup: more });
      }
    } finally {
      await server.close();
    }
  };
}

module.exports = { Server, binary, skew };
