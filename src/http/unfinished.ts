import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Keeps which connections have asked for nothing whole. Node itself looks for clients that take too long, and no more once
 * a server is told to close: from then on one that never comes to an end would keep it open for ever.
 */
export function watchUnfinished(server: Server) {
  const open = new Map<Socket, IncomingMessage | undefined>()
  server.on('connection', (socket: Socket) => {
    open.set(socket, undefined)
    socket.once('close', () => open.delete(socket))
  })
  server.on('request', (request, response) => {
    open.set(request.socket, request)
    response.once('close', () => {
      if (open.get(request.socket) === request) open.set(request.socket, undefined)
    })
  })
  return {
    /** Ends those that have sent no request, or half of one. What was asked whole is still answered. */
    end(): void {
      for (const [socket, request] of open) if (request?.complete !== true) socket.destroy()
    },
  }
}
