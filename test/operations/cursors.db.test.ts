import { expect, it } from 'vitest'
import { newId } from '../../src/domain/ids.ts'
import { inputSchema } from '../../src/http/schemas.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'

const { app } = await openTestApp({ tools: [] })

const lists = Object.values(operations).filter(
  (operation) =>
    // What a cursor of an export must be depends on what is exported (audit-export.db.test.ts).
    operation.name !== 'exportAudit' && 'cursor' in inputSchema(operation).properties,
)

/** None of these is a cursor of any list. */
const foreign = [
  '',
  ' ',
  'e30=',
  '../1',
  '1 OR 1=1',
  newId('request', 0),
  `${newId('request', 0)}:1`,
]

it.each(lists)(
  '$name refuses a cursor that it has not answered: an empty page would be a lie',
  async (operation) => {
    for (const cursor of foreign) {
      // Ids of people may be nearly anything, and task tags anything.
      if (operation.name === 'listPrincipals' && /^[!-~]+$/.test(cursor)) continue
      if (operation.name === 'listLessons' && /\S/.test(cursor)) continue
      const refused = await operation.invoke(app, callerOf(), { cursor }).catch((error) => error)

      expect(refused, cursor).toMatchObject({
        code: 'REQUEST_INVALID',
        details: {
          problems: expect.arrayContaining([expect.objectContaining({ path: 'cursor' })]),
        },
      })
    }
  },
)
