import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type AppContext, type ContextOptions, createContext } from '../../src/context.ts'
import { defineTool } from '../../src/domain/define-tool.ts'
import { type Tool, ToolFailed } from '../../src/domain/tool.ts'
import { carryOnAll } from '../../src/operations/carry-out.ts'
import { operations } from '../../src/operations/registry.ts'
import { ngramEmbedder } from '../../src/search/ngram-embedder.ts'
import { callerOf } from '../support/caller.ts'
import { openTestDatabase } from '../support/database.ts'
import { settleEscalations } from '../support/settle.ts'

const db = await openTestDatabase()
const caller = callerOf()
const calls: string[] = []

function tool(
  name: string,
  run: () => unknown,
  more: Partial<Parameters<typeof defineTool>[0]> = {},
): Tool {
  return defineTool({
    name,
    description: `The tool ${name}`,
    effect: 'write',
    idempotent: true,
    input: z.object({}),
    output: z.object({ ok: z.boolean() }),
    ...more,
    run: async (_input: unknown, { idempotencyKey }: { readonly idempotencyKey: string }) => {
      calls.push(`${name} ${idempotencyKey}`)
      return run() as never
    },
  } as Parameters<typeof defineTool>[0])
}

afterEach(async () => {
  await using app = await context()
  await settleEscalations(app)
})

const ok = () => ({ ok: true })
const cyclic: Record<string, unknown> = {}
cyclic.self = cyclic

const tools = [
  tool('read', ok, { effect: 'read' }),
  tool('write', ok),
  tool('once', ok, { idempotent: false }),
  tool('hang', () => new Promise(() => {}), { effect: 'read', timeout: '1s' }),
  tool('hang_write', () => new Promise(() => {}), { idempotent: false, timeout: '1s' }),
  tool('throws_text', () => Promise.reject('just a text'), { effect: 'read' }),
  tool('cyclic', () => cyclic, { effect: 'read' }),
  tool('wrong', () => ({ ok: 'yes' }), { effect: 'read' }),
  tool('huge', () => ({ ok: true, text: 'x'.repeat(50_000_000) }), {
    effect: 'read',
    output: z.object({ ok: z.boolean(), text: z.string() }),
  }),
  tool('huge_list', () => ({ ok: true, list: Array(900_000).fill('x'.repeat(50)) }), {
    effect: 'read',
    output: z.object({ ok: z.boolean(), list: z.array(z.string()) }),
  }),
  tool('throws_nothing_readable', () => Promise.reject(Object.create(null)), { effect: 'read' }),
  tool('sparse', () => ({ ok: true, list: Array(3) }), {
    effect: 'read',
    output: z.object({ ok: z.boolean(), list: z.array(z.number()) }),
  }),
  tool(
    'throws_when_read',
    () => ({
      get ok() {
        throw new ToolFailed('it was done')
      },
    }),
    {},
  ),
  tool('never_did', () => Promise.reject(new ToolFailed('not today')), { idempotent: false }),
]

function context(options: ContextOptions = {}): Promise<AppContext> {
  return createContext(
    db.database,
    { tenantId: 'default', logLevel: 'silent' },
    { tools, embedder: ngramEmbedder, ...options },
  )
}

let count = 0
/** Makes a procedure of tool steps, and activates it. */
async function procedureOf(app: AppContext, ...names: readonly string[]): Promise<string> {
  count += 1
  const key = `PLAYBOOK_${count}`
  const steps = names.map((name, index) => ({ key: `s${index}_${name}`, action: name, tool: name }))
  await operations.createProcedure.invoke(app, caller, {
    definition: { key, name: key, description: key, issuePatterns: [], steps },
  })
  await operations.activateVersion.invoke(app, caller, {
    procedureKey: key,
    versionNumber: 1,
    seenActive: null,
  })
  return key
}

function start(app: AppContext, procedureKey: string, more: Record<string, unknown> = {}) {
  return operations.startExecution.invoke(app, caller, { procedureKey, ...more })
}

