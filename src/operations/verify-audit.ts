import { z } from 'zod'
import type { AppContext } from '../context.ts'
import { type CheckpointKey, publicHalf, readPublicKeys } from '../domain/checkpoint.ts'
import { ServiceError } from '../domain/errors.ts'
import { checkpointShape } from '../domain/evidence.ts'
import { EvidenceVerifier } from '../domain/verify-evidence.ts'
import { type Caller, defineOperation } from './define.ts'
import { allEvidence } from './read-evidence.ts'
import { replayExecution } from './replay-execution.ts'

const problem = z.object({
  table: z.string().describe('The table of the row that does not fit'),
  id: z.string(),
  problem: z.string(),
})

export const auditVerdict = z.object({
  ok: z.boolean(),
  problems: z.array(problem).describe('At most 20, in the order in which they were found'),
  problemCount: z.int(),
  counts: z.object({
    events: z.int(),
    rows: z.int().describe('Versions, activations and contracts'),
    notCovered: z.int().describe('Of these rows, the ones whose events carry no hash of them'),
    seals: z.int(),
    records: z.int(),
    erased: z.int(),
    unsealed: z.int().describe('Runs that have ended and wait for their seal'),
    checkpoints: z.int(),
  }),
  provedUpTo: z.int().nullable().describe('The last event that a signed checkpoint proves'),
  limits: z.array(z.string()).describe('What this cannot prove'),
})

/**
 * Recomputes all that the audit is made of, from the first event on, and says what does not fit. It changes nothing and may
 * be repeated. Its time grows with events and runs, its memory does not.
 */
export const verifyAudit = defineOperation({
  name: 'verifyAudit',
  summary: 'Recompute the audit log, the seals and the records, and say what does not fit',
  input: z.strictObject({
    publicKeys: z
      .string()
      .max(100_000)
      .default('')
      .describe('Public keys of checkpoints in PEM, besides that of this service'),
    checkpoints: z
      .array(checkpointShape)
      .max(100_000)
      .default([])
      .describe('Checkpoints that were kept outside the database'),
    replay: z.boolean().default(false).describe('Make the decisions of every run again as well'),
  }),
  output: auditVerdict.extend({ replayed: z.int() }),
  errors: ['PUBLIC_KEY_INVALID'],
  roles: ['auditor'],
  async run({ app, caller, db }, { publicKeys, checkpoints, replay }) {
    const verifier = new EvidenceVerifier(keysOf(app, publicKeys), checkpoints)
    let replayed = 0
    let events = 0
    let records = 0
    for await (const lines of allEvidence(app, db.tenantId)) {
      for (const line of lines) {
        verifier.take(line)
        if (line.kind === 'event') events += 1
        if (line.kind !== 'record') continue
        records += 1
        if (!replay || line.of !== 'run' || line.salt === undefined || line.run === null) continue
        replayed += 1
        const disagreement = await findDisagreement(app, caller, line.executionId)
        if (disagreement === undefined) continue
        verifier.addProblem({
          table: 'executions',
          id: line.executionId,
          problem: disagreement,
        })
      }
      caller.onProgress?.(`${events} events, ${records} records`)
    }
    return { ...copyOf(verifier.finish()), replayed }
  },
})

/** The verdict with lists that are its reader's own. */
function copyOf(verdict: ReturnType<EvidenceVerifier['finish']>): z.infer<typeof auditVerdict> {
  return { ...verdict, problems: [...verdict.problems], limits: [...verdict.limits] }
}

function keysOf({ audit }: AppContext, pem: string): readonly CheckpointKey[] {
  const own = audit.checkpointKey === undefined ? [] : [publicHalf(audit.checkpointKey)]
  if (pem.trim() === '') return own
  const given = readPublicKeys(pem)
  if (given === undefined) {
    throw new ServiceError('PUBLIC_KEY_INVALID', {
      problem: 'The text holds no public key that can be read.',
    })
  }
  return [...own, ...given]
}

async function findDisagreement(
  app: AppContext,
  caller: Caller,
  executionId: string,
): Promise<string | undefined> {
  try {
    const { agrees, divergence } = await replayExecution.invoke(app, caller, { executionId })
    if (agrees) return undefined
    const place = divergence?.ordinal === null ? 'its end' : `step ${divergence?.ordinal}`
    return `Its decisions are not those that the definition demands, from ${place} on.`
  } catch (error) {
    // A record that was changed may be one that cannot be read any more; that is a finding, not a failure.
    const reason = error instanceof Error ? error.message : String(error)
    return `It cannot be replayed: ${reason}`
  }
}
