import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** A program that a test starts as a process, by its source, a file `child-*.ts`: its bundle, where one was made. */
export function childProgram(source: URL): string {
  const path = fileURLToPath(source)
  const { LETHE_TEST_PROGRAM: program } = process.env
  return program ? join(dirname(program), relative(root, path).replace(/\.ts$/, '.js')) : path
}
