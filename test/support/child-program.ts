import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The path of a test program (`child-*.ts`) to start as a process: its bundle, or else its source. */
export function childProgram(source: URL): string {
  const path = fileURLToPath(source)
  const { LETHE_TEST_PROGRAM: program } = process.env
  return program ? join(dirname(program), relative(root, path).replace(/\.ts$/, '.js')) : path
}
