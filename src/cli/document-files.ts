import { readdirSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { usageError } from './failures.ts'

/** A file to read, and whether it was named itself or found in a folder. */
export interface DocumentFile {
  readonly file: string
  readonly isNamed: boolean
}

const isDocument = (file: string): boolean => /\.(ya?ml|json)$/i.test(file)

/**
 * The files that arguments stand for, each once, in the order of the arguments: a file, `-` for standard input, a folder
 * with all YAML and JSON files in it, or a pattern of `*`, `**` and `?` that no shell has replaced.
 *
 * @throws ServiceError `USAGE_INVALID` for what stands for no file.
 */
export function listDocumentFiles(given: readonly string[]): readonly DocumentFile[] {
  const found = new Map<string, DocumentFile>()
  for (const argument of given) {
    const files = filesOf(argument)
    if (files.length === 0) {
      throw usageError(
        `There is no YAML or JSON file in ${argument}.`,
        'Name a file, a folder, or a pattern in quotes.',
      )
    }
    for (const one of files) if (!found.has(one.file)) found.set(one.file, one)
  }
  return [...found.values()]
}

function filesOf(argument: string): readonly DocumentFile[] {
  if (argument === '-') return [{ file: '-', isNamed: true }]
  const stats = statSync(argument, { throwIfNoEntry: false })
  if (stats?.isDirectory() === true) {
    return filesIn(argument)
      .filter(isDocument)
      .map((file) => ({ file, isNamed: false }))
  }
  if (stats !== undefined || !/[*?]/.test(argument)) return [{ file: argument, isNamed: true }]
  const folder = argument.slice(0, argument.search(/[*?]/)).replace(/[^/\\]*$/, '')
  const pattern = globPattern(argument)
  if (statSync(folder || '.', { throwIfNoEntry: false })?.isDirectory() !== true) return []
  return filesIn(folder || '.')
    .map((file) => (folder === '' ? file.replace(/^\.[/\\]/, '') : file))
    .filter((file) => pattern.test(file.split(sep).join('/')))
    .map((file) => ({ file, isNamed: true }))
}

/** All files below a folder, in ascending order, without those of packages and hidden folders. */
function filesIn(folder: string): readonly string[] {
  const entries = readdirSync(folder, { withFileTypes: true })
  return entries
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      if (!entry.isDirectory()) return entry.isFile() ? [path] : []
      return entry.name === 'node_modules' || entry.name.startsWith('.') ? [] : filesIn(path)
    })
}

function globPattern(glob: string): RegExp {
  const parts = glob.replace(/^\.\//, '').match(/\*\*\/|\*\*|\*|\?|[^*?]+/g) ?? []
  const written = parts.map((part) => {
    if (part === '**/') return '(?:[^/]+/)*'
    if (part === '**') return '.*'
    if (part === '*') return '[^/]*'
    return part === '?' ? '[^/]' : part.replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
  })
  return new RegExp(`^${written.join('')}$`)
}
