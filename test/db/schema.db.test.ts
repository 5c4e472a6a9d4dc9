import { readdirSync, readFileSync } from 'node:fs'
import { Kysely, PostgresDialect } from 'kysely'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { migrateSchema } from '../../src/db/migrate.ts'
import { openTestDatabase } from '../support/database.ts'
import { describeSchema } from '../support/describe-schema.ts'
import { executionRow, insertProcedure } from '../support/rows.ts'

const db = await openTestDatabase()

describe('the schema', () => {
  // To accept a change: npx vitest run test/db/schema --update
  it('is the one of schema.sql, on every backend', async () => {
    const schema = await db.asOwner('default', describeSchema)

    await expect(schema).toMatchFileSnapshot('schema.sql')
  })

  it('is what tables.ts says', async () => {
    const live = await db.asOwner('default', async (client) => {
      const { rows } = await client.query<Column>(
        `SELECT table_name AS "table", column_name AS "column", udt_name AS type, is_nullable = 'YES' AS nullable,
           column_default IS NOT NULL AS "hasDefault", is_generated = 'ALWAYS' AS generated
         FROM information_schema.columns WHERE table_schema = 'public'`,
      )
      return rows
    })

    expect(readTables()).toEqual(sorted(live.map(describeColumn)))
  })
})

interface Column {
  readonly table: string
  readonly column: string
  readonly type: string
  readonly nullable: boolean
  readonly hasDefault: boolean
  readonly generated: boolean
}

const typeOf: Readonly<Record<string, string>> = {
  text: 'text',
  numeric: 'text',
  vector: 'text',
  bool: 'boolean',
  int4: 'number',
  int8: 'number',
  float8: 'number',
  timestamptz: 'Date',
  jsonb: 'Json',
  _text: 'text[]',
}

/** What only the database sets: its insert would be an error. */
const setByTrigger = [
  'audit_events.seq',
  'audit_events.hash_version',
  'audit_events.prev_hash',
  'audit_events.hash',
  'reviews.seq',
  'reviews.content',
  'webhook_deliveries.seq',
  'lesson_sets.entry_count',
  'lessons.seq',
]

function describeColumn(column: Column): string {
  const name = `${column.table}.${column.column}`
  const generated = column.generated || setByTrigger.includes(name)
  return [
    `${name}: ${typeOf[column.type] ?? column.type}`,
    ...(column.nullable ? ['null'] : []),
    ...(generated ? ['generated'] : column.hasDefault ? ['default'] : []),
  ].join(' ')
}

/** Reads the interfaces of tables.ts and of rows/ as the compiler sees them, in the form of `describeColumn`. */
function readTables(): readonly string[] {
  const files = ['tables.ts', ...readdirSync('src/db/rows').map((name) => `rows/${name}`)]
  const texts = files.map((file) => readFileSync(`src/db/${file}`, 'utf8'))
  const source = ts.createSourceFile('tables.ts', texts.join('\n'), ts.ScriptTarget.ES2023)
  const interfaces = source.statements.filter(ts.isInterfaceDeclaration)
  const membersOf = (name: string) =>
    interfaces
      .find((each) => each.name.text === name)
      ?.members.filter(ts.isPropertySignature)
      .map((member) => ({
        name: member.name.getText(source),
        type: member.type?.getText(source) ?? '',
      })) ?? []
  return sorted(
    membersOf('Tables').flatMap((table) =>
      membersOf(table.type).map(
        (column) => `${table.name}.${column.name}: ${describeType(column.type)}`,
      ),
    ),
  )
}

function describeType(type: string): string {
  const [, wrapper, inner] = /^(GeneratedAlways|Generated|Nullable)<(.*)>$/.exec(type) ?? []
  if (inner !== undefined) {
    const suffix =
      wrapper === 'GeneratedAlways' ? 'generated' : wrapper === 'Generated' ? 'default' : 'null'
    // `null` comes first, as in `describeColumn`.
    return `${describeType(inner)} ${suffix}`
  }
  if (type === 'JsonColumn' || type === 'Json') return 'Json'
  if (type === 'NullableJsonColumn') return 'Json null'
  if (type === 'string[]') return 'text[]'
  return type === 'string' || type.startsWith("'") ? 'text' : type
}

function sorted(lines: readonly string[]): readonly string[] {
  return [...lines].sort()
}

describe('a commit of a running execution', () => {
  it('touches no index, so that it stays on its page', async () => {
    await insertProcedure(db.database, 'default', 'hot')
    const version = { procedure_id: 'hot_proc', version_id: 'hot_active', version_number: 2 }
    await db.database
      .forTenant('default')
      .kysely.insertInto('executions')
      .values(executionRow({ tenant_id: 'default', id: 'exec_hot', ...version, worker_id: 'work' }))
      .execute()

    const counts = await db.asApp('default', async (client) => {
      await client.query('BEGIN')
      for (let commit = 0; commit < 5; commit += 1) {
        await client.query(
          `UPDATE executions SET revision = revision + 1, fence = fence + 1 WHERE id = 'exec_hot'`,
        )
      }
      const { rows } = await client.query(
        `SELECT pg_stat_get_xact_tuples_updated(t)::int AS updated, pg_stat_get_xact_tuples_hot_updated(t)::int AS hot
         FROM (SELECT 'executions'::regclass) AS names (t)`,
      )
      await client.query('ROLLBACK')
      return rows
    })

    expect(counts).toEqual([{ updated: 5, hot: 5 }])
  })
})

describe('migrating', () => {
  it('twice changes nothing', async () => {
    const before = await db.asOwner('default', describeSchema)
    const applied = await db.asOwner('default', async (client) => {
      await client.query('SET ROLE NONE')
      const connection = { query: client.query.bind(client), release: () => {} }
      const pool = { connect: async () => connection, end: async () => {} }
      return migrateSchema(new Kysely({ dialect: new PostgresDialect({ pool }) }), 'test')
    })

    expect(applied).toEqual([])
    expect(await db.asOwner('default', describeSchema)).toBe(before)
  })
})
