import { z } from 'zod'
import type { AppContext } from '../context.ts'
import type { Db, Transaction } from '../db/connect.ts'
import { lockProcedure } from '../db/queries/procedures.ts'
import { updateDecided } from '../db/queries/proposals.ts'
import { ServiceError } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'
import type { Proposal } from '../learning/proposal.ts'
import { type Caller, defineAdministration } from './define.ts'
import { findTarget, getProposalRow, requireOpen, requirePersonToDecide } from './find-proposal.ts'
import {
  findInherited,
  insertFirstVersion,
  insertNextVersion,
  type NextVersion,
  withAuthor,
} from './next-version.ts'
import { prepareVersion } from './prepare-version.ts'
import { proposalId } from './shapes.ts'
import { toVersionState, versionState } from './version-output.ts'

/**
 * Makes a draft of a proposal: of a new procedure, or the next version of one that is there. It is checked, edited, reviewed
 * and activated like any other. Whoever accepts is its author, and so is whoever proposed it: somebody else approves it.
 *
 * Of several who accept at once one makes the draft, and the others are told who was faster.
 */
export const acceptProposal = defineAdministration({
  name: 'acceptProposal',
  summary: 'Make a draft of a proposal, as its author',
  input: z.strictObject({
    proposalId,
    rebase: z
      .boolean()
      .default(false)
      .describe('Make the draft though the version that it improves is not the newest any more'),
  }),
  output: versionState,
  errors: [
    'PROPOSAL_NOT_FOUND',
    'PROPOSAL_NOT_OPEN',
    'PROPOSAL_ERASED',
    'PROPOSAL_BASE_STALE',
    'PROPOSAL_NEEDS_PERSON',
    'PROCEDURE_EXISTS',
    'DEFINITION_INVALID',
    'EMBEDDING_MODEL_CHANGED',
    'EMBEDDER_UNAVAILABLE',
  ],
  roles: ['author', 'approver', 'admin'],
  async prepare({ app, caller, db }, input) {
    requirePersonToDecide(caller.principal)
    const proposal = await getProposalRow(db.kysely, input.proposalId)
    return { proposal, next: await prepareDraft(app, caller, db.kysely, proposal) }
  },
  async change({ app, caller }, transaction, { proposalId: id, rebase }, { proposal, next }) {
    const now = app.clock.now()
    const versionId = newId('version', now)
    const decision = {
      by: caller.principal,
      at: new Date(now),
      status: 'accepted',
      versionId,
    } as const
    // First of all, so that others wait here, and then see that it is decided.
    if (!(await updateDecided(transaction, id, decision))) {
      requireAcceptable(await getProposalRow(transaction, id))
      throw new TypeError('a proposal that is open can be accepted')
    }
    const proposed = { proposalId: id, id: versionId }
    const { version, audit } = await insertProposed(app, caller, transaction, proposal, rebase, {
      ...next,
      proposed,
    })
    const { procedureKey, versionNumber } = version
    return {
      output: toVersionState(version),
      audit: [
        ...audit,
        {
          action: 'proposal.accepted',
          entityKind: 'proposal',
          entityId: id,
          afterHash: version.definitionHash,
          details: { kind: proposal.kind, procedureKey, versionNumber, versionId },
        },
      ],
    }
  },
})

/** @throws ServiceError `PROPOSAL_NOT_OPEN`, `PROPOSAL_ERASED`. */
function requireAcceptable(proposal: Proposal): NonNullable<Proposal['definition']> {
  requireOpen(proposal)
  const { definition, erasedAt } = proposal
  if (definition !== null) return definition
  throw new ServiceError('PROPOSAL_ERASED', {
    proposalId: proposal.id,
    at: erasedAt?.toISOString() ?? '',
  })
}

/** The draft with the scenarios of the version that people mean, as of any next version. */
async function prepareDraft(
  app: AppContext,
  caller: Caller,
  db: Db,
  proposal: Proposal,
): Promise<NextVersion> {
  const prepared = await prepareVersion(app, db, requireAcceptable(proposal))
  const { scenarios, source, authorIds } = await findInherited(db, proposal.procedureKey)
  const others = scenarios.length > 0 ? authorIds : []
  return {
    prepared,
    scenarios,
    texts: { source: null, scenariosSource: source },
    authorIds: withAuthor([...others, proposal.createdBy.id], caller),
  }
}

async function insertProposed(
  app: AppContext,
  caller: Caller,
  transaction: Transaction,
  proposal: Proposal,
  rebase: boolean,
  next: NextVersion,
): ReturnType<typeof insertNextVersion> {
  const { procedureKey } = proposal
  const procedure = await lockProcedure(transaction, procedureKey)
  if (procedure === undefined) return insertFirstVersion(app, caller, transaction, next)
  // Under the lock: nobody makes another version meanwhile.
  const { base, newest, isCurrent } = await findTarget(transaction, proposal)
  if (!isCurrent && !rebase) {
    const { id: proposalId } = proposal
    throw new ServiceError('PROPOSAL_BASE_STALE', { proposalId, procedureKey, base, newest })
  }
  return insertNextVersion(app, caller, transaction, procedureKey, next)
}