/** A run whose worker is gone at a boundary, with nothing of it but what was committed. */
async function interruptedRun(key: string, boundary: string, detail: string): Promise<void> {
  const gone = new Error('the worker is gone')
  const app = await context({
    onBoundary(passed, at) {
      if (passed === boundary && at === detail) throw gone
    },
  })
  await expect(start(app, key)).rejects.toBe(gone)
  await app[Symbol.asyncDispose]()
}

describe('commits', () => {
  it.each([
    ['effect', ['read', 'read', 'read'], 2],
    ['effect', ['read', 'write', 'read', 'write'], 4],
    ['step', ['read', 'read', 'read'], 4],
    ['step', ['write', 'read'], 4],
  ] as const)('a run with durability %s over %j makes %i', async (durability, names, expected) => {
    let commits = 0
    await using app = await context({
      onBoundary(boundary) {
        if (boundary === 'after_commit') commits += 1
      },
    })
    const key = await procedureOf(app, ...names)

    const { execution } = await start(app, key, { durability })

    expect([execution.outcome, commits]).toEqual(['resolved', expected])
  })
})

describe('the record', () => {
  it('holds as many rows as there are, committed together', async () => {
    await using app = await context()
    const key = await procedureOf(app, ...Array<string>(12).fill('read'), 'write', 'read')

    const { execution, steps } = await start(app, key)

    expect(execution.outcome).toBe('resolved')
    expect(steps.map(({ sequence, status }) => [sequence, status])).toEqual(
      Array.from({ length: 14 }, (_, index) => [index + 1, 'completed']),
    )
  })

  it('completes a block that was committed while it was open', async () => {
    await using app = await context()
    const steps = [
      {
        key: 'block',
        action: 'Block',
        steps: [
          { key: 'first', action: 'Read', tool: 'read' },
          { key: 'second', action: 'Write', tool: 'write' },
        ],
      },
    ]
    await operations.createProcedure.invoke(app, caller, {
      definition: { key: 'BLOCK', name: 'Block', description: 'Block', steps },
    })
    await operations.activateVersion.invoke(app, caller, {
      procedureKey: 'BLOCK',
      versionNumber: 1,
      seenActive: null,
    })

    const run = await start(app, 'BLOCK')

    expect(run.steps.map(({ key, status }) => [key, status])).toEqual([
      ['block', 'completed'],
      ['first', 'completed'],
      ['second', 'completed'],
    ])
    const proof = await operations.replayExecution.invoke(app, caller, {
      executionId: run.execution.id,
    })
    expect(proof.agrees).toBe(true)
  })

  it('holds the input that was sent, whatever the tool does to it, and sends the same again', async () => {
    const sent: string[] = []
    await using app = await context({
      tools: [
        defineTool({
          name: 'vandal',
          description: 'Changes what it is given',
          effect: 'read',
          input: z.object({ text: z.string() }),
          output: z.object({ ok: z.boolean() }),
          async run(input, { principal }) {
            sent.push(input.text)
            Object.assign(input, { text: 'changed', more: true })
            Object.assign(principal, { roles: [] })
            if (sent.length === 1) throw new ToolFailed('not yet')
            return { ok: true }
          },
        }),
      ],
    })
    await operations.createProcedure.invoke(app, caller, {
      definition: {
        key: 'VANDAL',
        name: 'Vandal',
        description: 'Vandal',
        steps: [
          {
            key: 'call',
            action: 'Call',
            tool: 'vandal',
            with: { text: 'as it was' },
            retry: { maxAttempts: 2, delay: '0s' },
          },
        ],
      },
    })
    await operations.activateVersion.invoke(app, caller, {
      procedureKey: 'VANDAL',
      versionNumber: 1,
      seenActive: null,
    })

    const { steps } = await start(app, 'VANDAL')

    expect(steps[0]).toMatchObject({ input: { text: 'as it was' }, attempts: 2 })
    expect(sent).toEqual(['as it was', 'as it was'])
    expect(caller.principal.roles).not.toEqual([])
  })
})

