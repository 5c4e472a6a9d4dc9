import { beforeAll, describe, expect, it } from 'vitest'
import { isServiceError } from '../../src/domain/errors.ts'
import { statusOfKind } from '../../src/domain/http-status.ts'
import { roles } from '../../src/domain/principal.ts'
import { type Route, routes } from '../../src/http/routes.ts'
import { authenticate } from '../../src/operations/authenticate.ts'
import type { Operation } from '../../src/operations/define.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp, seedProcedures } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'
import { type HttpAnswer, keyFor, openTestDoor } from '../support/http.ts'

let ahead = 0
const { app } = await openTestApp({ clock: { now: () => Date.now() + ahead } })
const door = await openTestDoor(app)
const root = callerOf('root')
const keys = new Map<string, string>()

beforeAll(async () => {
  await seedProcedures(app)
  // So that it is there already, whoever adds it first.
  const { taskTag, kind, content } = nowhere
  await operations.addLesson.invoke(app, root, { taskTag, kind, content })
  await keyFor(app, 'all', roles).then((key) => keys.set('all', key))
  for (const role of roles) keys.set(role, await keyFor(app, role, [role]))
  const { key, keyId } = await operations.createKey.invoke(app, root, { principalId: 'all' })
  await operations.revokeKey.invoke(app, root, { keyId })
  keys.set('revoked', key)
  ahead = -2 * 86_400_000
  const old = await operations.createKey.invoke(app, root, {
    principalId: 'all',
    expiresInDays: 1,
  })
  ahead = 0
  keys.set('expired', old.key)
  keys.set('of nobody', `sw_default_${'x'.repeat(43)}`)
  keys.set('of no tenant', `sw_nowhere_${'x'.repeat(43)}`)
})

/** What an operation of no procedure, run or id that there is could be asked. */
const nowhere: Readonly<Record<string, unknown>> = {
  procedureKey: 'NOT_THERE',
  versionNumber: 7,
  versionId: 'ver_000000000000000000000',
  success: true,
  durationMs: 1_500,
  toVersionNumber: 7,
  executionId: 'exec_000000000000000000000',
  escalationId: 'esc_000000000000000000000',
  backtestId: 'bkt_000000000000000000000',
  scheduleId: 'sch_000000000000000000000',
  keyId: 'key_000000000000000000000',
  experienceId: 'exp_000000000000000000000',
  experienceIds: ['exp_000000000000000000000'],
  feedback: 'be kind',
  proposalId: 'prp_000000000000000000000',
  situation: 'nothing that anybody has met',
  actionSequence: [{ tool: 'look' }],
  outcome: 'x',
  outcomeType: 'failure',
  principalId: 'all',
  step: 'nothing',
  tool: 'no_tool',
  seenActive: null,
  definition: { key: 'x' },
  revision: 1,
  scenarios: [],
  digest: 'a'.repeat(64),
  verdict: 'approve',
  reason: 'a test',
  at: '2000-01-01T00:00:00Z',
  reviewBy: null,
  ticket: { text: 'nothing that any playbook is for' },
  issue: 'nothing that any playbook is for',
  customerId: 'nobody',
  dryRun: true,
  days: null,
  assignee: 'ann',
  resolution: 'done',
  what: 'steps',
  model: 'no-model',
  answer: 1,
  calendar: { timeZone: 'Europe/Berlin' },
  roles,
  taskTag: 'learned/by hand',
  lessonId: 'les_000000000000000000000',
  showingId: 'shw_000000000000000000000',
  kind: 'helpful',
  content: 'Worked well: asked first',
  lessons: [],
  score: 0.5,
}

function inputFor(
  { input }: Operation,
  from: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const shape = 'shape' in input ? Object(input.shape) : Object(Object(input).in?.shape)
  return Object.fromEntries(Object.entries(from).filter(([name]) => name in shape))
}

/** Asks at the HTTP door what `input` asks of the operation. */
function ask(
  route: Route,
  input: Readonly<Record<string, unknown>>,
  key?: string,
): Promise<HttpAnswer> {
  const rest = new Map(Object.entries(input))
  const headers: Record<string, string> = {}
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, field: string) => {
    const value = rest.get(field)
    rest.delete(field)
    return encodeURIComponent(String(value))
  })
  if (rest.has('revision')) headers['if-match'] = `"${rest.get('revision')}"`
  rest.delete('revision')
  const inQuery = route.method === 'GET' || route.method === 'DELETE'
  const query = new URLSearchParams()
  if (inQuery) for (const [name, value] of rest) query.append(name, String(value))
  return door.call(`${route.method} /v1${path}${query.size > 0 ? `?${query}` : ''}`, {
    headers,
    ...(key !== undefined && { key }),
    ...(!inQuery && { body: Object.fromEntries(rest) }),
  })
}

describe('every operation over HTTP', () => {
  it('has a place', () => {
    expect(new Set(routes.map(({ operation }) => operation))).toEqual(
      new Set(Object.values(operations)),
    )
    expect(new Set(routes.map(({ method, path }) => `${method} ${path}`)).size).toBe(routes.length)
  })

  it.each(routes)('$id answers as the operation does', async (route) => {
    const { operation } = route
    const principal = await authenticate(app, keys.get('all') ?? '')
    const input = inputFor(operation, nowhere)
    const expected = await operation.invoke(app, { principal, origin: 'library' }, input).then(
      (output) => ({ output }),
      (error: unknown) => ({ error }),
    )
    const answer = await ask(route, input, keys.get('all'))
    if ('output' in expected) {
      expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300)
      expect(Object.keys(Object(answer.body))).toEqual(Object.keys(Object(expected.output)))
      expect(() => operation.output.parse(answer.body)).not.toThrow()
    } else {
      const { error } = expected
      if (!isServiceError(error)) throw error
      expect(answer.body).toMatchObject({
        code: error.code,
        detail: error.message,
        status: answer.status,
      })
      expect(answer.status).toBe(statusOfKind[error.kind])
      expect(answer.body.details).toEqual(JSON.parse(JSON.stringify(error.details)))
      expect([...operation.errors, 'REQUEST_INVALID']).toContain(error.code)
    }
  })

  it.each(routes)('$id refuses a field that it does not know', async (route) => {
    const answer = await ask(
      route,
      { ...inputFor(route.operation, nowhere), surprise: 1 },
      keys.get('all'),
    )
    expect(answer).toMatchObject({ status: 400, body: { code: 'REQUEST_INVALID' } })
    expect(answer.body.detail).toContain('surprise')
  })

  it.each(routes)('$id lets in whom the operation lets in', async (route) => {
    const { operation } = route
    for (const role of roles) {
      // Without any input it goes no further than the door of the operation.
      const answer = await ask(
        route,
        { ...inputFor(operation, nowhere), surprise: 1 },
        keys.get(role),
      )
      const isAllowed = operation.roles.includes(role)
      expect([role, answer.status]).toEqual([role, isAllowed ? 400 : 403])
    }
    for (const bad of ['expired', 'revoked', 'of nobody', 'of no tenant']) {
      const answer = await ask(route, inputFor(operation, nowhere), keys.get(bad))
      expect([bad, answer.status, answer.body.code]).toEqual([bad, 401, 'KEY_REFUSED'])
    }
    const answer = await ask(route, inputFor(operation, nowhere))
    expect([answer.status, answer.body.code]).toEqual([401, 'CREDENTIAL_MISSING'])
    expect(answer.headers.get('www-authenticate')).toContain('Bearer')
  })
})
