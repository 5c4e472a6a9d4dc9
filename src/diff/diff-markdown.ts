import type { Json } from '../domain/json.ts'
import type { Change } from './change.ts'
import {
  actText,
  type ChangeGroup,
  countChanges,
  groupChanges,
  shownValue,
  wholeMembers,
} from './change-text.ts'

/** Comments on code hosts end at 65,536 characters; this leaves room for what stands around it. */
const maxCharacters = 60_000

/** Values that are longer, or of several lines, stand below each other. */
const maxInline = 60

const titles: Readonly<Record<Change['of'], string>> = {
  definition: 'Definition',
  step: 'Step',
  scenario: 'Scenario',
  tool: 'Tool',
}

/**
 * Changes as Markdown, for the comment of a review. Nothing that stands in a playbook is read as Markdown or HTML, and
 * characters that nobody sees are written out. Beyond 60,000 characters the rest is counted.
 */
export function diffMarkdown(title: string, changes: readonly Change[]): string {
  const lines = [`### ${codeSpan(title)}`, '']
  if (changes.length === 0) return [...lines, 'No changes.', ''].join('\n')
  lines.push(`${countChanges(changes)}.`, '')
  const blocks = groupChanges(changes).flatMap(groupBlocks)
  let shown = 0
  let length = 0
  for (const { lines: written, count } of blocks) {
    length += written.reduce((sum, line) => sum + line.length + 1, 0)
    if (length > maxCharacters) break
    lines.push(...written)
    shown += count
  }
  const left = changes.length - shown
  if (left > 0) lines.push(`${left} more of them are not shown here.`, '')
  return lines.join('\n')
}

/** Lines that are shown together or not at all, and how many changes they tell of. */
interface Block {
  readonly lines: readonly string[]
  readonly count: number
}

function groupBlocks({ of, name, changes }: ChangeGroup): readonly Block[] {
  const heading = name === null ? titles[of] : `${titles[of]} ${codeSpan(name)}`
  return [
    { lines: [`**${heading}**`, ''], count: 0 },
    ...changes.map((change) => ({ lines: changeLines(change), count: 1 })),
    { lines: [''], count: 0 },
  ]
}

function changeLines(change: Change): readonly string[] {
  const { before, after, kind } = change
  const act = `- ${actText(change, codeSpan)}`
  if (kind === 'renamed') return [act]
  const members = wholeMembers(change)
  if (members !== undefined) {
    return [act, ...members.map(([name, value]) => `  - ${codeSpan(name)}: ${inline(value)}`)]
  }
  if (before === undefined && after === undefined) return [act]
  if (isInline(before) && isInline(after)) {
    const values = [before, after].flatMap((value) => (value === undefined ? [] : inline(value)))
    return [`${act}: ${values.join(' → ')}`]
  }
  return [
    `${act}:`,
    '',
    '  ```diff',
    ...(before === undefined ? [] : markedLines('-', before)),
    ...(after === undefined ? [] : markedLines('+', after)),
    '  ```',
  ]
}

function isInline(value: Json | undefined): boolean {
  if (value === undefined) return true
  const text = shownValue(value)
  return text.length <= maxInline && !text.includes('\n')
}

function inline(value: Json): string {
  return codeSpan(shownValue(value).replaceAll('\n', '\\n'))
}

function markedLines(mark: string, value: Json): readonly string[] {
  return shownValue(value)
    .split('\n')
    .map((line) => `  ${mark} ${visible(line)}`)
}

/** A text that Markdown shows as it is: in more backticks than stand in it. */
function codeSpan(text: string): string {
  const shown = visible(text.replaceAll('\n', ' '))
  const runs = shown.match(/`+/g) ?? []
  const fence = '`'.repeat(Math.max(0, ...runs.map((run) => run.length)) + 1)
  // A span cannot be empty, and loses one blank at both ends where it has them.
  const isBare = shown !== '' && !/^[\s`]|[\s`]$/.test(shown)
  return isBare ? `${fence}${shown}${fence}` : `${fence} ${shown} ${fence}`
}

/** Control characters and marks that turn the direction of text around, as what they are. */
function visible(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (found) =>
    found === '\t' ? '  ' : `\\u${(found.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  )
}
