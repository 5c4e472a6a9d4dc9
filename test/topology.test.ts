import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'

const foundations = ['domain', 'config', 'logger.ts']
const effects = [
  'access',
  'documents',
  'checks',
  'diff',
  'executor',
  'simulation',
  'openai',
  'reply',
  'search',
  'learning',
  'webhooks',
  'db',
  'telemetry',
]

/**
 * The parts of src/, lowest first, each with what it may import of the others; a single file may have a line of its
 * own, which adds to that of its part. Imports point one way:
 * http cli mcp -> operations -> db search simulation reply documents checks diff tool-sources -> executor openai outbound
 * -> domain.
 */
const partsBelow: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  config: ['domain', 'outbound/host-list.ts'],
  'logger.ts': ['config'],
  access: ['domain', 'config', 'logger.ts'],
  documents: ['domain'],
  checks: ['domain'],
  diff: ['domain'],
  executor: ['domain', 'logger.ts'],
  telemetry: ['domain', 'config', 'executor/ports.ts'],
  simulation: ['domain', 'executor'],
  openai: ['domain', 'config'],
  outbound: [],
  'tool-sources': ['domain', 'config', 'documents', 'outbound'],
  reply: ['domain', 'logger.ts', 'openai'],
  search: ['domain', 'logger.ts', 'openai'],
  learning: ['domain', 'openai', 'search'],
  webhooks: ['domain', 'config', 'outbound'],
  db: [...foundations, 'executor/ports.ts', 'learning'],
  'db/migrate.ts': ['migrations'],
  // Builds the concrete parts, the tools of the demo among them, and hands them to the operations.
  'context.ts': [...foundations, ...effects, 'tool-sources', 'seeds'],
  operations: [...foundations, ...effects, 'context.ts'],
  'library.ts': [...foundations, 'context.ts', 'operations'],
  // An agent around either client: types of the contract, and no service.
  guided: ['domain', 'learning', 'library.ts'],
  http: [
    ...foundations,
    'access',
    'context.ts',
    'operations',
    'mcp',
    'telemetry',
    'db/service-version.ts',
  ],
  mcp: [...foundations, 'access', 'context.ts', 'operations', 'db/service-version.ts'],
  // What a program elsewhere has of us: the contract, and no service.
  client: ['domain', 'http/places.ts', 'library.ts', 'operations'],
  // `serve` opens the other doors.
  // `doctor` looks beneath the operations, at the database itself.
  // `check`, `simulate` and `diff` look at files alone, with no service behind them.
  cli: [
    ...foundations,
    'access',
    'checks',
    'diff',
    'simulation',
    'context.ts',
    'operations',
    'http',
    'mcp',
    'telemetry',
    'db/queries/health.ts',
  ],
  // The web pages know the service by its HTTP API alone.
  console: [],
}

/** The entry files, which wire the parts together and may import anything of ours. */
const entryFiles = ['src/index.ts', 'src/client/index.ts', 'src/cli/main.ts', 'src/cli/parts.ts']

/** With domain, checks, diff and simulation, the roots of the pure code: every file that they import is held to be as pure as they are. */
const pureExecutorFiles = ['plan', 'decide', 'apply', 'replay'].map((n) => `src/executor/${n}.ts`)

/** All that pure code may import from outside. */
const purePackages = ['zod', 'ajv', 'ajv-formats', 're2js', '@marcbachmann/cel-js', 'node:crypto']

/** Packages that few files may import. A folder ends in a slash. */
const packageUsers: Readonly<Record<string, readonly string[]>> = {
  kysely: ['src/db/', 'migrations/'],
  pg: ['src/db/'],
  pgvector: ['src/db/'],
  '@electric-sql/pglite': ['src/db/connect.ts', 'src/db/embedded.ts'],
  '@electric-sql/pglite-pgvector': ['src/db/connect.ts', 'src/db/embedded.ts'],
  nanoid: ['src/domain/ids.ts', 'src/domain/api-key.ts'],
  openai: ['src/openai/'],
  fastify: ['src/http/'],
  '@fastify/compress': ['src/http/server.ts'],
  '@fastify/cors': ['src/http/server.ts'],
  '@modelcontextprotocol/sdk': ['src/mcp/', 'src/tool-sources/mcp/'],
  jose: ['src/access/'],
  undici: ['src/outbound/'],
  'prom-client': ['src/telemetry/'],
  '@opentelemetry/api': ['src/telemetry/'],
  '@opentelemetry/exporter-trace-otlp-http': ['src/telemetry/'],
  '@opentelemetry/resources': ['src/telemetry/'],
  '@opentelemetry/sdk-trace-node': ['src/telemetry/'],
  'ipaddr.js': ['src/access/', 'src/outbound/'],
}

