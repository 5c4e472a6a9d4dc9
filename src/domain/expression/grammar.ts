import { type ASTNode, Environment, ParseError } from '@marcbachmann/cel-js'
import type { Problem } from '../problem.ts'
import { figure, maxDepth, maxNodes, maxSource } from './limits.ts'
import { positionOf } from './syntax.ts'

export type { ASTNode }

/**
 * The grammar is CEL's, so a CEL library reads it; nothing of it but the tree is used. Its limits are set wide, because
 * ours count what people see.
 */
const grammar = new Environment({
  limits: {
    maxAstNodes: maxSource,
    maxDepth: 250,
    maxListElements: maxNodes,
    maxMapEntries: maxNodes,
    maxCallArguments: maxNodes,
  },
})

export const tooDeep = `the expression is nested deeper than ${maxDepth} levels; split it up with a compute step`

/** Reads a source into the tree of the grammar, or says where that ends. */
export function readTree(source: string): ASTNode | Problem {
  if (source.trim() === '') {
    return problemAt(source, 0, 'the expression is empty; write a condition such as has(input.id)')
  }
  if (source.length > maxSource) {
    const found = `the expression has ${figure(source.length)} characters`
    return problemAt('', 0, `${found}; at most ${figure(maxSource)} are read`)
  }
  if (source.includes('\u0000') || !source.isWellFormed()) {
    return problemAt(source, 0, 'the expression has a NUL character or a lone surrogate; remove it')
  }
  try {
    return grammar.parse(source).ast
  } catch (error) {
    // A long run of unary operators overflows the stack before the grammar's own limit sees it.
    if (error instanceof RangeError) return problemAt(source, 0, tooDeep)
    if (!(error instanceof ParseError)) throw error
    return problemAt(source, error.range?.start ?? 0, syntaxMessage(error))
  }
}

/** A problem of the source at an offset, or at the place of a part of it. */
export function problemAt(source: string, at: number, message: string): Problem {
  return { path: '', message, ...positionOf(source, at) }
}

function syntaxMessage(error: ParseError): string {
  if (error.code === 'limit_exceeded') return tooDeep
  if (error.code === 'invalid_macro_argument') {
    return 'the first argument of a macro is a name for the items, as in list.all(x, x > 0)'
  }
  const words = error.summary.replace(/[A-Z]{2,}/g, (token) => tokenWords[token] ?? token)
  return `this is not an expression: ${words.charAt(0).toLowerCase()}${words.slice(1)}`
}

/** How people call what the grammar calls its tokens. */
const tokenWords: { readonly [token: string]: string } = {
  EOF: 'the end',
  NUMBER: 'a number',
  STRING: 'a text',
  BYTES: 'bytes',
  BOOLEAN: 'true or false',
  NULL: 'null',
  IDENTIFIER: 'a name',
  PLUS: "'+'",
  MINUS: "'-'",
  MULTIPLY: "'*'",
  DIVIDE: "'/'",
  MODULO: "'%'",
  EQ: "'=='",
  NE: "'!='",
  LT: "'<'",
  LE: "'<='",
  GT: "'>'",
  GE: "'>='",
  AND: "'&&'",
  OR: "'||'",
  NOT: "'!'",
  IN: "'in'",
  LPAREN: "'('",
  RPAREN: "')'",
  LBRACKET: "'['",
  RBRACKET: "']'",
  LBRACE: "'{'",
  RBRACE: "'}'",
  DOT: "'.'",
  COMMA: "','",
  COLON: "':'",
  QUESTION: "'?'",
}
