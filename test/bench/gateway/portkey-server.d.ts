declare module '@portkey-ai/gateway/build/start-server.js' {
  /** Starts listening as soon as it is imported. */
  const nothing: Record<string, never>
  export = nothing
}