/** Globals by which time, chance, the environment or the outside leak in. */
const impureGlobals =
  /^(process|globalThis|performance|crypto|console|fetch|set(Timeout|Interval|Immediate))$/

interface SourceImport {
  readonly node: ts.Node
  readonly specifier: string
  /** What it takes, by the names of the other module; empty for a default, `* as x` and `import('x')`. */
  readonly names: readonly string[]
  readonly isTypeOnly: boolean
}

interface File {
  readonly path: string
  readonly source: ts.SourceFile
  readonly imports: readonly SourceImport[]
}

test('the imports of src/ and migrations/ point down, and pure code is pure', () => {
  expect(findProblems(projectFiles())).toEqual([])
})

test.each([
  ['src/domain/a.ts', "import { x } from '../db/connect.ts'", 'src/db/connect.ts'],
  ['src/domain/a.ts', "import type { X } from '../context.ts'", 'src/context.ts'],
  ['src/domain/a.ts', "export { x } from '../executor/ports.ts'", 'src/executor/ports.ts'],
  ['src/executor/a.ts', "const x = await import('../db/connect.ts')", 'src/db/connect.ts'],
  ['src/db/a.ts', "import { x } from '../executor/runner.ts'", 'src/executor/runner.ts'],
  ['src/db/a.ts', "import { up } from '../../migrations/0001-a.ts'", 'migrations/0001-a.ts'],
  ['src/db/a.ts', "let x: import('../operations/a.ts').X", 'src/operations/a.ts'],
  ['src/operations/a.ts', "import { x } from '../http/server.ts'", 'src/http/server.ts'],
  ['src/http/a.ts', "import { x } from '../db/queries/a.ts'", 'src/db/queries/a.ts'],
  ['src/novel/a.ts', "import { x } from '../domain/a.ts'", "'novel' is not a part"],
  ['src/operations/a.ts', "import { sql } from 'kysely'", "'kysely'"],
  [
    'src/db/a.ts',
    "import { x } from '@electric-sql/pglite/nodefs'",
    "'@electric-sql/pglite/nodefs'",
  ],
  ['src/domain/a.ts', "import { readFile } from 'node:fs/promises'", "'node:fs/promises'"],
  ['src/domain/a.ts', "import { nanoid } from 'nanoid'", "'nanoid'"],
  ['src/executor/decide.ts', "import pino from 'pino'", "'pino'"],
  ['migrations/0001-a.ts', "import { x } from '../src/db/tables.ts'", 'src/db/tables.ts'],
  ['migrations/0001-a.ts', "import { z } from 'zod'", "'zod'"],
  ['src/domain/a.ts', 'const at = Date.now()', "'Date.now'"],
  ['src/domain/a.ts', 'const at = new Date()', "'new Date()'"],
  ['src/domain/a.ts', 'const at = Date()', "'Date()'"],
  ['src/domain/a.ts', 'const chance = Math.random()', "'Math.random'"],
  ['src/domain/a.ts', 'const home = process.env.HOME', "'process'"],
  ['src/domain/a.ts', 'setTimeout(() => {}, 1)', "'setTimeout'"],
  ['src/domain/a.ts', 'const clock = { now: performance.now }', "'performance'"],
  ['src/domain/a.ts', "await fetch('http://127.0.0.1')", "'fetch'"],
  ['src/domain/a.ts', "import { randomUUID } from 'node:crypto'", "'randomUUID'"],
  ['src/executor/apply.ts', 'const at = Date.now()', "'Date.now'"],
  ['src/checks/a.ts', 'const at = Date.now()', "'Date.now'"],
])('refuses in %s: %s', (path, line, message) => {
  const problems = findProblems([fileOf(path, `// The first line.\n${line}\n`)])

  expect(problems).toEqual([expect.stringContaining(message)])
  expect(problems[0]).toMatch(`${path}:2: `)
})

