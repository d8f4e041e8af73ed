import type { Command } from 'commander'
import type { CommandKit } from '../command-kit.ts'
import { addRequestsCertificate } from './requests-certificate.ts'
import {
  addRequestsCancel,
  addRequestsClose,
  addRequestsExtend,
  addRequestsReject,
} from './requests-change.ts'
import { addRequestsCreate } from './requests-create.ts'
import { addRequestsErase } from './requests-erase.ts'
import { addRequestsExport } from './requests-export.ts'
import { addRequestsList, addRequestsShow } from './requests-read.ts'

export function addRequestsCommand(program: Command, kit: CommandKit): void {
  const requests = program
    .command('requests')
    .description('requests of people, for a copy of their data or for its erasure, in a running service')
  addRequestsCreate(requests, kit)
  addRequestsList(requests, kit)
  addRequestsShow(requests, kit)
  addRequestsErase(requests, kit)
  addRequestsExtend(requests, kit)
  addRequestsReject(requests, kit)
  addRequestsCancel(requests, kit)
  addRequestsClose(requests, kit)
  addRequestsExport(requests, kit)
  addRequestsCertificate(requests, kit)
}
