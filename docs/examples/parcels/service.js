// A small service of somebody else's, as openapi.yaml beside it describes it: node service.js [PORT]
import { createServer } from 'node:http'

const parcels = new Map([
  ['P-100', { id: 'P-100', state: 'delivery_failed', carrierNote: 'Dog in the garden.' }],
  ['P-200', { id: 'P-200', state: 'delivered', carrierNote: '' }],
])
const redeliveries = []

const token = process.env.PARCEL_TOKEN
const port = Number(process.argv[2] ?? 8787)

const server = createServer(async (request, response) => {
  const answer = (status, value) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  }
  if (token === undefined || request.headers.authorization !== `Bearer ${token}`) {
    return answer(401, { code: 'NO_ENTRY', message: 'Show the token.' })
  }
  const url = new URL(request.url, 'http://localhost')
  const [, first, id, second] = url.pathname.split('/')
  if (request.method === 'GET' && first === 'redeliveries') {
    const reference = url.searchParams.get('reference')
    return answer(200, { items: redeliveries.filter((one) => one.reference === reference) })
  }
  const parcel = first === 'parcels' ? parcels.get(id) : undefined
  if (parcel === undefined) {
    return answer(404, { code: 'NO_PARCEL', message: 'There is no such parcel.' })
  }
  if (request.method === 'GET' && second === undefined) return answer(200, parcel)
  if (request.method === 'POST' && second === 'redeliveries') {
    let body = ''
    for await (const chunk of request) body += chunk
    const { day, reference } = JSON.parse(body)
    const known = redeliveries.find((one) => one.reference === reference)
    const redelivery = known ?? {
      id: `R-${redeliveries.length + 1}`,
      day,
      reference,
      state: 'planned',
    }
    if (known === undefined) redeliveries.push(redelivery)
    // Day "lost" is for trying out what happens when an answer never arrives.
    if (day === 'lost') return response.destroy()
    return answer(201, redelivery)
  }
  answer(405, { code: 'NO_SUCH_THING', message: 'That cannot be done here.' })
})

server.listen(port, '127.0.0.1', () => {
  console.log(`The parcel service is at http://127.0.0.1:${server.address().port}`)
})
