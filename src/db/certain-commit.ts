import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '../domain/errors.ts'
import type { StepRow } from '../domain/execution.ts'
import type { Claim, Commit, Committed } from '../executor/ports.ts'
import { isOutage } from './database-errors.ts'
import type { TenantDb } from './tenant-pool.ts'

/** How long a commit is kept ready for a database that is away, and how often that is asked meanwhile. */
const maxOutageMs = 120_000
const pauseMs = 250

/** A row as far as it changes: place, status, attempts begun, attempts that came to nothing. */
type Mark = readonly [ordinal: number, status: string, attempt: number, failed: number]

const recorded = `
  SELECT e.worker_id IS NULL AS is_left, (
    SELECT coalesce(jsonb_agg(jsonb_build_array(
      s.ordinal, s.status, s.attempt, jsonb_array_length(coalesce(s.attempts, '[]')))), '[]')
    FROM step_executions s
    WHERE s.tenant_id = e.tenant_id AND s.execution_id = e.id AND s.ordinal = ANY($4::int[])
  ) AS marks
  FROM executions e WHERE e.tenant_id = $1 AND e.id = $2 AND e.fence = $3`

/**
 * Makes a commit that must not be lost, again and again while the database is away. After an outage nobody knows whether a
 * commit is written; once the database answers, its rows tell, and only what is missing is written.
 *
 * @throws what `commitOnce` throws; the outage itself once it has lasted for two minutes.
 */
export async function commitForCertain(
  db: TenantDb,
  commitOnce: (claim: Claim, commit: Commit) => Promise<Committed>,
  claim: Claim,
  commit: Commit,
): Promise<Committed> {
  const givesUpAt = performance.now() + maxOutageMs
  for (let isUncertain = false; ; isUncertain = true) {
    try {
      return isUncertain
        ? await commitMissing(db, commitOnce, claim, commit)
        : await commitOnce(claim, commit)
    } catch (error) {
      if (!isOutage(error) || performance.now() > givesUpAt) throw error
      await sleep(pauseMs)
    }
  }
}

async function commitMissing(
  db: TenantDb,
  commitOnce: (claim: Claim, commit: Commit) => Promise<Committed>,
  claim: Claim,
  commit: Commit,
): Promise<Committed> {
  const { tenantId, executionId, fence } = claim
  const rows = [...commit.added, ...commit.changed]
  const ordinals = rows.map(({ ordinal }) => ordinal)
  const [found] = await db.query<{ is_left: boolean; marks: readonly Mark[] }>(
    'commit_recorded',
    recorded,
    [tenantId, executionId, fence, ordinals],
  )
  if (found === undefined) throw new ServiceError('LEASE_LOST', { executionId, fence })
  const marks = new Set(found.marks.map(String))
  const isMissing = (row: StepRow): boolean => !marks.has(String(markOf(row)))
  const missing = rows.filter(isMissing)
  if (missing.length === rows.length) return commitOnce(claim, commit)
  // All but an intent that was withheld is written in one statement. What is wanted of the run its next commit answers.
  if (missing.length === 0) {
    return {
      flags: { cancelRequested: false, pauseRequested: false },
      isLeft: commit.leave !== undefined && found.is_left,
    }
  }
  return commitOnce(claim, {
    added: commit.added.filter(isMissing),
    changed: commit.changed.filter(isMissing),
    intent: commit.intent,
    limits: commit.limits,
    // Those that are there already stay as they are.
    sensitive: commit.sensitive,
  })
}

function markOf({ ordinal, status, attempt, attempts }: StepRow): Mark {
  return [ordinal, status, attempt, attempts?.length ?? 0]
}
