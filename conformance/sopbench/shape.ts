import { z } from 'zod'
import { isJsonObject, type Json } from '../../src/domain/json.ts'

/** What is known of a value from all the times it was seen. */
export interface Shape {
  /** Kinds of value seen. */
  readonly kinds: ReadonlySet<Kind>
  /** How the texts are written, if all are written alike. */
  readonly format: TextFormat | undefined
  /** The different texts seen, where they are few. */
  readonly texts: readonly string[]
  /** Items of lists. */
  readonly item: Shape | undefined
  readonly fields: ReadonlyMap<string, Field>
  /** True for an object whose keys are data (account to record), not names of fields. */
  readonly isMap: boolean
}

export interface Field {
  readonly shape: Shape
  /** False when some object was seen without it. */
  readonly always: boolean
}

type Kind = 'null' | 'boolean' | 'number' | 'text' | 'list' | 'object'

export type TextFormat =
  | 'date'
  | 'zonedDateTime'
  | 'dateTime'
  | 'spacedDateTime'
  | 'dateTimeMinutes'
  | 'dateOrDateTime'
  | 'englishDate'
  | 'plainEnglishDate'
  | 'slashedDate'
  | 'dottedDate'
  | 'number'
  | 'time'
  | 'timeRange'

const textFormats: readonly (readonly [TextFormat, RegExp])[] = [
  ['date', /^\d{4}-\d{2}-\d{2}$/],
  ['zonedDateTime', /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/],
  ['dateTime', /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}$/],
  ['spacedDateTime', /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}$/],
  ['dateTimeMinutes', /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}$/],
  ['dateOrDateTime', /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$/],
  ['slashedDate', /^\d{4}\/\d{2}\/\d{2}$/],
  ['dottedDate', /^\d{2}\.\d{2}\.\d{4}$/],
  ['englishDate', /^[A-Z][a-z]+ \d{1,2}(st|nd|rd|th), \d{4}$/],
  ['plainEnglishDate', /^[A-Z][a-z]+ \d{1,2}, \d{4}$/],
  ['time', /^\d{2}:\d{2}(:\d{2})?$/],
  ['timeRange', /^\d{2}:\d{2}-\d{2}:\d{2}$/],
  ['number', /^-?(0|[1-9]\d{0,14})(\.\d{1,10})?$/],
]

export const unknownShape: Shape = {
  kinds: new Set(),
  format: undefined,
  texts: [],
  item: undefined,
  fields: new Map(),
  isMap: false,
}

/** With more different texts than this, they name things and are no set of states. */
const maxTexts = 24

/** Learns a shape from examples. `maps` names fields that are known to be maps, `isMap` says it of the whole. */
export function shapeOf(
  values: readonly Json[],
  maps: ReadonlySet<string> = new Set(),
  isMap = false,
): Shape {
  // An empty text stands for none, and says nothing about how the others are written.
  const texts = values.filter((value) => typeof value === 'string' && value !== '') as string[]
  const lists = values.filter((value): value is readonly Json[] => Array.isArray(value))
  const objects = values.filter(isJsonObject)
  const items = lists.flat()
  const names = [...new Set(objects.flatMap((object) => Object.keys(object)))]
  const format = textFormats.find(([, pattern]) => texts.every((text) => pattern.test(text)))?.[0]
  const fields = names.map((name): [string, Field] => {
    const seen = objects.flatMap((object) => {
      const value = object[name]
      return value === undefined ? [] : [value]
    })
    const always = seen.length === objects.length
    return [name, { shape: shapeOf(seen, maps, maps.has(name)), always }]
  })
  return {
    kinds: new Set(values.map(kindOf)),
    format: texts.length === 0 ? undefined : format,
    texts: fewOf(texts),
    item: items.length === 0 ? undefined : shapeOf(items, maps),
    fields: new Map(fields),
    isMap: isMap || isMapOf(objects),
  }
}

