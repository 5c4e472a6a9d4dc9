import { z } from 'zod'
import { listProposals as listRows } from '../db/queries/proposals.ts'
import { proposalKinds, proposalStatuses } from '../learning/proposal.ts'
import { defineOperation } from './define.ts'
import { noteRead } from './note-read.ts'
import { proposalListItem, toProposalListItem } from './proposal-output.ts'
import { nextCursor, pageById, procedureKey } from './shapes.ts'

/** A page of proposals, newest first: those that wait for a decision, unless another status is asked for. */
export const listProposals = defineOperation({
  name: 'listProposals',
  summary: 'List the drafts that the system proposes, newest first',
  input: z.strictObject({
    ...pageById('proposal'),
    status: z
      .enum([...proposalStatuses, 'all'])
      .default('open')
      .describe('open (default), accepted, dismissed or all'),
    kind: z.enum(proposalKinds).optional(),
    procedureKey: procedureKey.optional(),
  }),
  output: z.object({ items: z.array(proposalListItem), nextCursor }),
  errors: [],
  roles: ['author', 'approver', 'admin', 'auditor'],
  async run(context, { limit, cursor, status, ...filter }) {
    const rows = await listRows(context.db.kysely, {
      ...filter,
      ...(status !== 'all' && { status }),
      limit: limit + 1,
      before: cursor,
    })
    const items = rows.slice(0, limit)
    await noteRead(context, { action: 'proposals.listed', entityKind: 'tenant' })
    return {
      items: items.map(toProposalListItem),
      nextCursor: rows.length > limit ? (items.at(-1)?.id ?? null) : null,
    }
  },
})
