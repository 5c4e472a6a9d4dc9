import { z } from 'zod'
import { deleteHolds, updateDecided } from '../db/queries/proposals.ts'
import { defineAdministration } from './define.ts'
import { getProposalRow, requireOpen, requirePersonToDecide } from './find-proposal.ts'
import { proposalListItem, toProposalListItem } from './proposal-output.ts'
import { proposalId } from './shapes.ts'

/** Says no to a proposal, for ever: the same evidence proposes nothing again. What it held may be pruned from now on. */
export const dismissProposal = defineAdministration({
  name: 'dismissProposal',
  summary: 'Dismiss a proposal, so that the same evidence proposes nothing again',
  input: z.strictObject({
    proposalId,
    reason: z.string().regex(/\S/, 'must not be empty').max(2_000).describe('Why'),
  }),
  output: proposalListItem,
  errors: ['PROPOSAL_NOT_FOUND', 'PROPOSAL_NOT_OPEN', 'PROPOSAL_NEEDS_PERSON'],
  roles: ['author', 'approver', 'admin'],
  async change({ app, caller }, transaction, { proposalId: id, reason }) {
    requirePersonToDecide(caller.principal)
    const at = new Date(app.clock.now())
    const decision = { by: caller.principal, at, status: 'dismissed', reason } as const
    const isDecided = await updateDecided(transaction, id, decision)
    const proposal = await getProposalRow(transaction, id)
    if (!isDecided) requireOpen(proposal)
    await deleteHolds(transaction, id)
    return {
      output: toProposalListItem(proposal),
      audit: [
        {
          action: 'proposal.dismissed',
          entityKind: 'proposal',
          entityId: id,
          // Why is free text, which an erasure takes; here nothing is ever taken.
          details: { kind: proposal.kind, procedureKey: proposal.procedureKey },
        },
      ],
    }
  },
})
