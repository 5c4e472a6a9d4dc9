import { expect, it } from 'vitest'
import { diffMarkdown } from '../../src/diff/diff-markdown.ts'
import { diffDefinitions } from '../../src/diff/diff-versions.ts'
import type { JsonObject } from '../../src/domain/json.ts'
import { requireDefinition } from '../../src/domain/parse-definition.ts'

function markdownOf(before: JsonObject, after: JsonObject): string {
  const document = (more: JsonObject) => ({
    key: 'SOME_PLAYBOOK',
    name: 'Some',
    description: 'Some procedure.',
    steps: [{ key: 'a', action: 'Do a', compute: { x: '1' } }],
    ...more,
  })
  const changes = diffDefinitions(
    requireDefinition(document(before)),
    requireDefinition(document(after)),
  )
  return diffMarkdown('SOME_PLAYBOOK', changes)
}

it('says of each change what it is, by what it is part of', () => {
  const steps = [
    { key: 'b', action: 'Do b', wait: { for: '1d' } },
    { key: 'a', action: 'Do a', compute: { x: '2' } },
  ]

  expect(markdownOf({}, { timeLimit: '2h', steps })).toBe(
    [
      '### `SOME_PLAYBOOK`',
      '',
      '3 changes.',
      '',
      '**Definition**',
      '',
      '- added `timeLimit`: `2h`',
      '',
      '**Step `b`**',
      '',
      '- added at the top (step 1)',
      '  - `action`: `Do b`',
      '  - `wait`: `{"for":"1d"}`',
      '',
      '**Step `a`**',
      '',
      '- changed `compute.x`: `1` → `2`',
      '',
    ].join('\n'),
  )
  expect(markdownOf({}, {})).toContain('No changes.')
})

it('lets nothing of a playbook be read as Markdown or HTML', () => {
  const text = markdownOf(
    { name: 'Some' },
    { name: '` <img src=x> ``` [a](b)\u202e', successCriteria: 'one\n```\n# two' },
  )

  expect(text).toContain('- changed `name`: `Some` → ```` ` <img src=x> ``` [a](b)\\u202e ````')
  expect(text).toContain('  ```diff\n  + one\n  + ```\n  + # two\n  ```')
  expect(text).not.toContain('\u202e')
})

it('is short enough for a comment, and counts what it leaves out', () => {
  const patterns = Array.from({ length: 3_000 }, (_, index) => `pattern ${index} of them all`)

  const text = markdownOf({ issuePatterns: ['one'] }, { issuePatterns: patterns, timeLimit: '2h' })

  expect(text.length).toBeLessThan(62_000)
  expect(text).toMatch(/more of them are not shown here/)
})
