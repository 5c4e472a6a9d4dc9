import { z } from 'zod'
import { listScenarios as listStored } from '../db/queries/scenarios.ts'
import { findVersionTexts } from '../db/queries/versions.ts'
import type { Scenario } from '../domain/scenario.ts'
import { defineOperation } from './define.ts'
import { findProcedureVersion } from './find-version.ts'
import { procedureKey, versionNumber } from './shapes.ts'
import { toVersionListItem, versionListItem } from './version-output.ts'

/** The scenarios of a version, all of them: there are at most 200. */
export const listScenarios = defineOperation({
  name: 'listScenarios',
  summary: 'Show the scenarios of a version',
  input: z.strictObject({
    procedureKey,
    versionNumber: versionNumber
      .optional()
      .describe('Default: the active version, else the newest'),
  }),
  output: versionListItem.extend({
    scenarios: z.array(z.custom<Scenario>().meta({ type: 'object' })),
    source: z
      .string()
      .nullable()
      .describe('The text of their file, with its comments; null where they came as values'),
  }),
  errors: ['PROCEDURE_NOT_FOUND', 'VERSION_NOT_FOUND'],
  roles: ['agent', 'author', 'approver', 'admin', 'auditor'],
  async run({ db }, input) {
    const version = await findProcedureVersion(db.kysely, input.procedureKey, input.versionNumber)
    const scenarios = await listStored(db.kysely, version.id)
    const { scenariosSource } = await findVersionTexts(db.kysely, version.id)
    return { ...toVersionListItem(version), scenarios: [...scenarios], source: scenariosSource }
  },
})
