import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../src/domain/define-tool.ts'
import { digestOf } from '../../src/domain/sensitive-value.ts'
import { ToolFailed } from '../../src/domain/tool.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'

/** Each stands for a value that must be in no table but one, and in no answer. */
const secrets = {
  pin: 'PIN-QX7731',
  /** Fits the pattern of a pin, and was taken for none. */
  rival: 'PIN-AB1234',
  code: 'CODE-ZK4482',
  words: 'WORDS-JV9915',
  token: 'TOKEN-HW2267',
  serial: 90_417_733,
}

const secretText = z.string().meta({ sensitive: true })
const seen: unknown[] = []
const lookup = defineTool({
  name: 'lookup',
  description: 'Looks an account up',
  effect: 'read',
  input: z.object({ pin: secretText, code: z.string() }),
  output: z.object({
    token: secretText,
    serial: z.number().meta({ sensitive: true }),
    isRich: z.boolean().meta({ sensitive: true }),
    echo: z.string(),
    account: z.string(),
  }),
  run: async (input) => {
    seen.push(input)
    const { token, serial } = secrets
    return { token, serial, isRich: true, echo: `found by ${input.pin}`, account: 'ACC-1' }
  },
})
const tell = defineTool({
  name: 'tell',
  description: 'Tells',
  effect: 'write',
  idempotent: true,
  input: z.object({ text: z.string(), parts: z.array(z.unknown()) }),
  output: z.object({ said: z.string(), serial: z.number(), byToken: z.looseObject({}) }),
  run: async ({ text }) => {
    seen.push(text)
    const serial = text.startsWith('Rich') ? secrets.serial : 0
    return { said: text, serial, byToken: { [secrets.token]: 1 } }
  },
})
const repeat = defineTool({
  name: 'repeat',
  description: 'Answers what it was sent',
  effect: 'read',
  input: z.object({ q: z.string() }),
  output: z.object({ q: z.string() }),
  run: async ({ q }) => ({ q }),
})
const fail = defineTool({
  name: 'fail',
  description: 'Fails, and quotes',
  effect: 'read',
  input: z.object({}),
  output: z.object({}),
  run: async () => {
    throw new Error(`token ${secrets.token} is not known`)
  },
})

const pause = defineTool({
  name: 'pause',
  description: 'Wants its own run to rest',
  effect: 'read',
  input: z.object({}),
  output: z.object({}),
  run: async (_input, { executionId }) => {
    await operations.pauseExecution.invoke(app, callerOf(), { executionId })
    return {}
  },
})

let refuses = true
const pay = defineTool({
  name: 'pay',
  description: 'Pays once a day, and fails at first',
  effect: 'write',
  idempotent: true,
  limits: [{ per: 'tenant', every: 'day', atMost: 1 }],
  input: z.object({ pin: secretText }),
  output: z.object({ receipt: secretText }),
  run: async ({ pin }) => {
    if (refuses) throw new ToolFailed(`${pin} is not known yet`)
    return { receipt: secrets.token }
  },
})

const { app, db } = await openTestApp({ tools: [lookup, tell, repeat, fail, pause, pay] })
const admin = callerOf()
const ann = callerOf('ann', ['agent'])
const boss = callerOf('boss', ['approver'])

let count = 0
async function procedureOf(parts: object, own?: string): Promise<string> {
  count += 1
  const key = own ?? `SENSITIVE_${count}`
  await operations.createProcedure.invoke(app, admin, {
    definition: { key, name: key, description: key, issuePatterns: [], ...parts },
  })
  const version = { procedureKey: key, versionNumber: 1, seenActive: null }
  await operations.activateVersion.invoke(app, admin, version)
  return key
}

/** Every table but the one that holds them, as text. */
async function tablesHolding(text: string): Promise<readonly string[]> {
  return db.asOwner('default', async (client) => {
    const { rows } = await client.query<{ relname: string }>(
      `SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`,
    )
    const found: string[] = []
    for (const { relname } of rows) {
      const { rows: hits } = await client.query(
        `SELECT FROM public.${relname} t WHERE strpos(lower(t::text), lower($1)) > 0`,
        [text],
      )
      if (hits.length > 0) found.push(relname)
    }
    return found
  })
}

async function expectOnlyApart(): Promise<void> {
  for (const secret of Object.values(secrets)) {
    expect(await tablesHolding(String(secret)), String(secret)).toEqual(['sensitive_values'])
  }
}

