#!/usr/bin/env node
// `npx skew …`: the binary of this package, with the same arguments and exit code.
'use strict';

const { spawnSync } = require('node:child_process');
const { binary } = require('../index.js');

const done = spawnSync(binary(), process.argv.slice(2), { stdio: 'inherit' });
process.exit(done.status ?? 2);
