import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { describe, test } from 'node:test'
import { variables } from '../../src/config.ts'
import { read, root } from '../docs/markdown.ts'
import { missing } from '../support/missing.ts'

// `npm run test:interop` validates the schemas of these files; these tests cover the rest.

const folders = ['deploy/kubernetes/base', 'deploy/kubernetes/fleet']
const manifests = folders.flatMap((folder) =>
  readdirSync(new URL(folder, root)).map((file) => `${folder}/${file}`),
)
const compose = read('deploy/compose.yaml')
const { version, scripts } = JSON.parse(read('package.json'))

describe('the container deployments', () => {
  test('set only known variables', () => {
    const text = [compose, ...manifests.map(read)].join('\n').replaceAll(/\$\{[^}]+\}/g, '')
    const named = [...text.matchAll(/\b(LETHE_\w+)[:=]/g)].map(([, name = '']) => name)
    assert.ok(named.length >= 9)
    for (const name of named) assert.ok(Object.hasOwn(variables, name), name)
  })

  test('run the current version', () => {
    assert.ok(compose.includes(`localhost/lethe:${version}}`))
    assert.ok(read('deploy/kubernetes/base/kustomization.yaml').includes(`newTag: ${version}\n`))
    const guides = ['install', 'deploying', 'upgrading'].map((name) => read(`docs/guides/${name}.md`))
    const named = [...guides.join('').matchAll(/lethe(?:-client)?[-_:](\d+\.\d+\.\d+)/g)].map(
      ([, told]) => told,
    )
    assert.ok(named.length >= 8)
    assert.deepEqual([...new Set(named)], [version])
  })

  test('contain no password, and publish ports on their own machine only', () => {
    assert.doesNotMatch(compose, /PASSWORD\w*:/)
    for (const [, port = ''] of compose.matchAll(/ports: \['([^']+)'\]/g))
      assert.match(port, /^127\.0\.0\.1:/)
    for (const file of manifests) assert.doesNotMatch(read(file), /kind: Secret|stringData/)
  })

  test('configure the three processes of a fleet in the site for nginx', { skip: missing('sed') }, () => {
    const [, expression = ''] = /^ +sed '([^']+)'$/m.exec(compose) ?? []
    const input = read('deploy/nginx/lethe.conf')
    const site = execFileSync('sed', [expression], { input, encoding: 'utf8' })
    const upstream = /upstream lethe \{(.*?)\n\}/s.exec(site)?.[1] ?? ''
    const servers = [...upstream.matchAll(/server (\S+);/g)].map(([, server]) => server)
    assert.deepEqual(servers, ['lethe-1:8080', 'lethe-2:8080', 'lethe-3:8080'])
    for (const name of servers)
      assert.match(compose, new RegExp(`^ {2}${name?.split(':')[0]}: \\*fleet$`, 'm'))
  })

  test('spool exports to disk, not to memory', () => {
    const [, folder = ''] = /LETHE_SPOOL_DIR=(\S+)/.exec(read('Containerfile')) ?? []
    assert.ok(read('Containerfile').includes(`\nVOLUME ${folder}\n`))
    assert.deepEqual(
      [...compose.matchAll(/volumes: \['(store|fleet):([^']+)'\]/g)].map(([, name, path]) => [name, path]),
      [
        ['fleet', folder],
        ['store', folder],
      ],
    )
    const pod = read('deploy/kubernetes/base/deployment.yaml')
    assert.match(pod, /name: LETHE_SPOOL_DIR, value: \/tmp \}/)
    assert.match(pod, /- name: tmp\n +emptyDir: \{ sizeLimit: \dGi \}/)
  })

  test('pin each image to a version', () => {
    const images = [...compose.matchAll(/^ +image: (\S+)$/gm)].map(([, image = '']) => image)
    assert.ok(images.length >= 6)
    for (const image of images) assert.match(image, /:v?\d[\d.]*\}?$/)
  })

  test('are restricted: not root, read-only, without capabilities', () => {
    const services = compose.slice(compose.indexOf('\nservices:'), compose.indexOf('\nnetworks:'))
    for (const [, name = '', first] of services.matchAll(
      /^ {2}([\w-]+):(?: (\*fleet)|\n {4}<<: \*(?:locked|lethe|fleet))?/gm,
    )) {
      assert.ok(first !== undefined || new RegExp(`^ {2}${name}:\\n {4}<<: `, 'm').test(services), name)
    }
    assert.match(compose, /&locked\n {2}restart: \S+\n {2}read_only: true\n {2}cap_drop: \[ALL\]/)
    const pod = read('deploy/kubernetes/base/deployment.yaml')
    for (const setting of [
      'runAsNonRoot: true',
      'readOnlyRootFilesystem: true',
      'allowPrivilegeEscalation: false',
      'capabilities: { drop: [ALL] }',
      'seccompProfile: { type: RuntimeDefault }',
      'automountServiceAccountToken: false',
      // Otherwise Kubernetes sets LETHE_PORT to the address of the service called lethe.
      'enableServiceLinks: false',
    ])
      assert.ok(pod.includes(setting), setting)
  })
})

describe('the workflows', () => {
  const workflows = ['.github/workflows/ci.yml', '.github/workflows/release.yml'].map(read)

  test('run existing commands', () => {
    const [ci = '', release = ''] = workflows
    assert.match(ci, /run: \.ci\/run$/m)
    const named = [...ci.matchAll(/'(test:\w+)'/g), ...release.matchAll(/npm run (\w+)/g)]
    assert.ok(named.length >= 4)
    for (const [, name = ''] of named) assert.ok(Object.hasOwn(scripts, name), name)
  })

  test('pin third-party actions to commits, and have no write permissions by default', () => {
    for (const workflow of workflows) {
      for (const [, used = ''] of workflow.matchAll(/uses: (\S+)/g)) assert.match(used, /@[0-9a-f]{40}$/)
      assert.match(workflow, /^permissions:\n {2}contents: read$/m)
    }
  })

  test('test the Node versions of the launcher and the program', () => {
    const { engines } = JSON.parse(read('package.json'))
    assert.equal(engines.node, '>=20')
    assert.match(workflows[0] ?? '', /node: \[20, 24, 26\]/)
  })
})
