import { isJsonObject } from '../../domain/json.ts'
import { didYouMean } from '../../domain/nearest-name.ts'
import { type Problem, pathText } from '../../domain/problem.ts'
import type { Tool } from '../../domain/tool.ts'
import { createOutbound } from '../../outbound/create-outbound.ts'
import { createSecretReader, maskOf, readCredentials } from '../credentials.ts'
import {
  foundOne,
  idempotencyProblems,
  lookupInput,
  makeTool,
  type SourceOperation,
  takenProblems,
} from '../make-tool.ts'
import type { OpenSource, SourceOptions } from '../open-source.ts'
import { type PropertyTree, propertyTree } from '../property-tree.ts'
import type { DeclaredLookup, DeclaredOperation, OpenapiSource } from '../source-shape.ts'
import type { ApiDocument } from './api-document.ts'
import { type Asking, ask, askFor, type KeyPlace } from './ask.ts'
import { type Binding, bindingJson } from './binding.ts'
import { type FoundOperation, indexOperations, type OperationIndex } from './find-operation.ts'
import { readOperation } from './read-operation.ts'
import { readSourceDocument, serverOf } from './source-document.ts'

type Path = readonly (string | number)[]

/** The most that is read of an answer. What is recorded of it has a limit of its own. */
const maxAnswerBytes = 4 * 1024 * 1024
/** For calls that say no time of their own; each of them does. */
const maxCallMs = 24 * 60 * 60_000

const everything: PropertyTree = new Map()

/**
 * Opens a source that an OpenAPI document describes. Its listed operations become tools; no other is read.
 *
 * @throws ServiceError `SOURCE_UNAVAILABLE` when the document cannot be fetched now.
 */
export async function openOpenapiSource(
  source: OpenapiSource,
  path: Path,
  options: SourceOptions,
  problems: Problem[],
): Promise<OpenSource> {
  const { allowPrivate = [], credentials: declared, operations } = source
  const refuse = (message: string) =>
    void problems.push({ path: pathText([...path, 'openapi']), message })
  const document = await readSourceDocument(source, options.folder, refuse)
  const server = document && serverOf(source, document, path, problems)
  // Those who only look at the tools need no secrets: a check of playbooks runs where there are none.
  const reader = createSecretReader(options.isRunning ? problems : [])
  const credentials = readCredentials(declared, reader, [...path, 'credentials'])
  const outbound = createOutbound({
    allowPrivate,
    timeoutMs: maxCallMs,
    maxBytes: maxAnswerBytes,
  })
  const asking = { outbound, credentials, mask: maskOf(reader.secrets) }
  const close = () => outbound.close()
  if (document === undefined || server === undefined) return { tools: [], close }
  const index = indexOperations(document)
  const context: Reading = { source, document, server, index, asking }
  const tools = operations.map((operation, n) =>
    readTool(context, operation, [...path, 'operations', n], problems),
  )
  return { tools, close }
}

interface Reading {
  readonly source: OpenapiSource
  readonly document: ApiDocument
  readonly server: string
  readonly index: OperationIndex
  readonly asking: Asking
}

function readTool(
  reading: Reading,
  declared: DeclaredOperation,
  path: Path,
  problems: Problem[],
): Tool | undefined {
  const refuse = (message: string, ...rest: Path) =>
    void problems.push({ path: pathText([...path, ...rest]), message })
  problems.push(...idempotencyProblems(declared, path))
  const found = findAsked(reading, declared.operation, (message) => refuse(message, 'operation'))
  if (found === undefined) return undefined
  if (declared.effect === 'read' && ['PUT', 'PATCH', 'DELETE'].includes(found.method)) {
    refuse(`found read on a ${found.method}, which changes something; expected write`, 'effect')
  }
  const { idempotency: key, lookup: declaredLookup } = declared
  const ofDocument: Problem[] = []
  const operation = readOperation(
    reading.document,
    found,
    {
      server: reading.server,
      input: propertyTree(declared.input ?? []),
      output: propertyTree(declared.output ?? []),
      ...ownPlaces(reading.source, key),
      isLookup: false,
    },
    ofDocument,
  )
  for (const { path: place, message } of ofDocument) refuse(`${place} ${message}`)
  const lookup =
    declaredLookup && readLookup(reading, declaredLookup, [...path, 'lookup'], problems)
  if (declaredLookup !== undefined) {
    const taken = declaredLookup.with ?? {}
    problems.push(...takenProblems(taken, operation.input, [...path, 'lookup']))
  }
  // A tool of which something is wrong already would only add what follows from that.
  if (ofDocument.length > 0) return undefined
  const { asking } = reading
  const keyPlace: KeyPlace = {
    ...(key?.header !== undefined && { header: key.header }),
    ...(key?.field !== undefined && { field: key.field }),
  }
  const made: SourceOperation = {
    description: operation.description,
    input: operation.input,
    output: operation.output,
    origin: {
      kind: 'openapi',
      ...bindingJson(operation.binding),
      ...(key && { key: { ...keyPlace } }),
      ...(lookup && { lookup: lookupJson(lookup) }),
    },
    call: (input, { idempotencyKey, signal, traceparent }, timeoutMs) =>
      ask(asking, operation.binding, {
        input,
        ...(key && { key: { value: idempotencyKey, place: keyPlace } }),
        signal,
        traceparent,
        timeoutMs,
      }),
    ...(lookup && {
      lookup: async (value, input, signal, timeoutMs) => {
        const given = lookupInput(lookup.declared, value, input)
        const answer = await askFor(asking, lookup.binding, { input: given, signal, timeoutMs })
        return answer === undefined ? undefined : foundOne(answer, lookup.declared.list)
      },
    }),
  }
  return makeTool(declared, made, path, problems)
}

