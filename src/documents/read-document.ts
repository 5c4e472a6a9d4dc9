import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  type Node,
  parseDocument,
  type Scalar,
  type Document as YamlDocument,
} from 'yaml'
import { ServiceError } from '../domain/errors.ts'
import type { Json } from '../domain/json.ts'
import { type Problem, pathText } from '../domain/problem.ts'
import { numberProblem } from './number-text.ts'
import { offsetOf, type WrittenText } from './scalar-offset.ts'
import { offsetAt, type Position, positionsOf } from './text-position.ts'

/** The largest text that is read. */
const maxDocumentBytes = 1024 * 1024
/** The most words, marks and line ends: one takes up to 30 µs to parse. A definition of 200 steps has about 15,000. */
const maxDocumentTokens = 100_000
/** Problems beyond these are not told one by one. */
const maxProblems = 100
/** Objects and lists inside each other; the definition has a lower limit of its own. */
const maxDepth = 100

/** A text that was read: its value, and where in the text each part of it stands. */
export interface Document {
  /** What the text was called: a file's name, for messages. */
  readonly name: string
  readonly value: Json
  /**
   * Where a path such as `steps[2].with` stands: at the key of a field, at the start of an entry. For a path that is
   * not in the text, such as that of a missing field, the nearest part around it that is. With `inner` the place within
   * the text that stands there, which may be an expression of several lines.
   */
  readonly position: (path: string, inner?: Partial<Position>) => Position
}

/**
 * Reads a document of YAML 1.2 or JSON. What could be read in two ways, or not be kept exactly, is refused: duplicate
 * keys, keys that are no texts, anchors, aliases, tags, merge keys, directives, a second document, numbers that a
 * double cannot hold, NUL, more than 1 MiB. A byte order mark is skipped.
 *
 * @throws ServiceError `DOCUMENT_INVALID` with every problem, each with line and column.
 */
export function readDocument(text: string, options: { readonly name: string }): Document {
  const { name } = options
  const source = text.startsWith('\uFEFF') ? text.slice(1) : text
  const bytes = Buffer.byteLength(source)
  if (bytes > maxDocumentBytes) {
    const message = `the text has ${bytes} bytes, the limit is ${maxDocumentBytes}; split it`
    throw new ServiceError('DOCUMENT_INVALID', { name, problems: [{ path: '', message }] })
  }
  const reader = new Reader(source)
  const value = reader.read()
  if (reader.problems.length > 0) {
    throw new ServiceError('DOCUMENT_INVALID', { name, problems: reader.problems })
  }
  return { name, value, position: (path, inner) => reader.position(path, inner) }
}

/**
 * Gives each problem its line and column in the document that was read. Those that a problem has already are taken to
 * lie within the text at its path: an expression or a template.
 */
export function attachPositions<P extends Problem>(
  problems: readonly P[],
  document: Document,
): readonly P[] {
  return problems.map((problem) => {
    const { line, column } = problem
    const inner = line === undefined ? {} : { line, column: column ?? 1 }
    return { ...problem, ...document.position(problem.path, inner) }
  })
}

/** Reads one text. It keeps what was found on the way: problems, and the place of each path. */
class Reader {
  readonly problems: Problem[] = []
  readonly #text: string
  readonly #positionOf: (offset: number) => Position
  /** Offset in the text of each path that was met. */
  readonly #offsets = new Map<string, number>()
  readonly #texts = new Map<string, WrittenText>()

  constructor(text: string) {
    this.#text = text
    this.#positionOf = positionsOf(text)
  }

  read(): Json {
    this.#refuseUnparsable()
    if (this.problems.length > 0) return null
    const document = this.#parse()
    if (document === undefined) return null
    for (const error of document.errors)
      this.#refuse(error.pos[0], '', syntaxMessage(error.code, error.message))
    const { directives } = document
    if (directives?.yaml.explicit === true || Object.keys(directives?.tags ?? {}).length > 1)
      this.#refuse(0, '', 'has a directive (%), which is not read; remove it')
    if (document.contents === null || isEmpty(document.contents)) {
      if (document.errors.length === 0) this.#refuse(0, '', 'the document is empty')
      return null
    }
    return this.#convert(document.contents, [])
  }

  position(path: string, inner: Partial<Position> = {}): Position {
    const text = this.#texts.get(path)
    if (text !== undefined && inner.line !== undefined) {
      const at = offsetAt(text.value, { line: inner.line, column: inner.column ?? 1 })
      return this.#positionOf(offsetOf(this.#text, text, at))
    }
    // A path that is not there is shortened from its end until it is: `steps[2].with.amount`, `steps[2].with`, ...
    for (
      let rest = path;
      rest !== '';
      rest = rest.slice(0, Math.max(rest.lastIndexOf('.'), rest.lastIndexOf('['), 0))
    ) {
      const offset = this.#offsets.get(rest)
      if (offset !== undefined) return this.#positionOf(offset)
    }
    return this.#positionOf(this.#offsets.get('') ?? 0)
  }

