import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AppContext } from '../../src/context.ts'
import type { Caller } from '../../src/operations/define.ts'

export const sets = ['banking77', 'clinc150', 'bitext'] as const

export interface CaseProcedure {
  readonly key: string
  readonly name: string
  readonly category: string
  readonly description: string
  readonly issue_patterns: readonly string[]
}

export interface CaseQuery {
  readonly id: string
  readonly query: string
  /** Null when no procedure is right. */
  readonly expected: string | null
}

function readLines<T>(path: string): readonly T[] {
  const lines = readFileSync(path, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as T)
}

/** `banking77.age_limit` → `AGE_LIMIT`: keys of procedures are written so. */
export function keyOf(key: string): string {
  return key
    .replace(/^[^.]*\./, '')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .toUpperCase()
}

/** What is made of a procedure: one step, which does nothing. */
export function definitionOf(procedure: CaseProcedure) {
  const { name, category, description, issue_patterns: issuePatterns } = procedure
  const steps = [{ key: 'note', action: 'Note it', compute: { noted: 'true' } }]
  return { key: keyOf(procedure.key), name, category, description, issuePatterns, steps }
}

export function readProcedures(folder: string, set: string): readonly CaseProcedure[] {
  return readLines(join(folder, `${set}.procedures.jsonl`))
}

export function readQueries(folder: string, set: string): readonly CaseQuery[] {
  return readLines(join(folder, `${set}.queries.jsonl`))
}

export async function addTenant(app: AppContext, id: string): Promise<Caller> {
  const { kysely } = app.database.forTenant(id)
  await kysely.insertInto('tenants').values({ id, name: id, created_at: new Date() }).execute()
  const principal = {
    id: 'bench',
    kind: 'human',
    roles: ['admin'],
    groups: [],
    tenantId: id,
  } as const
  return { principal, origin: 'library' }
}
