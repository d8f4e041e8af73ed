import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, it } from 'node:test'

const module = new URL('../../src/cli/terminal.ts', import.meta.url)

/** What a process wrote whose terminal was used so. */
function written(use: string): { stdout: string; stderr: string } {
  const script = `import { processTerminal } from ${JSON.stringify(module)}\nconst terminal = processTerminal()\n${use}`
  return spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
}

describe('a line that is drawn', () => {
  const clear = '\r\x1b[K'

  it('gives way to the next one, and to lines of every kind', () => {
    const use =
      "for (const draw of ['one', 'two']) terminal.draw(draw); terminal.tell('three'); terminal.tell('four')"
    assert.equal(written(use).stderr, `${clear}one${clear}two${clear}three\nfour\n`)
    const { stdout, stderr } = written("terminal.draw('one'); terminal.print('result')")
    assert.deepEqual([stdout, stderr], ['result\n', `${clear}one${clear}`])
  })

  it('leaves no trace where none was drawn', () => {
    assert.equal(written("terminal.draw(''); terminal.tell('one')").stderr, 'one\n')
  })
})

describe('the screen', () => {
  it('is not there when standard error is no terminal', () => {
    assert.equal(written('terminal.print(String(terminal.columns()))').stdout, 'null\n')
  })

  it('is as wide as most are when it does not say how wide', () => {
    const use = 'Object.assign(process.stderr, { isTTY: true, columns: 0 }); '
    assert.equal(written(`${use}terminal.print(String(terminal.columns()))`).stdout, '80\n')
  })
})
