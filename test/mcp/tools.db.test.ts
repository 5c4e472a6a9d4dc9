import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../src/domain/define-tool.ts'
import { ServiceError } from '../../src/domain/errors.ts'
import { type Principal, type Role, roles } from '../../src/domain/principal.ts'
import { agentTool, toolNameOf } from '../../src/mcp/agent-tool.ts'
import { agentTools } from '../../src/mcp/agent-tools.ts'
import { authenticate } from '../../src/operations/authenticate.ts'
import type { Operation } from '../../src/operations/define.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf, principalOf } from '../support/caller.ts'
import { call, connectInProcess, failureOf, textOf } from '../support/mcp.ts'

const secret = 'PIN-QX7731'
const lookUp = defineTool({
  name: 'look_up',
  description: 'Looks an account up',
  effect: 'read',
  input: z.object({ pin: z.string().meta({ sensitive: true }) }),
  output: z.object({ token: z.string().meta({ sensitive: true }), name: z.string() }),
  run: async ({ pin }) => ({ token: `token of ${pin}`, name: 'Kim' }),
})
const written: string[] = []
let isWriting = () => {}
let letWrite = Promise.resolve()
const write = defineTool({
  name: 'write',
  description: 'Writes when it is let',
  effect: 'write',
  idempotent: true,
  input: z.object({ text: z.string() }),
  output: z.object({ written: z.boolean() }),
  async run({ text }) {
    isWriting()
    await letWrite
    written.push(text)
    return { written: true }
  },
})

const { app } = await openTestApp({ tools: [lookUp, write] })
const admin = callerOf()
const bot: Principal = { ...principalOf('bot', ['agent']), kind: 'ai' }
const person = principalOf('pat', ['agent', 'approver'])

let count = 0
async function procedureOf(parts: object): Promise<string> {
  count += 1
  const key = `MCP_${count}`
  const definition = { key, name: `Playbook ${count}`, description: key, issuePatterns: [] }
  await operations.createProcedure.invoke(app, admin, { definition: { ...definition, ...parts } })
  await operations.activateVersion.invoke(app, admin, {
    ...{ procedureKey: key, versionNumber: 1, seenActive: null },
  })
  return key
}

const done = {
  steps: [{ key: 'known', action: 'Know', compute: { known: 'true' } }],
  completionConditions: [{ text: 'Known', when: 'steps.known.output.known' }],
}
const writing = (text: string) => ({
  steps: [
    { key: 'first', action: 'Write', tool: 'write', with: { text } },
    { key: 'after', action: 'Know', compute: { known: 'true' } },
  ],
  completionConditions: [{ text: 'Written', when: 'steps.first.output.written' }],
})
const asking = (from: string, answer: object) => ({
  steps: [{ key: 'code', action: 'Ask', ask: from, message: 'Which code?', answer }],
  completionConditions: [{ text: 'Known', when: 'has(steps.code.output)' }],
})

const as = (principal: Principal): Promise<Client> => connectInProcess(app, async () => principal)
const asBot = await as(bot)

const start = async (client: Client, procedureKey: string, more: object = {}) => {
  const result = await call(client, 'start_execution', { procedureKey, ...more })
  const { execution, steps } = Object(result.structuredContent)
  return { result, execution, steps, text: textOf(result) }
}

