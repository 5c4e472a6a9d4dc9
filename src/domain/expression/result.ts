import { type Json, setMember, withoutPrototype } from '../json.ts'
import { figure, maxResult, maxResultDepth } from './limits.ts'
import { instantText } from './time.ts'
import { Fault, Instant, isList, isMap, type Value } from './value.ts'

/**
 * What an evaluation leaves behind: JSON with keys in ascending order, instants as RFC 3339 text. `room` is what it may
 * still take as JSON text, and is counted down, so that small parts named many times cannot grow without bound.
 *
 * @throws Fault beyond 1 MiB of text or 100 levels.
 */
export function toJson(value: Value, room: Room = new Room()): Json {
  return convert(value, room, 1)
}

/** How much text a result may still take. */
export class Room {
  #left = maxResult

  /** @throws Fault when there is no more. */
  take(length: number): void {
    this.#left -= length
    if (this.#left < 0) {
      throw new Fault(`the result is longer than ${figure(maxResult)} characters as JSON`)
    }
  }
}

function convert(value: Value, room: Room, depth: number): Json {
  if (typeof value === 'string') {
    room.take(value.length + 2)
    return value
  }
  room.take(6)
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Instant) {
    room.take(20)
    return instantText(value.at)
  }
  if (depth > maxResultDepth) {
    throw new Fault(`the result is nested deeper than ${maxResultDepth} levels`)
  }
  if (isList(value)) return value.map((item) => convert(item, room, depth + 1))
  const result: Record<string, Json> = {}
  if (isMap(value)) {
    for (const key of Object.keys(value).sort()) {
      room.take(key.length + 3)
      setMember(result, key, convert(value[key] ?? null, room, depth + 1))
    }
  }
  return withoutPrototype(result)
}
