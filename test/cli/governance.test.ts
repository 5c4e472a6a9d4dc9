import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test, vi } from 'vitest'
import type { Role } from '../../src/domain/principal.ts'
import { jsonValues, runCli, temporaryFolder } from './run-cli.ts'

// Each process opens a database of its own, which takes seconds on a busy machine.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

const folder = temporaryFolder()
const dataDir = join(folder, 'data')
const governed = { STEPWARDEN_REQUIRED_APPROVALS: '1' }

const people: readonly (readonly [id: string, role: Role])[] = [
  ['ann', 'author'],
  ['bob', 'approver'],
  ['kim', 'agent'],
  ['rut', 'admin'],
  ['aud', 'auditor'],
]
const keys = new Map<string, string>()
let digest = ''

/** What commands of one session answered, each its JSON value or the code of its error. */
async function session(who: string | undefined, ...lines: readonly string[]) {
  const key = who === undefined ? undefined : keys.get(who)
  const { stdout, stderr } = await runCli(['chat', '--json'], {
    dataDir,
    input: lines.join('\n'),
    environment: { ...governed, ...(key !== undefined && { STEPWARDEN_KEY: key }) },
  })
  const codes = [...stderr.matchAll(/^\{.*\}$/gm)].map(([line]) => JSON.parse(line).code)
  // The last value says that the session was left.
  const values = jsonValues(stdout).slice(0, -1).map(Object)
  return { values, codes }
}

function playbook(key: string): string {
  const file = join(folder, `${key}.yaml`)
  const lines = [
    `key: ${key}`,
    `name: ${key}`,
    'description: For tests.',
    'internal: true',
    'steps:',
    "  - { key: known, action: Know, compute: { known: 'true' } }",
    'completionConditions:',
    '  - { text: Known, when: steps.known.output.known }',
  ]
  writeFileSync(file, lines.join('\n'))
  return file
}

beforeAll(async () => {
  const made = people.flatMap(([id, role]) => [
    `/principals add ${id} --roles ${role}`,
    `/keys create ${id}`,
  ])
  const { values } = await session(undefined, ...made)
  for (const value of values) if ('key' in value) keys.set(value.principalId, value.key)
  expect(keys.size).toBe(people.length)

  await session('ann', `/procedures create ${playbook('OF_ANN')}`)
  const shown = await session('bob', '/procedures review OF_ANN 1')
  digest = shown.values[0].digest
})

test.each(people)('%s, who is %s alone, does what that role may', async (id, role) => {
  const isAuthor = role === 'author' || role === 'admin'
  const isApprover = role === 'approver' || role === 'admin'
  const own = `OF_${id.toUpperCase()}_TOO`
  const { codes, values } = await session(
    id,
    `/procedures create ${playbook(own)}`,
    `/procedures new-version OF_ANN`,
    `/procedures comment OF_ANN 1 --digest ${digest} --comment Fine`,
    '/keys list',
    '/procedures review OF_ANN 1',
  )
  const refused = (isAuthor ? 0 : 2) + (isApprover ? 0 : 1) + (role === 'admin' ? 0 : 1)
  expect(codes).toEqual(Array(refused).fill('ROLE_MISSING'))
  expect(values.at(-1)).toMatchObject({ digest, required: 1 })
})

test('an admin who has written it does not approve it, and no local person does', async () => {
  const key = 'OF_RUT'
  await session('rut', `/procedures create ${playbook(key)}`)
  const own = (await session('rut', `/procedures review ${key} 1`)).values[0].digest

  const asAuthor = await session(
    'rut',
    `/procedures approve ${key} 1 --digest ${own}`,
    `/activate ${key} 1`,
  )
  const asLocal = await session(undefined, `/procedures approve ${key} 1 --digest ${own}`)

  expect(asAuthor.codes).toEqual(['REVIEW_OWN_WORK', 'APPROVAL_MISSING'])
  expect(asLocal.codes).toEqual(['REVIEW_NEEDS_PERSON'])
})