test.each([
  ['src/domain/a.ts', "import Ajv from 'ajv/dist/2020.js'"],
  ['src/domain/ids.ts', "import { customAlphabet } from 'nanoid'"],
  ['src/domain/expression/a.ts', "import { sum } from '../decimal.ts'"],
  ['src/db/journal.ts', "import type { Journal } from '../executor/ports.ts'"],
  ['src/db/embedded.ts', "import { PGlite } from '@electric-sql/pglite'"],
  ['src/db/migrate.ts', "import * as a from '../../migrations/0001-a.ts'"],
  ['src/operations/a.ts', "import { lockExecution } from '../db/queries/executions.ts'"],
  ['src/cli/main.ts', "import { connect } from '../db/connect.ts'"],
  ['migrations/0001-a.ts', "import { sql } from 'kysely'"],
  ['src/domain/a.ts', 'const at = new Date(0).getTime() // not Date.now()'],
  ['src/domain/a.ts', "const text = 'Date.now() and process'"],
  ['src/domain/a.ts', 'interface A { process: string }; const x = (a: A) => a.process'],
  ['src/domain/a.ts', "import { createHash } from 'node:crypto'"],
  ['src/executor/runner.ts', 'setTimeout(() => {}, Date.now())'],
])('allows in %s: %s', (path, line) => {
  expect(findProblems([fileOf(path, line)])).toEqual([])
})

test('holds what pure code imports to be pure, but for what it takes only types of', () => {
  const files = [
    fileOf(
      'src/executor/decide.ts',
      "import { x } from './step.ts'\nimport type {} from './io.ts'",
    ),
    fileOf('src/executor/step.ts', "import { y } from './clock.ts'"),
    fileOf('src/executor/clock.ts', 'export const y = Date.now()'),
    fileOf('src/executor/io.ts', 'export const z = Date.now()'),
  ]

  expect(findProblems(files)).toEqual([expect.stringContaining('src/executor/clock.ts:1: ')])
})

/** One line `FILE:LINE: what is wrong` for each breach of the rules above. */
function findProblems(files: readonly File[]): readonly string[] {
  const pure = purePaths(files)
  return files.flatMap((file) => {
    const isPure = pure.has(file.path)
    const problems: string[] = []
    const check = (node: ts.Node, problem: string | undefined): void => {
      const { line } = file.source.getLineAndCharacterOfPosition(node.getStart(file.source))
      if (problem !== undefined) problems.push(`${file.path}:${line + 1}: ${problem}`)
    }
    for (const found of file.imports) {
      const problem = found.specifier.startsWith('.')
        ? findPartProblem(file.path, targetOf(file, found))
        : findPackageProblem(file.path, found, isPure)
      check(found.node, problem)
    }
    const visit = (node: ts.Node): void => {
      check(node, findImpurity(node))
      ts.forEachChild(node, visit)
    }
    if (isPure) visit(file.source)
    return problems
  })
}

function purePaths(files: readonly File[]): ReadonlySet<string> {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const pure = new Set<string>()
  const add = (path: string): void => {
    const file = byPath.get(path)
    if (file === undefined || pure.has(path)) return
    pure.add(path)
    for (const found of file.imports) if (!found.isTypeOnly) add(targetOf(file, found))
  }
  for (const { path } of files) {
    if (
      /^src\/(domain|checks|diff|simulation|learning)\//.test(path) ||
      pureExecutorFiles.includes(path)
    )
      add(path)
  }
  return pure
}

function findPartProblem(path: string, target: string): string | undefined {
  if (path.startsWith('migrations/')) {
    return `A migration outlives the code, so it imports kysely alone and not ${target}.`
  }
  if (entryFiles.includes(path)) return undefined
  const part = partOf(path)
  const ofPart = partsBelow[part]
  if (ofPart === undefined) {
    return `'${part}' is not a part of src/ that test/topology.test.ts knows. Say there what it may import.`
  }
  const below = [...ofPart, ...(partsBelow[path.slice('src/'.length)] ?? [])]
  const targetPart = partOf(target)
  const isBelow = below.includes(targetPart) || below.includes(target.slice('src/'.length))
  if (targetPart === part || isBelow) return undefined
  return `${part} may not import ${target}. It may import: ${below.join(', ') || 'nothing else of ours'}.`
}