/** The operation of a name, if it is asked at the server of the source. */
function findAsked(
  { document, index, source }: Reading,
  name: string,
  refuse: (message: string) => void,
): FoundOperation | undefined {
  const found = index.find(name)
  if (typeof found === 'string') {
    refuse(found)
    return undefined
  }
  const { place } = found
  const servers =
    document.at([...place, 'servers']) ?? document.at([...place.slice(0, -1), 'servers'])
  if (servers !== undefined && source.server === undefined) {
    refuse(`'${name}' has a server of its own; make it a source of its own, with that as 'server'`)
    return undefined
  }
  return found
}

/** What of the document's parameters the service fills in itself. */
function ownPlaces(
  { credentials }: OpenapiSource,
  key: DeclaredOperation['idempotency'],
): {
  readonly ownHeaders: ReadonlySet<string>
  readonly ownQuery: ReadonlySet<string>
  readonly ownField: string | undefined
} {
  const headers = [credentials?.header?.name, key?.header].filter((name) => name !== undefined)
  const query = credentials?.query?.name
  return {
    ownHeaders: new Set(headers.map((name) => name.toLowerCase())),
    ownQuery: new Set(query === undefined ? [] : [query]),
    ownField: key?.field,
  }
}

interface ReadLookup {
  readonly declared: DeclaredLookup
  readonly binding: Binding
}

function readLookup(
  reading: Reading,
  declared: DeclaredLookup,
  path: Path,
  problems: Problem[],
): ReadLookup | undefined {
  const refuse = (message: string, ...rest: Path) =>
    void problems.push({ path: pathText([...path, ...rest]), message })
  const found = findAsked(reading, declared.operation, (message) => refuse(message, 'operation'))
  if (found === undefined) return undefined
  if (found.method !== 'GET') {
    refuse(`'${declared.operation}' is a ${found.method}, and a look-up is a GET`, 'operation')
  }
  const ofDocument: Problem[] = []
  const own = { ...ownPlaces(reading.source, undefined), input: everything, output: everything }
  const { binding, input } = readOperation(
    reading.document,
    found,
    { server: reading.server, ...own, isLookup: true },
    ofDocument,
  )
  for (const { path: place, message } of ofDocument) refuse(`${place} ${message}`)
  const names = isJsonObject(input.properties) ? Object.keys(input.properties) : []
  const { key, with: taken = {} } = declared
  for (const [name, ...at] of [[key, 'key'], ...Object.keys(taken).map((n) => [n, 'with', n])]) {
    if (name === undefined || names.includes(name)) continue
    refuse(`'${declared.operation}' has no parameter '${name}'.${didYouMean(name, names)}`, ...at)
  }
  const required = Array.isArray(input.required) ? input.required : []
  for (const name of required) {
    if (name === key || (typeof name === 'string' && Object.hasOwn(taken, name))) continue
    refuse(
      `'${declared.operation}' needs '${String(name)}'; say which property of the input it is`,
      'with',
    )
  }
  return { declared, binding }
}

function lookupJson({ declared, binding }: ReadLookup) {
  const { key, with: taken, list } = declared
  return {
    ...bindingJson(binding),
    key,
    ...(taken && { with: { ...taken } }),
    ...(list !== undefined && { list }),
  }
}
