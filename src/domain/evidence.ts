import { z } from 'zod'
import type { AuditEvent } from './audit.ts'
import { isJsonObject, type Json } from './json.ts'
import { isHash, type PathStep } from './merkle.ts'

/** The lines of evidence, in the order in which they come: docs/decisions/0016-seals.md. */

const json = z.custom<Json>((value) => value !== undefined)
const row = z.custom<{ readonly [column: string]: Json }>(isJsonObject, 'must be an object')
const count = z.int().min(0)
const hash = z.string().regex(isHash, 'must be 64 hex digits')

const header = z.strictObject({
  kind: z.literal('header'),
  /** 1 has no `asOf` and no rows of the tables in `stateTables`. */
  format: z.literal([1, 2]),
  /** `run`: the events are stretches of the chain, and records have paths. */
  scope: z.enum(['all', 'run']),
  tenant: z.string(),
  /** RFC 3339 in UTC. */
  madeAt: z.string(),
  /** The end of the chain before the first row was read: each row agrees with this event at the least. */
  asOf: count.optional(),
})

/**
 * The tables of rows that acts have written, in the order in which they come: a version names its contracts, and a
 * procedure is there before its versions.
 */
export const rowTables = [
  'tool_contracts',
  'procedure_versions',
  'reviews',
  'activations',
  'procedures',
  'principals',
  'api_keys',
  'kill_switches',
  'tenants',
  'governance',
] as const
export type RowTable = (typeof rowTables)[number]

const rowLine = z.strictObject({
  kind: z.literal('row'),
  table: z.enum(rowTables),
  /** The end of the chain at the moment when the row was read: up to there the events must agree with it. */
  asOf: count,
  row,
  /** Of a version: its scenarios, in their order. */
  scenarios: z.array(json).optional(),
})

/** As `checkpoint` of src/domain/checkpoint.ts; also a line of a checkpoint file. */
export const checkpointShape = z.strictObject({
  v: z.literal(1),
  tenant: z.string(),
  seq: z.int().min(1),
  hash: z.string(),
  at: z.string(),
  keyId: z.string(),
  signature: z.string(),
})

const checkpointLine = z.strictObject({
  kind: z.literal('checkpoint'),
  checkpoint: checkpointShape,
})

const eventLine = z.strictObject({
  kind: z.literal('event'),
  event: z.strictObject({
    tenantId: z.string(),
    seq: z.int(),
    id: z.string(),
    at: z.int(),
    actorId: z.string(),
    actorKind: z.string(),
    actor: z.string(),
    action: z.string(),
    entityKind: z.string(),
    entityId: z.string().nullable(),
    beforeHash: z.string().nullable(),
    afterHash: z.string().nullable(),
    details: z.string(),
    origin: z.string().nullable(),
    ungoverned: z.boolean(),
    hashVersion: z.int(),
    prevHash: z.string().nullable(),
    hash: z.string(),
  }) satisfies z.ZodType<AuditEvent>,
})

const sealLine = z.strictObject({
  kind: z.literal('seal'),
  number: z.int().min(1),
  recordVersion: z.int(),
  count: z.int().min(1),
  root: hash,
  first: z.string(),
  last: z.string(),
})

const runRows = z.strictObject({
  execution: row,
  steps: z.array(row),
  reply: row.nullable(),
  escalation: row.nullable(),
  sensitive: z.array(row),
})

const recordLine = z.strictObject({
  kind: z.literal('record'),
  seal: z.int().min(1),
  position: count,
  of: z.enum(['run', 'reply']),
  executionId: z.string(),
  /** The hash that was stored when it was sealed. */
  leaf: hash,
  /** Of a run; null where its execution is gone. */
  run: runRows.nullable().optional(),
  /** Of a reply that came later; null where it is gone. */
  reply: row.nullable().optional(),
  /** Absent once the run is erased. */
  salt: hash.optional(),
  /** In place of values, by path. */
  digests: z.record(z.string(), z.string()).optional(),
  /** Of an erased run: the number of the event that tells of it. */
  erasedBy: z.int().optional(),
  path: z
    .array(z.strictObject({ side: z.enum(['left', 'right']), hash }) satisfies z.ZodType<PathStep>)
    .optional(),
})

const endLine = z.strictObject({
  kind: z.literal('end'),
  seq: count,
  hash: z.string().nullable(),
  /** How many runs that have ended are not sealed yet. */
  unsealed: count,
})

export const evidenceLine = z.discriminatedUnion('kind', [
  header,
  rowLine,
  checkpointLine,
  eventLine,
  sealLine,
  recordLine,
  endLine,
])

export type EvidenceLine = z.infer<typeof evidenceLine>
export type HeaderLine = z.infer<typeof header>
export type EndLine = z.infer<typeof endLine>
export type RowLine = z.infer<typeof rowLine>
export type SealLine = z.infer<typeof sealLine>
export type RecordLine = z.infer<typeof recordLine>
