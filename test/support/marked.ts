import { z } from 'zod'
import { createDeskTools } from '../../seeds/desk-tools.ts'
import { type AppContext, createContext } from '../../src/context.ts'
import { createDeskStore } from '../../src/db/queries/desk.ts'
import { attachLateOutcome } from '../../src/db/queries/work.ts'
import { defineTool } from '../../src/domain/define-tool.ts'
import type { Id } from '../../src/domain/ids.ts'
import { ToolFailed } from '../../src/domain/tool.ts'
import { operations } from '../../src/operations/registry.ts'
import { ngramEmbedder } from '../../src/search/ngram-embedder.ts'
import { callerOf } from './caller.ts'
import type { TestDatabase } from './database.ts'
import { asSuperuser } from './tamper.ts'

/** Tools that put what they are given everywhere where a tool can put something. */
const markedTools = [
  defineTool({
    name: 'look',
    description: 'Looks an account up',
    effect: 'read',
    input: z.object({ account: z.string(), pin: z.string().meta({ sensitive: true }) }),
    output: z.object({ token: z.string().meta({ sensitive: true }), name: z.string() }),
    run: async ({ account, pin }) => ({ token: `token of ${pin}`, name: `name of ${account}` }),
  }),
  defineTool({
    name: 'pay',
    description: 'Pays',
    effect: 'write',
    idempotent: true,
    limits: [{ per: 'customer', every: 'day', atMost: 1_000 }],
    input: z.object({ account: z.string() }),
    output: z.object({ paid: z.string() }),
    run: async ({ account }) => ({ paid: account }),
  }),
  defineTool({
    name: 'fail',
    description: 'Fails',
    effect: 'read',
    input: z.object({ account: z.string() }),
    output: z.object({}),
    run: async ({ account }) => {
      throw new ToolFailed(`There is no ${account}.`)
    },
  }),
]

const base = {
  name: 'Marked',
  description: 'Looks at an account and pays it.',
  issuePatterns: ['look at my account and pay'],
  input: {
    type: 'object',
    properties: { account: { type: 'string' }, pin: { type: 'string', sensitive: true } },
  },
}

const account = { account: '{{input.account}}' }
const look = {
  key: 'look',
  action: 'Look',
  tool: 'look',
  with: { ...account, pin: '{{input.pin}}' },
}
const tell = {
  key: 'tell',
  action: 'Tell',
  tool: 'notify_customer',
  with: { message: 'Done for {{input.account}}.' },
}

/** The service with the desk and the tools above, on a database that stays open. */
export async function openMarked(db: TestDatabase, now: () => number): Promise<AppContext> {
  const desk = createDeskTools(createDeskStore(db.database, now))
  return createContext(
    db.database,
    { tenantId: 'default', logLevel: 'silent' },
    { embedder: ngramEmbedder, tools: [...desk, ...markedTools], clock: { now } },
  )
}

/** A playbook that is called, one that resolves, and one that asks, calls, writes, and fails at its end. */
export async function createMarked(app: AppContext): Promise<void> {
  const definitions = [
    {
      ...base,
      key: 'CALLED',
      internal: true,
      steps: [look, tell],
      output: { of: 'input.account' },
    },
    {
      ...base,
      key: 'RESOLVES',
      steps: [look, { key: 'pay', action: 'Pay', tool: 'pay', with: account }, tell],
      replies: { resolved: 'Done for {{input.account}}.' },
    },
    {
      ...base,
      key: 'ESCALATES',
      steps: [
        look,
        {
          key: 'day',
          action: 'Ask',
          ask: 'customer',
          message: 'Which day, {{input.account}}?',
          answer: { type: 'string' },
        },
        { key: 'yes', action: 'Approve', approval: 'approver', show: account },
        { key: 'sub', action: 'Call', call: 'CALLED', with: { ...account, pin: '{{input.pin}}' } },
        { key: 'pay', action: 'Pay', tool: 'pay', with: account },
        { key: 'fail', action: 'Fail', tool: 'fail', with: account },
      ],
    },
  ]
  for (const definition of definitions) {
    const { key } = definition
    await operations.createProcedure.invoke(app, callerOf(), { definition })
    const activation = { procedureKey: key, versionNumber: 1, seenActive: null }
    await operations.activateVersion.invoke(app, callerOf(), activation)
  }
}

