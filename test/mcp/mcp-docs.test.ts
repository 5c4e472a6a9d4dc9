import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { agentTools } from '../../src/mcp/agent-tools.ts'

const page = readFileSync(new URL('../../docs/mcp.md', import.meta.url), 'utf8')

test('the page has every tool, what it is for, and whether it changes anything', () => {
  const rows = [...page.matchAll(/^\| `([a-z_]+)` \| (.+?) \| (yes|no) \|$/gm)]

  expect(rows.map(([, ...cells]) => cells)).toEqual(
    agentTools.map(({ name, title, annotations }) => [
      name,
      title,
      annotations.readOnlyHint === true ? 'no' : 'yes',
    ]),
  )
})

test('the configurations that the page shows are JSON', () => {
  const blocks = [...page.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text)

  expect(blocks.map((text) => Object.keys(JSON.parse(text).mcpServers))).toEqual([
    ['stepwarden'],
    ['stepwarden'],
  ])
})
