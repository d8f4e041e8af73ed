import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { read, root } from '../docs/markdown.ts'
import { isObject, listIn, objectIn, textIn } from '../support/answers.ts'
import { everyMetric, familiesOf } from '../support/metrics.ts'
import { missing } from '../support/missing.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const families = familiesOf(await everyMetric({ after }))
const known = families.flatMap(({ name, type }) =>
  type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
)
const folder = fileURLToPath(new URL('deploy/prometheus', root))
const alerts = read('deploy/prometheus/alerts.yml')
const dashboard: unknown = JSON.parse(read('deploy/grafana/lethe.json'))
const panels = listIn(dashboard, 'panels')
const plots = panels.filter((panel) => textIn(panel, 'type') !== 'row')
const queries = plots.flatMap((panel) => listIn(panel, 'targets').map((target) => textIn(target, 'expr')))
const skip = missing('promtool')

/** The names of metrics in a text: those of Lethe and those of every process. */
function metricsIn(text: string): string[] {
  return [...new Set(text.match(/\b(?:lethe|process|nodejs)_[a-z_]+[a-z]\b/g))]
}

function promtool(cwd: string, ...args: string[]): void {
  const { status, stdout, stderr } = spawnSync('promtool', args, { cwd, encoding: 'utf8' })
  assert.equal(status, 0, stdout + stderr)
}

describe('the alert rules', () => {
  test('use only existing metrics', () => {
    const expressions = alerts.replaceAll(/^ *(#|summary:|description:).*$/gm, '')
    assert.ok(metricsIn(expressions).length >= 8)
    for (const name of metricsIn(expressions)) assert.ok(known.includes(name), name)
  })

  test('each document the source of their threshold', () => {
    const rules = alerts.split(/^ +- alert: /m)
    assert.ok(rules.length > 10)
    // The comment before a rule is at the end of the preceding part.
    for (const before of rules.slice(0, -1)) assert.match(before, /\n +# [^\n]+\.\n$/)
  })

  test('are valid, as is the example configuration', { skip }, () => {
    promtool(folder, 'check', 'rules', 'alerts.yml')
    promtool(folder, 'check', 'config', 'prometheus.yml')
  })

  test('fire when they should, and not earlier', { skip }, () => {
    promtool(fileURLToPath(new URL('test/deploy', root)), 'test', 'rules', 'alerts.cases.yml')
  })
})

describe('the dashboard', () => {
  test('shows exactly the existing metrics', () => {
    const shown = metricsIn(queries.join('\n'))
    for (const name of shown) assert.ok(known.includes(name), `${name} does not exist`)
    for (const { name } of families) {
      const isShown = shown.some((each) => each.replace(/_(bucket|sum|count)$/, '') === name || each === name)
      assert.ok(isShown, `${name} is not shown`)
    }
  })

  test('uses the selected data source, jobs and processes', () => {
    for (const panel of plots) {
      for (const part of [panel, ...listIn(panel, 'targets')]) {
        assert.deepEqual(objectIn(part, 'datasource'), { type: 'prometheus', uid: `\${datasource}` })
      }
    }
    for (const query of queries) {
      const selectors = query.match(/\{[^}]*\}/g) ?? []
      assert.ok(selectors.length > 0)
      for (const selector of selectors) assert.match(selector, /^\{job=~"\$job",instance=~"\$instance"[,}]/)
    }
    const variables = listIn(objectIn(dashboard, 'templating'), 'list').map((each) => textIn(each, 'name'))
    assert.deepEqual(variables, ['datasource', 'job', 'instance'])
  })

  test('explains each panel and sets its unit', () => {
    for (const panel of plots) {
      const title = textIn(panel, 'title')
      assert.match(textIn(panel, 'description'), /\.$/, title)
      assert.notEqual(textIn(objectIn(objectIn(panel, 'fieldConfig'), 'defaults'), 'unit'), '', title)
    }
  })

  test('has no overlapping panels', () => {
    const taken = new Set<string>()
    for (const panel of panels) {
      const { x, y, w, h } = objectIn(panel, 'gridPos')
      assert.ok([x, y, w, h].every(Number.isInteger))
      assert.ok(Number(x) + Number(w) <= 24, `${textIn(panel, 'title')} is too wide`)
      for (let column = Number(x); column < Number(x) + Number(w); column++) {
        for (let line = Number(y); line < Number(y) + Number(h); line++) {
          assert.ok(!taken.has(`${column},${line}`), `${textIn(panel, 'title')} lies over another`)
          taken.add(`${column},${line}`)
        }
      }
    }
    const ids = panels.map((panel) => (isObject(panel) ? panel.id : null))
    assert.equal(new Set(ids).size, panels.length)
  })

  test('has queries that Prometheus can parse', { skip }, (t) => {
    const own = temporaryFolder(t)
    const rules = queries.map((query, i) => ({
      record: `query_${i}`,
      expr: query.replaceAll('$__rate_interval', '5m').replaceAll(/\$(job|instance)/g, '.+'),
    }))
    writeFileSync(join(own, 'rules.yml'), JSON.stringify({ groups: [{ name: 'dashboard', rules }] }))
    promtool(own, 'check', 'rules', 'rules.yml')
  })
})
