import { nearestName } from '../nearest-name.ts'

/** The end of a message about an unknown name: the name that was likely meant, or else the first few that exist. */
export function suggestion(name: string, known: Iterable<string>): string {
  const names = [...known]
  const near = nearestName(name, names)
  if (near !== undefined) return `did you mean '${near}'?`
  if (names.length === 0) return 'there are none'
  return `there are: ${names.slice(0, 12).join(', ')}${names.length > 12 ? ', …' : ''}`
}
