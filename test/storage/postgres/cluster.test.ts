import { after, before, describe } from 'node:test'
import { citusPrograms, freshDistributedStore, namedCluster, startCitus } from '../../support/citus.ts'
import { inReverse } from '../../support/in-reverse.ts'
import { shardTests } from './shards.ts'

const programs = citusPrograms()
const skip =
  !namedCluster && !programs && 'no Citus extension is installed, and LETHE_TEST_CITUS names no cluster'

describe('on a cluster', { skip }, () => {
  const lifetime = inReverse({ after })
  let address = ''
  before(async () => {
    const cluster = namedCluster ?? (await startCitus(lifetime, programs ?? ''))
    address = await freshDistributedStore(lifetime, cluster)
  })
  shardTests(() => address)
})
