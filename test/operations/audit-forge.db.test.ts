import { beforeAll, describe, expect, it, vi } from 'vitest'
import { newCheckpointKey } from '../../src/config/new-checkpoint-key.ts'
import { listRowLines } from '../../src/db/queries/evidence.ts'
import { approvalDigest } from '../../src/domain/approval.ts'
import { canonicalJson } from '../../src/domain/canonical.ts'
import { readCheckpointKey } from '../../src/domain/checkpoint.ts'
import { newId } from '../../src/domain/ids.ts'
import type { Json } from '../../src/domain/json.ts'
import { actRecordHash } from '../../src/domain/record.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { auditedTools } from '../support/audited.ts'
import { callerOf, principalOf } from '../support/caller.ts'
import { asSuperuser } from '../support/tamper.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const { app, db } = await openTestApp({
  tools: auditedTools,
  checkpointKey: readCheckpointKey(newCheckpointKey().privateKey),
})

const named = { procedureKey: 'FORGED', versionNumber: 1 }
const definition = {
  key: 'FORGED',
  name: 'Forged',
  description: 'Looks at an account.',
  issuePatterns: ['look at it'],
  input: {
    type: 'object',
    properties: { account: { type: 'string' }, pin: { type: 'string', sensitive: true } },
  },
  steps: [
    {
      key: 'look',
      action: 'Look',
      tool: 'look',
      with: { account: '{{input.account}}', pin: '{{input.pin}}' },
    },
  ],
}

beforeAll(() => db.requireApprovals(1))

/** What somebody does who has nothing but the login of the service: rows, and events that tell of them. */
class Forger {
  readonly tenantId: string
  readonly ann
  versionId = ''
  digest = ''

  constructor(tenantId: string) {
    this.tenantId = tenantId
    this.ann = callerOf('ann', undefined, tenantId)
  }

  /** A tenant with a draft that nobody has approved. */
  async begin(): Promise<void> {
    await db.addTenant(this.tenantId)
    await operations.createProcedure.invoke(app, this.ann, { definition })
    this.digest = (await this.approval()).digest
    const { rows } = await this.sql('SELECT id FROM procedure_versions')
    this.versionId = String(rows[0]?.id)
  }

  approval() {
    return operations.getApproval.invoke(app, this.ann, named)
  }

  sql(text: string, values: readonly unknown[] = []) {
    return db.asApp(this.tenantId, (client) => client.query(text, [...values]))
  }

  get bob(): string {
    return canonicalJson(principalOf('bob', ['approver'], this.tenantId))
  }

  async review(parts: Json, { by = this.bob, digest = this.digest } = {}): Promise<string> {
    const id = newId('review', Date.now())
    await this.sql(
      `INSERT INTO reviews (tenant_id, id, procedure_id, version_id, digest, parts, verdict, acknowledged,
         reviewer_id, reviewer, at)
       SELECT $1, $2, procedure_id, id, $3, $4, 'approve', '[]', $5::jsonb ->> 'id', $5, now()
       FROM procedure_versions WHERE id = $6`,
      [this.tenantId, id, digest, JSON.stringify(parts), by, this.versionId],
    )
    return `reviews/${id}`
  }

  async activate(from = 'now()'): Promise<string> {
    await this.sql(
      `UPDATE procedure_versions SET status = 'active', approval_digest = $2 WHERE id = $1`,
      [this.versionId, this.digest],
    )
    return this.serve(from)
  }

  async serve(from = 'now()'): Promise<string> {
    const id = newId('activation', Date.now())
    await this.sql(
      `INSERT INTO activations (tenant_id, id, procedure_id, version_id, active_from, activated_by)
       SELECT $1, $2, procedure_id, id, ${from}, $3 FROM procedure_versions WHERE id = $4`,
      [this.tenantId, id, this.bob, this.versionId],
    )
    return `activations/${id}`
  }

  /** With the true hashes of the rows as they are now. */
  async tell(
    action: string,
    keys: readonly string[],
    { at = 'now()', details = {} }: { readonly at?: string; readonly details?: object } = {},
  ): Promise<void> {
    const hashes = await this.#hashes()
    const records = Object.fromEntries(keys.map((key) => [key, hashes.get(key)]))
    const told = { ...named, ...details, records }
    await this.sql(
      `INSERT INTO audit_events (tenant_id, id, at, actor_id, actor_kind, actor, action, entity_kind, entity_id,
         details, origin, ungoverned)
       VALUES ($1, $2, ${at}, 'bob', 'human', $3, $4, 'version', $5, $6, 'cli', false)`,
      [
        this.tenantId,
        newId('audit', Date.now()),
        this.bob,
        action,
        this.versionId,
        keys.length === 0 ? '{}' : JSON.stringify(told),
      ],
    )
  }

  async #hashes(): Promise<ReadonlyMap<string, string>> {
    const { kysely } = db.database.forTenant(this.tenantId)
    const hashes = new Map<string, string>()
    for (const table of ['procedure_versions', 'reviews', 'activations'] as const) {
      for (const { row, scenarios } of (await listRowLines(kysely, table, '')).lines) {
        const extra = scenarios === undefined ? {} : { scenarios }
        hashes.set(`${table}/${row.id}`, actRecordHash(table, row, extra))
      }
    }
    return hashes
  }

  /** What the verification finds, with a checkpoint of all that was forged. */
  async problems(): Promise<readonly string[]> {
    const auditor = callerOf('aud', ['auditor'], this.tenantId)
    const { checkpoint } = await operations.makeCheckpoint.invoke(app, auditor, {})
    const { problems } = await operations.verifyAudit.invoke(app, auditor, {
      checkpoints: [checkpoint],
    })
    return problems.map(({ problem }) => problem)
  }

  get version(): string {
    return `procedure_versions/${this.versionId}`
  }
}

