import { ServiceError } from './errors.ts'

/** The states of a version. See docs/lifecycle.md. */
export const versionStatuses = ['draft', 'active', 'deprecated'] as const
export type VersionStatus = (typeof versionStatuses)[number]

/** What may happen to a version: `supersede` is what the activation of another version does to the active one. */
export type VersionCommand = 'activate' | 'deprecate' | 'supersede'

/**
 * The state of a version after a command: draft → active → deprecated, and never back.
 *
 * @throws ServiceError `VERSION_NOT_DRAFT` when activating anything else, `VERSION_NOT_ACTIVE` when deprecating or
 *   superseding anything else.
 */
export function nextVersionStatus(status: VersionStatus, command: VersionCommand): VersionStatus {
  switch (command) {
    case 'activate':
      requireDraft(status, command)
      return 'active'
    case 'deprecate':
    case 'supersede':
      if (status !== 'active') {
        throw new ServiceError('VERSION_NOT_ACTIVE', { status, wanted: command })
      }
      return 'deprecated'
    default:
      return command satisfies never
  }
}

/**
 * Holds what only drafts allow: to edit the definition or the scenarios, to delete, to review, to activate.
 *
 * @throws ServiceError `VERSION_NOT_DRAFT` naming the state that was found and what was wanted.
 */
export function requireDraft(
  status: VersionStatus,
  wanted: 'activate' | 'delete' | 'edit' | 'review',
): void {
  if (status !== 'draft') throw new ServiceError('VERSION_NOT_DRAFT', { status, wanted })
}
