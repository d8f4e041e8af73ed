import { readdirSync, readFileSync } from 'node:fs'

/** Every migration in a folder, in order; the first is number 1. */
export function migrationSteps(folder: URL): string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => readFileSync(new URL(file, folder), 'utf8'))
}
