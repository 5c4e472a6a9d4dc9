import { describe, expect, it } from 'vitest'
import { newCheckpointKey } from '../../src/config/new-checkpoint-key.ts'
import {
  judgeCheckpoint,
  publicHalf,
  readCheckpointKey,
  readPublicKeys,
  signCheckpoint,
} from '../../src/domain/checkpoint.ts'

const pair = newCheckpointKey()
const key = readCheckpointKey(pair.privateKey)
if (key === undefined) throw new Error('a new key can be read')
const head = { tenant: 'default', seq: 7, hash: 'ab', at: '2026-11-30T12:00:00.000Z' }

describe('a checkpoint', () => {
  it('is signed by the key that it names, which its public half judges', () => {
    const keys = readPublicKeys(pair.publicKey) ?? []
    const checkpoint = signCheckpoint(key, head)

    expect(checkpoint).toMatchObject({ v: 1, ...head, keyId: pair.keyId })
    expect(judgeCheckpoint(checkpoint, keys)).toBe('signed')
    expect(judgeCheckpoint(checkpoint, [publicHalf(key)])).toBe('signed')
  })

  it('is forged when any member of it is another', () => {
    const checkpoint = signCheckpoint(key, head)
    const changed = [
      { tenant: 'other' },
      { seq: 8 },
      { hash: 'ac' },
      { at: '2026-11-30T12:00:00.001Z' },
      { signature: `A${checkpoint.signature.slice(1)}` },
      { signature: '' },
    ]
    for (const change of changed) {
      expect(judgeCheckpoint({ ...checkpoint, ...change }, [publicHalf(key)])).toBe('forged')
    }
  })

  it('of a key that nobody has is neither', () => {
    const other = readPublicKeys(newCheckpointKey().publicKey) ?? []

    expect(judgeCheckpoint(signCheckpoint(key, head), other)).toBe('unknown_key')
  })
})

describe('keys', () => {
  it('are read as PEM or base64, and nothing else is taken for one', () => {
    const pem = key.key.export({ format: 'pem', type: 'pkcs8' }).toString()

    expect(readCheckpointKey(pem)?.keyId).toBe(pair.keyId)
    expect(readCheckpointKey('bm90IGEga2V5')).toBeUndefined()
    expect(readCheckpointKey(pair.publicKey)).toBeUndefined()
    expect(readPublicKeys(pem)).toBeUndefined()
    expect(readPublicKeys(`${pair.publicKey}${pair.publicKey}`)).toHaveLength(2)
  })
})
