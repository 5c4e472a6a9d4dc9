# The `stepwarden` command in an image:
#
#   docker build -t stepwarden .
#   docker run --rm --init -v stepwarden-data:/data stepwarden demo
#
# Without DATABASE_URL the data lie in /data; mount a volume there to keep them.

FROM node:20-slim AS build
WORKDIR /app
# The dependencies first, so that a change of the source does not install them anew.
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
RUN npm run build && npm prune --omit=dev

FROM node:20-slim
ENV NODE_ENV=production
COPY --from=build /app/package.json /app/
COPY --from=build /app/node_modules /app/node_modules
COPY --from=build /app/dist /app/dist
COPY bin /app/bin
COPY seeds /app/seeds
COPY docs /app/docs
# The default folder of the data lies in the working directory. As the image sets no variable for it, DATABASE_URL
# alone is enough to use a server instead.
WORKDIR /data
RUN chown node:node /data
VOLUME /data
# Unprivileged, and not the owner of the code that it runs.
USER node
ENTRYPOINT ["node", "/app/bin/stepwarden.js"]
CMD ["--help"]