/** What a run of a customer is started with: the mark in every place that takes a text. */
export function markedStart(mark: string, customerId = `C-${mark}`) {
  return {
    ticket: {
      text: `Look at my account and pay, ${mark}.`,
      id: `T-${mark}`,
      requester: `${mark}@example.test`,
      tags: [mark],
    },
    input: { account: `A-${mark}`, pin: `pin-${mark}` },
    context: { shop: mark },
    customerId,
    ticketId: `T-${mark}`,
    onBehalfOf: mark,
    idempotencyKey: `key ${mark} ${Math.random()}`,
  }
}

/** Runs to its end the playbook that resolves, and answers the id. */
export async function runMarked(
  app: AppContext,
  mark: string,
  customerId?: string,
): Promise<string> {
  const { execution } = await operations.resolveTicket.invoke(app, callerOf(), {
    ...markedStart(mark, customerId),
    procedureKey: 'RESOLVES',
  })
  if (execution?.outcome !== 'resolved') throw new Error(JSON.stringify(execution?.reason))
  return execution.id
}

/** Runs to its end the playbook that escalates, with all that people may say, and answers the ids of its two runs. */
export async function escalateMarked(app: AppContext, mark: string): Promise<readonly string[]> {
  const ann = callerOf()
  const { execution } = await operations.startExecution.invoke(app, ann, {
    ...markedStart(mark),
    procedureKey: 'ESCALATES',
  })
  const { id } = execution
  await operations.answerStep.invoke(app, ann, {
    executionId: id,
    step: 'day',
    answer: `Monday for ${mark}`,
  })
  const run = await operations.approveStep.invoke(app, callerOf('bob'), {
    executionId: id,
    step: 'yes',
    comment: `Fine for ${mark}`,
  })
  if (run.execution.status !== 'escalated') throw new Error(JSON.stringify(run))
  const db = app.database.forTenant('default')
  await attachLateOutcome(db, id as Id<'execution'>, {
    ordinal: 1,
    stepKey: 'look',
    iteration: '',
    kind: 'tool',
    status: 'completed',
    tool: 'look',
    attempt: 1,
    input: null,
    output: { name: mark },
    error: null,
    attempts: null,
    startedAt: 0,
    endedAt: 0,
  })
  await resolveAll(app, mark)
  const called = await db.kysely
    .selectFrom('executions')
    .select('id')
    .where('parent_id', '=', id)
    .execute()
  return [id, ...called.map((row) => row.id)]
}

/** A ticket that no playbook fits, worked on by a person. */
export async function triageMarked(app: AppContext, mark: string): Promise<string> {
  const { triageId } = await operations.resolveTicket.invoke(app, callerOf(), {
    ...markedStart(mark),
    ticket: { text: `Zebra quantum xylophone ${mark}` },
  })
  if (triageId === null) throw new Error('a playbook fitted')
  await resolveAll(app, mark)
  return triageId
}

async function resolveAll(app: AppContext, mark: string): Promise<void> {
  for (const status of ['open', 'assigned'] as const) {
    const { items } = await operations.listEscalations.invoke(app, callerOf(), { status })
    for (const { id } of items) {
      await operations.resolveEscalation.invoke(app, callerOf(), {
        escalationId: id,
        resolution: `Called ${mark} back`,
      })
    }
  }
}

/** Every column of every table that holds a text, as `table.column`, whoever may see it. */
export async function findText(db: TestDatabase, text: string): Promise<readonly string[]> {
  return asSuperuser(db, async (client) => {
    const { rows: columns } = await client.query<{ table: string; column: string }>(
      `SELECT c.table_name AS "table", c.column_name AS "column" FROM information_schema.columns c
       JOIN information_schema.tables t USING (table_schema, table_name)
       WHERE c.table_schema = 'public' AND t.table_type = 'BASE TABLE' ORDER BY 1, 2`,
    )
    const found: string[] = []
    for (const { table, column } of columns) {
      const { rowCount } = await client.query(
        `SELECT FROM "${table}" WHERE position($1 IN "${column}"::text) > 0 LIMIT 1`,
        [text],
      )
      if (rowCount !== 0) found.push(`${table}.${column}`)
    }
    return found
  })
}