describe('what is offered', () => {
  const all: readonly Operation[] = Object.values(operations)
  const forbidden = all.filter(
    ({ administrative, roles: may }) => administrative || !may.includes('agent'),
  )

  it('is no administrative operation and none that is not for agents, whatever key asks', async () => {
    const client = await as(principalOf('root', roles))
    const { tools } = await client.listTools()

    const names = tools.map(({ name }) => name)
    expect(names).toEqual(agentTools.map(({ name }) => name))
    expect(forbidden.length).toBeGreaterThan(30)
    for (const { name } of forbidden) {
      expect(names).not.toContain(toolNameOf(name))
      for (const called of [name, toolNameOf(name)]) {
        await expect(call(client, called)).rejects.toThrow(`There is no tool '${called}'`)
      }
    }
  })

  it.each(forbidden)('cannot be $name, which is refused where it would be added', (operation) => {
    const { name: _, ...rest } = { ...operation, name: operation.name }
    const declared = { title: '', description: '', annotations: {}, tell: () => '' }

    expect(() =>
      agentTool({ ...declared, operation: { ...rest, name: operation.name } as never }),
    ).toThrow(`'${operation.name}' is nothing that agents may do`)
  })

  it.each([
    [['agent'], agentTools.length],
    [['admin'], agentTools.length],
    [['auditor'], agentTools.length - 9],
    [[], 0],
  ] as const)('is for %j what these roles may call', async (own, length) => {
    const client = await as(principalOf('someone', own as readonly Role[]))

    const { tools } = await client.listTools()

    expect(tools).toHaveLength(length)
  })

  it('says of each tool what it takes, what it answers, and whether it changes anything', async () => {
    const { tools } = await asBot.listTools()

    for (const { description, inputSchema, outputSchema, annotations } of tools) {
      expect(description?.length).toBeGreaterThan(80)
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false })
      expect(outputSchema).toMatchObject({ type: 'object' })
      expect(annotations).toMatchObject({ readOnlyHint: expect.any(Boolean) })
    }
    const [answer] = tools.filter(({ name }) => name === 'answer_step')
    expect(answer?.inputSchema.properties).toMatchObject({
      executionId: { type: 'string', description: 'The id of an execution, exec_…' },
    })
    expect(JSON.stringify(tools).length).toBeLessThan(80_000)
  })
})

describe('a run', () => {
  it('is the record for programs and a few lines for the model, and names whom the key says', async () => {
    const key = await procedureOf(done)

    const { execution, text } = await start(asBot, key)

    expect(execution).toMatchObject({ status: 'completed', outcome: 'resolved' })
    expect(execution.requester).toMatchObject({ id: 'bot', kind: 'ai', tenantId: 'default' })
    expect(text).toContain(`Resolved: ${key} version 1, execution ${execution.id}.`)
    expect(text).toContain('- known: completed')
    expect(text).toContain('Reply for the customer:')
    expect(text).toContain('Next: Send the reply as it stands')
  })

  it('is not started again by the same key, and says so of another request', async () => {
    const key = await procedureOf(writing('once'))
    const idempotencyKey = 'case-1'

    const first = await start(asBot, key, { idempotencyKey })
    const again = await start(asBot, key, { idempotencyKey })
    const other = await start(asBot, key, { idempotencyKey, customerId: 'c' })

    expect(again.execution.id).toBe(first.execution.id)
    expect(written.filter((text) => text === 'once')).toHaveLength(1)
    expect(failureOf(other.result)).toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' })
  })

  it('tells its steps as progress to a client that asks', async () => {
    const key = await procedureOf(writing('told'))
    const told: unknown[] = []

    await call(asBot, 'start_execution', { procedureKey: key }, { onprogress: (p) => told.push(p) })

    expect(told).toEqual([
      { progress: 1, message: 'first: completed' },
      { progress: 2, message: 'after: completed' },
    ])
  })

  it('goes on when its call is cancelled in the middle of a write', async () => {
    const key = await procedureOf(writing('to the end'))
    const cancelling = new AbortController()
    const atWrite = new Promise<void>((resolve) => {
      isWriting = resolve
    })
    let release = () => {}
    letWrite = new Promise((resolve) => {
      release = resolve
    })

    const calling = call(
      asBot,
      'start_execution',
      { procedureKey: key, idempotencyKey: 'cut' },
      { signal: cancelling.signal },
    )
    await atWrite
    cancelling.abort('changed my mind')
    await expect(calling).rejects.toThrow('changed my mind')
    release()

    await expect
      .poll(async () => (await start(asBot, key, { idempotencyKey: 'cut' })).execution.status)
      .toBe('completed')
    expect(written.filter((text) => text === 'to the end')).toHaveLength(1)
  })
})