  #parse(): YamlDocument.Parsed | undefined {
    try {
      return parseDocument(this.#text, {
        version: '1.2',
        schema: 'core',
        merge: false,
        prettyErrors: false,
        // The parser compares each pair of keys; the walk below takes linear time.
        uniqueKeys: false,
        logLevel: 'error',
      })
    } catch (error) {
      // The parser calls itself for each level, and the stack is the only limit that it has.
      if (!(error instanceof RangeError)) throw error
      this.#refuse(0, '', `is nested far deeper than the ${maxDepth} levels that are read`)
      return undefined
    }
  }

  #convert(node: Node | null, path: readonly (string | number)[]): Json {
    const place = pathText(path)
    const offset = node?.range?.[0] ?? 0
    if (!this.#offsets.has(place)) this.#offsets.set(place, offset)
    if (node === null) return null
    if (isAlias(node)) {
      this.#refuse(offset, place, `found the alias *${node.source}; write the value out`)
      return null
    }
    this.#refuseProperties(node, offset, place)
    if (path.length > maxDepth) {
      this.#refuse(offset, place, `is nested deeper than the ${maxDepth} levels that are read`)
      return null
    }
    if (isSeq<Node | null>(node)) {
      return node.items.map((item, index) => this.#convert(item, [...path, index]))
    }
    if (isMap<Node, Node | null>(node)) {
      // Without a prototype, `__proto__` is a key like any other.
      const result: Record<string, Json> = Object.create(null)
      for (const { key, value } of node.items) {
        const name = this.#keyText(key, path)
        if (name === undefined) continue
        const memberPath = [...path, name]
        const keyOffset = key.range?.[0] ?? 0
        const first = this.#offsets.get(pathText(memberPath))
        if (Object.hasOwn(result, name) && first !== undefined) {
          const { line } = this.#positionOf(first)
          this.#refuse(
            keyOffset,
            pathText(memberPath),
            `is given twice, in line ${line} as well; remove one`,
          )
          continue
        }
        this.#offsets.set(pathText(memberPath), keyOffset)
        result[name] = this.#convert(value, memberPath)
      }
      return result
    }
    return isScalar(node) ? this.#scalar(node, offset, place) : null
  }

  #scalar(node: Scalar, offset: number, place: string): Json {
    const { value } = node
    if (typeof value === 'number') {
      const problem = numberProblem(node.source ?? String(value), value)
      if (problem !== undefined) this.#refuse(offset, place, problem)
      return value === 0 ? 0 : value
    }
    if (typeof value === 'string') {
      this.#refuseUnstorable(value, offset, place)
      const [start = offset, end = offset] = node.range ?? []
      this.#texts.set(place, { value, start, end, style: node.type })
    }
    return typeof value === 'string' || typeof value === 'boolean' ? value : null
  }

  #keyText(key: Node | null, path: readonly (string | number)[]): string | undefined {
    const offset = key?.range?.[0] ?? 0
    const place = pathText(path)
    if (key === null || !isScalar(key) || typeof key.value !== 'string') {
      const found = isScalar(key)
        ? `the key ${key.source ?? String(key.value)}`
        : 'a key that is a list, an object or nothing'
      this.#refuse(offset, place, `found ${found}, expected a text; put it in quotes`)
      return undefined
    }
    this.#refuseProperties(key, offset, place)
    if (key.value === '<<' && key.type === 'PLAIN') {
      this.#refuse(offset, place, 'found the merge key <<; write the fields out')
      return undefined
    }
    this.#refuseUnstorable(key.value, offset, place)
    return key.value
  }

  /** An escape can write what the text itself does not hold. */
  #refuseUnstorable(value: string, offset: number, place: string): void {
    if (value.includes('\u0000')) this.#refuse(offset, place, nulMessage)
    if (!value.isWellFormed())
      this.#refuse(
        offset,
        place,
        'contains a lone surrogate, which is not valid Unicode; remove it',
      )
  }

  #refuseProperties(node: Exclude<Node, { type: 'alias' }>, offset: number, place: string): void {
    if ('anchor' in node && node.anchor !== undefined)
      this.#refuse(
        offset,
        place,
        `found the anchor &${node.anchor}; remove it, and write values out`,
      )
    if (node.tag !== undefined)
      this.#refuse(offset, place, `found a tag (${node.tag}); remove it, and put a text in quotes`)
  }

  /** What must be known before the parser, whose time and memory nothing else bounds, sees the text. */
  #refuseUnparsable(): void {
    const offset = this.#text.indexOf('\u0000')
    if (offset !== -1) this.#refuse(offset, '', nulMessage)
    let tokens = 0
    for (const _token of new Lexer().lex(this.#text)) {
      tokens += 1
      if (tokens <= maxDocumentTokens) continue
      this.#refuse(0, '', `has more than ${maxDocumentTokens} words, marks and line ends; split it`)
      return
    }
  }

  #refuse(offset: number, path: string, message: string): void {
    if (this.problems.length > maxProblems) return
    const isLast = this.problems.length === maxProblems
    if (isLast) this.problems.push({ path: '', message: 'and there are more problems than these' })
    else this.problems.push({ path, message, ...this.#positionOf(offset) })
  }
}

const nulMessage = 'contains a NUL character, which cannot be stored; remove it'

/** A document of comments only has a scalar that was never written. */
function isEmpty(node: Node): boolean {
  return isScalar(node) && node.value === null && (node.source ?? '') === ''
}

function syntaxMessage(code: string, message: string): string {
  return code === 'MULTIPLE_DOCS'
    ? 'a second document begins here; put it into a file of its own'
    : message
}
