import { programFolder } from '../runtime/program-files.ts'

/** Every migration in a folder, in order; the first is number 1. */
export function migrationSteps(path: string): string[] {
  const folder = programFolder(path)
  return folder
    .names()
    .filter((name) => name.endsWith('.sql'))
    .map((name) => folder.read(name).toString())
}
