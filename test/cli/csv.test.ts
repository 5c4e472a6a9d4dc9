import { expect, it } from 'vitest'
import { csvCells, csvLine } from '../../src/cli/csv.ts'

const columns = ['text', 'number', 'list', 'absent']

it('quotes what would end a cell or a line, and doubles quotes', () => {
  const cells = csvCells({ text: 'He said "no",\r\nand left', number: -3, list: ['a', 1] }, columns)

  expect(csvLine(cells)).toBe('"He said ""no"",\r\nand left",-3,"[""a"",1]",\r\n')
})

it('makes text of what a spreadsheet would take for a formula, and leaves numbers', () => {
  const texts = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', "'=1", 'a=1', '']

  const cells = texts.map((text) => csvCells({ text }, ['text'])[0])

  expect(cells).toEqual(["'=1+1", "'+1", "'-1", "'@SUM(A1)", "'\t=1", "'\r=1", "'=1", 'a=1', ''])
  expect(csvCells({ number: -3 }, ['number'])).toEqual(['-3'])
})
