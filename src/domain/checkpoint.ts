import {
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto'
import { canonicalJson } from './canonical.ts'

/** The end of a tenant's chain at some time, signed: docs/decisions/0016-seals.md. */
export interface Checkpoint {
  readonly v: 1
  readonly tenant: string
  readonly seq: number
  readonly hash: string
  /** RFC 3339 in UTC. */
  readonly at: string
  readonly keyId: string
  /** Base64. */
  readonly signature: string
}

/** A key that signs checkpoints, with the name by which its public half is found. */
export interface CheckpointKey {
  readonly key: KeyObject
  readonly keyId: string
}

/** Reads a private key, as PEM or as base64 of PKCS #8; undefined for anything that is no Ed25519 key. */
export function readCheckpointKey(text: string): CheckpointKey | undefined {
  try {
    const key = text.includes('-----BEGIN')
      ? createPrivateKey(text)
      : createPrivateKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'pkcs8' })
    if (key.asymmetricKeyType !== 'ed25519') return undefined
    return { key, keyId: keyIdOf(createPublicKey(key)) }
  } catch {
    // What the parser says of a text that is no key could quote a part of one.
    return undefined
  }
}

/** The key by which what this one signs is judged. */
export function publicHalf({ key, keyId }: CheckpointKey): CheckpointKey {
  return { key: createPublicKey(key), keyId }
}

/** Reads the public keys of a PEM text, one or several; undefined where one of them is no Ed25519 key, or there is none. */
export function readPublicKeys(text: string): readonly CheckpointKey[] | undefined {
  const blocks = text.match(/-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/g) ?? []
  try {
    const keys = blocks.map((block) => createPublicKey(block))
    if (keys.length === 0 || keys.some((key) => key.asymmetricKeyType !== 'ed25519')) {
      return undefined
    }
    return keys.map((key) => ({ key, keyId: keyIdOf(key) }))
  } catch {
    return undefined
  }
}

export function signCheckpoint(
  { key, keyId }: CheckpointKey,
  head: Pick<Checkpoint, 'tenant' | 'seq' | 'hash' | 'at'>,
): Checkpoint {
  const { tenant, seq, hash, at } = head
  const unsigned = { v: 1 as const, tenant, seq, hash, at, keyId }
  const signature = sign(null, signedBytes(unsigned), key).toString('base64')
  return { ...unsigned, signature }
}

/** Whether the owner of one of the keys has signed it; `unknown_key` where none of them is the one that it names. */
export function judgeCheckpoint(
  checkpoint: Checkpoint,
  keys: readonly CheckpointKey[],
): 'signed' | 'forged' | 'unknown_key' {
  const { signature, ...unsigned } = checkpoint
  const known = keys.find(({ keyId }) => keyId === checkpoint.keyId)
  if (known === undefined) return 'unknown_key'
  const bytes = Buffer.from(signature, 'base64')
  // Base64 that ends otherwise can give the same bytes, and is not what was written.
  if (bytes.toString('base64') !== signature) return 'forged'
  return verify(null, signedBytes(unsigned), known.key, bytes) ? 'signed' : 'forged'
}

function signedBytes(unsigned: Omit<Checkpoint, 'signature'>): Buffer {
  return Buffer.from(canonicalJson(unsigned), 'utf8')
}

/** The name of a key: the first 16 hex digits of the SHA-256 of its public half. */
export function keyIdOf(publicKey: KeyObject): string {
  const der = publicKey.export({ format: 'der', type: 'spki' })
  return createHash('sha256').update(der).digest('hex').slice(0, 16)
}
