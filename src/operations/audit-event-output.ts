import { z } from 'zod'
import type { AuditEvent } from '../domain/audit.ts'
import { parseDetails } from '../domain/evidence-acts.ts'
import { instant, jsonObject } from './shapes.ts'

/** An event of the audit log as it is shown: the columns that its hash covers, with the JSON in them as values. */
export const auditEventOutput = z.object({
  seq: z.int(),
  id: z.string(),
  at: instant,
  actorId: z.string(),
  actorKind: z.string(),
  actor: jsonObject.describe('The principal, as it was at the act'),
  action: z.string().describe('Past tense, noun first: version.activated'),
  entityKind: z.string(),
  entityId: z.string().nullable(),
  beforeHash: z.string().nullable(),
  afterHash: z.string().nullable(),
  details: jsonObject,
  origin: z.string().nullable().describe('The door that the act came through'),
  ungoverned: z.boolean().describe('The act needed an approval, and the deployment asks for none'),
  hashVersion: z.int(),
  prevHash: z.string().nullable(),
  hash: z.string(),
})

export function toAuditEventOutput(event: AuditEvent): z.infer<typeof auditEventOutput> {
  const { tenantId: _tenantId, at, actor, details, ...rest } = event
  return {
    ...rest,
    at: new Date(at).toISOString(),
    actor: parseDetails(actor),
    details: parseDetails(details),
  }
}
