import { expect, test } from 'vitest'
import { table } from '../../src/cli/table.ts'
import { Terminal } from '../../src/cli/terminal.ts'
import { cutToWidth, textWidth } from '../../src/cli/text-width.ts'

interface Given {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly json?: boolean
  readonly environment?: Readonly<Record<string, string>>
}

function open({ isTTY = false, columns = 80, json = false, environment = {} }: Given = {}) {
  const written: string[] = []
  const out = { isTTY, columns, write: (text: string) => written.push(text) }
  const terminal = new Terminal({ out, err: out, environment, json })
  return { terminal, text: () => written.join('') }
}

test('makes control characters of a ticket visible, in a terminal as well', () => {
  const { terminal, text } = open({ isTTY: true })

  terminal.print('a\u001b[2Jb\u001b]0;title\u0007c\u202ed\r\ne')

  expect(text()).toBe('a\\u001b[2Jb\\u001b]0;title\\u0007c\\u202ed\\u000d\ne\n')
})

test.each(['\u061c', '\u200b', '\ufeff', '\u{e0041}'])('shows the invisible mark %j', (mark) => {
  const { terminal, text } = open()

  terminal.print(`exec_${mark}1`)

  expect(text()).not.toContain(mark)
  expect(text()).toContain('\\u')
})

test('keeps its own colours in a terminal, and shows a style that a pipe would get as text', () => {
  const inTerminal = open({ isTTY: true })
  const inPipe = open()

  inTerminal.terminal.print(inTerminal.terminal.style('good', 'yes'))
  inPipe.terminal.print('\u001b[32myes\u001b[39m')

  expect(inTerminal.text()).toBe('\u001b[32myes\u001b[39m\n')
  expect(inPipe.text()).toBe('\\u001b[32myes\\u001b[39m\n')
})

test.each([
  [{ isTTY: true, environment: { NO_COLOR: '1' } }, 'yes'],
  [{ isTTY: true, environment: { TERM: 'dumb' } }, 'yes'],
  [{ isTTY: false }, 'yes'],
  [{ isTTY: false, environment: { FORCE_COLOR: '1' } }, '\u001b[32myes\u001b[39m'],
])('colours where that is wanted: %j', (given, expected) => {
  expect(open(given).terminal.style('good', 'yes')).toBe(expected)
})

test('with --json shows people nothing, and errors in one line', () => {
  const { terminal, text } = open({ json: true })

  terminal.print('for people')
  terminal.noticeJson({ code: 'X', message: 'two\nlines' })

  expect(text()).toBe('{"code":"X","message":"two\\nlines"}\n')
})

test('lays text out in the width of the terminal, and gives a pipe whole lines', () => {
  const words = 'one two three four five six seven eight nine ten eleven'

  expect(open({ isTTY: true, columns: 40 }).terminal.wrap(words, 4)).toBe(
    'one two three four five six seven\n    eight nine ten eleven',
  )
  expect(open().terminal.wrap(words, 4)).toBe(words)
})

test.each([
  ['abc', 3],
  ['日本', 4],
  ['e\u0301', 1],
  ['👩‍👩‍👧', 2],
  ['\u001b[32mok\u001b[39m', 2],
])('knows that %j takes %i columns', (text, width) => {
  expect(textWidth(text)).toBe(width)
})

test('cuts a text to whole characters, with an ellipsis', () => {
  expect(cutToWidth('日本語です', 6)).toBe('日本…')
  expect(cutToWidth('two\nlines', 20)).toBe('two lines')
})

test('aligns columns, and lays the last out below its row where there is no room for it', () => {
  const headings = ['ID', 'WHAT', 'TEXT']
  const rows = [['exec_1m8msksq62abgwbtw8evm', '日本', 'x'.repeat(60)]]

  const narrow = table(open({ isTTY: true, columns: 40 }).terminal, headings, rows, 'none')
  const wide = table(open().terminal, headings, rows, 'none')

  expect(narrow.split('\n').slice(2)).toEqual([
    'exec_1m8msksq62abgwbtw8evm  日本',
    `    ${'x'.repeat(36)}`,
    `    ${'x'.repeat(24)}`,
  ])
  expect(wide).toBe(
    `ID                          WHAT  TEXT\nexec_1m8msksq62abgwbtw8evm  日本  ${'x'.repeat(60)}`,
  )
  expect(table(open().terminal, headings, [], 'none')).toBe('none')
})
