/** The systems that binaries are built for, by Node's names. */
export const targets = {
  'linux-x64': { platform: 'linux', arch: 'x64' },
  'linux-arm64': { platform: 'linux', arch: 'arm64' },
  'darwin-arm64': { platform: 'darwin', arch: 'arm64' },
  'darwin-x64': { platform: 'darwin', arch: 'x64' },
  'win-x64': { platform: 'win32', arch: 'x64' },
} as const

export type Target = keyof typeof targets

export function isTarget(name: string): name is Target {
  return Object.hasOwn(targets, name)
}

/** The target of this machine; `undefined` if no binary can be built for it. */
export function ownTarget(): Target | undefined {
  return Object.keys(targets)
    .filter(isTarget)
    .find((name) => targets[name].platform === process.platform && targets[name].arch === process.arch)
}

export function binaryName(target: Target): string {
  return targets[target].platform === 'win32' ? 'lethe.exe' : 'lethe'
}
