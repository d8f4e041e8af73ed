import { killRestores } from './kill-restore.ts'

// A short version of restore.soak.ts: the calls around the moment when the new store replaces the old one.
killRestores([
  { call: 'link', time: 1 },
  { call: 'rename', time: 1 },
  { call: 'unlink', time: 1, suffix: '.replaced' },
])
