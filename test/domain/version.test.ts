import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isServiceError } from '../../src/domain/errors.ts'
import {
  nextVersionStatus,
  requireDraft,
  type VersionCommand,
  type VersionStatus,
  versionStatuses,
} from '../../src/domain/version.ts'

const commands: readonly VersionCommand[] = ['activate', 'deprecate', 'supersede']

test('a draft becomes active, and an active version is deprecated by hand or by its successor', () => {
  expect(nextVersionStatus('draft', 'activate')).toBe('active')
  expect(nextVersionStatus('active', 'deprecate')).toBe('deprecated')
  expect(nextVersionStatus('active', 'supersede')).toBe('deprecated')
})

test.each<[VersionStatus, VersionCommand, string]>([
  ['active', 'activate', 'VERSION_NOT_DRAFT'],
  ['deprecated', 'activate', 'VERSION_NOT_DRAFT'],
  ['draft', 'deprecate', 'VERSION_NOT_ACTIVE'],
  ['deprecated', 'deprecate', 'VERSION_NOT_ACTIVE'],
  ['draft', 'supersede', 'VERSION_NOT_ACTIVE'],
  ['deprecated', 'supersede', 'VERSION_NOT_ACTIVE'],
])('a version that is %s refuses to %s with %s', (status, command, code) => {
  expect(() => nextVersionStatus(status, command)).toThrow(expect.objectContaining({ code }))
})

test('only a draft can be edited or deleted', () => {
  requireDraft('draft', 'edit')
  requireDraft('draft', 'delete')

  expect(() => requireDraft('active', 'edit')).toThrow(
    'Expected a draft to edit, found a version that is active.',
  )
  expect(() => requireDraft('deprecated', 'delete')).toThrow(/found a version that is deprecated/)
})

test('no sequence of commands leaves the states, turns back, or passes one over', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...commands)), (sequence) => {
      let status: VersionStatus = 'draft'
      for (const command of sequence) {
        const before: number = versionStatuses.indexOf(status)
        try {
          status = nextVersionStatus(status, command)
        } catch (error) {
          if (!isServiceError(error)) throw error
          continue
        }
        expect(versionStatuses.indexOf(status)).toBe(before + 1)
      }
    }),
  )
})
