import { expect, it } from 'vitest'
import { agentTools } from '../../src/mcp/agent-tools.ts'
import { openTestApp } from '../support/app.ts'
import { keyFor } from '../support/http.ts'
import { serveMcp } from '../support/mcp.ts'

const { app } = await openTestApp({ tools: [] })
const key = await keyFor(app, 'bot', ['agent'], { kind: 'ai' })
const { url } = await serveMcp(app)

async function send(message: unknown) {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify(message),
  })
  const [, data = ''] = /^data: (.*)$/m.exec(await response.text()) ?? []
  return JSON.parse(data)
}

const info = { clientInfo: { name: 'test', version: '1' }, capabilities: {} }

it.each([
  ['a version that is no text', 'initialize', { protocolVersion: 7, ...info }, ['protocolVersion']],
  ['nothing', 'initialize', {}, ['protocolVersion', 'capabilities', 'clientInfo']],
  ['a tool without a name', 'tools/call', { name: null }, ['name']],
  ['a resource that is no text', 'resources/read', { uri: {} }, ['uri']],
])(
  '%s is told in words, and not as a failure of the server',
  async (_what, method, params, fields) => {
    const { id, error } = await send({ jsonrpc: '2.0', id: 'mine', method, params })

    expect(id).toBe('mine')
    expect(error.code).toBe(-32_602)
    expect(error.message).toMatch(/^The request does not have the form/)
    expect(error.message).not.toMatch(/[[{]|invalid_type/)
    expect(error.data.code).toBe('REQUEST_INVALID')
    expect(error.data.problems.map(({ path }: { path: string }) => path)).toEqual(
      fields.map((field) => `params.${field}`),
    )
  },
)

it('a version that there never was is answered with one that there is', async () => {
  const params = { protocolVersion: '1999-01-01', ...info }

  const { result } = await send({ jsonrpc: '2.0', id: 1, method: 'initialize', params })

  expect(result.protocolVersion).toMatch(/^20\d\d-\d\d-\d\d$/)
})

it('the list of tools is no longer than it has to be', async () => {
  const { result } = await send({ jsonrpc: '2.0', id: 1, method: 'tools/list' })

  expect(result.tools).toHaveLength(agentTools.length)
  const outputs = JSON.stringify(
    result.tools.map(({ outputSchema }: { outputSchema: object }) => outputSchema),
  )
  expect(outputs).not.toMatch(/"anyOf":\[\{"type":"\w+"\},\{"type":"null"\}\]/)
  expect(outputs).not.toContain('"description"')
})
