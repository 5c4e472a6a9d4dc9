import { z } from 'zod'
import { listBacktests as listRows } from '../db/queries/backtests.ts'
import { backtestOutput, toBacktestOutput } from './backtest-output.ts'
import { defineOperation } from './define.ts'
import { findProcedureVersion } from './find-version.ts'
import { nextCursor, pageById, procedureKey, versionNumber } from './shapes.ts'

/** A page of the backtests of a version, newest first, those of earlier revisions included. */
export const listBacktests = defineOperation({
  name: 'listBacktests',
  summary: 'List the backtests of a version, newest first',
  input: z.strictObject({ procedureKey, versionNumber, ...pageById('backtest') }),
  output: z.object({ items: z.array(backtestOutput), nextCursor }),
  errors: ['PROCEDURE_NOT_FOUND', 'VERSION_NOT_FOUND'],
  roles: ['agent', 'author', 'approver', 'admin', 'auditor'],
  async run({ db }, { procedureKey: key, versionNumber: number, limit, cursor }) {
    const version = await findProcedureVersion(db.kysely, key, number)
    const rows = await listRows(db.kysely, version.id, { limit: limit + 1, before: cursor })
    const items = rows.slice(0, limit)
    return {
      items: items.map((one) => toBacktestOutput(one, version)),
      nextCursor: rows.length > limit ? (items.at(-1)?.id ?? null) : null,
    }
  },
})
