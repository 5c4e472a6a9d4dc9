import { z } from 'zod'
import { requireDefinition } from '../domain/parse-definition.ts'
import { checkVersion } from './check-version.ts'
import { defineOperation } from './define.ts'
import { findTarget, getProposalRow } from './find-proposal.ts'
import { noteRead } from './note-read.ts'
import { proposalOutput, toProposalOutput } from './proposal-output.ts'
import { proposalId } from './shapes.ts'
import { findingShape } from './version-output.ts'

/**
 * One proposal, with what it was learned from, and what a check of it finds now: it is checked like anyone's draft, against
 * the tools of today. Nothing is written but that it was read.
 */
export const getProposal = defineOperation({
  name: 'getProposal',
  summary: 'Show a proposal, what it was learned from, and what a check of it finds',
  input: z.strictObject({ proposalId }),
  output: proposalOutput
    .extend({
      findings: z.array(findingShape).describe('Of the check, made now'),
      target: z
        .object({
          isThere: z
            .boolean()
            .describe('The procedure is there: the draft is its next version then'),
          newest: z.int().nullable().describe('The newest version that it has'),
          base: z.int().nullable().describe('Of an improvement: the version that it improves'),
          isCurrent: z
            .boolean()
            .describe('False: it improves a version that is not the newest any more'),
        })
        .describe('Where an acceptance would lead, as things stand'),
    })
    .meta({ id: 'Proposal' }),
  errors: ['PROPOSAL_NOT_FOUND'],
  roles: ['author', 'approver', 'admin', 'auditor'],
  async run(context, { proposalId: id }) {
    const { app, db } = context
    const proposal = await getProposalRow(db.kysely, id)
    const { definition } = proposal
    const findings =
      definition === null ? [] : await checkVersion(app, db.kysely, requireDefinition(definition))
    await noteRead(context, { action: 'proposal.read', entityKind: 'proposal', id })
    return {
      ...toProposalOutput(proposal),
      findings: [...findings],
      target: await findTarget(db.kysely, proposal),
    }
  },
})
