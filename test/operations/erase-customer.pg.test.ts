import { expect, it, vi } from 'vitest'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'
import { findText } from '../support/marked.ts'
import { startProcess } from '../support/processes.ts'

vi.setConfig({ testTimeout: 240_000 })

const { app, db } = await openTestApp({ tools: [] })
const { kysely } = db.database.forTenant('default')
const admin = callerOf('adam', ['admin'])
const auditor = callerOf('aud', ['auditor'])
const erase = (customerId: string) =>
  operations.eraseCustomer.invoke(app, admin, { customerId, reason: 'asked for' })

async function makeRuns(customerId: string, count: number): Promise<void> {
  const start = () =>
    operations.startExecution.invoke(app, callerOf(), {
      procedureKey: 'NOTE',
      input: { account: customerId },
      customerId,
    })
  for (let made = 0; made < count; made += 10) {
    await Promise.all(Array.from({ length: Math.min(10, count - made) }, start))
  }
}

async function countErased(): Promise<number> {
  const { n } = await kysely
    .selectFrom('erased_records')
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return Number(n)
}

it('is carried on under its name when it was killed after a batch, and when two do it at once', async () => {
  const definition = {
    key: 'NOTE',
    name: 'Note',
    description: 'Notes an account',
    issuePatterns: [],
    input: { type: 'object', properties: { account: { type: 'string' } } },
    steps: [{ key: 'note', action: 'Note', compute: { account: 'input.account' } }],
  }
  await operations.createProcedure.invoke(app, callerOf(), { definition })
  const activation = { procedureKey: 'NOTE', versionNumber: 1, seenActive: null }
  await operations.activateVersion.invoke(app, callerOf(), activation)
  await makeRuns('C-Killed', 120)
  await makeRuns('C-Twice', 120)
  const url = 'url' in db.config ? db.config.url : ''

  const process = startProcess('test/support/erase-process.ts', url, 'C-Killed')
  await expect(process.nextLine()).rejects.toThrow('ended')
  await process.kill()

  expect(await countErased()).toBe(100)
  expect(await findText(db, 'C-Killed')).not.toEqual([])
  expect((await operations.verifyAudit.invoke(app, auditor, {})).problems).toEqual([])
  const done = await erase('C-Killed')
  expect(done.runs).toBe(120)
  expect(await findText(db, 'C-Killed')).toEqual([])
  expect(await countErased()).toBe(120)
  const erasures = await kysely.selectFrom('erasures').select('id').execute()
  expect(erasures).toEqual([{ id: done.erasureId }])

  const both = await Promise.all([erase('C-Twice'), erase('C-Twice')])

  expect(Math.max(...both.map(({ runs }) => runs))).toBeGreaterThan(0)
  expect(await countErased()).toBe(240)
  expect(await findText(db, 'C-Twice')).toEqual([])
  expect((await operations.verifyAudit.invoke(app, auditor, {})).problems).toEqual([])
})
