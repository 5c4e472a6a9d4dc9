import { z } from 'zod'
import { listEngagedSwitches } from '../db/queries/kill-switches.ts'
import { listToolUses } from '../db/queries/tool-contracts.ts'
import { stoppedBy } from '../domain/kill-switch.ts'
import { defineOperation } from './define.ts'
import { stoppedOutput } from './stopped-output.ts'

/**
 * The tools of this process, and those that an active version uses and that are not registered here, by name: all of them,
 * with the versions that use each.
 */
export const listTools = defineOperation({
  name: 'listTools',
  summary: 'List the tools, which active versions use each, and which are stopped',
  input: z.strictObject({}),
  output: z.object({
    items: z.array(
      z.object({
        tool: z.string(),
        description: z.string().nullable(),
        effect: z.enum(['read', 'write']).nullable().describe('null: it is not registered here'),
        contractHash: z.string().nullable().describe('The one that a version saved now would pin'),
        usedBy: z
          .array(
            z.object({
              procedureKey: z.string(),
              versionNumber: z.int(),
              contractHash: z.string().describe('The one that it has pinned'),
            }),
          )
          .describe('Active versions, by procedure key'),
        stopped: stoppedOutput,
      }),
    ),
  }),
  errors: [],
  roles: ['agent', 'author', 'approver', 'admin', 'auditor'],
  async run({ app, db }) {
    const uses = await listToolUses(db.kysely)
    const engaged = await listEngagedSwitches(db.kysely)
    const stopped = engaged.filter(({ kind }) => kind === 'tool')
    const names = new Set([
      ...app.tools.current.keys(),
      ...uses.flatMap(({ toolContracts }) => Object.keys(toolContracts)),
      ...stopped.map(({ name }) => name),
    ])
    const items = [...names].sort().map((tool) => {
      const known = app.tools.current.get(tool)
      const own = stopped.find(({ name }) => name === tool)
      return {
        tool,
        description: known?.contract.description ?? null,
        effect: known?.contract.effect ?? null,
        contractHash: known?.contractHash ?? null,
        usedBy: uses.flatMap(({ toolContracts, ...version }) => {
          const contractHash = toolContracts[tool]
          return contractHash === undefined ? [] : [{ ...version, contractHash }]
        }),
        stopped: own === undefined ? null : stoppedBy(own),
      }
    })
    return { items }
  },
})