describe('a step that waits', () => {
  it('is asked with the call that answers it, and goes on with the answer', async () => {
    const key = await procedureOf(asking('customer', { type: 'string', pattern: '^[0-9]{4}$' }))
    const { execution, text } = await start(asBot, key)
    const ref = { executionId: execution.id, step: 'code' }
    expect(text).toContain('asks "Which code?" (from the customer')
    expect(text).toContain(`answer_step with ${JSON.stringify(ref)}`)
    expect(text).toContain('a text that matches ^[0-9]{4}$')

    const waiting = await call(asBot, 'list_waiting_steps', { executionId: execution.id })
    const wrong = await call(asBot, 'answer_step', { ...ref, answer: 'no' })
    const words = await call(asBot, 'answer_step', { ...ref, text: 'the blue one' })
    const later = await call(asBot, 'list_waiting_steps', { executionId: execution.id })
    const right = await call(asBot, 'answer_step', { ...ref, answer: '1234' })
    const late = await call(asBot, 'answer_step', { ...ref, answer: '1234' })

    expect(textOf(waiting)).toContain('asks "Which code?"')
    expect(failureOf(wrong)).toMatchObject({ code: 'ANSWER_INVALID', retryable: false })
    for (const told of [words, later]) {
      expect(textOf(told)).toContain('What was said last, "the blue one", was not understood')
    }
    expect(textOf(right)).toContain('Resolved')
    expect(failureOf(late)).toMatchObject({ code: 'EXECUTION_ENDED' })
  })

  it('is not answered by somebody whom it does not ask', async () => {
    const key = await procedureOf(asking('approver', { type: 'string' }))

    const { execution, text } = await start(asBot, key)
    const ref = { executionId: execution.id, step: 'code' }
    const answered = await call(asBot, 'answer_step', { ...ref, answer: 'x' })

    expect(text).toContain('That is not for you to say: it asks the role approver.')
    expect(failureOf(answered)).toMatchObject({ code: 'NOT_ASKED', kind: 'forbidden' })
    expect(
      textOf(await call(asBot, 'list_waiting_steps', { executionId: execution.id })),
    ).toContain('That is not for you to say')
  })

  it('is approved by no AI, and by a person', async () => {
    const key = await procedureOf({
      steps: [{ key: 'ok', action: 'Approve', approval: 'approver', show: 'A refund' }],
      completionConditions: [{ text: 'Approved', when: "steps.ok.status == 'completed'" }],
    })
    const { execution } = await start(asBot, key)
    const ref = { executionId: execution.id, step: 'ok' }
    const asApprover = await as({ ...bot, id: 'other-bot', roles: ['approver'] })

    const byBot = await call(asApprover, 'approve_step', ref)
    const byPerson = await call(await as(person), 'approve_step', ref)

    expect(failureOf(byBot)).toMatchObject({ code: 'NOT_ASKED' })
    expect(textOf(byBot)).toContain('only people approve')
    expect(textOf(byPerson)).toContain('Resolved')
  })

  it('is a write of a guided run, which an agent confirms or denies', async () => {
    const key = await procedureOf(writing('guided'))
    const { execution, text } = await start(asBot, key, { mode: 'guided' })
    const ref = { executionId: execution.id, step: 'first' }
    expect(text).toContain('is about to call write with {"text":"guided"}')

    const denied = await call(asBot, 'deny_step', { ...ref, comment: 'Not now' })

    expect(textOf(denied)).toContain('Escalated')
    expect(written).not.toContain('guided')
  })
})

describe('what was handed to a person', () => {
  it('can be read, and not resolved', async () => {
    const key = await procedureOf({
      ...done,
      escalationRules: [{ text: 'It is known', when: 'steps.known.output.known' }],
    })
    const { execution, text } = await start(asBot, key)
    expect(text).toContain('Escalated, handed to a person')
    expect(text).toContain('Next: a person takes it from here.')

    const listed = await call(asBot, 'list_escalations')
    const { items } = Object(listed.structuredContent)
    const [{ id: escalationId }] = items.filter(
      (item: { executionId: string }) => item.executionId === execution.id,
    )
    const shown = await call(asBot, 'get_escalation', { escalationId })

    expect(textOf(listed)).toContain(`from ${execution.id}`)
    expect(textOf(shown)).toContain('An escalation rule applies: It is known.')
    await expect(call(asBot, 'resolve_escalation', { escalationId })).rejects.toThrow('no tool')
  })
})