async function forger(name: string): Promise<Forger> {
  const one = new Forger(name)
  await one.begin()
  expect(await one.problems()).toEqual([])
  return one
}

describe('what the login of the service alone can forge', () => {
  it('is no review of nothing', async () => {
    const one = await forger('nothing')

    const review = await one.review({})
    await one.tell('version.reviewed', [review])

    expect(await one.problems()).toEqual(['Its digest is not that of its parts.'])
  })

  it('is no approval of something else', async () => {
    const one = await forger('else')
    const parts = {
      definition: '0'.repeat(64),
      tools: {},
      scenarios: '0'.repeat(64),
      results: null,
      calls: {},
    }
    one.digest = approvalDigest(parts)

    const review = await one.review(parts)
    await one.tell('version.reviewed', [review])
    const activation = await one.activate()
    await one.tell('version.activated', [one.version, activation], {
      details: { approvalDigest: one.digest, approvedBy: ['bob'] },
    })

    expect(await one.problems()).toContain(
      `What ${review.replace('reviews/', 'review ')} approves is not its definition, contracts and scenarios.`,
    )
  })

  it('is no approval by another than the event names', async () => {
    const one = await forger('another')
    const given = await one.approval()
    const rob = canonicalJson(principalOf('rob', ['approver'], one.tenantId))

    const review = await one.review({ ...given.parts }, { by: rob })
    await one.tell('version.reviewed', [review])

    expect((await one.problems()).join()).toMatch(
      /^It was not given by bob, who event \d+ names\.$/,
    )
  })

  it('is no event of another time', async () => {
    const one = await forger('back-dated')

    await one.tell('version.noted', [one.version], { at: `now() - interval '400 days'` })

    expect((await one.problems()).join()).toContain('it was back-dated, or a clock went back')
  })

  it('is no time of service before it was told', async () => {
    const one = await forger('before')
    await operations.reviewVersion.invoke(app, callerOf('rob', ['approver'], one.tenantId), {
      ...named,
      digest: one.digest,
      verdict: 'approve',
    })

    const activation = await one.activate(`now() - interval '400 days'`)
    await one.tell('version.activated', [one.version, activation], {
      details: { approvalDigest: one.digest, approvedBy: ['rob'] },
    })

    const problems = await one.problems()
    expect(problems.join()).toContain('It did not begin when event')
    expect(problems).toContain('It begins before its version was made.')
  })

  it('is no time of service that an event without hashes hides', async () => {
    const one = await forger('hidden')

    await asSuperuser(db, (client) =>
      client.query(
        `INSERT INTO activations (tenant_id, id, procedure_id, version_id, active_from, activated_by)
         SELECT tenant_id, 'act_forged', procedure_id, id, now() - interval '2 days', $2
         FROM procedure_versions WHERE id = $1`,
        [one.versionId, one.bob],
      ),
    )
    await one.tell('version.noted', [])

    expect(await one.problems()).toEqual([
      'No event speaks of it: it was written past the service.',
    ])
  })
})

describe('what a superuser leaves', () => {
  it('shows where something went live without an approval that was asked for', async () => {
    const one = await forger('ungoverned')
    const other = await forger('untold')
    const set = (count: number) =>
      asSuperuser(db, (client) =>
        client.query('UPDATE governance SET required_approvals = $1', [count]),
      )
    await db.requireApprovals(2)
    await db.requireApprovals(1)

    await set(0)
    for (const { ann } of [one, other]) {
      await operations.activateVersion.invoke(app, ann, { ...named, seenActive: null })
    }
    const meanwhile = await one.problems()
    await set(1)

    expect(meanwhile.join()).toContain('Its required_approvals is not what the events say')
    for (const each of [one, other]) {
      expect((await each.problems()).join()).toContain(
        'It went live without an approval, and one was asked for',
      )
    }
  })

  it('shows where approvals were switched off and on again for a new tenant', async () => {
    const set = (count: number) =>
      asSuperuser(db, (client) =>
        client.query('UPDATE governance SET required_approvals = $1', [count]),
      )
    const one = await forger('off-and-on')

    await set(0)
    await operations.activateVersion.invoke(app, one.ann, { ...named, seenActive: null })
    await set(1)

    expect((await one.problems()).join()).toContain('no event speaks of the change')
  })

  it('shows where what went live was declined, or approved by too few', async () => {
    const one = await forger('declined')
    const approver = callerOf('rob', ['approver'], one.tenantId)
    const review = { ...named, digest: one.digest }
    await operations.reviewVersion.invoke(app, approver, { ...review, verdict: 'approve' })
    const verdict = { ...review, verdict: 'decline', comment: 'No.' }
    await operations.reviewVersion.invoke(app, callerOf('sue', ['approver'], one.tenantId), verdict)

    await asSuperuser(db, (client) =>
      client.query(
        `UPDATE procedure_versions SET status = 'active', approval_digest = $2 WHERE id = $1`,
        [one.versionId, one.digest],
      ),
    )
    const activation = await one.serve()
    await one.tell('version.activated', [one.version, activation], {
      details: { approvalDigest: one.digest, approvedBy: ['rob', 'zoe'] },
    })

    const problems = await one.problems()
    expect(problems).toContain('It went live though sue had declined it.')
    expect(problems).toContain('The approval of zoe, which it went live with, is gone.')
  })
})
