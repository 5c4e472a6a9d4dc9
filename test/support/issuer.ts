import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { afterAll } from 'vitest'

/** One key pair of an issuer. */
export interface SigningKey {
  readonly kid: string
  readonly alg: string
  readonly privateKey: Awaited<ReturnType<typeof generateKeyPair>>['privateKey']
  readonly publicJwk: JWK
}

export async function newSigningKey(kid: string, alg = 'ES256'): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  const publicJwk = { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' }
  return { kid, alg, privateKey, publicJwk }
}

/** An issuer of tokens on this machine, over real HTTP, with real keys. */
export interface TestIssuer {
  readonly url: string
  /** What it publishes; set it to rotate. */
  keys: readonly SigningKey[]
  /** How it answers: `well`, with a 500, not at all, or something else than is asked for. */
  mood: 'well' | 'failing' | 'silent' | 'odd' | 'endless' | 'elsewhere'
  /** Members of its description that are to be otherwise. */
  description: Record<string, unknown>
  /** How often its keys were read. */
  readonly reads: () => number
  /** A token as it makes them: of `sub` ann for `stepwarden`, valid for five minutes from `at`, in epoch milliseconds. */
  readonly token: (
    at: number,
    claims?: Readonly<Record<string, unknown>>,
    options?: { readonly key?: SigningKey; readonly header?: Record<string, unknown> },
  ) => Promise<string>
}

export async function openTestIssuer(): Promise<TestIssuer> {
  let reads = 0
  const server = createServer((request, response) => {
    const send = (value: unknown) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    if (issuer.mood === 'silent') return
    if (issuer.mood === 'failing') return void response.writeHead(500).end()
    if (issuer.mood === 'odd') return void response.writeHead(200).end('<html>')
    if (issuer.mood === 'elsewhere') {
      return void response.writeHead(302, { location: `${issuer.url}/other` }).end()
    }
    if (issuer.mood === 'endless') {
      const more = () => {
        while (response.write('"'.repeat(65_536)));
      }
      response.writeHead(200).on('drain', more)
      return more()
    }
    if (request.url === '/realm/.well-known/openid-configuration') {
      return void send({
        issuer: issuer.url,
        jwks_uri: `${issuer.url}/keys`,
        ...issuer.description,
      })
    }
    if (request.url === '/realm/keys') {
      reads += 1
      return void send({ keys: issuer.keys.map(({ publicJwk }) => publicJwk) })
    }
    response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterAll(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  const issuer: TestIssuer = {
    url: `http://127.0.0.1:${port}/realm`,
    keys: [await newSigningKey('first')],
    mood: 'well',
    description: {},
    reads: () => reads,
    async token(at, claims = {}, { key = issuer.keys[0], header = {} } = {}) {
      if (key === undefined) throw new Error('the issuer has no key')
      const now = Math.floor(at / 1000)
      const usual = { iss: issuer.url, aud: 'stepwarden', sub: 'ann', iat: now, exp: now + 300 }
      const entries = Object.entries({ ...usual, ...claims })
      return new SignJWT(Object.fromEntries(entries.filter(([, value]) => value !== undefined)))
        .setProtectedHeader({ alg: key.alg, kid: key.kid, ...header })
        .sign(key.privateKey)
    },
  }
  return issuer
}
