import type { Part } from '../bench.ts'
import type { PartName, Sizes } from '../sizes.ts'
import { measureCluster } from './cluster.ts'
import { measureErase } from './erase.ts'
import { measureExport } from './export.ts'
import { measureFind } from './find.ts'
import { measureGrowth } from './growth.ts'
import { measureHttp } from './http.ts'
import { measureImport } from './import.ts'
import { measureIngest } from './ingest.ts'
import { measureMixed } from './mixed.ts'
import { measurePostgres } from './postgres.ts'
import { measureStart } from './start.ts'
import { measureSweep } from './sweep.ts'
import { measureVariables } from './variables.ts'

/** Every part, in the order in which they run. */
export const parts: { [Name in PartName]: Part<Sizes[Name]> } = {
  start: measureStart,
  http: measureHttp,
  variables: measureVariables,
  erase: measureErase,
  import: measureImport,
  ingest: measureIngest,
  sweep: measureSweep,
  find: measureFind,
  export: measureExport,
  mixed: measureMixed,
  growth: measureGrowth,
  postgres: measurePostgres,
  cluster: measureCluster,
}

export function isPart(name: string): name is PartName {
  return Object.hasOwn(parts, name)
}
