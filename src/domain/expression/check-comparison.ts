import type { Report } from './report.ts'
import type { Node } from './syntax.ts'
import { fits, isNullable, membersOf, stringType, type Type, unionOf, withoutNull } from './type.ts'

type Binary = Node & { readonly kind: 'binary' }

/** Finds what cannot be compared, and a comparison with a text that the value never is. */
export function checkComparison(report: Report, node: Binary, left: Type, right: Type): void {
  // Whether something is null may always be asked, with the null that is written out.
  if (isNullLiteral(node.left) || isNullLiteral(node.right)) return
  const [a, b] = [withoutNull(left), withoutNull(right)]
  if (!sharesKind(a, b)) {
    report.operands(node, left, right)
    return
  }
  checkOperandNulls(report, node, left, right)
  if (fits(a, b) !== 'no' || a.kind !== 'string' || b.kind !== 'string') return
  const [known, other] = node.left.kind === 'literal' ? [b, a] : [a, b]
  report.impossible(node, other.values ?? [], known.values ?? [])
}

/** The same for `in`. */
export function checkMembership(report: Report, node: Binary, left: Type, right: Type): void {
  const lists = membersOf(right).flatMap((member) => (member.kind === 'list' ? [member] : []))
  const isObject = membersOf(right).some(({ kind }) => kind === 'object' || kind === 'any')
  if (lists.length === 0) {
    if (!isObject || fits(left, stringType) === 'no') report.operands(node, left, right)
    return
  }
  if (isNullLiteral(node.left)) return
  if (isNullable(left)) report.nullable(node.left, 'in')
  const items = withoutNull(unionOf(lists.map((list) => list.of)))
  const value = withoutNull(left)
  if (!sharesKind(value, items)) {
    report.operands(node, left, right)
    return
  }
  if (value.kind !== 'string' || items.kind !== 'string') return
  if (value.values === undefined || items.values === undefined) return
  const known = value.values
  // Each text of a list that is written out must be possible; of the values together, one at least.
  const written = node.right.kind === 'list' ? node.right.items.flatMap(textsOf) : []
  const odd = written.filter((text) => !known.includes(text))
  if (odd.length > 0) report.impossible(node, odd, known)
  else if (fits(value, items) === 'no') report.impossible(node, known, items.values)
}

/** Finds operands that may be null where only the literal `null` may stand. */
export function checkOperandNulls(report: Report, node: Binary, left: Type, right: Type): void {
  if (isNullable(left)) report.nullable(node.left, node.operator)
  if (isNullable(right)) report.nullable(node.right, node.operator)
}

function textsOf(node: Node): readonly string[] {
  return node.kind === 'literal' && typeof node.value === 'string' ? [node.value] : []
}

function isNullLiteral(node: Node): boolean {
  return node.kind === 'literal' && node.value === null
}

/** Whether two types have a kind in common, so that comparing their values can make sense. */
function sharesKind(a: Type, b: Type): boolean {
  if (a.kind === 'any' || b.kind === 'any') return true
  if (membersOf(a).length === 0 || membersOf(b).length === 0) return true
  return membersOf(a).some(({ kind }) => membersOf(b).some((other) => other.kind === kind))
}