describe('what a tool may do', () => {
  it.each([
    ['hang', 'tool_timeout'],
    ['hang_write', 'outcome_unknown'],
    ['throws_text', 'tool_failed'],
    ['cyclic', 'output_invalid'],
    ['wrong', 'output_invalid'],
    ['huge', 'output_too_large'],
    ['huge_list', 'output_too_large'],
    ['never_did', 'tool_failed'],
    ['throws_nothing_readable', 'tool_failed'],
    ['throws_when_read', 'output_invalid'],
    ['sparse', 'output_invalid'],
  ])('%s: the run is escalated as %s, and its step says why', async (name, code) => {
    await using app = await context()
    const key = await procedureOf(app, name)

    const { execution, steps } = await start(app, key)

    expect(execution).toMatchObject({ status: 'escalated', reason: { code } })
    expect(steps).toMatchObject([{ status: 'failed', error: { code } }])
    const proof = await operations.replayExecution.invoke(app, caller, {
      executionId: execution.id,
    })
    expect(proof.agrees).toBe(true)
  })
})

describe('take-over', () => {
  it('repeats an interrupted idempotent write with the same key, and ends the run', async () => {
    await using app = await context()
    const key = await procedureOf(app, 'read', 'write')
    await interruptedRun(key, 'after_call', 's1_write')
    calls.length = 0

    const [id] = await carryOnAll(app)

    const run = await operations.getExecution.invoke(app, caller, { executionId: id })
    expect(run.execution).toMatchObject({ outcome: 'resolved', takeOverCount: 1 })
    expect(run.steps.map(({ attempts }) => attempts)).toEqual([1, 2])
    expect(calls).toHaveLength(1)
    expect(run.reply).not.toBeNull()
  })

  it('never repeats an interrupted write that is not idempotent', async () => {
    await using app = await context()
    const key = await procedureOf(app, 'once')
    await interruptedRun(key, 'before_call', 's0_once')
    calls.length = 0

    const [id] = await carryOnAll(app)

    const run = await operations.getExecution.invoke(app, caller, { executionId: id })
    expect(run.execution.reason?.code).toBe('outcome_unknown')
    expect(calls).toEqual([])
    const { items } = await operations.listEscalations.invoke(app, caller, {})
    expect(items[0]).toMatchObject({ executionId: id, reason: { code: 'outcome_unknown' } })
  })

  it('goes on, in the same process, with a run that it had to leave', async () => {
    let isAway = true
    await using app = await context({
      onBoundary(boundary, detail) {
        if (isAway && boundary === 'after_call' && detail === 's0_write') throw new Error('away')
      },
    })
    const key = await procedureOf(app, 'write')
    await expect(start(app, key)).rejects.toThrow('away')
    isAway = false

    const [id] = await carryOnAll(app)

    const run = await operations.getExecution.invoke(app, caller, { executionId: id })
    expect(run.execution.outcome).toBe('resolved')
  })

  it('keeps in mind a run that it could not take up again yet', async () => {
    let isAway = true
    await using app = await context({
      onBoundary(boundary) {
        if (isAway && boundary === 'after_call') throw new Error('away')
      },
    })
    const key = await procedureOf(app, 'write')
    await expect(start(app, key)).rejects.toThrow('away')

    expect(await carryOnAll(app)).toEqual([])
    expect(await carryOnAll(app)).toEqual([])
    isAway = false

    expect(await carryOnAll(app)).toHaveLength(1)
  })

  it('answers the customer of a run whose process died right after its end', async () => {
    await using app = await context()
    const key = await procedureOf(app, 'read')
    await interruptedRun(key, 'after_commit', 'end')

    const { items } = await operations.listExecutions.invoke(app, caller, { limit: 1 })

    const run = await operations.getExecution.invoke(app, caller, { executionId: items[0]?.id })
    expect(run.execution.outcome).toBe('resolved')
    expect(run.reply?.text).not.toBe('')
    expect(run.reply).not.toBeNull()
  })

  it('is not disturbed by a listener that fails', async () => {
    await using app = await context()
    const key = await procedureOf(app, 'write')
    const onSteps = () => {
      throw new TypeError('a bad listener')
    }

    const run = await operations.startExecution.invoke(
      app,
      { ...caller, onSteps },
      { procedureKey: key },
    )

    expect(run.execution.outcome).toBe('resolved')
  })

  it('hands over to the person whom the playbook names', async () => {
    await using app = await context()
    await operations.createProcedure.invoke(app, caller, {
      definition: {
        key: 'NAMED',
        name: 'Named',
        description: 'Named',
        escalateTo: { assignee: 'carol', priority: 'high' },
        steps: [{ key: 'stop', action: 'Stop', end: 'escalated' }],
      },
    })
    await operations.activateVersion.invoke(app, caller, {
      procedureKey: 'NAMED',
      versionNumber: 1,
      seenActive: null,
    })

    const { execution } = await start(app, 'NAMED')

    const { items } = await operations.listEscalations.invoke(app, caller, { limit: 1 })
    expect(items[0]).toMatchObject({
      executionId: execution.id,
      status: 'assigned',
      assignee: 'carol',
      priority: 'high',
    })
  })

  it('ends what nests as deep as it may, and refuses what nests deeper', async () => {
    await using app = await context()
    await operations.createProcedure.invoke(app, caller, {
      definition: {
        key: 'DEEP',
        name: 'Deep',
        description: 'Deep',
        steps: [{ key: 'wrap', action: 'Wrap', compute: { wrapped: "{'a': input.v}" } }],
      },
    })
    await operations.activateVersion.invoke(app, caller, {
      procedureKey: 'DEEP',
      versionNumber: 1,
      seenActive: null,
    })
    const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)])

    const run = await start(app, 'DEEP', { input: { v: nested(60) } })

    expect(run.execution.outcome).toBe('resolved')
    const proof = await operations.replayExecution.invoke(app, caller, {
      executionId: run.execution.id,
    })
    expect(proof.agrees).toBe(true)
    await expect(start(app, 'DEEP', { input: { v: nested(99) } })).rejects.toMatchObject({
      code: 'REQUEST_INVALID',
    })
  })

  it('gives up after five, so that a run that kills its worker harms nobody else', async () => {
    await using app = await context()
    const key = await procedureOf(app, 'write')
    await interruptedRun(key, 'before_call', 's0_write')
    const dying: ContextOptions = {
      onBoundary(boundary) {
        if (boundary === 'before_call') throw new Error('dies')
      },
    }
    for (let takeOver = 1; takeOver <= 5; takeOver += 1) {
      const worker = await context(dying)
      expect(await carryOnAll(worker)).toEqual([])
      await worker[Symbol.asyncDispose]()
    }

    const [id] = await carryOnAll(app)

    const run = await operations.getExecution.invoke(app, caller, { executionId: id })
    expect(run.execution.reason).toMatchObject({
      code: 'recovery_exhausted',
      stepKey: 's0_write',
      message: "The run was interrupted too often: it was at step 's0_write' (write).",
    })
    const proof = await operations.replayExecution.invoke(app, caller, { executionId: id })
    expect(proof.agrees).toBe(true)
  })
})

describe('a tool that is not the one that was approved', () => {
  it('does not run', async () => {
    await using app = await context()
    const key = await procedureOf(app, 'read', 'write')
    const changed = tools.map((known) =>
      known.contract.name === 'write'
        ? tool('write', ok, { description: 'Does something else' })
        : known,
    )
    await using later = await context({ tools: changed })
    calls.length = 0

    const { execution } = await start(later, key)

    expect(execution.reason).toMatchObject({ code: 'tool_changed', stepKey: 's1_write' })
    expect(calls.filter((call) => call.startsWith('write'))).toEqual([])
  })

  it('runs beside the new one while versions move over', async () => {
    await using app = await context()
    const key = await procedureOf(app, 'write')
    await using later = await context({
      tools: [...tools, tool('write', ok, { description: 'Does something else' })],
    })

    const { execution } = await start(later, key)

    expect(execution.outcome).toBe('resolved')
  })

  it('does not run when it is gone', async () => {
    await using app = await context()
    const key = await procedureOf(app, 'read')
    await using later = await context({ tools: [] })

    const { execution } = await start(later, key)

    expect(execution.reason?.code).toBe('tool_unknown')
  })
})
