import { z } from 'zod'
import type { ProcedureVersion, VersionListItem } from '../db/queries/versions.ts'
import { instant } from './shapes.ts'

export const findingShape = z.object({
  rule: z.string(),
  severity: z.enum(['error', 'warning']),
  path: z.string(),
  message: z.string(),
  line: z.int().optional(),
  column: z.int().optional(),
  id: z.string().optional().describe('Of a routing finding: what it is acknowledged by'),
})

export const versionListItem = z.object({
  procedureKey: z.string(),
  versionNumber: z.int(),
  versionId: z.string(),
  status: z.enum(['draft', 'active', 'deprecated']),
  name: z.string(),
  category: z.string(),
  definitionHash: z.string(),
  revision: z.int().describe('Rises with each edit of a draft; an edit names the one that it saw'),
  createdAt: instant,
  updatedAt: instant,
  reviewBy: instant.nullable().describe('When a person is to look whether it still holds'),
})

/** What an operation that changes a version answers. */
export const versionState = versionListItem
  .extend({
    findings: z.array(findingShape),
    proposalId: z
      .string()
      .nullable()
      .describe('The proposal that it was made of; null where a person wrote it'),
  })
  .meta({ id: 'VersionState' })

export const versionOutput = versionState
  .extend({
    definition: z.custom<ProcedureVersion['definition']>().meta({ type: 'object' }),
    summary: z.string(),
    toolContracts: z.record(z.string(), z.string()),
    source: z
      .string()
      .nullable()
      .describe(
        'The text that it was written as, with its comments; null where it came as a value',
      ),
  })
  .meta({ id: 'Version' })

export function toVersionListItem(version: VersionListItem): z.infer<typeof versionListItem> {
  return {
    procedureKey: version.procedureKey,
    versionNumber: version.versionNumber,
    versionId: version.id,
    status: version.status,
    name: version.name,
    category: version.category,
    definitionHash: version.definitionHash,
    revision: version.revision,
    createdAt: version.createdAt.toISOString(),
    updatedAt: version.updatedAt.toISOString(),
    reviewBy: version.reviewBy?.toISOString() ?? null,
  }
}

export function toVersionState(version: ProcedureVersion): z.infer<typeof versionState> {
  return {
    ...toVersionListItem(version),
    findings: [...version.findings],
    proposalId: version.proposalId,
  }
}

export function toVersionOutput(
  version: ProcedureVersion,
  source: string | null,
): z.infer<typeof versionOutput> {
  return {
    ...toVersionState(version),
    definition: version.definition,
    summary: version.summary,
    toolContracts: { ...version.toolContracts },
    source,
  }
}
