import { parse } from 'yaml'
import { type ApiDocument, keysOf, memberAt } from './api-document.ts'

/** A key of a block mapping, plain or quoted, that fits on its line, and what stands behind the colon. */
const keyLine =
  /^ *(?:"([^"\\]*)"|'([^']*)'|([^\s#&*!|>'"%@`?{}[\],:-](?:[^:#]|:(?=\S)|(?<=\S)#)*?)) *:(?:\s+(.*))?$/

/** Some lines of the text: a key in column `indent`, and its value. */
interface Section {
  readonly from: number
  readonly to: number
  readonly indent: number
}

type Members = ReadonlyMap<string, Section>

/**
 * Opens a YAML document of block mappings without parsing it: a description of 2,000 operations takes seconds to parse,
 * and a few of them are asked for. By the rules of YAML a line that begins in the column of a block mapping's keys is
 * one of its keys, so that indentation alone tells where a value ends.
 *
 * A text that is written in another way, or whose parts refer to each other, is parsed `whole`.
 *
 * @throws Error whatever `whole` throws, from here or when something is looked for.
 */
export function lazyYaml(text: string, whole: () => ApiDocument): ApiDocument {
  const lines = text.split(/\r?\n/)
  // A mark of the document's begin may stand on the first line.
  const first = lines[0]?.trim() === '---' ? 1 : 0
  const isOdd = lines.some((line, n) => n >= first && /^(?:---|\.\.\.|%|\t| +\t)/.test(line))
  const top = isOdd ? undefined : membersOf(lines, first, lines.length, -1)
  if (top === undefined) return whole()
  const known = new Map<Section, Members | undefined>()
  const inside = (section: Section): Members | undefined => {
    if (!known.has(section)) known.set(section, membersOfSection(lines, section))
    return known.get(section)
  }
  const lazy: ApiDocument = {
    at: (place) => {
      const found = find(top, place, inside)
      return found && memberAt(readSection(lines, found.section), found.rest)
    },
    keys: (place) => {
      const found = find(top, place, inside)
      const members = place.length === 0 ? top : found?.rest.length === 0 && inside(found.section)
      if (members) return [...members.keys()]
      return found === undefined ? [] : keysOf(lazy.at(place))
    },
  }
  return withFallback(lazy, whole)
}

/** A part that cannot be read by itself, such as an alias of what stands elsewhere: then all is read. */
function withFallback(lazy: ApiDocument, whole: () => ApiDocument): ApiDocument {
  let document = lazy
  const attempt = <T>(look: (document: ApiDocument) => T): T => {
    if (document !== lazy) return look(document)
    try {
      return look(lazy)
    } catch {
      document = whole()
      return look(document)
    }
  }
  return {
    at: (place) => attempt(({ at }) => at(place)),
    keys: (place) => attempt(({ keys }) => keys(place)),
  }
}

/** Goes down as far as there are block mappings, and answers what is left of the place. */
function find(
  top: Members,
  [key = '', ...below]: readonly string[],
  inside: (section: Section) => Members | undefined,
): { readonly section: Section; readonly rest: readonly string[] } | undefined {
  let section = top.get(key)
  for (const [depth, part] of below.entries()) {
    if (section === undefined) return undefined
    const members = inside(section)
    if (members === undefined) return { section, rest: below.slice(depth) }
    section = members.get(part)
  }
  return section && { section, rest: [] }
}

/** The value of a section: it is parsed with its key, as a mapping of one member. */
function readSection(lines: readonly string[], { from, to }: Section): unknown {
  const mapping: unknown = parse(lines.slice(from, to).join('\n'))
  const [key = ''] = keysOf(mapping)
  return memberAt(mapping, [key])
}

function membersOfSection(lines: readonly string[], { from, to, indent }: Section) {
  const [, , , , inline = ''] = keyLine.exec(lines[from] ?? '') ?? []
  const isInline = inline !== '' && !inline.startsWith('#')
  return isInline ? undefined : membersOf(lines, from + 1, to, indent)
}

/** The members of a block mapping that is indented more than `outer`; undefined for any other value. */
function membersOf(
  lines: readonly string[],
  from: number,
  to: number,
  outer: number,
): Members | undefined {
  const members = new Map<string, Section>()
  let open: { readonly key: string; readonly from: number } | undefined
  let indent = -1
  for (let n = from; n < to; n += 1) {
    const line = lines[n] ?? ''
    const column = line.search(/[^ ]/)
    if (column === -1 || (column !== indent && line[column] === '#' && column <= indent)) continue
    if (indent === -1 && line[column] === '#') continue
    if (indent === -1) indent = column
    if (column > indent || (column === indent && line[column] === '#')) continue
    // A list may stand in the column of the key that it is the value of.
    if (column === indent && open !== undefined && /^ *-( |$)/.test(line)) continue
    const [, double, single, plain] = (column === indent && keyLine.exec(line)) || []
    const key = double ?? single ?? plain
    if (key === undefined || indent <= outer || members.has(key) || key === open?.key) {
      return undefined
    }
    if (open !== undefined) members.set(open.key, { from: open.from, to: n, indent })
    open = { key, from: n }
  }
  if (open === undefined) return undefined
  return members.set(open.key, { from: open.from, to, indent })
}