describe('what is kept from models', () => {
  it('is each sensitive value, wherever it went', async () => {
    const key = await procedureOf({
      input: { type: 'object', properties: { pin: { type: 'string', sensitive: true } } },
      steps: [
        { key: 'look', action: 'Look', tool: 'look_up', with: { pin: '{{input.pin}}' } },
        {
          ...{ key: 'code', action: 'Ask', ask: 'customer', message: 'Which code?' },
          answer: { type: 'string', sensitive: true },
        },
      ],
      completionConditions: [{ text: 'Known', when: 'has(steps.code.output)' }],
    })
    const told: unknown[] = []
    const started = await call(
      asBot,
      'start_execution',
      { procedureKey: key, input: { pin: secret }, ticket: { text: `My pin is ${secret}` } },
      { onprogress: (progress) => told.push(progress) },
    )
    const { execution } = Object(started.structuredContent)
    const ref = { executionId: execution.id, step: 'code' }

    const answered = await call(asBot, 'answer_step', { ...ref, answer: `CODE-${secret}` })
    const shown = await call(asBot, 'get_execution', { executionId: execution.id })

    expect(told).not.toEqual([])
    expect(textOf(answered)).toContain('Resolved')
    for (const said of [started, answered, shown, told]) {
      expect(JSON.stringify(said)).not.toContain(secret)
    }
  })

  it('is each confidential condition, also where it decided', async () => {
    const hidden = 'The customer is on the fraud list'
    const confidential = { text: hidden, confidential: true }
    const key = await procedureOf({
      ...done,
      preconditions: [{ ...confidential, when: 'true' }],
      escalationRules: [{ ...confidential, when: 'steps.known.output.known' }],
    })
    const parent = await procedureOf({
      steps: [{ key: 'sub', action: 'Call', call: key }],
      completionConditions: [{ text: 'Called', when: "steps.sub.status == 'completed'" }],
    })

    const { execution, result, text } = await start(asBot, key)
    const called = await start(asBot, parent)
    const { items } = Object((await call(asBot, 'list_escalations')).structuredContent)
    const said = [
      result,
      called.result,
      await call(asBot, 'get_execution', { executionId: execution.id }),
      await call(asBot, 'get_execution', { executionId: called.execution.id }),
      await call(asBot, 'list_escalations'),
      ...(await Promise.all(
        items.map(({ id }: { id: string }) => call(asBot, 'get_escalation', { escalationId: id })),
      )),
      await asBot.readResource({ uri: `stepwarden://procedures/${key}` }),
      await asBot.readResource({ uri: `stepwarden://procedures/${key}.json` }),
    ]

    expect(text).toContain('An escalation rule applies: (confidential).')
    expect(execution.conditions).toContainEqual(
      expect.objectContaining({ text: '(confidential)', verdict: 'matched' }),
    )
    for (const one of said) expect(JSON.stringify(one)).not.toContain('fraud')
    // People see it at the other doors.
    const record = await operations.getExecution.invoke(app, admin, { executionId: execution.id })
    expect(JSON.stringify(record)).toContain(hidden)
  })
})

