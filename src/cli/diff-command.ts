import { statSync } from 'node:fs'
import type { Change } from '../diff/change.ts'
import { diffMarkdown } from '../diff/diff-markdown.ts'
import { diffDefinitions } from '../diff/diff-versions.ts'
import { type Definition, definitionHash } from '../domain/definition.ts'
import { requireDefinition } from '../domain/parse-definition.ts'
import { diffVersions } from '../operations/diff-versions.ts'
import type { Answer, Command } from './command.ts'
import { diffScreen } from './diff-screen.ts'
import { placingProblems } from './edit-procedure.ts'
import { usageError } from './failures.ts'
import { readDocumentFile } from './read-text.ts'
import type { Shell } from './shell.ts'

export const diff: Command = {
  path: 'diff',
  summary: diffVersions.summary,
  arguments: [
    {
      usage: '<WHAT...>',
      text: 'KEY: the newest version and the one that serves; KEY B, KEY A B: versions by number; KEY FILE, KEY A FILE; FILE FILE',
    },
  ],
  options: [
    { usage: '--format <FORMAT>', text: 'text (default), markdown for a comment, or json' },
  ],
  notes: [
    'Steps are known by their keys, and texts in lists by what they say; the order of keys and defaults are nothing.',
    'Two files are compared without a database. docs/diff.md says what is told, and how.',
  ].join('\n'),
  async run(shell, given) {
    const format = given.find('format') ?? 'text'
    if (!['text', 'markdown', 'json'].includes(format)) {
      throw usageError(`There is no format '${format}'.`, 'Give text, markdown or json.')
    }
    const words = given.list('WHAT')
    const [first = '', ...rest] = words
    const isKey = /^[A-Z][A-Z0-9_]{1,63}$/.test(first) && !isFile(first)
    const compared = isKey
      ? await compareVersions(shell, first, rest)
      : await compareFiles(shell, words)
    return answerOf(shell, compared, format)
  },
}

interface Compared {
  readonly title: string
  readonly changes: readonly Change[]
  readonly output: object
}

/** A version by its number, or a definition in a file. */
type Side = { readonly number: number } | { readonly file: string }

async function compareVersions(
  shell: Shell,
  procedureKey: string,
  words: readonly string[],
): Promise<Compared> {
  if (words.length > 2) throw wrongCall()
  const sides = words.map(
    (word): Side => (/^\d{1,9}$/.test(word) ? { number: Number(word) } : { file: word }),
  )
  const later = sides.at(-1)
  const earlier = sides.length === 2 ? sides[0] : undefined
  if (earlier !== undefined && 'file' in earlier) throw wrongCall()
  const fromVersionNumber = earlier?.number
  const from = { procedureKey, fromVersionNumber }
  if (later === undefined || 'number' in later) {
    const output = await shell.call(diffVersions, { ...from, toVersionNumber: later?.number })
    const { before, after } = output
    const title =
      before.versionNumber === after.versionNumber
        ? `${procedureKey}: version ${before.versionNumber} and itself; there is no other to compare it with, unless you name one.`
        : `${procedureKey}: version ${before.versionNumber} → version ${after.versionNumber}`
    return { title, changes: output.changes, output }
  }
  const document = await readDocumentFile(shell, later.file)
  const output = await placingProblems(document, () =>
    shell.call(diffVersions, { ...from, definition: document.value }),
  )
  return {
    title: `${procedureKey}: version ${output.before.versionNumber} → ${later.file}`,
    changes: output.changes,
    output,
  }
}

async function compareFiles(shell: Shell, files: readonly string[]): Promise<Compared> {
  const [first, second] = files
  if (first === undefined || second === undefined || files.length > 2) throw wrongCall()
  const [before, after] = [await readDefinition(shell, first), await readDefinition(shell, second)]
  const changes = diffDefinitions(before, after)
  return {
    title: `${first} → ${second}`,
    changes,
    output: {
      before: { file: first, definitionHash: definitionHash(before) },
      after: { file: second, definitionHash: definitionHash(after) },
      isSame: changes.length === 0,
      changes,
    },
  }
}

async function readDefinition(shell: Shell, file: string): Promise<Definition> {
  const document = await readDocumentFile(shell, file)
  return placingProblems(document, async () => requireDefinition(document.value))
}

function answerOf(
  { terminal }: Shell,
  { title, changes, output }: Compared,
  format: string,
): Answer {
  if (format === 'json' && !terminal.json) terminal.printJson(output)
  if (format === 'markdown') terminal.printRaw(diffMarkdown(title, changes))
  if (format !== 'text') return { output, screen: '' }
  const screen = [terminal.style('heading', title), diffScreen(terminal, changes)].join('\n')
  return { output, screen }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}

function wrongCall(): Error {
  return usageError(
    'It takes a key and up to two versions of it, the later of which may be a file, or two files.',
    'For instance: stepwarden diff FAILED_PAYMENT_PLAYBOOK 1 2, or stepwarden diff old.yaml new.yaml.',
  )
}
