import { migrateDatabase } from '../db/connect.ts'
import { databaseName, explainDatabaseError } from '../db/database-errors.ts'
import { indexExperiences } from '../db/experience-index.ts'
import { attachPositions, readDocument } from '../documents/read-document.ts'
import { writeDocument } from '../documents/write-document.ts'
import { ServiceError } from '../domain/errors.ts'
import type { Json } from '../domain/json.ts'
import { parseDefinition } from '../domain/parse-definition.ts'
import { parseScenarios } from '../domain/parse-scenarios.ts'
import type { Parts } from './shell.ts'

/** The concrete parts that the commands are handed. */
export const parts: Parts = {
  readDocument: (text, name) => {
    const document = readDocument(text, { name })
    return {
      source: isJson(text) ? undefined : text,
      value: document.value,
      locate: (problems) => attachPositions(problems, document),
    }
  },
  writeDefinition: (definition) => {
    // The database keeps no order of keys; reading it as a document brings the usual one back.
    const parsed = parseDefinition(definition)
    const ordered = 'definition' in parsed ? parsed.definition : definition
    const value: Json = JSON.parse(JSON.stringify(ordered))
    return writeDocument(value)
  },
  writeScenarios: (procedureKey, scenarios) => {
    const parsed = parseScenarios(scenarios)
    const ordered = 'scenarios' in parsed ? parsed.scenarios : scenarios
    const value: Json = JSON.parse(JSON.stringify({ procedure: procedureKey, scenarios: ordered }))
    return writeDocument(value)
  },
  migrateDatabase,
  indexExperiences,
  explainError: (error, database) => {
    if ('url' in database) return explainDatabaseError(error, databaseName(database.url))
    if (!isDiskFull(error)) return error
    return new ServiceError(
      'DATA_FOLDER_UNUSABLE',
      { folder: database.dataDir, problem: 'no space is left on its disk' },
      { cause: error },
    )
  },
}

/** YAML that is JSON as well has no comments and no layout of its own. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    // Most YAML is none.
    return false
  }
}

/** What PostgreSQL, and what Node says of a full disk; a quota counts as one. */
function isDiskFull(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === '53100' || code === 'ENOSPC' || code === 'EDQUOT'
}
