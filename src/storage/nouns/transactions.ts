import { activityTransactions } from './activity.ts'
import { apiKeyTransactions } from './api-key.ts'
import { approvalTransactions } from './approval.ts'
import { deletionTransactions } from './deletion.ts'
import type { ArgumentsOf, ResultOf, Run } from './engine.ts'
import { requestLeaseTransactions } from './lease-privacy-request.ts'
import { ledgerTransactions } from './ledger.ts'
import { memberTransactions } from './member.ts'
import { organisationTransactions } from './organisation.ts'
import { organisationProfileTransactions } from './organisation-profile.ts'
import { passkeyTransactions } from './passkey.ts'
import { privacyRequestTransactions } from './privacy-request.ts'
import { recoveryCodeTransactions } from './recovery-code.ts'
import { refusedLineTransactions } from './refused-line.ts'
import { replayTransactions } from './replay.ts'
import { replayClosingTransactions } from './replay-closing.ts'
import { replyTextTransactions } from './reply-text.ts'
import { requestGroupTransactions } from './request-group.ts'
import { requestHandlingTransactions } from './request-handling.ts'
import { retentionTransactions } from './retention.ts'
import { scrubTransactions } from './scrub.ts'
import { secondFactorTransactions } from './second-factor.ts'
import { secretTransactions } from './secret.ts'
import { signInTransactions } from './sign-in.ts'
import { signInChallengeTransactions } from './sign-in-challenge.ts'
import { signInRulesTransactions } from './sign-in-rules.ts'
import { singleSignOnTransactions } from './single-sign-on.ts'
import { requestSweepTransactions } from './sweep-privacy-request.ts'
import { tombstoneTransactions } from './tombstone.ts'
import { totpTransactions } from './totp.ts'
import { trackerTransactions } from './tracker.ts'
import { variableTransactions } from './variable.ts'
import { variableTokenTransactions } from './variable-token.ts'

/** All transactions that are shared by the engines. */
const transactions = {
  ...activityTransactions,
  ...approvalTransactions,
  ...apiKeyTransactions,
  ...deletionTransactions,
  ...ledgerTransactions,
  ...memberTransactions,
  ...organisationTransactions,
  ...organisationProfileTransactions,
  ...passkeyTransactions,
  ...privacyRequestTransactions,
  ...recoveryCodeTransactions,
  ...refusedLineTransactions,
  ...replayTransactions,
  ...replayClosingTransactions,
  ...replyTextTransactions,
  ...requestGroupTransactions,
  ...requestHandlingTransactions,
  ...requestLeaseTransactions,
  ...requestSweepTransactions,
  ...retentionTransactions,
  ...scrubTransactions,
  ...secondFactorTransactions,
  ...secretTransactions,
  ...signInChallengeTransactions,
  ...signInRulesTransactions,
  ...signInTransactions,
  ...singleSignOnTransactions,
  ...tombstoneTransactions,
  ...totpTransactions,
  ...trackerTransactions,
  ...variableTransactions,
  ...variableTokenTransactions,
}

export type SharedTransactions = typeof transactions
export type TransactionName = keyof SharedTransactions

export function isTransactionName(name: string): name is TransactionName {
  return name in transactions
}

/** The transaction with this name, for arguments of unknown type. */
export function transactionNamed(name: TransactionName): (run: Run, ...args: never[]) => Promise<unknown> {
  return transactions[name]
}

/** Runs the transaction with this name. */
export function runTransaction<Name extends TransactionName>(
  run: Run,
  name: Name,
  args: ArgumentsOf<SharedTransactions[Name]>,
): Promise<ResultOf<SharedTransactions[Name]>> {
  // The signature ties arguments and result to the name; TypeScript cannot follow that through the table.
  return transactionNamed(name)(run, ...(args as never[])) as Promise<ResultOf<SharedTransactions[Name]>>
}
