// Builds what is published of @lethe/client into a folder, client/dist unless another one is named: JavaScript and its types.
import { spawnSync } from 'node:child_process'
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = resolve(process.argv[2] ?? join(root, 'client', 'dist'))

rmSync(folder, { recursive: true, force: true })
// The core is compiled without the types of Node, so that nothing of Node can slip into it.
for (const project of ['client/tsconfig.json', 'client/tsconfig.node.json']) {
  const args = ['node_modules/typescript/bin/tsc', '-p', project, '--outDir', folder]
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' })
  if (status !== 0) process.exit(1)
}

// TypeScript leaves the imports between declarations as they are in the sources.
for (const file of readdirSync(folder).filter((name) => name.endsWith('.d.ts'))) {
  const text = readFileSync(join(folder, file), 'utf8')
  writeFileSync(join(folder, file), text.replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"))
}

const {
  private: _,
  exports,
  ...manifest
} = JSON.parse(readFileSync(join(root, 'client', 'package.json'), 'utf8'))
const built = Object.fromEntries(
  Object.entries<string>(exports).map(([name, source]) => {
    const file = source.replace('./src/', './').replace(/\.ts$/, '')
    return [name, { types: `${file}.d.ts`, default: `${file}.js` }]
  }),
)
writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ ...manifest, exports: built }, null, 2)}\n`)
copyFileSync(join(root, 'client', 'README.md'), join(folder, 'README.md'))
copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