function findPackageProblem(
  path: string,
  { specifier, names }: SourceImport,
  isPure: boolean,
): string | undefined {
  const name = packageOf(specifier)
  if (path.startsWith('migrations/') && name !== 'kysely') {
    return `A migration outlives the code, so it imports kysely alone and not '${specifier}'.`
  }
  const users = packageUsers[name]
  if (users !== undefined) {
    const isUser = users.some(
      (user) => path === user || (user.endsWith('/') && path.startsWith(user)),
    )
    return isUser ? undefined : `Only ${users.join(' and ')} may import '${specifier}'.`
  }
  if (!isPure) return undefined
  if (!purePackages.includes(name)) {
    return `Pure code may not import '${specifier}'. It may import: ${purePackages.join(', ')}.`
  }
  const chance = names.find((taken) => /^(random|generate|webcrypto)/.test(taken))
  return chance === undefined ? undefined : impurity(chance)
}

function findImpurity(node: ts.Node): string | undefined {
  if (ts.isPropertyAccessExpression(node)) {
    const text = `${node.expression.getText()}.${node.name.text}`
    return text === 'Date.now' || text === 'Math.random' ? impurity(text) : undefined
  }
  if (ts.isNewExpression(node) && node.expression.getText() === 'Date') {
    return (node.arguments ?? []).length === 0 ? impurity('new Date()') : undefined
  }
  if (ts.isCallExpression(node) && node.expression.getText() === 'Date') return impurity('Date()')
  if (!ts.isIdentifier(node) || !impureGlobals.test(node.text)) return undefined
  // The name of a member or of a declaration stands for no global.
  const isName = 'name' in node.parent && node.parent.name === node
  if (isName && !ts.isShorthandPropertyAssignment(node.parent)) return undefined
  return impurity(node.text)
}

function impurity(name: string): string {
  return `Pure code may not use '${name}'. It takes times, ids and results of the outside as arguments.`
}

function projectFiles(): readonly File[] {
  const root = posix.join(import.meta.dirname, '..')
  return ['src', 'migrations'].flatMap((folder) =>
    readdirSync(posix.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.tsx?$/.test(path))
      .map((path) => posix.join(folder, path))
      .map((path) => fileOf(path, readFileSync(posix.join(root, path), 'utf8'))),
  )
}

function fileOf(path: string, text: string): File {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  return { path, source, imports: importsOf(source) }
}

function importsOf(source: ts.SourceFile): readonly SourceImport[] {
  const imports: SourceImport[] = []
  const add = (node: ts.Node, module: ts.Node | undefined, isTypeOnly = false): void => {
    if (module === undefined || !ts.isStringLiteralLike(module)) return
    const bindings = ts.isImportDeclaration(node) ? node.importClause?.namedBindings : undefined
    const elements =
      bindings !== undefined && ts.isNamedImports(bindings) ? bindings.elements : undefined
    const names = elements?.map(({ propertyName, name }) => (propertyName ?? name).text) ?? []
    imports.push({ node, specifier: module.text, names, isTypeOnly })
  }
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) {
      add(node, node.moduleSpecifier, node.importClause?.isTypeOnly)
    } else if (ts.isExportDeclaration(node)) {
      add(node, node.moduleSpecifier, node.isTypeOnly)
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      add(node, node.argument.literal, true)
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      add(node, node.arguments[0])
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return imports
}

function targetOf(file: File, found: SourceImport): string {
  return posix.join(posix.dirname(file.path), found.specifier)
}

/** The folder below src/, or the file when it lies in src/ itself; beside src/, the folder. */
function partOf(path: string): string {
  const [folder = '', next = ''] = path.split('/')
  return folder === 'src' ? next : folder
}

function packageOf(specifier: string): string {
  const [first = '', second = ''] = specifier.split('/')
  return first.startsWith('@') ? `${first}/${second}` : first
}