function expectNone(shown: unknown): void {
  const text = JSON.stringify(shown).toLowerCase()
  for (const secret of Object.values(secrets)) {
    expect(text).not.toContain(String(secret).toLowerCase())
  }
}

const agrees = async (executionId: string) => {
  const proof = await operations.replayExecution.invoke(app, ann, { executionId })
  return proof.agrees || proof
}

const input = {
  type: 'object',
  required: ['pin', 'account'],
  properties: {
    account: { type: 'string' },
    pin: { type: 'string', pattern: '^PIN-[A-Z0-9]{6}$', sensitive: true },
    note: { type: 'string' },
  },
}
const secretName = { type: 'string', sensitive: true }
const code = {
  key: 'code',
  action: 'Ask for the code',
  ask: 'customer',
  message: 'Is {{input.pin}} the pin of {{input.account}}?',
  answer: {
    type: 'object',
    required: ['code'],
    properties: { code: { type: 'string', sensitive: true }, isSure: { type: 'boolean' } },
  },
  deadline: '2d',
}
const yes = {
  key: 'yes',
  action: 'Ask for a yes',
  approval: 'approver',
  show: { pin: '{{input.pin}}', text: 'Pin {{input.pin}} of {{input.account}}' },
  deadline: '2d',
}
const look = {
  key: 'look',
  action: 'Look up',
  tool: 'lookup',
  with: { pin: '{{input.pin}}', code: '{{steps.code.output.code}}' },
}
const made = {
  key: 'made',
  action: 'Make of it',
  compute: {
    isLong: 'size(steps.look.output.token) > 5',
    last: 'substring(steps.look.output.token, 6)',
    account: 'steps.look.output.account',
  },
}
const say = {
  key: 'say',
  action: 'Say it',
  tool: 'tell',
  with: {
    text: 'Rich: {{steps.look.output.isRich}}, last {{steps.made.output.last}}, of {{steps.look.output.account}}',
    parts: ['{{steps.look.output}}', '{{steps.code.output.isSure or "no"}}'],
  },
}
const quoted = {
  key: 'quoted',
  action: 'Fail',
  tool: 'fail',
  required: false,
  onError: 'continue',
}
const output = { token: 'steps.look.output.token', account: 'input.account' }
const start = (procedureKey: string, more: object = {}, caller = ann) =>
  operations.startExecution.invoke(app, caller, {
    procedureKey,
    input: { pin: secrets.pin, account: 'ACC-1', note: `my pin is ${secrets.pin}` },
    ...more,
  })