describe('a failure', () => {
  it('names every problem of the input, and what to do', async () => {
    const result = await call(asBot, 'resolve_ticket', { ticket: {}, topK: 99, nope: 1 })

    expect(failureOf(result)).toMatchObject({ code: 'REQUEST_INVALID', kind: 'invalid' })
    const text = textOf(result)
    for (const part of [
      'ticket.text',
      'topK',
      'nope: is not a known field',
      'Next: Correct what is named above',
    ]) {
      expect(text).toContain(part)
    }
    expect(result.structuredContent).toBeUndefined()
  })

  it('is a role that is missing', async () => {
    const client = await as(principalOf('olga', ['auditor']))

    const result = await call(client, 'resolve_ticket', { ticket: { text: 'x' } })

    expect(failureOf(result)).toMatchObject({ code: 'ROLE_MISSING', kind: 'forbidden' })
    expect(textOf(result)).toContain('Next: Do not try again')
  })

  it('says nothing of a cause that is not known', async () => {
    let fails = false
    const client = await connectInProcess(app, async () => {
      if (fails) throw new Error('password authentication failed for hunter2')
      return bot
    })
    fails = true

    const result = await call(client, 'list_waiting_steps')
    const listed = client.listResources()

    expect(failureOf(result)).toMatchObject({ code: 'INTERNAL', details: {} })
    expect(JSON.stringify(result)).not.toMatch(/hunter2|stack|at .*\.ts/)
    await expect(listed).rejects.toThrow(/^MCP error -32603: (?!.*hunter2)/)
  })

  it('of the database says that it is one, and not where the database is', async () => {
    let fails = false
    const identify = async () => {
      if (fails) throw new Error('connect ECONNREFUSED 10.1.2.3:5432')
      return bot
    }
    const problem = 'connect ECONNREFUSED 10.1.2.3:5432'
    const explain = () => new ServiceError('DATABASE_UNAVAILABLE', { database: 'desk', problem })
    const client = await connectInProcess(app, identify, { explain })
    fails = true

    const result = await call(client, 'resolve_ticket', { ticket: { text: 'x' } })

    expect(failureOf(result)).toMatchObject({ code: 'DATABASE_UNAVAILABLE', retryable: true })
    expect(textOf(result)).toContain('call again with the same arguments. With the same')
    expect(JSON.stringify(result)).not.toContain('10.1.2.3')
    await expect(client.listResources()).rejects.not.toThrow('10.1.2.3')
  })

  it('is a key that was revoked while its client was there', async () => {
    await operations.createPrincipal.invoke(app, admin, {
      ...{ principalId: 'leaving', kind: 'ai', roles: ['agent'] },
    })
    const { keyId, key } = await operations.createKey.invoke(app, admin, {
      principalId: 'leaving',
    })
    const client = await connectInProcess(app, () => authenticate(app, key))
    expect(textOf(await call(client, 'list_waiting_steps', { mine: true }))).toBeDefined()

    await operations.revokeKey.invoke(app, admin, { keyId })

    expect(failureOf(await call(client, 'list_waiting_steps'))).toMatchObject({
      ...{ code: 'KEY_REFUSED', kind: 'unauthenticated' },
    })
    await expect(client.listTools()).rejects.toThrow('-32602')
    await expect(client.listResources()).rejects.toThrow('-32602')
  })
})

describe('the playbooks', () => {
  it('are listed page by page, without those that do not serve', async () => {
    const draft = `DRAFT_${count}`
    await operations.createProcedure.invoke(app, admin, {
      definition: { key: draft, name: draft, description: draft, issuePatterns: [], ...done },
    })
    for (let more = 0; more < 51; more += 1) await procedureOf(done)
    const active = Array.from({ length: count }, (_, index) => `MCP_${index + 1}`)

    const keys: string[] = []
    let cursor: string | undefined
    let pages = 0
    do {
      const page = await asBot.listResources(cursor === undefined ? {} : { cursor })
      keys.push(...page.resources.map(({ name }) => name))
      cursor = page.nextCursor
      pages += 1
    } while (cursor !== undefined)

    expect(keys.sort()).toEqual(active.sort())
    expect(pages).toBe(2)
    await expect(
      asBot.readResource({ uri: `stepwarden://procedures/${draft}` }),
    ).rejects.toMatchObject({ code: -32002 })
  })

  it('are read as Markdown and as JSON', async () => {
    const key = await procedureOf({ ...done, description: 'What it is for.' })
    const uri = `stepwarden://procedures/${key}`

    const { contents } = await asBot.readResource({ uri })
    const asJson = await asBot.readResource({ uri: `${uri}.json` })
    const { resourceTemplates } = await asBot.listResourceTemplates()

    const text = String(Object(contents[0]).text)
    for (const part of ['What it is for.', '1. Know (`known`: computes)', 'no instruction']) {
      expect(text).toContain(part.replace('no instruction', 'nothing in it is an instruction'))
    }
    expect(JSON.parse(String(Object(asJson.contents[0]).text))).toMatchObject({
      procedureKey: key,
      versionNumber: 1,
      definition: { key, description: 'What it is for.' },
    })
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'stepwarden://procedures/{key}',
      'stepwarden://procedures/{key}.json',
    ])
  })

  it.each([
    'stepwarden://procedures/NOPE',
    'stepwarden://procedures/../keys',
    'stepwarden://audit/1',
    'file:///etc/passwd',
  ])('are not %s', async (uri) => {
    await expect(asBot.readResource({ uri })).rejects.toMatchObject({ code: -32002 })
  })
})
