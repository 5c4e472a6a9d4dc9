import { generateKeyPairSync } from 'node:crypto'
import { keyIdOf } from '../domain/checkpoint.ts'

/** A new key: the private half as one line of base64 (PKCS #8), the public one as PEM. */
export function newCheckpointKey(): {
  readonly privateKey: string
  readonly publicKey: string
  readonly keyId: string
} {
  const pair = generateKeyPairSync('ed25519')
  return {
    privateKey: pair.privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
    publicKey: pair.publicKey.export({ format: 'pem', type: 'spki' }).toString(),
    keyId: keyIdOf(pair.publicKey),
  }
}
