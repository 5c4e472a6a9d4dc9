import { once } from 'node:events'
import { connect } from 'node:net'
import { fastify } from 'fastify'
import { expect, it } from 'vitest'
import { refuseBroken } from '../../src/http/failures.ts'

it.each([
  ['no HTTP at all', 'hello\r\n\r\n', 400],
  ['a path that is too long', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 431],
  [
    'headers that are too large',
    `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
    431,
  ],
])('%s is answered with a problem document', async (_, sent, status) => {
  const server = fastify({ clientErrorHandler: refuseBroken })
  const url = new URL(await server.listen({ host: '127.0.0.1', port: 0 }))
  const socket = connect(Number(url.port), url.hostname).setEncoding('utf8')
  let answer = ''
  socket.on('data', (text: string) => {
    answer += text
  })
  socket.write(sent)
  await once(socket, 'close')
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  expect(head).toContain('application/problem+json')
  expect(JSON.parse(body)).toMatchObject({ status, code: 'HTTP_INVALID', retryable: false })
  await server.close()
})
