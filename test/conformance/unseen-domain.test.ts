import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, it, vi } from 'vitest'
import { createRecorder, type Report, reportText } from '../../conformance/report.ts'
import { runSuites } from '../../conformance/suites.ts'
import { rental } from './rental.ts'

const folder = mkdtempSync(join(tmpdir(), 'stepwarden-cases-'))
afterAll(() => rmSync(folder, { recursive: true }))
// On the embedded database, also where there is a server: the public cases run on that.
beforeEach(() => {
  vi.stubEnv('TEST_DATABASE_URL', '')
})

/** What comes of a folder with these files; a text is written as it is. */
async function reportOn(name: string, files: Readonly<Record<string, unknown>>): Promise<Report> {
  const suite = join(folder, name, 'sopbench')
  mkdirSync(suite, { recursive: true })
  for (const [file, content] of Object.entries(files)) {
    writeFileSync(
      join(suite, file),
      typeof content === 'string' ? content : JSON.stringify(content),
    )
  }
  const report: Report = {}
  await runSuites(
    join(folder, name),
    createRecorder(report, {}, () => {}),
  )
  return report
}

const { name, tools, procedures, cases } = rental
const [good] = cases
if (good === undefined) throw new TypeError('there is a case')

it('runs a domain that it has never seen, and says what it cannot write down', async () => {
  const report = await reportOn('whole', {
    'tools.json': { [name]: tools },
    'rental.json': { domain: name, procedures, cases },
  })

  expect(report).toEqual({
    sopbench: {
      rental: {
        1: { success: [3, 3], refused: [3, 3], failures: [] },
        2: {
          success: [1, 3],
          refused: [3, 3],
          failures: [
            { case: 'rental/lend/006', reason: expect.stringContaining('enough_stock') },
            { case: 'rental/lend/005', reason: expect.stringContaining('the moon') },
          ],
        },
      },
    },
  })
  expect(reportText(report)).toContain('rental/lend/005, tier 2: Untranslatable: unheard_of')
})

it('lets what is wrong with a domain cost the cases that need it, and no others', async () => {
  const lend = (variant: string, constraints: unknown) => ({
    id: `rental/lend/${variant}`,
    goal: 'lend',
    constraints,
  })
  const stock = { check: 'enough_stock', args: { machine_id: 'machine_id', count: 'count' } }
  const member = { check: 'lent_before', args: { username: 'username', machine_id: 'machine_id' } }
  const described = {
    ...tools,
    tools: { ...tools.tools, find_member: { ...tools.tools.find_member, inputs: 'username' } },
    checks: {
      ...tools.checks,
      by_nobody: { inputs: [], holdsWhen: 'deposit >= 1', via: ['find_nobody'] },
    },
    extra: { anything: true },
  }
  const variants = [
    lend('none', null),
    lend('left_out', undefined),
    lend('nothing', {}),
    lend('no_members', { op: 'and', of: [{ op: 'chain', of: [] }] }),
    lend('nested', {
      op: 'gate',
      of: [{ op: 'and', of: [{ op: 'chain', of: [{ op: 'or', of: [stock] }] }] }],
    }),
    lend('odd_operator', { op: 'and', of: [stock, { op: 'xor', of: [stock] }] }),
    lend('odd_check', { check: 'never_told', args: {} }),
    lend('odd_tool', { check: 'by_nobody', args: {} }),
    lend('odd_inputs', member),
    lend('one_of_none', { op: 'or', of: [] }),
  ]
  const requests = variants.map(({ id }) => ({
    ...good,
    id: `case of ${id}`,
    procedure: id,
    more: 1,
  }))
  const failing = (report: Report, tier: string) =>
    report.sopbench?.[name]?.[tier]?.failures.map(({ case: id, reason }) => [
      id.replace('case of rental/lend/', ''),
      reason,
    ])

  const report = await reportOn('flawed', {
    'tools.json': { [name]: described },
    'rental.json': {
      domain: name,
      version: 2,
      procedures: variants,
      cases: [
        ...requests,
        { ...good, id: 'no goal', goal: undefined },
        { ...good, id: 'no procedure', procedure: 'rental/lend/v9' },
      ],
    },
  })

  expect(failing(report, '2')).toEqual([
    ['no goal', expect.stringContaining('the case cannot be read: goal')],
    ['odd_operator', expect.stringContaining("the operator 'xor' is not known")],
    ['odd_check', expect.stringContaining('nothing says when never_told holds')],
    ['odd_tool', expect.stringContaining('there is no tool find_nobody')],
    ['odd_inputs', expect.stringContaining('there is no tool find_member')],
    ['one_of_none', expect.stringContaining('one of no rules')],
    ['no procedure', expect.stringContaining('no such procedure')],
  ])
  expect(report.sopbench?.[name]?.[2]?.success).toEqual([5, 12])
})

it('runs a domain that nothing describes as far as its own data go', async () => {
  const report = await reportOn('undescribed', {
    'tools.json': { another: tools },
    'rental.json': { domain: name, procedures, cases: [good] },
    'broken.json': '{ "procedures": [',
  })

  expect(report.sopbench?.[name]?.[1]).toEqual({ success: [1, 1], refused: [0, 0], failures: [] })
  expect(report.sopbench?.[name]?.[2]?.failures).toEqual([
    { case: good.id, reason: expect.stringContaining("tools.json does not describe 'rental'") },
  ])
  expect(report.sopbench?.broken?.[1]?.failures).toEqual([
    { case: 'broken.json', reason: expect.stringContaining('broken.json: ') },
  ])
})
