import { killRestores } from './kill-restore.ts'

// A taste of what restore.soak.ts does at length: around the moment when the new store takes the place of the old one.
killRestores([
  { call: 'link', time: 1 },
  { call: 'rename', time: 1 },
  { call: 'unlink', time: 1, suffix: '.replaced' },
])
