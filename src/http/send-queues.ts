import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { endianness } from 'node:os'
import ipaddr from 'ipaddr.js'

/** Linux lists every connection here, with its addresses and how many bytes it holds that the other side has not acknowledged. */
const files = ['/proc/self/net/tcp', '/proc/self/net/tcp6']

/**
 * How much the system holds for the client of each connection. Node cannot tell: the system takes more from it only when a third of what
 * it holds is gone, which a slow client may need minutes for. Other systems tell nothing, and hold less.
 */
export async function readSendQueues(): Promise<(socket: Socket) => string> {
  const queues = new Map<string, string>()
  for (const text of await Promise.all(files.map(readIfThere))) {
    for (const line of text.split('\n').slice(1)) {
      const [, local, remote, , queue] = line.trim().split(/\s+/)
      if (queue !== undefined) queues.set(`${local} ${remote}`, queue.slice(0, queue.indexOf(':')))
    }
  }
  return ({ localAddress, localPort, remoteAddress, remotePort }) =>
    queues.get(`${written(localAddress, localPort)} ${written(remoteAddress, remotePort)}`) ?? ''
}

function readIfThere(file: string): Promise<string> {
  return readFile(file, 'latin1').catch(() => '')
}

/** An address and a port as the lists write them: each four bytes of an address as a number of this machine. */
function written(address = '', port = 0): string {
  if (!ipaddr.isValid(address)) return ''
  const bytes = Buffer.from(ipaddr.parse(address).toByteArray())
  if (endianness() === 'LE') bytes.swap32()
  return `${bytes.toString('hex')}:${port.toString(16).padStart(4, '0')}`.toUpperCase()
}