/** What the values of a map look like, all together. */
export function valueShapeOf(shape: Shape): Shape {
  return mergedShape([...shape.fields.values()].map((field) => field.shape))
}

function mergedShape(shapes: readonly Shape[]): Shape {
  const names = [...new Set(shapes.flatMap((shape) => [...shape.fields.keys()]))]
  const objects = shapes.filter(({ kinds }) => kinds.has('object'))
  const items = shapes.flatMap(({ item }) => (item === undefined ? [] : [item]))
  return {
    kinds: new Set(shapes.flatMap(({ kinds }) => [...kinds])),
    ...mergedTexts(shapes.filter(({ kinds }) => kinds.has('text'))),
    item: items.length === 0 ? undefined : mergedShape(items),
    fields: new Map(
      names.map((name) => {
        const fields = objects.flatMap((shape) => shape.fields.get(name) ?? [])
        const always = fields.length === objects.length && fields.every((field) => field.always)
        return [name, { shape: mergedShape(fields.map((field) => field.shape)), always }]
      }),
    ),
    isMap: shapes.some(({ isMap }) => isMap),
  }
}

/** Keys that no two objects share, or that are no names, are data. */
function isMapOf(objects: readonly Readonly<Record<string, Json>>[]): boolean {
  const filled = objects.filter((object) => Object.keys(object).length > 0)
  const names = new Set(filled.flatMap((object) => Object.keys(object)))
  if ([...names].some((name) => !/^[a-z][a-zA-Z0-9_]*$/.test(name))) return true
  const [first] = filled
  if (first === undefined) return false
  return !Object.keys(first).some((name) => filled.every((object) => Object.hasOwn(object, name)))
}

const isoFormats: ReadonlySet<TextFormat | undefined> = new Set([
  'date',
  'zonedDateTime',
  'dateTime',
  'spacedDateTime',
  'dateTimeMinutes',
  'dateOrDateTime',
])

/** How the texts of several shapes are written; those of which nothing but empty texts were seen say nothing. */
function mergedTexts(shapes: readonly Shape[]): Pick<Shape, 'format' | 'texts'> {
  const telling = shapes.filter(({ format, texts }) => format !== undefined || texts.length > 0)
  const formats = new Set(telling.map(({ format }) => format))
  const isIso = [...formats].every((format) => isoFormats.has(format))
  const [first] = formats
  const format = formats.size <= 1 ? first : isIso ? 'dateOrDateTime' : undefined
  const isFew = shapes.every(({ texts }) => texts.length > 0)
  return { format, texts: isFew ? fewOf(shapes.flatMap(({ texts }) => texts)) : [] }
}

function fewOf(texts: readonly string[]): readonly string[] {
  const different = [...new Set(texts)]
  return different.length > maxTexts ? [] : different
}

function kindOf(value: Json): Kind {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'list'
  if (typeof value === 'string') return 'text'
  if (typeof value === 'object') return 'object'
  return typeof value === 'number' ? 'number' : 'boolean'
}

/** The schema of a tool's input or output that takes what was seen, and objects with more fields. */
export function zodOf(shape: Shape): z.ZodType {
  const options = [...shape.kinds].map((kind) => zodOfKind(kind, shape))
  const [first, ...others] = options
  if (first === undefined) return z.unknown()
  return others.length === 0 ? first : z.union([first, ...others])
}

function zodOfKind(kind: Kind, shape: Shape): z.ZodType {
  switch (kind) {
    case 'null':
      return z.null()
    case 'boolean':
      return z.boolean()
    case 'number':
      return z.number()
    case 'text':
      return z.string()
    case 'list':
      return z.array(shape.item === undefined ? z.unknown() : zodOf(shape.item))
    case 'object': {
      if (shape.isMap) return z.record(z.string(), zodOf(valueShapeOf(shape)))
      const fields = [...shape.fields].map(([name, field]) => {
        const type = zodOf(field.shape)
        return [name, field.always ? type : type.optional()] as const
      })
      return z.looseObject(Object.fromEntries(fields))
    }
  }
}
