import { killRestores } from './kill-restore.ts'

const calls = ['copy_file_range', 'link', 'rename', 'unlink', 'fsync', 'ftruncate', 'pwrite64'] as const
killRestores(calls.map((call) => ({ call, time: 'every' })))