test('what one has written another approves, as it is, and it serves', async () => {
  const shortened = digest.slice(0, 12)
  const { codes, values } = await session(
    'bob',
    '/procedures approve OF_ANN 1',
    `/procedures approve OF_ANN 1 --digest ${'0'.repeat(12)}`,
    `/procedures approve OF_ANN 1 --digest ${shortened}`,
    '/activate OF_ANN 1',
  )

  expect(codes).toEqual(['USAGE_INVALID', 'REVIEW_STALE'])
  expect(values).toEqual([
    expect.objectContaining({ verdict: 'approve', digest, reviewerId: 'bob' }),
    expect.objectContaining({ status: 'active' }),
  ])
})

test('an edit says whose approval it ends, and each says what is next', async () => {
  const file = playbook('OF_ANN_LATER')
  const text = async (who: string, ...lines: readonly string[]) => {
    const environment = { ...governed, STEPWARDEN_KEY: keys.get(who) ?? '' }
    const { stdout, stderr } = await runCli(['chat'], {
      dataDir,
      input: lines.join('\n'),
      environment,
    })
    return stdout + stderr
  }
  const created = await text('ann', `/procedures create ${file}`)
  const seen = (await session('bob', '/procedures review OF_ANN_LATER 1')).values[0].digest
  const verdict = `/procedures approve OF_ANN_LATER 1 --digest ${seen}`
  const approved = await text('bob', '/procedures review OF_ANN_LATER 1', verdict)
  writeFileSync(file, readFileSync(file, 'utf8').replace('For tests.', 'For others.'))
  const edited = await text(
    'ann',
    `/procedures edit OF_ANN_LATER 1 --file ${file}`,
    '/procedures review OF_ANN_LATER 1',
    '/procedures activate OF_ANN_LATER 1',
  )

  expect(created).toContain('1 person who wrote no part of it must approve it')
  expect(approved).toContain(`approve OF_ANN_LATER 1 --digest ${seen.slice(0, 12)}\n`)
  expect(approved).not.toContain('stepwarden diff')
  expect(approved).toContain("'stepwarden procedures activate OF_ANN_LATER 1'")
  expect(edited).toContain('This ends the approval of bob, which was of what it said before.')
  expect(edited).toContain('since bob approved it: the definition')
  expect(edited).toContain('This needs the role approver or admin; you have author.')
})

test('a revoked key, and what is no key, let nobody in', async () => {
  const { values } = await session('rut', '/keys list --of kim')
  const { keyId } = values[0].items[0]
  await session('rut', `/keys revoke ${keyId}`)

  const revoked = await session('kim', '/procedures list')
  const none = await runCli(['procedures', 'list', '--json'], {
    dataDir,
    environment: { STEPWARDEN_KEY: 'hunter2' },
  })

  expect(revoked.codes).toEqual(['KEY_REFUSED'])
  expect(none.exitCode).toBe(2)
  expect(JSON.parse(none.stderr)).toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining('is no key'),
  })
  expect(none.stderr).not.toContain('hunter2')
})

test('tenants are made by who runs the deployment, and have their own people', async () => {
  const add = (id: string) => runCli(['tenants', 'add', id, 'Acme', 'Inc.', '--json'], { dataDir })
  expect(JSON.parse((await add('acme')).stdout)).toEqual({ tenantId: 'acme', name: 'Acme Inc.' })
  expect(JSON.parse((await add('acme')).stderr)).toMatchObject({ code: 'TENANT_EXISTS' })
  expect((await add('Not One')).exitCode).toBe(2)

  const { stdout } = await runCli(['principals', 'list', '--json'], {
    dataDir,
    environment: { STEPWARDEN_TENANT: 'acme' },
  })
  expect(JSON.parse(stdout)).toEqual({ items: [], nextCursor: null })
})
