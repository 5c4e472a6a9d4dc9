import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { connectStepwarden, followExecution } from '../../src/client/index.ts'

/** A server that is no Stepwarden, and what it was asked. */
async function listen(answer: RequestListener) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, asked }
}

it.each([301, 302, 303, 307, 308])(
  'follows no redirect of %i, which could make another request of it',
  async (status) => {
    const elsewhere = await listen((_, response) => response.end('{"items":[]}'))
    const proxy = await listen((request, response) =>
      response.writeHead(status, { location: `${elsewhere.url}${request.url}` }).end(),
    )
    const client = connectStepwarden({ url: proxy.url, key: 'sw_default_key' })

    const followed = followExecution({ url: proxy.url, key: 'sw_default_key' }, 'exec_1')

    const refusal = { code: 'ANSWER_UNUSABLE', details: { status } }
    await expect(client.startExecution({ procedureKey: 'ANY', input: {} })).rejects.toMatchObject(
      refusal,
    )
    await expect(followed.next()).rejects.toMatchObject(refusal)
    expect(elsewhere.asked).toEqual([])
  },
)

it.each([
  '{"code":"METHOD_NOT_ALLOWED"}',
  '{"code":"METHOD_NOT_ALLOWED","details":{"allowed":7}}',
  '{"code":"REQUEST_INVALID","details":null}',
  '{"code":"constructor","details":{}}',
  '[]',
  'no JSON',
])('tells an error that it cannot read as an answer that is unusable: %s', async (text) => {
  const server = await listen((_, response) => response.writeHead(400).end(text))
  const client = connectStepwarden({ url: server.url, key: 'sw_default_key' })

  await expect(client.getStats({})).rejects.toMatchObject({ code: 'ANSWER_UNUSABLE' })
})
