import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { missing } from './missing.ts'
import type { Lifetime } from './service.ts'
import { until } from './until.ts'

const systemd = '/lib/systemd/systemd'

/** Mounts the root of the machine: a copy-on-write view of this one's files, in a private mount namespace. */
const overlay = `mount -t tmpfs tmpfs /mnt
mkdir /mnt/upper /mnt/work /mnt/root
mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work /mnt/root
`

/** Why tests that need a machine are skipped; `false` if they run. */
export const noMachine =
  missing('unshare') ||
  missing('nsenter') ||
  (!existsSync(systemd) && 'systemd is not installed') ||
  (process.getuid?.() !== 0 && 'only root can start a machine') ||
  (spawnSync('unshare', ['--mount', 'sh', '-c', `set -e\n${overlay}`]).status !== 0 &&
    'overlays cannot be mounted')

/** A container with the files of this machine, copied on write, and its own systemd and network. */
export interface Machine {
  /** The prefix of a command that runs in the machine, on its own network or on the outer one. */
  within(network?: 'own' | 'outer'): string[]
}

/**
 * Boots a machine that shares these folders with this one, and whose `node` is the one that runs the test.
 */
export async function bootMachine(lifetime: Lifetime, ...folders: string[]): Promise<Machine> {
  const unshared = ['--mount', '--pid', '--fork', '--uts', '--ipc', '--cgroup', '--net', '--kill-child']
  const child = spawn('unshare', [...unshared, 'sh', '-c', bootScript(folders)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text
    })
  }
  lifetime.after(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  const within = (network: 'own' | 'outer' = 'own') => {
    const pid = childOf(child.pid)
    assert.ok(pid, `the machine has ended: ${printed}`)
    const all = ['--mount', '--pid', '--uts', '--ipc', '--cgroup', '--root', '--wd']
    return ['nsenter', '--target', String(pid), ...all, ...(network === 'own' ? ['--net'] : []), '--']
  }
  await until(() => {
    if (childOf(child.pid) === null) return false
    const [program = '', ...args] = [...within(), 'systemctl', 'is-system-running', '--wait']
    return /running|degraded/.test(spawnSync(program, args, { encoding: 'utf8' }).stdout)
  }, 240_000)
  return { within }
}

/** The process that `unshare` forked: the first one of the machine. */
function childOf(pid: number | undefined): number | null {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  return children === '' ? null : Number(children)
}

function bootScript(folders: readonly string[]): string {
  return `set -e
${overlay}
cd /mnt/root
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs tmpfs run
mount -t tmpfs tmpfs dev
for device in null zero full random urandom tty; do touch dev/$device; mount --bind /dev/$device dev/$device; done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
# Its own, or its boot would empty this machine's, file by file, in the copy.
mount -t tmpfs -o mode=1777 tmpfs tmp
${folders.map((folder) => `mkdir -p '.${folder}'; mount --bind '${folder}' '.${folder}'`).join('\n')}
touch usr/bin/node
mount --bind '${process.execPath}' usr/bin/node
# Not chroot: the kernel lets nobody below one make a user namespace, as systemd does for services.
mkdir outer
pivot_root . outer
umount -l /outer
exec env -i container=lethe PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin ${systemd} --system --unit=basic.target
`
}