describe('sensitive values', () => {
  it('stand in one table alone, and in no answer, whatever a run does with them', async () => {
    const procedureKey = await procedureOf({
      input,
      steps: [code, yes, look, made, say, quoted],
      output,
    })
    const told: unknown[] = []
    const watched = { ...ann, onSteps: (rows: unknown) => void told.push(rows) }
    const request = {
      ticket: { text: `Pin pin-qx7731, or ${secrets.pin}, not ${secrets.rival}. Why?` },
      context: { pin: secrets.pin, other: [`${secrets.pin}!`] },
      idempotencyKey: 'once',
    }

    const started = await start(procedureKey, request, watched)
    const { id: executionId } = started.execution
    const waiting = await operations.listWaitingSteps.invoke(app, ann, { executionId })
    const unfit = await operations.answerStep.invoke(app, watched, {
      executionId,
      step: 'code',
      text: `it says ${secrets.words}`,
    })
    await operations.answerStep.invoke(app, watched, {
      executionId,
      step: 'code',
      answer: { code: secrets.code, isSure: true },
    })
    const asked = await operations.listWaitingSteps.invoke(app, ann, { executionId })
    const comment = `I know ${secrets.pin}`
    const approve = { executionId, step: 'yes', comment }
    const done = await operations.approveStep.invoke(
      app,
      { ...boss, onSteps: watched.onSteps },
      approve,
    )
    const again = await start(procedureKey, request)

    expect(done.execution.outcome).toBe('resolved')
    expect(again.execution.id).toBe(executionId)
    await expect(start(procedureKey, { idempotencyKey: 'once' })).rejects.toMatchObject({
      code: 'IDEMPOTENCY_KEY_REUSED',
    })
    expect(seen).toEqual([
      { pin: secrets.pin, code: secrets.code },
      'Rich: true, last HW2267, of ACC-1',
    ])
    await expectOnlyApart()
    expectNone([started, waiting, unfit, asked, done, again, told])
    expect(await agrees(executionId)).toBe(true)
  })

  it('are shown as such, with all that is beside them', async () => {
    const { items } = await operations.listExecutions.invoke(app, ann, {})
    const run = await operations.getExecution.invoke(app, ann, { executionId: items[0]?.id ?? '' })
    const step = (key: string) => run.steps.find((one) => one.key === key)

    expect(run.execution.input).toEqual({
      account: 'ACC-1',
      note: 'my pin is (sensitive)',
      pin: '(sensitive)',
    })
    expect(run.execution.ticket?.text).toBe(
      'Pin (sensitive), or (sensitive), not (sensitive). Why?',
    )
    expect(run.execution.result).toEqual({ account: 'ACC-1', token: '(sensitive)' })
    expect(step('code')?.input).toMatchObject({ message: 'Is (sensitive) the pin of ACC-1?' })
    expect(step('code')?.exchange).toMatchObject([
      { kind: 'unfit', text: '(sensitive)' },
      { kind: 'answered' },
    ])
    expect(step('code')?.output).toEqual({ code: '(sensitive)', isSure: true })
    expect(step('yes')?.input).toMatchObject({
      show: { pin: '(sensitive)', text: 'Pin (sensitive) of ACC-1' },
    })
    expect(step('yes')?.exchange).toMatchObject([{ comment: 'I know (sensitive)' }])
    expect(step('look')?.input).toEqual({ code: '(sensitive)', pin: '(sensitive)' })
    expect(step('look')?.output).toEqual({
      account: 'ACC-1',
      echo: 'found by (sensitive)',
      isRich: '(sensitive)',
      serial: '(sensitive)',
      token: '(sensitive)',
    })
    expect(step('made')?.output).toEqual({
      account: 'ACC-1',
      isLong: '(sensitive)',
      last: '(sensitive)',
    })
    expect(step('say')?.input).toEqual({
      parts: ['(sensitive)', true],
      text: 'Rich: (sensitive), last (sensitive), of ACC-1',
    })
    expect(step('say')?.output).toMatchObject({ byToken: '(sensitive)', serial: '(sensitive)' })
    expect(step('quoted')?.error?.message).toBe('token (sensitive) is not known')
    expect(step('quoted')?.failedAttempts[0]?.message).toBe('token (sensitive) is not known')
  })

  it('leave a salted digest in their row, and are only added by the application', async () => {
    const rows = await db.database
      .forTenant('default')
      .kysely.selectFrom('sensitive_values')
      .selectAll()
      .execute()
    const row = rows.find(({ part, pointer }) => part === 'input' && pointer === '/pin')

    expect(row?.value).toBe(JSON.stringify(secrets.pin))
    expect(row?.digest).toBe(digestOf(row?.salt ?? '', row?.value ?? ''))
    const { input } = await db.database
      .forTenant('default')
      .kysely.selectFrom('executions')
      .select('input')
      .where('id', '=', row?.execution_id ?? '')
      .executeTakeFirstOrThrow()
    expect(input).toMatchObject({ pin: { $sensitive: row?.digest } })
    expect(new Set(rows.map(({ salt }) => salt)).size).toBe(rows.length)
    for (const statement of [
      `UPDATE sensitive_values SET value = '1'`,
      'DELETE FROM sensitive_values',
      'TRUNCATE sensitive_values',
    ]) {
      for (const as of [db.asApp, db.asOwner]) {
        const refused = as('default', (client) => client.query(statement))
        await expect(refused, statement).rejects.toThrow(/permission denied|never changes/)
      }
    }
  })

  it('are kept out of an escalation, its ticket and what is said of why', async () => {
    const procedureKey = await procedureOf({
      input,
      steps: [
        { key: 'fail', action: 'Fail', tool: 'fail' },
        { ...look, with: { pin: '{{input.pin}}', code: 'none' } },
      ],
    })
    const quoting = await procedureOf({
      input,
      steps: [
        { ...look, with: { pin: '{{input.pin}}', code: 'none' } },
        { key: 'fail', action: 'Fail', tool: 'fail' },
      ],
    })
    const ended = await procedureOf({
      input,
      steps: [
        { ...look, with: { pin: '{{input.pin}}', code: 'none' } },
        { key: 'stop', action: 'Stop', end: 'escalated', text: 'See {{steps.look.output.token}}.' },
      ],
    })

    const unknown = await start(procedureKey, { input: { pin: 'PIN-1', account: 'ACC-1' } })
    const ticket = { text: `It is ${secrets.pin}` }
    const failed = await start(quoting, { ticket })
    const stopped = await start(ended, { ticket })

    expect(unknown.execution.reason?.message).not.toContain('PIN-1')
    expect(failed.execution.reason?.message).toContain('token (sensitive) is not known')
    expect(stopped.execution.reason?.text).toBe('See (sensitive).')
    for (const { execution } of [unknown, failed, stopped]) {
      expect(await agrees(execution.id)).toBe(true)
    }
    const escalations = await operations.listEscalations.invoke(app, ann, {})
    expectNone([escalations, failed, stopped])
    expect(escalations.items[0]?.ticket?.text).toBe('It is (sensitive)')
    await expectOnlyApart()
  })

  it('go through loops, and into and out of runs that are called', async () => {
    const child = await procedureOf({
      internal: true,
      input: { ...input, required: ['pin'] },
      steps: [{ ...look, with: { pin: '{{input.pin}}', code: 'none' } }],
      output: { token: 'steps.look.output.token', account: 'steps.look.output.account' },
    })
    const open = { type: 'object', properties: { pins: { type: 'array', items: {} } } }
    const procedureKey = await procedureOf({
      input: { ...open, required: ['pins'] },
      steps: [
        {
          key: 'each',
          action: 'Call for each',
          forEach: 'input.pins',
          call: child,
          with: { pin: '{{item}}' },
        },
        { ...say, with: { text: 'Got {{steps.each.output[0].output.token}}', parts: [] } },
      ],
    })
    const looping = await procedureOf({
      input: {
        ...open,
        properties: { pins: { type: 'array', sensitive: true, items: { type: 'string' } } },
        required: ['pins'],
      },
      steps: [
        {
          ...look,
          forEach: 'input.pins',
          with: { pin: '{{item}}', code: 'none' },
        },
      ],
    })

    const called = await start(procedureKey, { input: { pins: [secrets.pin.replace('Q', 'R')] } })
    const looped = await start(looping, { input: { pins: [secrets.pin, secrets.pin] } })

    expect(called.execution.outcome).toBe('resolved')
    expect(
      called.steps.find(({ key, iteration }) => key === 'each' && iteration === '0'),
    ).toMatchObject({
      input: { input: { pin: '(sensitive)' } },
      output: { outcome: 'resolved', output: { token: '(sensitive)', account: 'ACC-1' } },
    })
    expect(called.steps.find(({ key }) => key === 'say')?.input).toMatchObject({
      text: 'Got (sensitive)',
    })
    expect(looped.steps[0]?.input).toEqual({ items: '(sensitive)' })
    expect(looped.steps[0]?.output).toMatchObject([
      { token: '(sensitive)', account: 'ACC-1' },
      { token: '(sensitive)', account: 'ACC-1' },
    ])
    expectNone([called, looped])
    await expectOnlyApart()
    expect(await agrees(called.execution.id)).toBe(true)
    expect(await agrees(looped.execution.id)).toBe(true)
  })

  it('are known by their parts, in lists and objects that a playbook makes of them', async () => {
    const repeat = (key: string, q: string) => ({ key, action: key, tool: 'repeat', with: { q } })
    const procedureKey = await procedureOf({
      input: { ...input, properties: { ...input.properties, owner: secretName } },
      steps: [
        {
          key: 'cut',
          action: 'Cut up',
          compute: {
            parts: "split(input.pin, '-')",
            both: "{'names': split(input.owner, ' '), 'kind': 'plain', 'of': input.account, 'n': 1}",
          },
        },
        repeat('one', 'p {{steps.cut.output.parts}}'),
        repeat('two', 'n {{steps.cut.output.both.names}} of {{input.account}}'),
        repeat('three', 'Ivo is plain, and 1 yes of {{input.account}}'),
      ],
    })

    const { execution } = await start(procedureKey, {
      input: { pin: secrets.pin, account: 'ACC-1', owner: 'Mirabel Ivo' },
    })
    const { id: executionId } = execution
    const run = await operations.getExecution.invoke(app, ann, { executionId })
    const said = (key: string) => Object(run.steps.find((one) => one.key === key)?.output).q

    expect(execution.outcome).toBe('resolved')
    expect(said('one')).not.toContain('QX7731')
    expect(said('two')).not.toMatch(/Mirabel|Ivo/)
    expect(said('two')).toContain('ACC-1')
    expect(said('three')).toBe('(sensitive) is plain, and 1 yes of ACC-1')
    expect(await tablesHolding('QX7731')).toEqual(['sensitive_values'])
    expect(await tablesHolding('Mirabel')).toEqual(['sensitive_values'])
    expect(await agrees(executionId)).toBe(true)
    await expectOnlyApart()
  })

  it('are written with their row or not at all, and are there when a run goes on', async () => {
    const procedureKey = await procedureOf({
      input,
      steps: [
        { ...look, with: { pin: '{{input.pin}}', code: 'none' } },
        { key: 'rest', action: 'Rest', tool: 'pause' },
        { ...say, with: { text: 'It is {{steps.look.output.token}}', parts: [] } },
      ],
    })
    const apartOf = async (executionId: string) =>
      db.database
        .forTenant('default')
        .kysely.selectFrom('sensitive_values')
        .select('ordinal')
        .where('execution_id', '=', executionId)
        .execute()

    const held = await start(procedureKey)
    const { id: executionId } = held.execution
    const before = await apartOf(executionId)
    const done = await operations.resumeExecution.invoke(app, ann, { executionId })

    expect(held.execution.status).toBe('paused')
    expect(new Set(before.map(({ ordinal }) => ordinal))).toEqual(new Set([0, 1]))
    expect(done.execution.outcome).toBe('resolved')
    expect(seen.at(-1)).toBe(`It is ${secrets.token}`)
    expect((await apartOf(executionId)).some(({ ordinal }) => ordinal === 3)).toBe(true)
    expect(await agrees(executionId)).toBe(true)
    await expectOnlyApart()
  })

  it('are written with what is counted against a limit, and given back', async () => {
    const step = { key: 'pay', action: 'Pay', tool: 'pay', with: { pin: '{{input.pin}}' } }
    const procedureKey = await procedureOf({ input, steps: [step] })

    const failed = await start(procedureKey)
    refuses = false
    const paid = await start(procedureKey)
    const beyond = await start(procedureKey)

    expect(failed.execution.reason?.message).toContain('(sensitive) is not known yet')
    expect(paid.steps[0]).toMatchObject({
      input: { pin: '(sensitive)' },
      output: { receipt: '(sensitive)' },
    })
    expect(beyond.execution.reason?.code).toBe('limit_exceeded')
    for (const { execution } of [failed, paid, beyond]) {
      expect(await agrees(execution.id)).toBe(true)
    }
    await expectOnlyApart()
  })

  it('stop a run once they are gone or others, and never become marks for a tool', async () => {
    const procedureKey = await procedureOf({
      input,
      steps: [{ ...code, ask: 'agent' }, look],
    })
    const { id: executionId } = (await start(procedureKey)).execution
    const called = seen.length
    await db.asOwner('default', async (client) => {
      await client.query('ALTER TABLE sensitive_values DISABLE TRIGGER USER')
      await client.query('UPDATE sensitive_values SET value = $1 WHERE execution_id = $2', [
        '"PIN-OTHER1"',
        executionId,
      ])
      await client.query('ALTER TABLE sensitive_values ENABLE TRIGGER USER')
    })
    const answer = { executionId, step: 'code', answer: { code: 'x' } }

    const lost = { code: 'SENSITIVE_VALUE_LOST' }
    await expect(operations.answerStep.invoke(app, ann, answer)).rejects.toMatchObject(lost)
    await expect(agrees(executionId)).rejects.toMatchObject(lost)
    const { execution } = await operations.getExecution.invoke(app, ann, { executionId })
    expect(execution.input).toMatchObject({ pin: '(sensitive)' })
    expect(seen.length).toBe(called)
  })

  it('that look like what stands in their place are none until a schema says so', async () => {
    const mark = { $sensitive: 'a'.repeat(64) }
    const any = { type: 'object', properties: { value: {}, pin: input.properties.pin } }
    const steps = [{ key: 'same', action: 'Take it', compute: { value: 'input.value' } }]
    const plain = await procedureOf({ steps })
    const sealed = await procedureOf({ input: any, steps })

    const open = await start(plain, { input: { value: mark } })
    const kept = await start(sealed, { input: { value: mark } })

    const stored = await db.database
      .forTenant('default')
      .kysely.selectFrom('executions')
      .select('result')
      .where('id', 'in', [open.execution.id, kept.execution.id])
      .orderBy('id')
      .execute()
    expect(stored[0]?.result).toEqual({ value: mark })
    expect(stored[1]?.result).not.toEqual({ value: mark })
    expect(await agrees(open.execution.id)).toBe(true)
    expect(await agrees(kept.execution.id)).toBe(true)
  })
})
