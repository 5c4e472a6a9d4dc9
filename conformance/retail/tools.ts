import { z } from 'zod'
import type { JsonObject } from '../../src/domain/json.ts'
import { defineTool, type Tool } from '../../src/index.ts'
import type { Stage } from '../stage.ts'
import { address, order, product, user } from './shapes.ts'

const texts = z.array(z.string())
const items = { order_id: z.string(), item_ids: texts, payment_method_id: z.string() }
const exchange = { ...items, new_item_ids: texts }

/** The shop's tools, as playbooks see them. All act on the stage. */
export function shopTools(stage: Stage): readonly Tool[] {
  const tool = <O extends z.ZodType>(
    effect: 'read' | 'write',
    name: string,
    description: string,
    input: z.ZodRawShape,
    output: O,
    requires: readonly string[] = [],
  ): Tool =>
    defineTool({
      name,
      description,
      effect,
      requires,
      input: z.object(input),
      output,
      run: async (args) => stage.call(name, args as JsonObject) as z.output<O>,
    })
  const onOrder = ['get_order_details']
  return [
    tool(
      'read',
      'find_user_id_by_email',
      'Finds the customer with an email address.',
      { email: z.string() },
      z.string(),
    ),
    tool(
      'read',
      'find_user_id_by_name_zip',
      'Finds the customer with a name and a postal code.',
      { first_name: z.string(), last_name: z.string(), zip: z.string() },
      z.string(),
    ),
    tool('read', 'get_user_details', 'Tells all about a customer.', { user_id: z.string() }, user),
    tool('read', 'get_order_details', 'Tells all about an order.', { order_id: z.string() }, order),
    tool(
      'read',
      'get_products_details',
      'Tells all about some products, by their ids.',
      { product_ids: texts },
      z.record(z.string(), product),
    ),
    tool(
      'write',
      'cancel_pending_order',
      'Cancels an order and refunds it.',
      { order_id: z.string(), reason: z.string() },
      order,
      onOrder,
    ),
    tool(
      'write',
      'return_delivered_order_items',
      'Asks for the return of items.',
      items,
      order,
      onOrder,
    ),
    tool(
      'write',
      'exchange_delivered_order_items',
      'Asks for other items in place of some.',
      exchange,
      order,
      onOrder,
    ),
    tool(
      'write',
      'modify_pending_order_items',
      'Changes items of an order.',
      exchange,
      order,
      onOrder,
    ),
    tool(
      'write',
      'modify_pending_order_address',
      'Changes where an order is sent.',
      { order_id: z.string(), ...address.shape },
      order,
      onOrder,
    ),
    tool(
      'write',
      'modify_pending_order_payment',
      'Changes how an order is paid.',
      { order_id: z.string(), payment_method_id: z.string() },
      order,
      onOrder,
    ),
    tool(
      'write',
      'modify_user_address',
      "Changes a customer's address.",
      { user_id: z.string(), ...address.shape },
      user,
    ),
  ]
}
