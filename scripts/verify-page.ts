// Generates docs/verify.html, the page that verifies receipts, from the client's sources. With --check, only
// checks whether it is up to date.
import { readFileSync, writeFileSync } from 'node:fs'
import { verifyPage } from './verify-page/verify-page.ts'

const file = 'docs/verify.html'
const place = new URL(`../${file}`, import.meta.url)
const page = await verifyPage()

if (!process.argv.includes('--check')) {
  writeFileSync(place, page)
} else if (readFileSync(place, 'utf8') !== page) {
  process.stderr.write(`${file} is out of date: run npm run verify-page and commit what it writes.\n`)
  process.exitCode = 1
}
